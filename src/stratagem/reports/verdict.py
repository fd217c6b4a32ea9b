"""The verdict: one or two sentences made of figures, which say no more than the figures do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stratagem.reports.files import Figure, Row
from stratagem.reports.numbers import differs, number
from stratagem.reports.outcome_file import rows_of
from stratagem.reports.run_data import RunData, finite
from stratagem.reports.sections.results import chosen_of, in_order
from stratagem.reports.sections.trials import seats_of

_EXACT = "/exact/exploitability"
_CONTEST = ("win rate", "pay", "centres")
"""What a contest without safety is told by: the first alone, or the others."""


def verdict(data: RunData) -> list[str]:
    """Sentences about what fell or rose, and what the checks found."""
    said = [*(list(_evaluated(data)) or list(_measured(data)) or list(_played(data)))]
    return [*(said or ["Nothing has been measured yet."]), _found(data)]


def _evaluated(data: RunData) -> Iterator[str]:
    """Game by game, from the stage before the chosen one, and where the run began."""
    if data.evaluation is None:
        return
    names = data.evaluation.rows
    for game in data.evaluation.evaluation.games:
        stages = [(name, row) for name, row in in_order(game, names) if row.player in names]
        place = [name for name, _ in stages].index(chosen_of([name for name, _ in stages])) if stages else 0
        if place > 0:
            yield f"{game.game}: {_compared(stages[: place + 1], game.unit)}."
        elif len(stages) == 1:
            yield f"{game.game}: {stages[0][0]} has {_alone(stages[0][1], game.unit)}."


def _alone(row: Row, unit: str) -> str:
    """The figures of the only stage that was measured."""
    told = ((what, figures[0]) for what, figures, _ in _measures([row], unit))
    return " and ".join(f"{what} {number(figure.mean if figure else None)}" for what, figure in told)


def _compared(stages: Sequence[tuple[str, Row]], unit: str) -> str:
    """The last stage against the one before it, and the figures of the first."""
    measured = list(_measures([row for _, row in stages], unit))
    told = [change(what, figures[-2], figures[-1], own) for what, figures, own in measured]
    said = f"from {stages[-2][0]} to {stages[-1][0]}, {' and '.join(told)}"
    if len(stages) < 3:
        return said
    began = [number(figures[0].mean if figures[0] else None) for _, figures, _ in measured]
    return f"{said}; {stages[0][0]} had {' and '.join(began)}"


def _measures(rows: Sequence[Row], unit: str) -> Iterator[tuple[str, list[Figure | None], str]]:
    """What is told of: games won, or pay and standing, or exploitability, exactly where all have it so, and safety."""
    if all("safety" not in row.metrics for row in rows):
        told = [name for name in _CONTEST if all(row.metrics.get(name) is not None for row in rows)]
        for name in told[:1] if "win rate" in told else told:
            yield f"the {name}" if name == "win rate" else name, [row.metrics.get(name) for row in rows], ""
        return
    exact = [row.exact.exploitability for row in rows]
    if None in exact:
        yield "exploit by the pool", [row.metrics.get("exploit") for row in rows], ""
    else:
        yield "exact exploitability", [Figure(mean=value, exact=True) for value in exact], unit
    yield "safety", [row.metrics.get("safety") for row in rows], ""


def change(what: str, first: Figure | None, last: Figure | None, unit: str = "") -> str:
    """`safety rose from 0.1 to 0.2`, or that it did not change beyond its error."""
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


def _measured(data: RunData) -> Iterator[str]:
    """Before there is an evaluation: the exact figure over training."""
    for name, curve in data.curves.items():
        points = finite(curve)
        if not name.endswith(_EXACT) or not points:
            continue
        chosen = data.chosen_step if data.chosen_step in points else None
        chosen = max(points) if chosen is None else chosen
        first, last = (Figure(mean=points[step], exact=True) for step in (min(points), chosen))
        said = change("exact exploitability", first, last)
        yield f"{name.removesuffix(_EXACT)}: {said} between steps {min(points)} and {chosen}."


def _played(data: RunData) -> Iterator[str]:
    """What several learners were paid: when all was learnt, or in the newest trial."""
    seats = seats_of(data)
    rows = rows_of(data)
    if seats and rows:
        figures, rounds = rows[0]["figures"], rows[0].get("rounds")
        paid = " and ".join(f"{name} {number(figures.get(f'{name}/pay'), 2)}" for name in seats)
        yield f"When all was learnt, games of {rounds} rounds paid {paid} a step."
    elif seats:
        paid = " and ".join(f"{name} {number(data.curves[f'{name}/pay'].values[-1], 2)}" for name in seats)
        yield f"The newest trial paid {paid} a step."


def _found(data: RunData) -> str:
    if data.findings is None:
        return "What the checks found was not kept."
    faults = sum(finding.level == "fault" for finding in data.findings.values())
    notes = len(data.findings) - faults
    if not faults and not notes:
        return "The checks found nothing."
    counted = [f"{n} {word}{'s' if n != 1 else ''}" for n, word in ((faults, "fault"), (notes, "note")) if n]
    return f"The checks found {' and '.join(counted)}."


def tiles(data: RunData) -> list[tuple[str, str]]:
    """What it was: algorithm, game, model, seed, how far it came."""
    recipe = data.settings
    games = recipe.get("games") or recipe.get("game")
    seats = recipe.get("seats", {})
    known = {name: seat for name, seat in seats.items() if isinstance(seat, dict)} if isinstance(seats, dict) else {}
    kinds = {name: str(seat.get("learner", "")) for name, seat in known.items()}
    bare = bool(kinds) and set(kinds.values()) <= {"tabular", "scripted"}
    found = {
        "algorithm": data.algorithm,
        "game": ", ".join(map(str, games)) if isinstance(games, list) else str(games or ""),
        "seats": ", ".join(name if name == kind else f"{name} ({kind})" for name, kind in kinds.items()),
        "model": "" if bare else str(recipe.get("model", "")),
        "seed": str(data.info.seed),
        "steps": "" if data.last_step is None else str(data.last_step),
        "chosen step": "" if data.chosen_step is None else str(data.chosen_step),
    }
    return [(name, value) for name, value in found.items() if value]
