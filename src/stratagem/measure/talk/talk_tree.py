"""Game of two seats that speak as a tree, with the policies of its players, and what each would do after silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter
from stratagem.games.abilities import silence_at
from stratagem.games.base import Game, Seat, View
from stratagem.games.talk import Intent, Statement
from stratagem.games.tree import TERMINAL, GameTree
from stratagem.games.tree_sets import InformationSet
from stratagem.games.tree_walk import BUDGET
from stratagem.measure.exploitability.exact import check_stated
from stratagem.measure.prompts import prompts_of
from stratagem.measure.talk.channels import channel_of
from stratagem.measure.talk.source import Utterance
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.base import Mix, Player

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SpeakerMessage:
    """Message of the speaker in one of its information sets, with its probability and what it leads to."""

    known: InformationSet
    line: str
    probability: float
    """Joint probability of the information set and the message."""
    values: tuple[float, ...]
    """Expected returns of all seats after it."""
    after_silence: tuple[float, ...]
    """Expected returns of all seats after silence in its place, to which all seats respond."""
    public: int
    """Number of the public history before it."""
    intent: Intent | None
    """Sentence that it is; None where it has no meaning."""
    view: View[Any]
    """View of the speaker without the messages."""

    @property
    def text(self) -> str:
        """The message; empty for silence."""
        return "" if self.line == silence_at(self.known.view) else self.line

    @property
    def truth(self) -> bool | None:
        """Truth of a statement by what the speaker knows."""
        return self.truth_at(self)

    def truth_at(self, other: Utterance) -> bool | None:
        """Return the truth that it would have in the place of another message."""
        assert isinstance(other, SpeakerMessage)
        return self.intent.truth(other.view) if isinstance(self.intent, Statement) else None


class TalkTree:
    """Tree of a game in which seats speak, and the policies of the players at its seats."""

    def __init__(self, game: Game[Any], players: Sequence[Player], budget: int = BUDGET) -> None:
        self.channel = channel_of(game, "A talk tree")
        if game.spec.seats != 2 or len(players) != 2:
            name, seats = game.spec.name, game.spec.seats
            raise BadParameter(
                f"The exact figures of a message are for two seats, and {name} has {seats}: give `episodes` to measure "
                "by play."
            )
        for player in players:
            check_stated(player)
        self.game = game
        self.tree: GameTree = oracle_of(game, budget, one_round=False).tree
        self.sets = self.tree.information_sets
        self._seat_of_slot = np.array([known.seat for known in self.sets])[self.tree.set_of_slot]
        shown = [[known.view for known in self.sets if known.seat == seat] for seat in range(2)]
        self.prompts = [prompts_of(player, views) for player, views in zip(players, shown, strict=True)]
        """Digest of the prompts of each seat; None of a player that reads no words."""
        self.policy = _join_policies(self._seat_of_slot, [policy_on(self.tree, player) for player in players])
        self.reach = self.tree.reach(self.policy)

    @cached_property
    def values(self) -> Floats:
        """Expected returns of all seats at each node."""
        return self.values_of(self.policy)

    def values_of(self, policy: Floats) -> Floats:
        """Return the expected returns of all seats at each node under a policy."""
        tree = self.tree
        values = np.where((tree.mover == TERMINAL)[:, None], tree.returns, 0.0)
        chance = self.steps(policy)
        for layer in list(tree.layers())[:0:-1]:
            np.add.at(values, tree.parent[layer], chance[layer, None] * values[layer])
        return values

    def steps(self, policy: Floats) -> Floats:
        """Return the probability of each node after its parent."""
        return np.where(self.tree.slot >= 0, policy[self.tree.slot], self.tree.probability)

    @cached_property
    def nodes(self) -> list[Ints]:
        """Nodes of each information set."""
        order = np.argsort(self.tree.information_set, kind="stable")
        placed = self.tree.information_set[order]
        cuts = np.searchsorted(placed, np.arange(len(self.sets) + 1))
        return [order[first:after] for first, after in pairwise(cuts)]

    @cached_property
    def talks(self) -> NDArray[np.bool_]:
        """By information set, whether its seat sends a message there."""
        return np.array([silence_at(known.view) is not None for known in self.sets])

    def row(self, number: int, policy: Floats | None = None) -> Mix:
        """Return the policy at an information set."""
        first, after = int(self.tree.slots[number]), int(self.tree.slots[number + 1])
        shares = (self.policy if policy is None else policy)[first:after].tolist()
        return dict(zip(self.sets[number].actions, shares, strict=True))

    @cached_property
    def _by_view(self) -> dict[tuple[Seat, str], int]:
        return {(known.seat, known.view.info_key): number for number, known in enumerate(self.sets)}

    def silence_places(self, number: int, places: Sequence[int]) -> int:
        """Return the information set in which silence stands in the places of some messages; itself where none does."""
        return self._by_view[self.sets[number].seat, self.key_without(number, places)]

    def key_without(self, number: int, places: Sequence[int]) -> str:
        """Return the key of an information set with silence in the places of some messages."""
        return self.game.info_key(self.channel.quiet_messages(self.sets[number].view.facts, places))

    def copy_policy(self, twins: dict[int, int]) -> Floats:
        """Return the policy that plays at some information sets as it does at others."""
        policy, slots = self.policy.copy(), self.tree.slots
        for number, twin in twins.items():
            policy[slots[number] : slots[number + 1]] = self.policy[slots[twin] : slots[twin + 1]]
        return policy

    @cached_property
    def jammed(self) -> Floats:
        """Expected returns where both seats are silent in every exchange."""
        silent = self.policy.copy()
        for number in map(int, np.flatnonzero(self.talks)):
            first, after = int(self.tree.slots[number]), int(self.tree.slots[number + 1])
            known = self.sets[number]
            silence = silence_at(known.view)
            silent[first:after] = [float(line == silence) for line in known.actions]
        expected: Floats = self.tree.expected_returns(silent)[0]
        return expected

    def deaf(self, reader: Seat) -> Floats:
        """Return the expected returns where a reader hears nothing of what the other seat says, which remembers it."""
        twins = {
            number: self.silence_places(number, self.channel.places(known.view.facts, 1 - reader))
            for number, known in enumerate(self.sets)
            if known.seat == reader
        }
        expected: Floats = self.tree.expected_returns(self.copy_policy(twins))[0]
        return expected


def _join_policies(seat_of_slot: Ints, policies: Sequence[Floats]) -> Floats:
    """Return the policy in which each seat plays its own."""
    return np.array(policies)[seat_of_slot, np.arange(len(seat_of_slot))]
