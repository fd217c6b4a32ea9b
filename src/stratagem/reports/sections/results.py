"""Section of the final evaluation: base, SFT, chosen and last checkpoint, beside the chance level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stratagem.engines.outcomes import outcomes_of
from stratagem.errors import StratagemError
from stratagem.evaluation.metrics import METRICS
from stratagem.games.bounded import make_bounded_game
from stratagem.games.spec import GameSpec
from stratagem.reports.files import EvaluationFile, Figure, GameTable, Row
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import cell, exact_cell
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, missing, table

CHANCE = "random"
_HEADINGS = {"externality": "ext.", "nra": "NRA", "exploit": "exploit, pool"}
_ARROWS = {"higher": " \u2191", "lower": " \u2193", "neither": ""}
_LEGEND = (
    "Pay, exploit, worst case, robust and safety are on a common scale, on which mutual cooperation has payoff 3. A "
    "game without cooperation has its own unit. A figure without an interval is an exact expectation. Below other "
    "figures stands their 95 % interval. An arrow shows the better direction. Worst case is the payoff advantage of "
    "the best responder over the player. Exploit is the mean advantage of the adversaries in a pool, each at least 0."
)


def results(data: RunData) -> Section:
    """Make the section of the final evaluation of every stage, game by game."""
    evaluation = data.evaluation
    return Section(
        name="results",
        title="Final evaluation",
        shows="Every stage of the run against the same opponents on the same deals. Random play is the chance level.",
        body=tables(evaluation) if evaluation else missing(why(data)),
    )


def why(data: RunData) -> str:
    """Return the reason why there is no final evaluation."""
    if broken := data.broken.get("evaluation.json"):
        return broken
    return "There is no evaluation.json: the final evaluation follows the training."


def tables(evaluation: EvaluationFile) -> Html:
    """Write every game's figures, on the common scale and in its own unit."""
    games = evaluation.evaluation.games
    if not games:
        return missing("evaluation.json has no game.")
    outcomes = outcomes_of({model: row.model_dump() for model, row in evaluation.requests.items()})
    notes = [element("p", note, class_="note") for note in outcomes.remarks()]
    return join(*(_game(game, evaluation.rows) for game in games), *notes, element("p", _LEGEND, class_="legend"))


def _game(game: GameTable, names: dict[str, str]) -> Html:
    rows = in_order(game, names)
    marks = _classes(rows, staged=bool(names))
    missing_exact = dict.fromkeys(f"No exact figure: {why}" for _, row in rows if (why := row.exact.not_computed))
    notes = [element("p", note, class_="note") for note in (*missing_exact, *game.warnings)]
    return element("div", element("h3", game.game), _scaled(game, rows, marks), _unscaled(game, rows, marks), *notes)


def in_order(game: GameTable, names: dict[str, str]) -> list[tuple[str, Row]]:
    """Order the stages as the run names them, followed by all other players."""
    order = {player: number for number, player in enumerate(names)}
    rows = sorted(game.players, key=lambda row: order.get(row.player, len(order)))
    return [(_capital(names.get(row.player) or _title(row.player)), row) for row in rows]


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _title(player: str) -> str:
    return "chance (random play)" if player == CHANCE else player


def _scaled(game: GameTable, rows: Sequence[tuple[str, Row]], marks: Sequence[str]) -> Html:
    """Write figures on the common scale; the best responder's figure stands next to the pool's."""
    metrics = list(dict.fromkeys(name for _, row in rows for name in row.metrics))
    return table(
        ["", *_headings(metrics)],
        [[name, *_figures(game, row, metrics)] for name, row in rows],
        caption="On the common scale",
        classes=marks,
    )


def _classes(rows: Sequence[tuple[str, Row]], *, staged: bool) -> list[str]:
    """Return the classes of rows: the chosen stage is emphasised, the chance level dimmed."""
    stages = [name for name, row in rows if row.player != CHANCE] if staged else []
    counts = chosen_of(stages) if len(stages) > 1 else ""
    return ["counts" if name == counts else "chance" if row.player == CHANCE else "" for name, row in rows]


def chosen_of(stages: Sequence[str]) -> str:
    """Return the chosen stage: the last that is not called last, since that one is never chosen by default."""
    return next((name for name in reversed(stages) if ", last" not in name), stages[-1])


def _headings(metrics: Sequence[str]) -> Iterator[str]:
    for name in metrics:
        better = METRICS[name].better if name in METRICS else "neither"
        yield _HEADINGS.get(name, name) + _ARROWS[better]
        if name == "exploit":
            yield "worst case" + _ARROWS["lower"]


def _figures(game: GameTable, row: Row, metrics: Sequence[str]) -> Iterator[Html]:
    for name in metrics:
        yield cell(row.metrics.get(name))
        if name == "exploit":
            worst = row.exact.worst_advantage
            scaled = None if worst is None or game.scale is None else worst * game.scale
            yield exact_cell(scaled, row.exact.not_computed)


def _unscaled(game: GameTable, rows: Sequence[tuple[str, Row]], marks: Sequence[str]) -> Html:
    """Write figures in the game's own unit, so that the pool's figure and the exact one can be compared."""
    halved = zero_sum(game.game)
    pool = "pool loss" if halved else "pool advantage"
    worst = [] if halved else ["worst advantage \u2193"]
    rest = [[name, *_unscaled_figures(row, halved=halved)] for name, row in rows]
    return table(
        ["", "pay \u2191", f"{pool} \u2193", *worst, f"NashConv/{_seats(game.game)} \u2193"],
        rest,
        caption=f"In {game.unit}",
        classes=marks,
    )


def _unscaled_figures(row: Row, *, halved: bool) -> Iterator[Html]:
    pool = row.unscaled.pool_advantage
    yield cell(row.unscaled.pay)
    yield cell(_half(pool) if halved and pool else pool)
    if not halved:
        yield exact_cell(row.exact.worst_advantage, row.exact.not_computed)
    yield exact_cell(row.exact.exploitability, row.exact.not_computed)


def _half(figure: Figure) -> Figure:
    """Halve an advantage between two seats of a zero-sum game, where it is twice the loss."""
    ends = {name: value / 2 for name in ("mean", "se", "low", "high") if (value := getattr(figure, name)) is not None}
    return figure.model_copy(update=ends)


def zero_sum(game: str) -> bool:
    """Return whether it is a zero-sum game of two; False for a game that is not installed."""
    spec = _spec(game)
    return spec is not None and spec.utility == "zero-sum" and spec.seats == 2


def _seats(game: str) -> int:
    spec = _spec(game)
    return 2 if spec is None else spec.seats


def _spec(game: str) -> GameSpec | None:
    """Return the declaration of a game; None for one that is not installed."""
    try:
        return make_bounded_game(game).spec
    except StratagemError:
        return None
