"""Section of the final evaluation: base, SFT, chosen and last checkpoint, beside the chance level."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.language.engines.outcomes import outcomes_of
from stratagem.measure.evaluate import CHANCE
from stratagem.show.evaluation_file import GameTable, PlayerFigures
from stratagem.show.evaluation_tables import evaluation_tables
from stratagem.show.html import Html, element, join
from stratagem.show.legend import explain, explain_marks
from stratagem.show.markup import table_html, with_intervals
from stratagem.show.reports.files import EvaluationFile
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, fold_element, missing


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


def tables(evaluation: EvaluationFile, *, folding: bool = True) -> Html:
    """Write the figures of every game: the first screen, then all others, which may be folded."""
    if not evaluation.evaluation.games:
        return missing("evaluation.json has no game.")
    outcomes = outcomes_of({model: row.model_dump() for model, row in evaluation.requests.items()})
    every = evaluation_tables(evaluation.evaluation, stages=evaluation.rows, chosen=_chosen_player(evaluation.rows))
    shown = [with_intervals(table) for table in every]
    main, further = ([table for table in shown if table.main is first] for first in (True, False))
    notes = [element("p", note, class_="note") for note in outcomes.remarks()]
    legend = element("p", " ".join([*explain(main), *explain_marks(shown)]), class_="legend")
    rest = [*map(table_html, further), element("p", " ".join(explain(further)), class_="legend")]
    return join(*map(table_html, main), legend, *notes, *([fold_element("All figures", *rest)] if folding else rest))


def _chosen_player(rows: dict[str, str]) -> str:
    """Return the player of the chosen stage; empty where there is no choice."""
    names = list(rows.values())
    chosen = chosen_of(names) if len(names) > 1 else ""
    return next((player for player, name in rows.items() if name == chosen), "")


def in_order(game: GameTable, names: dict[str, str]) -> list[tuple[str, PlayerFigures]]:
    """Order the stages as the run names them, followed by all other players."""
    order = {player: number for number, player in enumerate(names)}
    rows = sorted(game.players, key=lambda row: order.get(row.player, len(order)))
    return [(_capital(names.get(row.player) or _title(row.player)), row) for row in rows]


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _title(player: str) -> str:
    return "chance (random play)" if player == CHANCE else player


def chosen_of(stages: Sequence[str]) -> str:
    """Return the chosen stage: the last that is not called last, since that one is never chosen by default."""
    return next((name for name in reversed(stages) if ", last" not in name), stages[-1])
