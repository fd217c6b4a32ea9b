"""One exchange of messages on the tree of a game: what is said, the public history before it, and what it binds."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter
from stratagem.games.abilities import silence_at
from stratagem.games.base import Seat
from stratagem.games.talk import Promise
from stratagem.games.talk.language import Kind
from stratagem.games.tree import TERMINAL
from stratagem.measure.talk.source import Commitment
from stratagem.measure.talk.talk_tree import Floats, Ints, SpeakerMessage, TalkTree
from stratagem.players.base import Mix

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Binding:
    """Information set whose decision a promise, or a request, binds."""

    exchange: Exchange
    intent: Promise
    number: int
    """Number of the information set."""
    weight: float
    """Probability that it is reached and bound."""
    public: int
    """Number of the public history before the message."""

    def kept_at(self, other: Commitment) -> float | None:
        """Return the probability that the decision of another one keeps this one."""
        assert isinstance(other, Binding)
        return self.exchange.keeping_probability(other.number, self.intent)

    @property
    def kept_after_silence(self) -> float | None:
        """Probability of keeping with silence in its place."""
        row = self.exchange.table.row(self.exchange.unheard_set(self.number))
        return self.exchange.keeping_probability(self.number, self.intent, row)


class Exchange:
    """Messages of a speaker in one of its exchanges, numbered from 0, and the positions after each of them."""

    def __init__(self, table: TalkTree, speaker: Seat, number: int = 0) -> None:
        self.table = table
        self.speaker, self.reader = speaker, 1 - speaker
        places = {n: self._earlier(n) for n, known in enumerate(table.sets) if known.seat == speaker}
        self.numbers = [n for n, place in places.items() if place == number]
        if not self.numbers:
            count = max(places.values(), default=-1) + 1
            which = f"exchange {number + 1}" if number else "the first exchange"
            last = f": its last one is exchange {count}" if count else ""
            raise BadParameter(f"Seat {speaker} says nothing in {which} of {table.game.spec.name}{last}.")
        self._spoken = np.zeros(len(table.sets), dtype=bool)
        self._spoken[self.numbers] = True
        self._follow()

    def _earlier(self, number: int) -> int:
        """Return the number of exchanges in which the seat spoke before it does here; -1 where it moves."""
        sets, talks = self.table.sets, self.table.talks
        if not talks[number]:
            return -1
        before, count = sets[number].before, 0
        while before is not None:
            count += bool(talks[before[0]])
            before = sets[before[0]].before
        return count

    def _follow(self) -> None:
        """Carry each message down to the nodes after it, with their probabilities since."""
        tree, steps = self.table.tree, self.table.steps(self.table.policy)
        self.said: Ints = np.full(len(tree), -1, dtype=np.int64)
        self.start: Ints = np.full(len(tree), -1, dtype=np.int64)
        self.since: Floats = np.zeros(len(tree))
        for layer in list(tree.layers())[1:]:
            parent, place = tree.parent[layer], np.arange(layer.start, layer.stop)
            spoken = self._at(self._spoken, parent)
            self.said[layer] = np.where(spoken, tree.slot[layer], self.said[parent])
            self.start[layer] = np.where(spoken, place, self.start[parent])
            self.since[layer] = np.where(spoken, 1.0, self.since[parent] * steps[layer])

    def _at(self, by_set: Bools, nodes: Ints) -> Bools:
        """Return what holds at the information sets of some nodes."""
        number = self.table.tree.information_set[nodes]
        found: Bools = (number >= 0) & by_set[number]
        return found

    def line(self, slot: int) -> str:
        """Return the line of a message by its slot."""
        tree = self.table.tree
        number = int(tree.set_of_slot[slot])
        return self.table.sets[number].actions[slot - int(tree.slots[number])]

    def place(self, slot: int) -> int:
        """Return the number of messages that the position remembers before this one."""
        state = self.table.sets[int(self.table.tree.set_of_slot[slot])].state
        return self.table.channel.place(state, self.speaker)

    def remembers(self, number: int) -> bool:
        """Return whether an information set after a message still shows it."""
        slot = int(self.said[self.table.nodes[number][0]])
        if slot < 0:
            return False
        spoken = self.table.sets[int(self.table.tree.set_of_slot[slot])].state
        return self.table.channel.remembers(spoken, self.table.sets[number].state)

    def unheard_set(self, number: int) -> int:
        """Return the information set that has silence in the place of the message."""
        if not self.remembers(number):
            return number
        return self.table.silence_places(number, [self.place(int(self.said[self.table.nodes[number][0]]))])

    @cached_property
    def histories(self) -> dict[int, int]:
        """Number of the public history before each of the speaker's information sets."""
        known: dict[Hashable, int] = {}
        return {number: known.setdefault(self._history(number), len(known)) for number in self.numbers}

    def _history(self, number: int) -> Hashable:
        """Return what was said and done before, without what is chosen now; chance is no part of it."""
        state = self.table.sets[number].state
        pending = state.to_act.index(self.speaker)
        paths = {self._path(int(node))[pending:] for node in self.table.nodes[number]}
        return self.table.channel.messages_said(state), min(paths) if len(paths) == 1 else ()

    def _path(self, node: int) -> tuple[tuple[int, int], ...]:
        """Return the seats and choices that lead to a node, the last one first."""
        tree, path = self.table.tree, []
        while node:
            above = int(tree.parent[node])
            if tree.mover[above] >= 0:
                path.append((int(tree.mover[above]), int(tree.choice[node])))
            node = above
        return tuple(path)

    @cached_property
    def sent(self) -> list[SpeakerMessage]:
        """Every message that the speaker can send in this exchange."""
        return [sent for number in self.numbers for sent in self._sendable_messages(number)]

    def _sendable_messages(self, number: int) -> Iterator[SpeakerMessage]:
        table, known, nodes = self.table, self.table.sets[number], self.table.nodes[number]
        reach = table.reach[nodes]
        share = reach / reach.sum() if reach.sum() > 0.0 else np.full(len(nodes), 1.0 / len(nodes))
        after = [
            tuple((share @ table.values[table.tree.first_child[nodes] + index]).tolist())
            for index in range(len(known.actions))
        ]
        silence = after[known.actions.index(silence_at(known.view))]
        view = table.channel.inner_view(known.view.facts)
        for index, line in enumerate(known.actions):
            p = float(reach.sum() * table.policy[table.tree.slots[number] + index])
            intent = table.channel.read(line)
            yield SpeakerMessage(known, line, p, after[index], silence, self.histories[number], intent, view)

    def first_moves(self, seat: Seat) -> Ints:
        """Return by node the slot of a seat's first move after the message; -1 before it."""
        tree = self.table.tree
        moves = np.array([known.seat == seat for known in self.table.sets]) & ~self.table.talks
        first: Ints = np.full(len(tree), -1, dtype=np.int64)
        for layer in list(tree.layers())[1:]:
            parent = tree.parent[layer]
            now = (self.said[parent] >= 0) & (first[parent] < 0) & self._at(moves, parent)
            first[layer] = np.where(now, tree.slot[layer], first[parent])
        return first

    def answers(self) -> Iterator[int]:
        """Yield the information sets of the reader's first move after the message."""
        first = self.first_moves(self.reader)
        for number, known in enumerate(self.table.sets):
            node = int(self.table.nodes[number][0])
            if known.seat == self.reader and not self.table.talks[number] and self.said[node] >= 0 and first[node] < 0:
                yield number

    def history_of(self, number: int) -> int:
        """Return the number of the public history before the message that an information set comes after."""
        slot = int(self.said[self.table.nodes[number][0]])
        return self.histories[int(self.table.tree.set_of_slot[slot])]

    def bindings(self, kind: Kind) -> list[Binding]:
        """Return what the speaker's promises bind of its own, or its requests of the reader's decisions."""
        seat = self.speaker if kind == "move" else self.reader
        intents = {slot: self._bound_by(slot, kind) for slot in {*self.said.tolist()} - {-1}}
        bound = {n: self._intent_at(n, seat, intents) for n in range(len(self.table.sets))}
        over = np.array([intent is not None and self._ends(n, intent) for n, intent in bound.items()])
        settled = self._settled_nodes(over)
        found = []
        for number, intent in bound.items():
            node = self.table.nodes[number]
            if intent is not None and not settled[node[0]] and self.keeping_probability(number, intent) is not None:
                weight = float(self.table.reach[node].sum())
                found.append(Binding(self, intent, number, weight, self.history_of(number)))
        return found

    def _bound_by(self, slot: int, kind: Kind) -> Promise | None:
        intent = self.table.channel.read(self.line(slot))
        return intent if isinstance(intent, Promise) and intent.kind == kind else None

    def _intent_at(self, number: int, seat: Seat, intents: dict[int, Promise | None]) -> Promise | None:
        """Return the promise or request that may bind a decision."""
        slot = int(self.said[self.table.nodes[number][0]])
        mine = self.table.sets[number].seat == seat and not self.table.talks[number]
        return intents[slot] if slot >= 0 and mine and self.remembers(number) else None

    def _ends(self, number: int, intent: Promise) -> bool:
        facts = self.table.sets[number].view.facts
        return self.keeping_probability(number, intent) is not None or intent.lapses(
            self.table.channel.inner_view(facts)
        )

    def _settled_nodes(self, over: Bools) -> Bools:
        """Return by node whether what was said is settled before it."""
        tree = self.table.tree
        settled: Bools = np.zeros(len(tree), dtype=bool)
        for layer in list(tree.layers())[1:]:
            parent = tree.parent[layer]
            settled[layer] = settled[parent] | self._at(over, parent)
        return settled

    def keeping_probability(self, number: int, intent: Promise, row: Mix | None = None) -> float | None:
        """Return the probability of keeping a promise at an information set; None where its condition does not hold."""
        inner = self.table.channel.inner_view(self.table.sets[number].view.facts)
        mix = self.table.row(number) if row is None else row
        judged = [(p, intent.kept(inner, action)) for action, p in mix.items()]
        known = [(p, kept) for p, kept in judged if kept is not None]
        return sum(p for p, kept in known if kept) if known else None

    def occasions(self) -> dict[tuple[int, int], list[tuple[float, int]]]:
        """By information set and position, the probability of each node in it and the first node after it.

        What the other seat says at the same time is no part of a position: it is drawn, and responded to.
        """
        tree, found = self.table.tree, dict[tuple[int, int], list[tuple[float, int]]]()
        for number in self.numbers:
            state = self.table.sets[number].state
            for node in self.table.nodes[number]:
                position = int(node)
                for _ in range(state.to_act.index(self.speaker)):
                    position = int(tree.parent[position])
                row = float(self.table.reach[node]), int(tree.first_child[node])
                found.setdefault((number, position), []).append(row)
        return found

    @cached_property
    def plays(self) -> dict[int, dict[tuple[int, ...], float]]:
        """By node right after a message, the joint probability of both seats' first moves since.

        A move is named by its place among the actions, which are the same after every message.
        """
        tree = self.table.tree
        first = [self.first_moves(seat) for seat in (0, 1)]
        done = np.all([moves >= 0 for moves in first], axis=0)
        ends = (self.said >= 0) & np.where(done, ~done[tree.parent], tree.mover == TERMINAL)
        found: dict[int, dict[tuple[int, ...], float]] = {}
        for node in np.flatnonzero(ends):
            label = tuple(self._choice(int(moves[node])) for moves in first)
            plays = found.setdefault(int(self.start[node]), {})
            plays[label] = plays.get(label, 0.0) + float(self.since[node])
        return found

    def _choice(self, slot: int) -> int:
        return slot if slot < 0 else int(slot - self.table.tree.slots[self.table.tree.set_of_slot[slot]])
