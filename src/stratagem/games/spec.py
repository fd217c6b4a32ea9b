"""What a game declares about itself, so that generic tools can check it, print it and choose metrics for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Utility = Literal["zero-sum", "constant-sum", "general-sum", "common"]
OnIllegal = Literal["null", "default", "forfeit"]


@dataclass(frozen=True, kw_only=True)
class GameSpec:
    """The declared facts of a game; conformance holds the rules to every one of them."""

    name: str
    """How people ask for it; `describe` adds the parameters that are not the default."""
    version: int = 1
    """Raised when a change of rules would change a transcript."""
    family: str
    """Which scripted players can sit down: their names are `family/Name`."""
    summary: str
    """One line for the catalogue."""
    reference: str = ""
    """Where the rules come from."""
    seats: int = 2
    seat_names: tuple[str, ...] = ()
    """What the seats are called, where they differ and are known by name; evaluations then print a table by seat."""
    simultaneous: bool
    """Whether several seats choose at once."""
    utility: Utility
    rounds: int | None
    """The most rounds an episode can have; None where there is no bound."""
    bounds: tuple[float, float]
    """The least and the most that one seat can be paid over an episode."""
    chance: bool
    private_information: bool
    """Whether a seat may know something that another does not, such as its card."""
    markov: bool = True
    """Whether the round, the seats to act and all seats' state keys fix what can happen next."""
    symmetric: bool
    """Whether the seats could be exchanged without anybody noticing."""
    on_illegal: OnIllegal = "forfeit"
    """What becomes of a seat that says nothing legal: the game's null action, its default action, or the game ends."""
    retries: int = 0
    """How often such a seat is asked again before that."""
    unit: str = "points a round"
    """What a payoff is counted in."""
    signals: tuple[str, ...] = ()
    """Names of the safety signals that each round reports, one number a seat."""

    @property
    def perfect_information(self) -> bool:
        """Whether whoever moves knows everything: nothing private, and one mover at a time."""
        return not self.private_information and not self.simultaneous
