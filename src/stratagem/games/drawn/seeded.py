"""Game of a seed by name: `drawn(seed=17, family=cards, size=small, wording=2)`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from stratagem.base.options import check_seed
from stratagem.games.drawn.description import GameDescription, check_wording
from stratagem.games.drawn.drawing import check_family, draw_game
from stratagem.games.drawn.generator.sketch import Size
from stratagem.games.drawn.rules import DescribedGame


@dataclass(frozen=True, kw_only=True)
class DrawnGame(DescribedGame):
    """Game that nobody has seen: drawn by a seed, walked, solved, and accepted as worth playing."""

    largest: ClassVar = {"seed": 2**63}
    costly: ClassVar = {"size": ("large",)}
    """Values that a record, a recipe or a page does not name, since such a game may take a minute to draw."""

    seed: int = 0
    family: str = "cards"
    """Family of games: cards, dice, auction, bargaining, matrix, signals or mixed."""
    size: Size = "small"
    """Size of the tree: small, medium or large."""
    wording: int | None = None
    """Wording of the rules, 0 to 2, of which 2 speaks to the reader; None takes that of the draw, 0 or 1."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_family(self.family, self.size)
        if self.wording is not None:
            check_wording(self.wording)

    @cached_property
    def description(self) -> GameDescription:
        """Accepted game of the seed."""
        known = draw_game(self.seed, self.family, self.size).description
        return known if self.wording is None else replace(known, wording=self.wording)

    @property
    def figure_name(self) -> str:
        """Name with family and seed, since several drawn games stand in one list."""
        worded = "" if self.wording is None else f"-wording-{self.wording}"
        return f"drawn-{self.family}-{self.seed}" + ("" if self.size == "small" else f"-{self.size}") + worded

    @property
    def title(self) -> tuple[str, str]:
        return "drawn", f"Game of {self.family} drawn by the seed {self.seed}, {self.size}."
