"""Game with talk of two seats as a tree, with the policies of its players, and what each would do after silence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.errors import BadParameter
from stratagem.evaluation.exact import check_stated
from stratagem.evaluation.prompts import prompts_of
from stratagem.evaluation.tree_policy import oracle_of, policy_on
from stratagem.games.base import Seat
from stratagem.games.talk import MOVE, SILENT, Statement, Talk, TalkFacts, talk_in
from stratagem.games.tree import TERMINAL, GameTree, InformationSet
from stratagem.games.tree_walk import BUDGET
from stratagem.players.base import Mix, Player

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Sent(NamedTuple):
    """Message of the speaker in one of its information sets, with its probability and what it leads to."""

    known: InformationSet
    line: str
    probability: float
    """Joint probability of the information set and the message."""
    values: tuple[float, ...]
    """Expected returns of all seats after it."""
    after_silence: tuple[float, ...] = ()
    """Expected returns of all seats after silence in its place, to which all seats respond."""
    history: int = 0
    """Number of the public history before it."""

    @property
    def statement(self) -> Statement | None:
        """The statement that it is; None for other sentences and silence."""
        talk = talk_in(self.known.view.game)
        assert talk is not None
        intent = talk.spoken_language.read(self.line)
        return intent if isinstance(intent, Statement) else None

    @property
    def truth(self) -> bool | None:
        """Truth of a statement by what the speaker knows."""
        talk, said = talk_in(self.known.view.game), self.statement
        assert talk is not None
        return None if said is None else said.truth(talk.inner_view(self.known.view.facts))


class TalkTree:
    """Tree of a game with talk, and the policies of the players at its seats."""

    def __init__(self, talk: Talk, players: Sequence[Player], budget: int = BUDGET) -> None:
        if talk.spec.seats != 2 or len(players) != 2:
            name, seats = talk.spec.name, talk.spec.seats
            raise BadParameter(
                f"The exact figures of a message are for two seats, and {name} has {seats}: give `episodes` to measure "
                "by play."
            )
        for player in players:
            check_stated(player)
        self.talk = talk
        self.tree: GameTree = oracle_of(talk, budget, one_round=False).tree
        self.sets = self.tree.information_sets
        self._seat_of_slot = np.array([known.seat for known in self.sets])[self.tree.set_of_slot]
        shown = [[known.view for known in self.sets if known.seat == seat] for seat in range(2)]
        self.prompts = [prompts_of(player, views) for player, views in zip(players, shown, strict=True)]
        """Digest of the prompts of each seat; None of a player that reads no words."""
        self.policy = _joined(self._seat_of_slot, [policy_on(self.tree, player) for player in players])
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
        return np.array([known.view.facts.exchange != MOVE for known in self.sets])

    def row(self, number: int, policy: Floats | None = None) -> Mix:
        """Return the policy at an information set."""
        first, after = int(self.tree.slots[number]), int(self.tree.slots[number + 1])
        shares = (self.policy if policy is None else policy)[first:after].tolist()
        return dict(zip(self.sets[number].actions, shares, strict=True))

    @cached_property
    def _by_view(self) -> dict[tuple[Seat, str], int]:
        return {(known.seat, known.view.info_key): number for number, known in enumerate(self.sets)}

    def silenced(self, number: int, places: Sequence[int]) -> int:
        """Return the information set in which silence stands in the places of some messages; itself where none does."""
        known = self.sets[number]
        key = self.talk.info_key(quieted(known.view.facts, places))
        return self._by_view[known.seat, key]

    def copied(self, twins: dict[int, int]) -> Floats:
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
            silent[first:after] = [float(line == SILENT) for line in self.sets[number].actions]
        expected: Floats = self.tree.expected(silent)[0]
        return expected

    def deaf(self, reader: Seat) -> Floats:
        """Return the expected returns where a reader hears nothing of what the other seat says, which remembers it."""
        twins = {
            number: self.silenced(number, _places_of(known.view.facts, 1 - reader))
            for number, known in enumerate(self.sets)
            if known.seat == reader
        }
        expected: Floats = self.tree.expected(self.copied(twins))[0]
        return expected


def quieted(facts: TalkFacts, places: Sequence[int]) -> TalkFacts:
    """Put silence in the places of some messages, in a game where every seat reads all."""
    messages = tuple(m._replace(text="") if place in places else m for place, m in enumerate(facts.messages))
    return facts._replace(messages=messages)


def _places_of(facts: TalkFacts, sender: Seat) -> list[int]:
    return [place for place, message in enumerate(facts.messages) if message.sender == sender]


def _joined(seat_of_slot: Ints, policies: Sequence[Floats]) -> Floats:
    """Return the policy in which each seat plays its own."""
    return np.array(policies)[seat_of_slot, np.arange(len(seat_of_slot))]
