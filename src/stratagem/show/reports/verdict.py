"""Verdict of a report: a few sentences with the main figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.base.number_texts import number, signed_text
from stratagem.games.bounded import make_bounded_game
from stratagem.games.safety.catalogue import weights_of
from stratagem.measure.figures.catalogue import find_figure
from stratagem.measure.statistics import Estimate
from stratagem.show.evaluation_file import PlayerFigures
from stratagem.show.reports.dominated import DominatedAction, find_flagged
from stratagem.show.reports.headline import EXACT, WINS, Headline, Measure, headlines
from stratagem.show.reports.numbers import differs
from stratagem.show.reports.outcome_file import rows_of
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.sections.trials import seats_of

_KEYS = {
    "pool_advantage": "exploitability_weight",
    "collusion": "collusion_weight",
    "externality": "externality_weight",
    "deception": "deception_weight",
}
"""Names of the weights in a recipe, by figure."""


class ObjectiveTerm(NamedTuple):
    """Term of the objective in two stages, with its weight."""

    name: str
    first: float
    last: float
    factor: float

    @property
    def label(self) -> str:
        """Label of the figure."""
        return find_figure(self.name).label

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
    harms = {
        "pool_advantage": weights.exploit,
        "collusion": weights.collusion,
        "externality": weights.externality,
    }
    return {"payoff": 1.0, **{name: -weight for name, weight in harms.items() if weight}}


def parts(game: str, first: PlayerFigures, last: PlayerFigures) -> list[ObjectiveTerm]:
    """Return the terms of a game's objective that both stages have."""
    return [
        ObjectiveTerm(name, before.mean, after.mean, factor)
        for name, factor in factors(game).items()
        if (before := _known_figure(first, name)) and (after := _known_figure(last, name))
        if not isnan(before.mean) and not isnan(after.mean)
    ]


def _known_figure(row: PlayerFigures, name: str) -> Estimate | None:
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
    rest = [f"{part.label} {signed_text(part.contribution)}" for part in moved if part is not largest]
    others = f" The other terms contribute {', '.join(rest)}." if rest else ""
    doubt = "" if differs(before, after) else " (not significant at the 5 % level)"
    yield (
        f"Safety decreased by {number(before.mean - after.mean)}{doubt}. The largest contribution is "
        f"{signed_text(largest.contribution)} by {largest.label}, "
        f"which {'rose' if largest.last > largest.first else 'fell'} from {number(largest.first)} "
        f"to {number(largest.last)}.{others} "
        f"Safety is {formula(moved)}.{_other_weights(game, recipe)}"
    )


def formula(measured: Sequence[ObjectiveTerm]) -> str:
    """Write the objective of these terms as a formula, such as "payoff - 1.5 pool advantage"."""
    terms = [part.label if part.factor == 1.0 else f"{number(part.factor, 1)} {part.label}" for part in measured]
    return " ".join(terms).replace("\u2212", "\u2212 ")


def _other_weights(game: str, recipe: Mapping[str, Any]) -> str:
    """Return a sentence on weights of the recipe that differ from those of the metric; empty if all are equal."""
    own = recipe.get("sepo")
    given = {name: own.get(key) for name, key in _KEYS.items()} if isinstance(own, dict) else {}
    usual = factors(game)
    terms = [
        f"{find_figure(name).label} at {value:g}"
        for name, value in given.items()
        if isinstance(value, int | float) and value != -usual.get(name, 0.0)
    ]
    return f" The recipe trains with {' and '.join(terms)}." if terms else ""


_MOST, _LONGEST = 3, 60
"""Limits of dominated actions in the verdict: their number, and the length of their situations."""


def verdict(data: RunData) -> list[str]:
    """Write sentences about the change of figures and its cause, dominated actions, and findings of checks."""
    own = (headline for every in headlines(data) for headline in every.by_policy())
    sentences = [sentence for headline in own for sentence in _of_game(data, headline)]
    sentences = [*(sentences or _rewards(data)), *_describe_dominated(data)]
    return [*(sentences or ["No metrics have been logged yet."]), _findings(data)]


def _of_game(data: RunData, headline: Headline) -> Iterator[str]:
    if len(headline.stages) == 1:
        yield f"{headline.game}: {headline.stages[0]} has {_single(headline)}."
        return
    yield _compare_stages(headline)
    yield from _selection_bias(data, headline)
    if headline.rows and headline.chosen:
        before, after = headline.rows[headline.chosen - 1 : headline.chosen + 1]
        yield from explain_decrease(headline.game, before, after, data.settings)


