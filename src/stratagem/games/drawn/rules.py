"""Game that follows from a description: views, choices, chance, keys and texts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

from stratagem.base.errors import IllegalAction
from stratagem.games.base import Game, Seat
from stratagem.games.choices import Flat
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.state import DescribedFacts, DescribedState
from stratagem.games.drawn.steps.base import ROLES
from stratagem.games.drawn.texts import write_rules, write_situation
from stratagem.games.spec import GameSpec


class DescribedGame(Game[DescribedFacts]):
    """Game whose rules are data; subclasses say where its description comes from."""

    state = DescribedState

    @property
    @abstractmethod
    def description(self) -> GameDescription:
        """Description from which everything follows."""

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
            unit=f"{known.unit}s a round",
        )

    def choices(self, facts: DescribedFacts) -> Flat:
        if not facts.legal:
            raise IllegalAction(f"In {self.spec.name} seat {facts.seat} has nothing to choose now.")
        return _flat(facts.legal)

    def info_key(self, facts: DescribedFacts) -> str:
        """Return all that the seat has seen and done, and its place in the order of the round."""
        seats = self.description.seats
        seen = "/".join([f"{event.kind[0]}{event.seat}.{event.step} {event.what}" for event in facts.log])
        return (
            f"{ROLES[(facts.seat - facts.first) % seats]} {facts.seat if not self.description.forget else ''}: {seen}"
        )

    def all_actions(self) -> tuple[str, ...]:
        return ()

    def vocabulary(self) -> tuple[str, ...]:
        known = self.description
        words = [word for step in known.steps for word in (*step.words(), step.name) if word]
        values = [str(value) for item in known.items for value in (*item.values, *item.suits) if isinstance(value, str)]
        values += [face for item in known.items for face in item.faces if item.suits]
        found = [piece for word in words for piece in word.split() if piece.isalpha()]
        entries = [_entry(word) for word in (*found, *(item.name for item in known.items), known.unit)]
        return tuple(dict.fromkeys((*entries, *(value for value in values if value.isalpha()))))

    def rules(self, seat: Seat) -> str:
        return write_rules(self.description, seat)

    def situation(self, facts: DescribedFacts) -> str:
        return write_situation(self.description, facts)


@dataclass(frozen=True, kw_only=True)
class WrittenGame(DescribedGame):
    """Game of a description that is written down as text, in TOML."""

    largest: ClassVar = {}

    text: str
    """Description in TOML."""

    @cached_property
    def description(self) -> GameDescription:
        """Description that the text holds."""
        from stratagem.games.drawn.reading import read_description

        return read_description(self.text)

    @property
    def title(self) -> tuple[str, str]:
        return "described", f"{self.description.name}, a game of your own."


def _entry(word: str) -> str:
    """Return a word as a vocabulary lists it: names of one letter or with capitals inside stand for themselves."""
    return word if len(word) == 1 else word.lower()


@lru_cache(maxsize=4096)
def _flat(legal: tuple[str, ...]) -> Flat:
    return Flat(legal)
