"""Player whose probabilities are the shares of its replies, for best responses to players that state none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stratagem.base.errors import CannotCompute
from stratagem.games.base import View
from stratagem.games.key import Key
from stratagem.games.tree import GameTree
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.measure.sampled.questions import Floats, questions_of
from stratagem.measure.sampled.tally import frequencies
from stratagem.players.base import Ask, Mix, Player, Traits, Turn
from stratagem.players.members import WrapperPlayer


@dataclass(frozen=True)
class CountingPlayer(WrapperPlayer):
    """Another player, of whose replies the same number is counted in each situation of a tree.

    The exploitability of these shares is biased upwards, the more the fewer replies there are.
    """

    player: Player
    replies: int
    """Number of replies in each situation."""
    key: Key
    _known: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)
    """Shares by the digest of the tree; nobody is asked about a tree twice."""

    @property
    def name(self) -> str:
        return self.player.name

    @property
    def traits(self) -> Traits:
        return replace(self.player.traits, exact=True)

    def turn(self, ask: Ask) -> Turn:
        return self.player.turn(ask)

    def policy(self, view: View[Any]) -> Mix:
        raise CannotCompute(f"{self.name} states no probabilities; those of a game tree can be counted.")

    def on_tree(self, tree: GameTree) -> Floats:
        """Return the shares of the actions by slot of a tree."""
        if tree.digest not in self._known:
            questions = questions_of(tree, self.player)
            tally = ReplyAsker(self.player, questions, self.key)(np.full(len(questions), self.replies))
            self._known[tree.digest] = frequencies(questions, tally.counts)[questions.in_tree]
        return self._known[tree.digest]


def stating(player: Player, replies: int, key: Key) -> Player:
    """Return a player that states its probabilities: itself, or with `replies` one whose replies are counted."""
    return player if player.traits.exact or not replies else CountingPlayer(player, replies, key)
