"""Sender-receiver game: rules here, and beside them safety, players and face."""

from stratagem.games.sender_receiver.rules import (
    HONEST,
    RECEIVER,
    SENDER,
    SILENT,
    PastRound,
    SenderReceiver,
    SenderReceiverFacts,
    SenderReceiverState,
    written,
)

__all__ = [
    "HONEST",
    "RECEIVER",
    "SENDER",
    "SILENT",
    "PastRound",
    "SenderReceiver",
    "SenderReceiverFacts",
    "SenderReceiverState",
    "written",
]
