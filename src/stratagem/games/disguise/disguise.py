"""Disguise: a bijection of the words of a game, under which one player sees and says other words.

The rules, the opponents and the payoffs stay as they are. Only the texts, the names and the order of the actions of one
player's view change, and its action is translated back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NoReturn, cast

from stratagem.base.errors import BadParameter
from stratagem.base.options import within
from stratagem.games.base import Game, View
from stratagem.games.choices import Choices, Flat, Sheet, Slot
from stratagem.games.disguise.invention import invent
from stratagem.games.disguise.substitution import Substitution
from stratagem.games.disguise.vocabulary import known_words, vocabulary_of
from stratagem.games.key import Key
from stratagem.games.spec import GameSpec

_FACTORS, _MOST_ADDED = (2, 3, 4, 5, 7, 10), 12
"""Payoffs are multiplied and moved by whole numbers, so that whole ones stay whole, and never left as they are."""
_KEPT = 1 << 14
"""Number of translated lines that are kept."""


@dataclass(frozen=True)
class Disguise:
    """Other words for those of a game, an order of its lists, and an affine map of its payoffs."""

    words: tuple[tuple[str, str], ...]
    """New word of each renamed word of the vocabulary."""
    order: int | None = None
    """Key of the order in which actions are listed; None keeps the game's own."""
    unit: str = ""
    """Name of the unit in which the player's score is counted; empty to count payoffs as the rules do."""
    times: float = 1.0
    """Factor of the affine map from payoff to score."""
    plus: float = 0.0
    """Constant of the affine map from payoff to score."""

    def __post_init__(self) -> None:
        within("A disguise", "times", self.times, 0.0)
        if self.times == 0.0 or ((self.times, self.plus) != (1.0, 0.0) and not self.unit):
            raise BadParameter("A disguise needs `times` above 0, and a `unit` for the score where it changes payoffs.")

    @cached_property
    def text(self) -> Substitution:
        """Translation of texts."""
        return Substitution(dict(self.words))

    def rules(self, plain: str) -> str:
        """Return the rules in the new words, with the sentence about the score.

        Amounts within the rules stay as they are: numbers of a text cannot be told from payoffs.
        """
        text = self.translate_cached(plain)
        if not self.unit:
            return text
        return (
            f"{text}\nYour score is counted in {self.unit}: you begin with {self.plus:g} {self.unit}, and every payoff "
            f"under these rules is multiplied by {self.times:g} and added."
        )

    def choices(self, plain: Choices) -> Choices:
        """Return the same choices in the new words and the new order."""
        if isinstance(plain, Sheet):
            slots = sorted(plain.slots, key=lambda slot: self._place(slot.name))
            return Sheet([Slot(self.text(slot.name), self._translate_list(slot.options)) for slot in slots], plain.fill)
        if isinstance(plain, Flat):
            return Flat(self._translate_list(plain))
        raise BadParameter(f"A disguise renames lists of actions and sheets of lines, not a {type(plain).__name__}.")

    def _translate_list(self, actions: Iterable[str]) -> tuple[str, ...]:
        """Translate a list of actions; its order follows from the actions, so it tells nothing about the position."""
        return tuple(self.translate_cached(action) for action in sorted(actions, key=self._place))

    def translate_cached(self, plain: str) -> str:
        """Return a text that comes again and again, such as an action, in the new words."""
        new = self._known.get(plain)
        if new is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            new = self._known[plain] = self.text(plain)
        return new

    @cached_property
    def _known(self) -> dict[str, str]:
        return {}

    def _place(self, action: str) -> int:
        """Return the place of an action in a list; equal places keep the order of the game."""
        return 0 if self.order is None else _rank(self.order, action)

    def view(self, plain: View[Any]) -> DisguisedView:
        """Return the view in the new words."""
        return DisguisedView(plain, self)


@lru_cache(maxsize=1 << 14)
def _rank(order: int, action: str) -> int:
    return Key(order).at("order", action).value


@lru_cache(maxsize=256)
def _nameless(spec: GameSpec) -> GameSpec:
    """Return a declaration without its words."""
    return replace(spec, name="a game", family="a game", summary="", reference="", seat_names=(), unit="", signals=())


class DeclaredGame:
    """Game of a disguised view: its declaration without words, and nothing that writes in plain ones."""

    __slots__ = ("spec",)

    def __init__(self, spec: GameSpec) -> None:
        self.spec = _nameless(spec)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _in_plain_words()


def _in_plain_words() -> BadParameter:
    return BadParameter(
        "Under a disguise a player has the texts and choices of its view only, since facts, keys and the game are in "
        "plain words: take a prompt style that reads nothing else, such as plain."
    )


class DisguisedView(View[Any]):
    """View of a player under a disguise: texts and choices in other words, and nothing in plain ones."""

    __slots__ = ("_back", "_plain", "disguise")

    def __init__(self, plain: View[Any], disguise: Disguise) -> None:
        self.game, self.seat = cast("Game[Any]", DeclaredGame(plain.game.spec)), plain.seat
        self.disguise = disguise
        self._plain = plain
        self._choices = None
        self._back: dict[str, str] | None = None

    @property
    def choices(self) -> Choices:
        choices = self._choices
        if choices is None:
            choices = self._choices = self.disguise.choices(self._plain.choices)
        return choices

    @property
    def rules(self) -> str:
        return self.disguise.rules(self._plain.rules)

    @property
    def situation(self) -> str:
        # lines come again and again, and the words of one do not depend on another
        return "\n".join(map(self.disguise.translate_cached, self._plain.situation.split("\n")))

    @property
    def state_key(self) -> str:
        raise _in_plain_words()

    @property
    def info_key(self) -> str:
        raise _in_plain_words()

    def __getattr__(self, name: str) -> NoReturn:
        if name != "facts":
            raise AttributeError(name)
        raise _in_plain_words()

    def plain_action(self, action: str) -> str | None:
        """Return the action in plain words; None if it is none of the choices."""
        plain = self._plain.choices
        lines = self._lines(plain)
        if not isinstance(plain, Sheet):
            return lines.get(action)
        said = action.split("\n")
        return plain.canonical(lines[line] for line in said) if all(line in lines for line in said) else None

    def _lines(self, plain: Choices) -> dict[str, str]:
        """Return the plain action of each disguised one, or the plain line of each disguised line."""
        if self._back is None:
            options = [line for slot in plain.slots for line in slot.options] if isinstance(plain, Sheet) else plain
            self._back = {self.disguise.translate_cached(option): option for option in options}
        return self._back


@lru_cache(maxsize=256)
def generate_disguise(game: Game[Any], seed: int) -> Disguise:
    """Return the generated disguise of this seed: every word of the vocabulary, the order, and the score."""
    key = Key(seed).at("disguise")
    words = vocabulary_of(game)
    *new, unit = invent(len(words) + 1, key.at("words"), known_words(game))
    return Disguise(
        words=tuple(zip(words, new, strict=True)),
        order=key.at("order").value,
        unit=unit,
        times=float(_FACTORS[key.at("times").integer(len(_FACTORS))]),
        plus=float(1 + key.at("plus").integer(_MOST_ADDED)),
    )
