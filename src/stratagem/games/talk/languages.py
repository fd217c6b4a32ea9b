"""Languages of the shipped games, by family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from stratagem.games.base import View
from stratagem.games.kuhn.rules import CARDS, Kuhn, KuhnFacts
from stratagem.games.matrix.rules import MatrixFacts, MatrixGame
from stratagem.games.negotiation_v1.rules import Pie, PieFacts
from stratagem.games.negotiation_v2.rules import ITEMS, Division, DivisionFacts, bundle_of
from stratagem.games.talk.language import Asks, Intent, Language, MoveRequest, Plays, Promise, Statement
from stratagem.games.talk.reading_rules import Rule, rules_of, spellings, spellings_of


class MatrixLanguage(Language[MatrixFacts]):
    """`I will play C` and `Please play C`, for every action."""

    key = "matrix"
    rules = MatrixGame
    game: MatrixGame

    def spellings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return how actions are written; of two, not to play one, which is `other`, is to play the other."""
        labels = self.game.all_actions()
        action = spellings(labels, spellings_of("dilemma"))
        if len(labels) != 2:
            return {"action": action}
        other = {one: action[two] for one, two in (labels, labels[::-1])}
        denied = {one: tuple(f"not ~ {how}" for how in hows) for one, hows in other.items()}
        return {"action": {one: (*hows, *denied[one]) for one, hows in action.items()}, "other": other}

    def rules_of_reading(self) -> tuple[Rule, ...]:
        rules = rules_of(self.key)
        return rules if len(self.game.all_actions()) == 2 else rules[:-1]  # the last one is about the other of two

    def sentences(self) -> Iterator[Intent]:
        for label in self.game.all_actions():
            yield Plays(self.say("plays", action=label), label)
        for label in self.game.all_actions():
            yield Asks(self.say("asks", action=label), label)

    def intents(self, view: View[MatrixFacts]) -> tuple[Intent, ...]:
        """Return the promises of the seat's own actions, and the requests for the other's."""
        return self._by_seat[view.seat]

    @cached_property
    def _by_seat(self) -> tuple[tuple[Intent, ...], ...]:
        labels = self.game.seat_labels(0), self.game.seat_labels(1)
        promises = ([i for i in self.every if isinstance(i, Plays) and i.action in own] for own in labels)
        requests = ([i for i in self.every if isinstance(i, Asks) and i.action in own] for own in reversed(labels))
        return tuple((*p, *r) for p, r in zip(promises, requests, strict=True))


@dataclass(frozen=True)
class HasCard(Statement):
    """Statement about one's card."""

    card: str

    def truth(self, view: View[KuhnFacts]) -> bool:
        return view.facts.card == self.card


class KuhnLanguage(Language[KuhnFacts]):
    """`My card is K` and `I will BET`, for every card and action."""

    key = "kuhn"
    rules = Kuhn
    game: Kuhn

    def sets(self) -> dict[str, tuple[str, ...]]:
        return {"card": tuple(CARDS), "action": self.game.all_actions()}

    def spellings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        return {
            "card": spellings(CARDS, spellings_of("cards")),
            "action": spellings(self.game.all_actions(), spellings_of("kuhn")),
        }

    def sentences(self) -> Iterator[Intent]:
        for card in CARDS:
            yield HasCard(self.say("card", card=card), card)
        for action in self.game.all_actions():
            yield Plays(self.say("plays", action=action), action)


@dataclass(frozen=True)
class _DemandBound:
    """Bound on a demand for the pie."""

    text: str
    most: int

    def kept(self, view: View[PieFacts], action: str) -> bool:
        """Return whether the demand is within the bound."""
        return int(action) <= self.most


class Demands(_DemandBound, Promise):
    """Promise to demand at most so much of the pie."""


class Leaves(_DemandBound, MoveRequest):
    """Request to demand at most so much of the pie."""


class PieLanguage(Language[PieFacts]):
    """`I will demand at most 5` and `Please demand at most 5`, for every amount."""

    key = "negotiation-v1"
    rules = Pie
    game: Pie

    def sets(self) -> dict[str, tuple[str, ...]]:
        return {"amount": tuple(map(str, range(self.game.pie + 1)))}

    def sentences(self) -> Iterator[Intent]:
        for most in range(self.game.pie + 1):
            yield Demands(self.say("at_most", amount=most), most)
        for most in range(self.game.pie + 1):
            yield Leaves(self.say("asks_at_most", amount=most), most)


@dataclass(frozen=True)
class ValuesMost(Statement):
    """Statement that no item is worth more to the speaker than this one."""

    item: int

    def truth(self, view: View[DivisionFacts]) -> bool:
        return view.facts.values[self.item] == max(view.facts.values)


@dataclass(frozen=True)
class _NoneOf:
    """Demand without an item."""

    text: str
    item: int

    def kept(self, view: View[DivisionFacts], action: str) -> bool:
        """Return whether the demand names none of the item."""
        return bundle_of(action)[self.item] == 0


class LeavesAll(_NoneOf, Promise):
    """Promise to demand none of an item."""


class AsksForAll(_NoneOf, MoveRequest):
    """Request to demand none of an item."""


class DivisionLanguage(Language[DivisionFacts]):
    """`I value the books most`, `I will demand no books` and `Please demand no books`, for every item."""

    key = "negotiation-v2"
    rules = Division
    game: Division

    def sets(self) -> dict[str, tuple[str, ...]]:
        return {"item": tuple(ITEMS)}

    def sentences(self) -> Iterator[Intent]:
        for index, item in enumerate(ITEMS):
            yield ValuesMost(self.say("values", item=item), index)
        for index, item in enumerate(ITEMS):
            yield LeavesAll(self.say("leaves", item=item), index)
        for index, item in enumerate(ITEMS):
            yield AsksForAll(self.say("asks_for_all", item=item), index)
