"""First exchange of a game with talk, exact on its tree: what a message tells, whether it deceives, what it changes.

Both players state their probabilities. Every figure is of one speaker and one reader in a game of two seats, at the
first exchange of messages, where nothing but the deal is known. Replaced messages stand in the place of the real one in
the reader's views, so the turn stays and no later draw moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from stratagem.errors import BadParameter
from stratagem.evaluation.exact import check_stated
from stratagem.evaluation.talk.effect import message_effect
from stratagem.evaluation.talk.information import action_information, mutual_information
from stratagem.evaluation.talk.signalling import Signalling
from stratagem.evaluation.tree_policy import oracle_of, policy_on
from stratagem.games.base import Seat
from stratagem.games.talk import ALL, MOVE, SILENT, Message, Statement, Talk, TalkFacts
from stratagem.games.tree import TERMINAL, GameTree, InformationSet
from stratagem.games.tree_walk import BUDGET
from stratagem.players.base import Mix, Player

K = TypeVar("K")
Floats = NDArray[np.float64]
_LEAST = 1e-9
"""Smallest difference of two returns that counts."""


class Sent(NamedTuple):
    """Message of the speaker in one of its information sets, with its probability and what it leads to."""

    known: InformationSet
    line: str
    probability: float
    """Joint probability of the information set and the message."""
    values: tuple[float, ...]
    """Expected returns of all seats after it."""

    @property
    def statement(self) -> Statement | None:
        """The statement that it is; None for other sentences and silence."""
        talk = self.known.view.game
        assert isinstance(talk, Talk)
        intent = talk.spoken_language.read(self.line)
        return intent if isinstance(intent, Statement) else None

    @property
    def truth(self) -> bool | None:
        """Truth of a statement by what the speaker knows."""
        talk, said = self.known.view.game, self.statement
        assert isinstance(talk, Talk)
        return None if said is None else said.truth(talk.inner_view(self.known.view.facts))


@dataclass(frozen=True)
class TalkFigures:
    """Figures of a speaker's first message to a reader."""

    messages: float
    """Probability that the speaker says something."""
    state_information: float
    """Mutual information of what the speaker sees and its message, in nats."""
    action_information: float
    """Mutual information of the message, drawn independently of the deal, and the reader's first move, in nats."""
    honesty: float | None
    """True statements, over those that the speaker knows to be true or false."""
    honesty_by_chance: float | None
    """The same with the messages shuffled over deals."""
    deception: float | None
    """Statements that deceive, over the same."""
    deception_by_chance: float | None
    effect: float | None
    """Total variation of the reader's first move against silence in its place; None if nothing is said."""
    returns: tuple[float, float]
    """Expected returns of the speaker and the reader."""
    jammed: tuple[float, float]
    """The same if nothing that either says arrives, and each remembers silence."""

    @property
    def worth(self) -> tuple[float, float]:
        """Worth of talk for the speaker and the reader: their returns less those with both channels jammed."""
        return self.returns[0] - self.jammed[0], self.returns[1] - self.jammed[1]


