"""Sender-receiver game: rules here, and beside them safety, players and face."""

from stratagem.games.sender_receiver.rules import (
    HONEST,
    RECEIVER,
    SENDER,
    SILENT,
    PastExchange,
    SenderReceiver,
    SenderReceiverFacts,
    SenderReceiverState,
    write_action,
)

__all__ = [
    "HONEST",
    "RECEIVER",
    "SENDER",
    "SILENT",
    "PastExchange",
    "SenderReceiver",
    "SenderReceiverFacts",
    "SenderReceiverState",
    "write_action",
]
