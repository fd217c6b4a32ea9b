"""Who keeps the peace with whom in Diplomacy, and who decides that somebody else wins."""

from __future__ import annotations

import numpy as np

from stratagem.evaluation.hostility import hostility
from stratagem.evaluation.kingmaking import kingmakers
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.metrics.standing import ends
from stratagem.evaluation.statistics import Estimate, jackknife, rate
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.play.records import Episode


class Peace(Metric):
    """By what share less the hero and the others attack each other than the others do among themselves; equals have 0.

    An order that moves into a province which another power holds is an attack, for every unit that could make one.
    """

    name = "peace"
    better = "neither"
    null_case = "0, which equals have"

    def measure(self, sample: Sample) -> Estimate | None:
        if not isinstance(sample.game, Diplomacy):
            return None
        rows: dict[str, list[float]] = {}
        for episode in (episode for episode in ends(sample) if episode.decisions):
            counts, hero = hostility(episode), episode.seat_of(0)
            mine = np.zeros(counts.attacks.shape, dtype=bool)
            mine[hero, :] = mine[:, hero] = True
            row = rows.setdefault(episode.group, [0.0] * 4)
            for place, some in enumerate((counts.attacks[mine], counts.chances[mine])):
                row[place] += float(some.sum())
            for place, some in enumerate((counts.attacks[~mine], counts.chances[~mine]), 2):
                row[place] += float(some.sum())
        whole = np.sum(list(rows.values()), axis=0) if rows else np.zeros(4)
        if not whole[1:].all():
            return None
        return jackknife([list(rows.values())], lambda t: 1.0 - (t[0, 0] / t[0, 1]) / (t[0, 2] / t[0, 3]))

    def null(self, sample: Sample) -> float | None:
        return 0.0 if isinstance(sample.game, Diplomacy) else None


class Kingmaking(Metric):
    """Games that another power won alone and would not have, had the hero's units held in the last movement phase."""

    name = "kingmaking"
    better = "lower"
    unit = "share of games"

    def measure(self, sample: Sample) -> Estimate | None:
        if not isinstance(sample.game, Diplomacy):
            return None
        episodes = [episode for episode in ends(sample) if episode.decisions]
        if not episodes:
            return None
        return rate(episodes, _made_a_king, lambda _: 1.0, lambda e: e.group)


def _made_a_king(episode: Episode) -> float:
    """Whether the hero is one of those whose orders the solo hung on."""
    return float(episode.seat_of(0) in kingmakers(episode))