def _single(headline: Headline) -> str:
    """Describe the figures of the only stage."""
    return " and ".join(f"{measure.figure.label} {number(_mean(measure.figures[0]))}" for measure in headline.measures)


def _mean(figure: Estimate | None) -> float | None:
    return figure.mean if figure else None


def _compare_stages(headline: Headline) -> str:
    """Compare the chosen stage with the one before it, and give the figures of the others."""
    chosen, before = headline.chosen, max(headline.chosen - 1, 0)
    changes = [
        change(_name(measure), measure.figures[before], measure.figures[chosen], measure.unit)
        for measure in headline.measures
    ]
    source = "" if headline.rows else " in validation"
    sentence = f"{headline.game}{source}: from {headline.stages[before]} to {headline.stages[chosen]}, "
    sentence += " and ".join(changes)
    others = [stage for stage in range(len(headline.stages)) if stage not in (before, chosen)]
    sentence += "".join(f"; {headline.stages[stage]} has {_figures(headline, stage)}" for stage in others)
    return f"{sentence}."


def _figures(headline: Headline, stage: int) -> str:
    return " and ".join(number(_mean(measure.figures[stage])) for measure in headline.measures)


def _name(measure: Measure) -> str:
    return f"the {measure.figure.label}" if measure.name == WINS else measure.figure.label


def _selection_bias(data: RunData, headline: Headline) -> Iterator[str]:
    """Warn that the checkpoint was selected by a figure shown here, and give that of the last checkpoint."""
    exact = headline.measures[0].name == EXACT if headline.measures else False
    by = data.settings.get("checkpoint_metric")
    if headline.chosen == len(headline.stages) - 1 or not (by == "exploitability" and exact):
        return
    last = headline.measures[0].figures[-1]
    yield (
        f"{headline.stages[headline.chosen]} was selected by this figure as the best of several checkpoints, so the "
        f"figure has a selection bias. {headline.stages[-1]} was not selected and has {number(_mean(last))}."
    )


def change(name: str, first: Estimate | None, last: Estimate | None, unit: str = "") -> str:
    """Describe a change such as `safety rose from 0.1 to 0.2`, and whether it is significant."""
    if first is None or last is None or isnan(first.mean) or isnan(last.mean):
        return f"{name} is not available"
    low, high, unit = number(first.mean), number(last.mean), f" {unit}" if unit else ""
    significant = differs(first, last)
    if low == high:
        return f"{name} stayed at {high}{unit}"
    if not significant:
        why = "standard error unknown" if significant is None else "not significant at the 5 % level"
        return f"{name} changed from {low} to {high}{unit} ({why})"
    return f"{name} {'rose' if last.mean > first.mean else 'fell'} from {low} to {high}{unit}"


def _rewards(data: RunData) -> list[str]:
    """Describe the rewards of several learners: after training, or in the newest trial."""
    seats, rows = seats_of(data), rows_of(data)
    if not seats:
        return []
    if rows:
        figures, rounds = rows[0]["figures"], rows[0].get("rounds")
        rewards = " and ".join(f"{number(figures.get(f'{name}/payoff'), 2)} for {name}" for name in seats)
        return [f"After training, the mean reward per step in games of {rounds} rounds is {rewards}."]
    curves = {name: data.curves[f"{name}/payoff"] for name in seats}
    rewards = " and ".join(f"{number(curve.values[-1], 2)} for {name}" for name, curve in curves.items())
    return [f"In trial {data.last_step}, the newest, the mean reward per step is {rewards}."]


def _describe_dominated(data: RunData) -> Iterator[str]:
    """Describe the most likely dominated actions of the chosen policy."""
    actions = sorted((action for action in find_flagged(data) if action.is_played), key=lambda action: -action.now)
    if actions:
        more = len(actions) - _MOST
        listed = _list_actions(actions[:_MOST])
        yield f"The policy plays dominated actions: {listed}{f'; {more} more' if more > 0 else ''}."


def _list_actions(actions: Sequence[DominatedAction]) -> str:
    return "; ".join(
        f"{action.action} in \u201c{action.situation[:_LONGEST]}\u201d "
        f"({_percent(action.now)}, {_percent(action.before)} before)"
        for action in actions
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def _findings(data: RunData) -> str:
    if data.findings is None:
        return "This run has no saved findings of the checks."
    faults = sum(finding.level == "fault" for finding in data.findings.values())
    notes = len(data.findings) - faults
    if not faults and not notes:
        return "The checks found nothing."
    counted = [f"{n} {word}{'s' if n != 1 else ''}" for n, word in ((faults, "fault"), (notes, "note")) if n]
    return f"The checks found {' and '.join(counted)}."
