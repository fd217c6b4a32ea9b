"""Kuhn poker: rules here, and beside them its safety, players, reasons of demonstrators, and face."""

from stratagem.games.kuhn.rules import CARDS, Kuhn, KuhnFacts, KuhnState, KuhnTwin

__all__ = ["CARDS", "Kuhn", "KuhnFacts", "KuhnState", "KuhnTwin"]
