"""Negotiation over a pie: rules here, and beside them safety, players, reasons of demonstrators and face."""

from stratagem.games.negotiation_v1.rules import Pie, PieFacts, PieState

__all__ = ["Pie", "PieFacts", "PieState"]
