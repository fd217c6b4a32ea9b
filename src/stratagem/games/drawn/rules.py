"""Game that follows from a description: views, choices, chance, keys and texts."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Self

from stratagem.base.errors import BadParameter, CannotCompute, IllegalAction
from stratagem.base.named_files import DESCRIPTION_SUFFIX, find_description, short_name
from stratagem.games.base import Seat
from stratagem.games.choices import Flat
from stratagem.games.counting import plural_of
from stratagem.games.disguise.substitution import Substitution
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.events import DescribedFacts, Event
from stratagem.games.drawn.reading import TEXT, read_description, read_file, write_description
from stratagem.games.drawn.resampling import RedrawableState
from stratagem.games.drawn.state import DescribedRules
from stratagem.games.drawn.texts import write_rules, write_situation
from stratagem.games.drawn.wordings import ROLES
from stratagem.games.spec import GameSpec


class DescribedGame(DescribedRules):
    """Game whose rules are data; subclasses say where its description comes from."""

    state = RedrawableState

    @property
    @abstractmethod
    def title(self) -> tuple[str, str]:
        """Registry name and one line for the catalogue."""

    @cached_property
    def spec(self) -> GameSpec:
        known, (name, summary) = self.description, self.title
        kinds = (known.seats if known.turns else 1) if known.forget and known.rounds > 1 else 0
        return GameSpec(
            name=name,
            family="drawn",
            version=2,
            summary=summary,
            seats=known.seats,
            simultaneous=known.simultaneous,
            utility="zero-sum" if known.zero_sum else "general-sum",
            rounds=known.rounds,
            bounds=known.bounds,
            chance=known.has_chance,
            private_information=known.hides,
            independent_rounds=min(kinds, known.rounds) if known.continuation == 1.0 else 0,
            symmetric=False,
            on_illegal="default",
            unit=f"{plural_of(known.unit)} a round",
            signals=tuple(dict.fromkeys(rule.name for rule in known.signals)),
        )

    def choices(self, facts: DescribedFacts) -> Flat:
        if not facts.legal:
            raise IllegalAction(f"In {self.spec.name} seat {facts.seat} has nothing to choose now.")
        return _flat(facts.legal)

    def info_key(self, facts: DescribedFacts) -> str:
        """Return all that the seat has seen and done, and its place in the order of the round.

        Where only the round is seen, players count from the first one, so that a round looks alike whoever begins it.
        """
        known, first = self.description, facts.first
        seats, seat = known.seats, facts.seat
        if not known.forget:
            seen = "/".join([_event_key(event, 0, 0) for event in facts.log])
            return f"{ROLES[(seat - first) % seats]} {seat}: {seen}"
        seen = "/".join([_event_key(event, first, seats) for event in facts.log])
        return f"{ROLES[(seat - first) % seats]}: {seen}"

    def vocabulary(self) -> tuple[str, ...]:
        known = self.description
        chosen = [word for step in known.steps for word in (*step.words(), step.name) if word]
        values = [str(value) for item in known.items for value in (*item.values, *item.suits) if isinstance(value, str)]
        values += [face for item in known.items for face in item.faces if item.suits]
        found = [piece for word in chosen for piece in word.split() if piece.isalpha()]
        entries = [_entry(word) for word in (*found, *(item.name for item in known.items), known.unit)]
        named = [value for value in values if value.isalpha()]
        if clash := _COMPARED & {*entries, *map(str.lower, named)}:
            raise CannotCompute(
                f"{known.name} cannot be told in other words: {min(clash)} is a name in it, and its rules compare by "
                "highest and lowest."
            )
        words = tuple(dict.fromkeys((*entries, *named)))
        renamed = Substitution(dict.fromkeys(words, "x"))  # no text has a word that holds a name and is not its form
        texts = " ".join([_SITUATION, *map(self.rules, range(known.seats))])
        if left := renamed.remaining(renamed(texts)):
            inside = next(word for word in sorted(words, key=len, reverse=True) if word.lower() in left.lower())
            raise CannotCompute(
                f"{known.name} cannot be told in other words: {inside} is a name in it, and its texts have the word "
                f"{left}."
            )
        return words

    def rules(self, seat: Seat) -> str:
        return write_rules(self.description, seat)

    def situation(self, facts: DescribedFacts) -> str:
        return write_situation(self.description, facts)


KUHN = """\
name = "Kuhn poker"
unit = "chip"
items = [{ name = "card", values = ["J", "Q", "K"] }]
steps = [{ do = "ante" }, { do = "deal" }, { do = "bet", check_word = "PASS" }, { do = "showdown" }]
"""
"""Description of the game that `described` without a text is."""
_COMPARED = {"high", "low"}
"""Words whose comparisons the rules use, which a disguise would not rename with them."""
_SITUATION = (
    "Round You are the player in this round Nothing has happened yet It is your turn "
    "get lies open shows other begins over Nobody"
)
"""Words of situations, which are no names of the game."""
_LONGEST_NAME = 1900
"""Largest number of characters of a description that a name holds."""


@dataclass(frozen=True, kw_only=True)
class WrittenGame(DescribedGame):
    """Game of a description that is written down in TOML: in a file of the user's, or as a text."""

    text: str = KUHN
    """Description; that of the file where there is one."""
    file: str = ""
    """File of the description, by the name that results give it; empty for a text alone."""
    wording: int | None = None
    """Wording of the rules, 0 to 2, of which 2 speaks to the reader; None takes that of the description."""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not isinstance(self.file, str):
            raise BadParameter("A described game needs `text` and `file` as texts.")
        if self.file and not self.file.endswith(DESCRIPTION_SUFFIX):
            raise BadParameter(f"A file that describes a game ends in {DESCRIPTION_SUFFIX}, unlike {self.file[:60]!r}.")
        if self.file:
            path = find_description(self.file)
            object.__setattr__(self, "text", read_file(path))
            object.__setattr__(self, "file", short_name(path))
        elif len(repr(self.text)) > _LONGEST_NAME:
            raise BadParameter(
                f"A description of more than {_LONGEST_NAME:,} characters is too long for the name of a game: write it "
                "into a file, and name that, as in mygame.toml."
            )
        _ = self.description  # a mistake is refused here, not at the first question

    @classmethod
    def of(cls, description: GameDescription) -> Self:
        """Make the game of a description that is made in Python."""
        return cls(text=write_description(description))

    @cached_property
    def description(self) -> GameDescription:
        """Description that the text holds."""
        known = read_description(self.text, self.file or TEXT)
        return known if self.wording is None else replace(known, wording=self.wording)

    @property
    def title(self) -> tuple[str, str]:
        name = re.sub(r"[\s/]+", "-", Path(self.file).name) if self.file else "described"
        return name, f"{self.description.name}, a game as data."


def _entry(word: str) -> str:
    """Return a word as a vocabulary lists it: names of one letter stand for themselves."""
    return word if len(word) == 1 else word.lower()


@lru_cache(maxsize=4096)
def _event_key(event: Event, first: Seat, seats: int) -> str:
    """Return an event in a key; with `seats`, players count from the first one."""
    kind, who, what, step = event
    return f"{kind[0]}{(who - first) % seats if seats and who >= 0 else who}.{step} {what}"


@lru_cache(maxsize=4096)
def _flat(legal: tuple[str, ...]) -> Flat:
    return Flat(legal)
