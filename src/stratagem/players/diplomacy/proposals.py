"""Proposals of a power in the talk of one movement phase: what it has promised, and what it says next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from stratagem.games.base import Seat, View
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import Node, province
from stratagem.games.talk import SILENT, Intent, Promise, Talk, TalkFacts
from stratagem.games.talk.diplomacy import AsksSupport, Peace, Supports, holders_of, options_of
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.pledged import Pledge


class AddressedSentence(NamedTuple):
    """Sentence for one seat."""

    to: Seat
    text: str


class Negotiation:
    """Talk of one movement phase, as one power has heard it; what it says follows from that and from its values."""

    def __init__(self, talk: Talk, facts: TalkFacts, appraisal: type[Appraisal]) -> None:
        game, inner = talk.game, facts.inner
        assert isinstance(game, Diplomacy)
        assert isinstance(inner, DiplomacyFacts)
        self.talk, self.facts, self.game = talk, facts, game
        self.board, self.power = inner.board, inner.power
        self.view: View[DiplomacyFacts] = talk.inner_view(facts)
        self.eyes = appraisal(game.map, game.centers, inner.board, inner.power)

    @cached_property
    def values(self) -> dict[Node, float]:
        """Present value of each node."""
        return self.eyes.values()

    @cached_property
    def heard(self) -> list[tuple[Seat, Intent]]:
        """Sentences of this phase, with the seats that said them."""
        read = ((m.sender, self.talk.spoken_language.read(m.text)) for m in self.facts.of_round if m.text)
        return [(sender, intent) for sender, intent in read if intent is not None]

    @cached_property
    def promises(self) -> list[Promise]:
        """Promises of the power in this phase."""
        own = [intent for sender, intent in self.heard if sender == self.facts.seat]
        return [intent for intent in own if isinstance(intent, Promise) and intent.kind == "move"]

    def pledge(self, promises: Sequence[Promise]) -> Pledge:
        """Return what some promises forbid and demand."""
        return Pledge(promises, self.eyes, holders_of(self.board, self.game))

    def line(self) -> str:
        """Return the first line that can be said, or silence."""
        choices = self.talk.choices(self.facts)
        for to, text in self._sentences_wanted():
            line = f"{self.talk.naming.head(to)}{text}" if self.talk.addresses else text
            if line in choices:
                return line
        return SILENT

    def _sentences_wanted(self) -> Iterator[AddressedSentence]:
        """Yield what the power would say, the most important first."""
        yield from self._accepted_peace()
        yield from self._accepted_support()
        if not self._at_peace:
            neighbours = [other for other in self._others if self._threat(other)]
            yield from (self._peace(other) for other in sorted(neighbours, key=self._threat)[:1])
        yield from self._requests()

    @cached_property
    def _others(self) -> list[Seat]:
        return [seat for seat in range(len(self.game.powers)) if seat != self.facts.seat]

    @cached_property
    def _at_peace(self) -> set[str]:
        """Powers to which it has promised peace."""
        return {promise.power for promise in self.promises if isinstance(promise, Peace)}

    def _threat(self, other: Seat) -> int:
        return self.eyes.threat(self.game.powers[other])

    def _peace(self, other: Seat) -> AddressedSentence:
        return AddressedSentence(other, f"Peace with {self.game.powers[other]}")

    def _accepted_peace(self) -> Iterator[AddressedSentence]:
        """Yield peace with those that offered it, the least dangerous first."""
        offers = {seat for seat, intent in self.heard if isinstance(intent, Peace) and intent.power == self.power}
        for other in sorted(offers & set(self._others), key=lambda seat: (self._threat(seat), seat)):
            if self.game.powers[other] not in self._at_peace and self._fits(self._peace(other).text):
                yield self._peace(other)

    def _accepted_support(self) -> Iterator[AddressedSentence]:
        """Yield the support of those that have its peace and asked for it; one support a phase."""
        if any(isinstance(promise, Supports) for promise in self.promises):
            return
        for sender, intent in self.heard:
            if not isinstance(intent, AsksSupport) or sender == self.facts.seat:
                continue
            if intent.power == self.game.powers[sender] and intent.power in self._at_peace:
                text = f"I will support {intent.power} into {intent.province}"
                if self._fits(text):
                    yield AddressedSentence(sender, text)

    def _fits(self, text: str) -> bool:
        """Return whether a promise can be kept with those that were made."""
        promise = self.talk.spoken_language.read(text)
        made = [*self.promises, promise] if isinstance(promise, Promise) else self.promises
        return self.pledge(made).supports(self.values) is not None

    def _requests(self) -> Iterator[AddressedSentence]:
        """Yield requests for support where others could come too: the best place first, then the least dangerous."""
        asked = {intent.text for sender, intent in self.heard if sender == self.facts.seat}
        sayable = [i for i in self.talk.sayable(self.view) if isinstance(i, AsksSupport) and i.text not in asked]
        contested = [i for i in sayable if self.eyes.competition[i.province] and self._entries(i.province)]
        for request in sorted(contested, key=lambda request: (-self._value(request.province), request.text)):
            for other in sorted(self._others, key=lambda seat: (self._threat(seat), seat)):
                if self._could_give(other, request):
                    yield AddressedSentence(other, request.text)

    def _value(self, place: str) -> float:
        """Return the greatest value of a province to a unit that could enter it."""
        return max(self.values[node] for node in self._entries(place))

    def _entries(self, place: str) -> list[Node]:
        """Return the nodes of a province that own units could enter without breaking a promise."""
        reach, pledge = self.eyes.near.graph.next_to, self.pledge(self.promises)
        moves = [(unit, node) for unit in self.board.units(self.power) for node in reach[unit]]
        return [n for unit, n in moves if province(n) == place and pledge.allows(f"{unit} - {n[2:]}")]

    def _could_give(self, other: Seat, request: AsksSupport) -> bool:
        """Return whether a power could support it, without an attack on itself."""
        power = self.game.powers[other]
        if holders_of(self.board, self.game).get(request.province) == power:
            return False
        return any(request.gives(order, self.board) for order in options_of(self.board, power))
