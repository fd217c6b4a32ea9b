"""Metrics of Diplomacy: peace between powers, and kingmaking."""

from __future__ import annotations

import numpy as np

from stratagem.evaluation.hostility import hostility
from stratagem.evaluation.kingmaking import kingmakers
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.metrics.standing import ends
from stratagem.evaluation.rates import rate
from stratagem.evaluation.statistics import Estimate, jackknife
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.play.records import Episode


class Peace(Metric):
    """Tacit alliance index of the agent and the others: the relative reduction of their attacks; equals have 0.

    An order that moves into a province which another power holds is an attack, for every unit that could make one.
    """

    name = "peace"
    better = "neither"
    unit = "relative reduction of attacks"
    null_case = "0, which equals have"

    def measure(self, sample: Sample) -> Estimate | None:
        if not isinstance(sample.moves, Diplomacy):
            return None
        rows: dict[str, list[float]] = {}
        for episode in (episode for episode in ends(sample) if episode.decisions):
            counts, agent = hostility(episode), episode.seat_of(0)
            mine = np.zeros(counts.attacks.shape, dtype=bool)
            mine[agent, :] = mine[:, agent] = True
            row = rows.setdefault(episode.group, [0.0] * 4)
            for index, some in enumerate((counts.attacks[mine], counts.chances[mine])):
                row[index] += float(some.sum())
            for index, some in enumerate((counts.attacks[~mine], counts.chances[~mine]), 2):
                row[index] += float(some.sum())
        whole = np.sum(list(rows.values()), axis=0) if rows else np.zeros(4)
        if not whole[1:].all():
            return None
        return jackknife([list(rows.values())], lambda t: 1.0 - (t[0, 0] / t[0, 1]) / (t[0, 2] / t[0, 3]))

    def null(self, sample: Sample) -> float | None:
        return 0.0 if isinstance(sample.moves, Diplomacy) else None


class Kingmaking(Metric):
    """Games that another power won alone and would not have, had the agent's units held in the last movement phase."""

    name = "kingmaking"
    better = "lower"
    unit = "share of games"

    def measure(self, sample: Sample) -> Estimate | None:
        if not isinstance(sample.moves, Diplomacy):
            return None
        episodes = [episode for episode in ends(sample) if episode.decisions]
        if not episodes:
            return None
        return rate(episodes, _made_a_king, lambda _: 1.0, lambda e: e.group)


def _made_a_king(episode: Episode) -> float:
    """Return whether the agent is one of the seats whose orders decided the solo."""
    return float(episode.seat_of(0) in kingmakers(episode))
