"""Declared facts of a game, with which generic tools check it, print it and choose metrics for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self

Utility = Literal["zero-sum", "constant-sum", "general-sum", "common"]
OnIllegal = Literal["null", "default", "forfeit"]


@dataclass(frozen=True, kw_only=True)
class GameSpec:
    """The declared facts of a game; conformance holds the rules to every one of them."""

    name: str
    """Registry name, without spaces and slashes; `describe` adds the parameters that are not the default."""
    version: int = 1
    """Version of the rules; a change that would change a transcript raises it."""
    family: str
    """Family of scripted players that can play the game: their names are `family/Name`."""
    summary: str
    """One line for the catalogue."""
    reference: str = ""
    """Source of the rules."""
    seats: int = 2
    seat_names: tuple[str, ...] = ()
    """Names of the seats, where they differ and are known by name; evaluations then print a table by seat."""
    simultaneous: bool
    """True if several seats choose at once."""
    utility: Utility
    rounds: int | None
    """Largest number of rounds of an episode; None where there is no bound."""
    bounds: tuple[float, float]
    """Smallest and largest return of one seat over an episode."""
    chance: bool
    private_information: bool
    """True if a seat may know something that another does not, such as its card."""
    markov: bool = True
    """True if the round, the seats to act and all seats' state keys fix what can happen next."""
    independent_rounds: int = 0
    """Number of kinds of rounds, which take turns, where rounds know nothing of each other; 0 for any other game.

    Every kind is the same game, maybe with the seats in other parts, as dealer and opener change in poker. The move
    that ends a round draws chance for the next round alone. Exact figures are then those of one round, over the kinds.
    """
    symmetric: bool
    """True if the seats can be exchanged without any effect."""
    on_illegal: OnIllegal = "forfeit"
    """Consequence for a seat without a legal action: the game's null action, its default action, or the end."""
    retries: int = 0
    """Number of retries of such a seat before that."""
    unit: str = "points a round"
    """Unit of payoffs."""
    signals: tuple[str, ...] = ()
    """Names of the signals that the rules report of each round, one number a seat."""

    @classmethod
    def of_questions(
        cls, *, name: str, family: str, summary: str, chance: bool, rounds: int = 1, reference: str = ""
    ) -> Self:
        """Declare questions to one seat, which gets 0 to 1 for each answer; one without a legal answer gets 0."""
        return cls(
            name=name,
            family=family,
            summary=summary,
            reference=reference,
            seats=1,
            simultaneous=False,
            utility="general-sum",
            rounds=rounds,
            bounds=(0.0, float(rounds)),
            chance=chance,
            private_information=False,
            symmetric=True,
            on_illegal="null",
        )

    @property
    def names_figures(self) -> bool:
        """True if the name can be a part of the names of figures and files: it has no space and no slash."""
        return not re.search(r"[\s/]", self.name)

    @property
    def perfect_information(self) -> bool:
        """True if the seat to move knows everything: nothing private, and one mover at a time."""
        return not self.private_information and not self.simultaneous
