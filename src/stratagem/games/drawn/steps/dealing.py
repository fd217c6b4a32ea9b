"""Steps that deal and show pieces, exchange them, and put chips into the pot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from stratagem.games.base import Seat
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.events import ALL, Event
from stratagem.games.drawn.steps.base import check_role, item_number, seats_of
from stratagem.games.drawn.wordings import Role, Words

_MOST_DEALT = 4


@dataclass(frozen=True)
class Deal(Step):
    """Deal pieces of an item: to every player or to one of them in secret, or open for all."""

    do: ClassVar[str] = "deal"
    item: str = "card"
    """Item that is dealt."""
    to: Literal["each", "first", "second", "third", "fourth", "all"] = "each"
    """`each` and a single player see theirs alone; `all` lays them open."""
    count: int = 1
    """Number of pieces, for every player that gets some."""

    def check(self, game: GameDescription, number: int) -> None:
        item_number(game, self, "item", self.item)
        if self.to != "all":
            check_role(game, self, "to", self.to)
        if not 1 <= self.count <= _MOST_DEALT:
            raise self.refuse("count", f"a number of pieces that is not from 1 to {_MOST_DEALT}")

    def begin(self, state: RoundState) -> None:
        item, drawn = item_number(state.game.description, self, "item", self.item), 0
        faces = state.game.description.items[item].faces
        holders = (ALL,) if self.to == "all" else sorted(seats_of(state, self.to))
        for holder in holders:
            for _ in range(self.count):
                piece = state.draw(item, drawn, holder)
                drawn += 1
                if holder == ALL:
                    state.open = (*state.open, piece)
                    state.tell(Event("opens", ALL, faces[piece.face], item))
                else:
                    hands = list(state.hands)
                    hands[holder] = (*hands[holder], piece)
                    state.hands = tuple(hands)
                    state.tell(Event("gets", holder, faces[piece.face], item), to=holder)

    def deals(self) -> bool:
        return True

    def hides(self, game: GameDescription) -> bool:
        return self.to != "all" and game.seats > 1

    def num_cards(self, game: GameDescription, item: int) -> int:
        owners = game.seats if self.to == "each" else 1
        return owners * self.count if game.items[item].name == self.item else 0

    def gives(self, game: GameDescription, item: int) -> bool:
        return self.to == "each" and game.items[item].name == self.item

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        item = game.items[item_number(game, self, "item", self.item)]
        thing = f"{self.count} {item.name if self.count == 1 else item.plural}"
        if self.to == "all":
            key = "deal.rolled" if item.again else "deal.laid"
            return [words.say(key, "each", thing=thing, are="is" if self.count == 1 else "are")]
        return [words.say("deal.hidden", self.to, thing=thing)]


@dataclass(frozen=True)
class Show(Step):
    """Show the pieces of an item that players hold to all others."""

    do: ClassVar[str] = "show"
    item: str = "card"
    """Item that is shown."""
    of: Role = "each"
    """Players whose pieces are shown."""

    def check(self, game: GameDescription, number: int) -> None:
        item = item_number(game, self, "item", self.item)
        check_role(game, self, "of", self.of)
        if not is_dealt(game, number, item, self.of):
            raise self.refuse("item", f"a piece that the {self.of} player has not been dealt before it")

    def begin(self, state: RoundState) -> None:
        item = item_number(state.game.description, self, "item", self.item)
        faces = state.game.description.items[item].faces
        for holder in seats_of(state, self.of):
            for piece in state.hands[holder]:
                if piece.item == item:
                    state.tell(Event("shows", holder, faces[piece.face], item))

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        item = game.items[item_number(game, self, "item", self.item)]
        return [words.say("show.hand", self.of, plural=item.plural)]


@dataclass(frozen=True)
class Swap(Step):
    """Let players in turn keep the latest piece of an item, or lay it aside for a new one from the deck."""

    do: ClassVar[str] = "swap"
    acts: ClassVar[bool] = True
    item: str = "card"
    """Item of which the latest piece is exchanged."""
    by: Role = "each"
    """Players that may swap."""
    keep: str = "KEEP"
    """Action that keeps the piece."""
    swap: str = "SWAP"
    """Action that exchanges it."""
    cost: float = 0.0
    """Chips that a swap puts into the pot."""

    def check(self, game: GameDescription, number: int) -> None:
        item = item_number(game, self, "item", self.item)
        check_role(game, self, "by", self.by)
        check_words(self, {"keep": self.keep, "swap": self.swap})
        if not is_dealt(game, number, item, self.by):
            raise self.refuse("item", f"a piece that the {self.by} player has not been dealt before it")
        if not 0 <= self.cost <= 100:
            raise self.refuse("cost", "a number of chips that is not from 0 to 100")

    def begin(self, state: RoundState) -> None:
        state.to_act = seats_of(state, self.by)[:1]

    def legal(self, state: RoundState, seat: Seat) -> tuple[str, ...]:
        return self.keep, self.swap

    def play(self, state: RoundState, actions: Mapping[Seat, str]) -> None:
        ((seat, action),) = actions.items()
        item = item_number(state.game.description, self, "item", self.item)
        state.tell(Event("plays", seat, action, state.at))
        if action == self.swap:
            place = max(place for place, piece in enumerate(state.hands[seat]) if piece.item == item)
            state.put_in(seat, self.cost)
            piece = state.draw(item, len(state.memory), seat)
            hands, hand = list(state.hands), state.hands[seat]
            state.aside = (*state.aside, hand[place])
            hands[seat] = (*hand[:place], piece, *hand[place + 1 :])
            state.hands = tuple(hands)
            state.tell(Event("gets", seat, state.game.description.items[item].faces[piece.face], item), to=seat)
        state.memory = (*state.memory, seat)
        state.to_act = tuple(other for other in seats_of(state, self.by) if other not in state.memory)[:1]

    def deals(self) -> bool:
        return True

    def hides(self, game: GameDescription) -> bool:
        return True

    def num_cards(self, game: GameDescription, item: int) -> int:
        owners = game.seats if self.by == "each" else 1
        return owners if game.items[item].name == self.item else 0

    def puts(self, game: GameDescription) -> float:
        return self.cost

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        return -self.cost, 0.0

    def words(self) -> tuple[str, ...]:
        return self.keep, self.swap

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        item = game.items[item_number(game, self, "item", self.item)]
        said = {"keep": self.keep, "swap": self.swap, "item": item.name}
        if not self.cost:
            return [words.say("swap.free", self.by, **said)]
        return [words.say("swap.paid", self.by, **said, price=words.amount(self.cost))]


@dataclass(frozen=True)
class Ante(Step):
    """Let every player put chips into the pot."""

    do: ClassVar[str] = "ante"
    amount: float = 1.0
    """Chips of every player."""

    def check(self, game: GameDescription, number: int) -> None:
        if not 0 < self.amount <= 100:
            raise self.refuse("amount", "a number of chips that is not above 0 and at most 100")

    def begin(self, state: RoundState) -> None:
        for seat in seats_of(state, "each"):
            state.put_in(seat, self.amount)

    def puts(self, game: GameDescription) -> float:
        return self.amount

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        return -self.amount, 0.0

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        return [words.say("ante.amount", "each", amount=words.amount(self.amount))]


def is_dealt(game: GameDescription, number: int, item: int, role: str) -> bool:
    """Return whether a step before one deals an item to a role."""
    name = game.items[item].name
    return any(
        isinstance(step, Deal) and step.item == name and step.to in ("each", role) for step in game.steps[:number]
    )


def check_words(step: Step, words: Mapping[str, str]) -> None:
    """Refuse names of actions that are no plain words, and equal ones."""
    for field, word in words.items():
        if (
            not word
            or len(word) > 24
            or word != " ".join(word.split())
            or not word.replace(" ", "").replace("-", "").isalnum()
        ):
            raise step.refuse(field, f"the name {word!r}, which is no plain word of at most 24 characters,")
    if len({word.casefold() for word in words.values()}) < len(words):
        raise step.refuse(list(words)[-1], f"a name that another action has, among {', '.join(words.values())},")
