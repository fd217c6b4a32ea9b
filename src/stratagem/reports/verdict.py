"""Verdict: a few sentences made of figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stratagem.reports.dominated import Flagged, flagged
from stratagem.reports.files import Figure
from stratagem.reports.headline import EXACT, Headline, Measure, headlines
from stratagem.reports.numbers import differs, number
from stratagem.reports.objective import why_worse
from stratagem.reports.outcome_file import rows_of
from stratagem.reports.run_data import RunData
from stratagem.reports.sections.trials import seats_of

_MOST, _LONGEST = 3, 60
"""Limits of dominated actions in the verdict: their number, and the length of their situations."""


def verdict(data: RunData) -> list[str]:
    """Write sentences about the change of figures and its cause, dominated actions, and findings of checks."""
    sentences = [sentence for one in headlines(data) for sentence in _of_game(data, one)]
    sentences = [*(sentences or _played(data)), *_dominated(data)]
    return [*(sentences or ["Nothing has been measured yet."]), _found(data)]


def _of_game(data: RunData, one: Headline) -> Iterator[str]:
    if len(one.stages) == 1:
        yield f"{one.game}: {one.stages[0]} has {_alone(one, 0)}."
        return
    yield _compared(one)
    yield from _picked(data, one)
    if one.rows and one.chosen:
        yield from why_worse(one.game, one.rows[one.chosen - 1], one.rows[one.chosen], data.settings)


def _alone(one: Headline, place: int) -> str:
    """Describe the figures of one stage."""
    return " and ".join(f"{what.name} {number(_mean(what.figures[place]))}" for what in one.measures)


def _mean(figure: Figure | None) -> float | None:
    return figure.mean if figure else None


def _compared(one: Headline) -> str:
    """Compare the chosen stage with the one before it, and give the figures of the others."""
    before = max(one.chosen - 1, 0)
    told = [change(_name(what), what.figures[before], what.figures[one.chosen], what.unit) for what in one.measures]
    where = "" if one.rows else " in validation"
    sentences = f"{one.game}{where}: from {one.stages[before]} to {one.stages[one.chosen]}, {' and '.join(told)}"
    others = [place for place in range(len(one.stages)) if place not in (before, one.chosen)]
    sentences += "".join(f"; {one.stages[place]} {_figures(one, place)}" for place in others)
    return f"{sentences}."


def _figures(one: Headline, place: int) -> str:
    verb = "had" if place < one.chosen else "has"
    return f"{verb} {' and '.join(number(_mean(what.figures[place])) for what in one.measures)}"


def _name(what: Measure) -> str:
    return f"the {what.name}" if what.name == "win rate" else what.name


def _picked(data: RunData, one: Headline) -> Iterator[str]:
    """Warn that the checkpoint was chosen by a figure shown here, so that the last one is less biased."""
    exact = one.measures[0].name == EXACT if one.measures else False
    by = data.settings.get("checkpoint_metric")
    if one.chosen == len(one.stages) - 1 or not (by == "exploitability" and exact):
        return
    last = one.measures[0].figures[-1]
    yield (
        f"{one.stages[one.chosen]} was chosen by this very figure, as the best of several checkpoints; "
        f"{one.stages[-1]}, which was not chosen, has {number(_mean(last))}."
    )


def change(what: str, first: Figure | None, last: Figure | None, unit: str = "") -> str:
    """Describe a change such as `safety rose from 0.1 to 0.2`, or that it is within its error."""
    if first is None or last is None or first.mean is None or last.mean is None:
        return f"{what} could not be had"
    low, high, unit = number(first.mean), number(last.mean), f" {unit}" if unit else ""
    apart = differs(first, last)
    if low == high:
        return f"{what} stayed at {high}{unit}"
    if not apart:
        why = "its error is not known" if apart is None else "within its error"
        return f"{what} went from {low} to {high}{unit} ({why})"
    return f"{what} {'rose' if last.mean > first.mean else 'fell'} from {low} to {high}{unit}"


def _played(data: RunData) -> list[str]:
    """Describe the payoffs of several learners: after training, or in the newest trial."""
    seats, rows = seats_of(data), rows_of(data)
    if not seats:
        return []
    if rows:
        figures, rounds = rows[0]["figures"], rows[0].get("rounds")
        payoffs = " and ".join(f"{name} {number(figures.get(f'{name}/pay'), 2)}" for name in seats)
        return [f"When all was learnt, games of {rounds} rounds paid {payoffs} a step."]
    curves = {name: data.curves[f"{name}/pay"] for name in seats}
    payoffs = " and ".join(f"{name} {number(curve.values[-1], 2)}" for name, curve in curves.items())
    return [f"Trial {data.last_step}, the newest, paid {payoffs} a step."]


def _dominated(data: RunData) -> Iterator[str]:
    """Describe the most likely dominated actions of the chosen policy."""
    actions = sorted((one for one in flagged(data) if one.is_taken), key=lambda one: -one.now)
    if actions:
        more = len(actions) - _MOST
        yield f"The policy takes dominated actions: {_listed(actions[:_MOST])}{f'; {more} more' if more > 0 else ''}."


def _listed(actions: Sequence[Flagged]) -> str:
    return "; ".join(
        f"{one.action} where {_where(one)} ({_percent(one.now)}, {_percent(one.before)} before)" for one in actions
    )


def _where(one: Flagged) -> str:
    return f"it is \u201c{one.situation[:_LONGEST]}\u201d"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _found(data: RunData) -> str:
    if data.findings is None:
        return "What the checks found was not kept."
    faults = sum(finding.level == "fault" for finding in data.findings.values())
    notes = len(data.findings) - faults
    if not faults and not notes:
        return "The checks found nothing."
    counted = [f"{n} {word}{'s' if n != 1 else ''}" for n, word in ((faults, "fault"), (notes, "note")) if n]
    return f"The checks found {' and '.join(counted)}."
