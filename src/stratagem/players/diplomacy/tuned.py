"""DumbBot with tuned weights: an approximate best response to DumbBot, by an evolution strategy against six of it.

The weights are those after `python experiments/tune_dumbbot.py FOLDER --generations 23`, seed 0. What the player gets
against other bots stands on the page of results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stratagem.games.diplomacy.graph import Node
from stratagem.players.diplomacy.appraisal import Appraisal, AppraisalWeights
from stratagem.players.diplomacy.base import Dice
from stratagem.players.diplomacy.dumbbot import DumbBot, stray_pick

STRAYS = 4
"""Percentage of the next best candidate; DumbBot's is 50."""
TUNED: Mapping[str, AppraisalWeights] = {
    "S": AppraisalWeights(
        attack=168,
        vacant=4617,
        defence=70,
        proximity=(6261, 1216, 567, 76, 46, 38, 31, 23, 15, 8),
        strength=9118,
        competition=174,
        guard=0,
    ),
    "F": AppraisalWeights(
        attack=112,
        vacant=5585,
        defence=583,
        proximity=(90440, 932, 533, 6, 3, 3, 2, 2, 1, 1),
        strength=26161,
        competition=8263,
        guard=0,
    ),
    "W": AppraisalWeights(
        attack=1156,
        vacant=8472,
        defence=687,
        proximity=(11481, 7640, 413, 138, 83, 69, 55, 41, 28, 14),
        strength=0,
        competition=0,
        guard=1858,
    ),
}
"""Weights by season; only their ratios within a season matter."""


def picked_seldom(candidates: Sequence[Node], values: Mapping[Node, float], dice: Dice) -> Node:
    """Pick as DumbBot does, but stray less often."""
    return stray_pick(candidates, values, dice, STRAYS)


class TunedAppraisal(Appraisal):
    """Values of a board for one power, by the tuned weights."""

    seasons = TUNED


@dataclass(frozen=True)
class DumbBotTuned(DumbBot):
    """DumbBot whose weights are an approximate best response to six DumbBots.

    Against other players it is another bot and not a better one. It goes for foreign centres where no rival stands,
    defends little in spring, and hardly strays.
    """

    called = "dumbbot-tuned"
    appraisal = TunedAppraisal
    pick = staticmethod(picked_seldom)
    strays = STRAYS
