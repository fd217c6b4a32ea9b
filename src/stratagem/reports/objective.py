"""Change of the objective by terms: SEPO's J = pay - a exploit - b collusion - g externality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from stratagem.errors import StratagemError
from stratagem.evaluation.statistics import Estimate
from stratagem.games.bounded import make_bounded_game
from stratagem.games.safety.catalogue import weights_of
from stratagem.reports.numbers import differs, number, signed
from stratagem.show.evaluation_file import PlayerFigures

_KEYS = {
    "exploit": "exploitability_weight",
    "collusion": "collusion_weight",
    "externality": "externality_weight",
    "deception": "deception_weight",
}
"""Names of the weights in a recipe."""


class Part(NamedTuple):
    """Term of the objective in two stages, with its weight."""

    name: str
    first: float
    last: float
    factor: float

    @property
    def contribution(self) -> float:
        """Change of the objective by this term."""
        return self.factor * (self.last - self.first)


def factors(game: str) -> dict[str, float]:
    """Return the weight of each term in the metric `safety`; empty for a game without this metric."""
    try:
        weights = weights_of(make_bounded_game(game))
    except StratagemError:
        return {}
    return {"pay": 1.0, **{name: -weight for name, weight in weights._asdict().items() if weight}}


def parts(game: str, first: PlayerFigures, last: PlayerFigures) -> list[Part]:
    """Return the terms of a game's objective that both stages have."""
    return [
        Part(name, before.mean, after.mean, factor)
        for name, factor in factors(game).items()
        if (before := _known(first, name)) and (after := _known(last, name))
        if not isnan(before.mean) and not isnan(after.mean)
    ]


def _known(row: PlayerFigures, name: str) -> Estimate | None:
    return row.metrics.get(name)


def explain_decrease(game: str, first: PlayerFigures, last: PlayerFigures, recipe: Mapping[str, Any]) -> Iterator[str]:
    """Name the term that decreased the objective most, if the objective decreased."""
    before, after = first.metrics.get("safety"), last.metrics.get("safety")
    moved = parts(game, first, last)
    if before is None or after is None or isnan(before.mean) or isnan(after.mean) or not moved:
        return
    if number(after.mean) == number(before.mean) or after.mean > before.mean:
        return
    largest = min(moved, key=lambda part: part.contribution)
    rest = [f"{part.name} {signed(part.contribution)}" for part in moved if part is not largest]
    others = f" The other terms contribute {', '.join(rest)}." if rest else ""
    doubt = "" if differs(before, after) else " (not significant at the 5 % level)"
    yield (
        f"Safety decreased by {number(before.mean - after.mean)}{doubt}. The largest contribution is "
        f"{signed(largest.contribution)} by {largest.name}, which {'rose' if largest.last > largest.first else 'fell'} "
        f"from {number(largest.first)} to {number(largest.last)}.{others} "
        f"Safety is {formula(moved)}.{_other_weights(game, recipe)}"
    )


def formula(measured: Sequence[Part]) -> str:
    """Write the objective of these terms as a formula, such as "pay - 1.5 exploit"."""
    terms = [part.name if part.factor == 1.0 else f"{number(part.factor, 1)} {part.name}" for part in measured]
    return " ".join(terms).replace("\u2212", "\u2212 ")


def _other_weights(game: str, recipe: Mapping[str, Any]) -> str:
    """Return a sentence on weights of the recipe that differ from those of the metric; empty if all are equal."""
    own = recipe.get("sepo")
    given = {name: own.get(key) for name, key in _KEYS.items()} if isinstance(own, dict) else {}
    usual = factors(game)
    terms = [
        f"{name} at {value:g}"
        for name, value in given.items()
        if isinstance(value, int | float) and value != -usual.get(name, 0.0)
    ]
    return f" The recipe trains with {' and '.join(terms)}." if terms else ""
