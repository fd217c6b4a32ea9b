"""Metric: declared data and one method from matchups to an estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from stratagem.games.base import Game
from stratagem.games.talk import without_talk
from stratagem.measure.figures.figure import Better, Figure
from stratagem.measure.matchups import Matchup
from stratagem.measure.statistics import Estimate

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """All matchups of one agent in one game."""

    game: Game[Any]
    matchups: tuple[Matchup, ...]
    disguised: tuple[tuple[Matchup, ...], ...] = ()
    """Matchups of the agent under each disguise, against the opponents that count for its payoff."""

    _shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def share_value(self, name: str, make: Callable[[Sample], T]) -> T:
        """Return what several metrics need, made once."""
        if name not in self._shared:
            self._shared[name] = make(self)
        made: T = self._shared[name]
        return made

    @property
    def moves(self) -> Game[Any]:
        """Game without talk, whose moves a figure may be about."""
        return without_talk(self.game)

    def pool(self, *names: str) -> list[Matchup]:
        """Return the matchups against opponents of these pools; an opponent of several counts once."""
        return [matchup for matchup in self.matchups if any(name in matchup.pools for name in names)]


class Metric(ABC):
    """Figure that is computed from matchups; the class docstring is its definition, with its source."""

    name: ClassVar[str]
    better: ClassVar[Better]
    digits: ClassVar[int] = 3
    unit: ClassVar[str] = ""
    """Unit of the figure; empty for a pure number."""
    null_case: ClassVar[str] = ""
    """Description of the null hypothesis; empty where there is none."""
    label: ClassVar[str] = ""
    """Heading for a reader; by default the name."""
    explanation: ClassVar[str] = ""
    """Sentence below a table that has the figure, without a subject; by default the first one of the definition."""
    main: ClassVar[bool] = False
    """True if the first screen of an evaluation has it; the others are printed with `--all`."""
    by_seat: ClassVar[bool] = False
    """True if the table by seat prints it."""

    def declaration(self) -> Figure:
        """Return the declaration of the figure."""
        explanation = self.explanation or _first_sentence(type(self).__doc__ or "")
        label = self.label or self.name.replace("_", " ")
        return Figure(self.name, label, self.unit, self.better, explanation, self.null_case, self.digits, self.main)

    @abstractmethod
    def measure(self, sample: Sample) -> Estimate | None:
        """Return the figure, or None where it has no meaning for this game or these opponents."""

    def remark(self, game: Game[Any]) -> str:
        """Return a sentence that belongs to the figure in this game; empty where there is none."""
        return ""

    def null(self, sample: Sample) -> float | None:
        """Return the figure under the null hypothesis, from the same games; None where the metric has no such level."""
        return None


def _first_sentence(definition: str) -> str:
    """Return the first paragraph of a definition as it stands after a colon."""
    text = " ".join(definition.partition("\n\n")[0].split()).rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