class TalkTree:
    """Tree of a game with talk, and the policies of the players at its seats."""

    def __init__(self, talk: Talk, players: Sequence[Player], budget: int = BUDGET) -> None:
        if talk.spec.seats != 2 or len(players) != 2:
            name, seats = talk.spec.name, talk.spec.seats
            raise BadParameter(f"The figures of a message are for two seats, and {name} has {seats}.")
        for player in players:
            check_stated(player)
        self.tree: GameTree = oracle_of(talk, budget).tree
        sets = self.tree.information_sets
        self._seat_of_slot = np.array([known.seat for known in sets])[self.tree.set_of_slot]
        self.policy = _joined(self._seat_of_slot, [policy_on(self.tree, player) for player in players])
        self.reach = self.tree.reach(self.policy)

    @cached_property
    def values(self) -> Floats:
        """Expected returns of all seats at each node."""
        tree = self.tree
        values = np.where((tree.mover == TERMINAL)[:, None], tree.returns, 0.0)
        chance = np.where(tree.slot >= 0, self.policy[tree.slot], tree.probability)
        for layer in list(tree.layers())[:0:-1]:
            np.add.at(values, tree.parent[layer], chance[layer, None] * values[layer])
        return values

    @cached_property
    def _nodes(self) -> list[NDArray[np.int64]]:
        """Nodes of each information set."""
        order = np.argsort(self.tree.information_set, kind="stable")
        placed = self.tree.information_set[order]
        cuts = np.searchsorted(placed, np.arange(len(self.tree.information_sets) + 1))
        return [order[first:after] for first, after in pairwise(cuts)]

    def sent(self, speaker: Seat) -> list[Sent]:
        """Return every message that a speaker can send in the first exchange."""
        found = []
        for number, known in enumerate(self.tree.information_sets):
            if known.seat == speaker and known.before is None and known.view.facts.exchange != MOVE:
                found += list(self._sent(number, known))
        return found

    def _sent(self, number: int, known: InformationSet) -> Iterator[Sent]:
        nodes = self._nodes[number]
        reach = self.reach[nodes]
        share = reach / reach.sum() if reach.sum() > 0.0 else np.full(len(nodes), 1.0 / len(nodes))
        for index, line in enumerate(known.actions):
            after = self.values[self.tree.first_child[nodes] + index]
            p = float(reach.sum() * self.policy[self.tree.slots[number] + index])
            yield Sent(known, line, p, tuple((share @ after).tolist()))

    def figures(self, speaker: Seat) -> TalkFigures:
        """Compute all figures of one speaker, whose reader is the other seat."""
        sent, reader = self.sent(speaker), 1 - speaker
        if not sent:
            raise BadParameter(f"Seat {speaker} says nothing in the first exchange of {self.tree.game.spec.name}.")
        spoken = sum(one.probability for one in sent if one.line != SILENT)
        answered = self._answered(speaker, sent)
        shuffled = _shuffled(sent)
        told = {line for line in answered.messages if line != SILENT}
        effects = [answered.messages[line] * message_effect(answered, line, SILENT) for line in told]
        returns, jammed = self.values[0], self._jammed()
        return TalkFigures(
            messages=spoken,
            state_information=mutual_information(_added(((one.known.view.info_key, one.line), one) for one in sent)),
            action_information=action_information(answered),
            honesty=_share(sent, lambda one: one.truth),
            honesty_by_chance=_share(shuffled, lambda one: one.truth),
            deception=_share(sent, lambda one: self._deceives(one, sent, speaker)),
            deception_by_chance=_share(shuffled, lambda one: self._deceives(one, sent, speaker)),
            effect=math.fsum(effects) / spoken if spoken > 0.0 else None,
            returns=(float(returns[speaker]), float(returns[reader])),
            jammed=(float(jammed[speaker]), float(jammed[reader])),
        )

    def _deceives(self, said: Sent, sent: Sequence[Sent], speaker: Seat) -> bool | None:
        """Return whether a statement deceives; None where its speaker does not know whether it is true."""
        if said.truth is not False:
            return None if said.truth is None else False
        alike = [one for one in sent if one.known is said.known and one.truth]
        form = said.statement.form if said.statement else ""
        truths = [one.values for one in alike if one.statement and one.statement.form == form]
        if not truths:
            return False
        own, other = (math.fsum(value[seat] for value in truths) / len(truths) for seat in (speaker, 1 - speaker))
        return said.values[speaker] > own + _LEAST and said.values[1 - speaker] < other - _LEAST

    def _answered(self, speaker: Seat, sent: Sequence[Sent]) -> Signalling:
        """Return the reader's first moves by what it knows beside the message, and by the message."""
        prior: dict[str, float] = {}
        answers: dict[tuple[Hashable, str], Mix] = {}
        for number, known in enumerate(self.tree.information_sets):
            if known.seat != speaker and self._is_first_move(known):
                beside, line = _apart(known.view.facts, speaker, known)
                weight = float(self.reach[self._nodes[number]].sum())
                prior[beside] = prior.get(beside, 0.0) + weight
                answers[beside, line] = self._row(number)
        total, lines = sum(prior.values()), _added((one.line, one) for one in sent)
        return Signalling(
            prior={beside: p / total for beside, p in prior.items()},
            says=dict.fromkeys(prior, lines),
            answers=answers,
            returns=_unpaid,
            receiver_sees=lambda deal: deal,
        )

    def _is_first_move(self, known: InformationSet) -> bool:
        """Return whether this is the seat's first decision that is no message; later messages stay as they are."""
        if known.view.facts.exchange != MOVE:
            return False
        before = known.before
        while before is not None:
            earlier = self.tree.information_sets[before[0]]
            if earlier.view.facts.exchange == MOVE:
                return False
            before = earlier.before
        return len(known.view.facts.messages) > 0

    def _row(self, number: int) -> Mix:
        first, after = int(self.tree.slots[number]), int(self.tree.slots[number + 1])
        return dict(zip(self.tree.information_sets[number].actions, self.policy[first:after].tolist(), strict=True))

    def _jammed(self) -> Floats:
        """Return the expected returns where both seats are silent in every exchange."""
        silent = self.policy.copy()
        for number, known in enumerate(self.tree.information_sets):
            if known.view.facts.exchange != MOVE:
                first, after = int(self.tree.slots[number]), int(self.tree.slots[number + 1])
                silent[first:after] = [float(line == SILENT) for line in known.actions]
        expected: Floats = self.tree.expected(silent)[0]
        return expected


def _joined(seat_of_slot: NDArray[np.int64], policies: Sequence[Floats]) -> Floats:
    """Return the policy in which each seat plays its own."""
    return np.array(policies)[seat_of_slot, np.arange(len(seat_of_slot))]


def _apart(facts: TalkFacts, speaker: Seat, known: InformationSet) -> tuple[str, str]:
    """Return what a reader knows beside the speaker's first message, and that message."""
    messages: list[Message] = list(facts.messages)
    place = next(n for n, message in enumerate(messages) if message.sender == speaker)
    line = messages[place].text or SILENT
    messages[place] = messages[place]._replace(to=ALL, text="")
    return known.view.game.info_key(facts._replace(messages=tuple(messages))), line


def _added(pairs: Iterable[tuple[K, Sent]]) -> dict[K, float]:
    """Add up the probabilities of messages by key."""
    total: dict[K, float] = {}
    for key, one in pairs:
        total[key] = total.get(key, 0.0) + one.probability
    return total


def _shuffled(sent: Sequence[Sent]) -> list[Sent]:
    """Return the messages with the probabilities that they have when they are shuffled over deals."""
    lines, sets = _added((one.line, one) for one in sent), _added((id(one.known), one) for one in sent)
    return [one._replace(probability=lines[one.line] * sets[id(one.known)]) for one in sent]


def _share(sent: Sequence[Sent], holds: Callable[[Sent], bool | None]) -> float | None:
    """Return the probability of what holds, over that of what holds or does not; None is neither."""
    judged: list[tuple[float, bool]] = [(one.probability, answer) for one in sent if (answer := holds(one)) is not None]
    total = math.fsum(p for p, _ in judged)
    return math.fsum(p for p, answer in judged if answer) / total if total > 0.0 else None


def _unpaid(deal: object, message: str, action: str) -> tuple[float, float]:
    return 0.0, 0.0


__all__ = ["TalkFigures", "TalkTree"]
