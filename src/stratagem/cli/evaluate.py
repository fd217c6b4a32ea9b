"""`stratagem eval`: metrics of players with uncertainty, chance level and exact values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from stratagem.api.evaluations import Evaluation, EvaluationSettings, plan_evaluation
from stratagem.api.records import read_record
from stratagem.cli import completion, options
from stratagem.cli.broken_off import played
from stratagem.cli.console import errors, out
from stratagem.cli.exploit import Effort, Method
from stratagem.cli.output import print_result, write_json
from stratagem.errors import BadParameter
from stratagem.evaluation.suites import SUITES

MORE = "More figures, by opponent and by seat: --all."
FROM = ("from_record", "metric", "everything", "by_seat", "seed", "write_to", "prices", "json")
"""Parameters that have an effect on the figures of a record."""


@options.with_options(options.LOCAL, options.WORK, options.SERVERS)
def evaluate_players(
    context: typer.Context,
    suite: Annotated[
        str | None, typer.Argument(help=f"Suite ({', '.join(SUITES)}) or game.", autocompletion=completion.suites)
    ] = None,
    player: Annotated[
        list[str] | None, typer.Option(help="Player to measure. Repeatable.", autocompletion=completion.players)
    ] = None,
    opponents: Annotated[
        list[str] | None,
        typer.Option(help="Opponents, in place of those of the suite.", autocompletion=completion.players),
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes per opponent; by default that of the suite.")] = None,
    seed: options.Seed = 0,
    chance: Annotated[bool, typer.Option(help="Measure random play, too, as the chance level.")] = True,
    metric: Annotated[
        list[str] | None, typer.Option(help="Additional metric. Repeatable.", autocompletion=completion.metrics)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all figures: of all metrics, of replies, by opponent and by seat.")
    ] = False,
    by_seat: Annotated[
        bool, typer.Option("--by-seat", help="Measure by seat, too, for --all; default where seats have names.")
    ] = False,
    disguise: Annotated[
        str | None,
        typer.Option(help="Number of disguises, or a file: the same deals in other words, and the memorisation gap."),
    ] = None,
    exploitability: Method = "auto",
    effort: Effort = None,
    from_record: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Compute the figures of a record from its games and play nothing; no exploitability is among them.",
        ),
    ] = None,
    write_to: options.Out = None,
    record_to: options.Record = None,
    resume: options.Resume = False,
    json: options.Json = False,
) -> None:
    """Measure players: payoff, exploitability by a pool and exactly, safety, win rates."""
    output = EvaluationOutput(everything, write_to, json)
    if from_record is not None:
        _check_from(context)
        output.show(read_record(from_record).evaluate(metric or (), by_seat=by_seat, seed=seed))
        return
    if suite is None or not player:
        raise BadParameter("Name a suite or a game, and whom to measure with --player; or a record with --from.")
    settings = EvaluationSettings(
        suite,
        player,
        opponents=opponents or (),
        episodes=episodes,
        seed=seed,
        chance=chance,
        metrics=metric or (),
        by_seat=by_seat,
        disguise=disguise,
        exploitability=exploitability,
        effort=effort,
        record=record_to,
        resume=resume,
    )
    output.show(played(plan_evaluation(settings), output.show, quiet=json))


def _check_from(context: typer.Context) -> None:
    """Refuse options of play beside --from, which would be without effect."""
    given = (
        one
        for one in context.command.params
        if one.expose_value and one.name not in FROM and _is_given(context, one.name)
    )
    if idle := sorted(_written(context, one) for one in given):
        raise BadParameter(
            "--from computes the figures of a record, whose game and players stand in it, and plays nothing: "
            f"leave {', '.join(idle)} out."
        )


def _is_given(context: typer.Context, name: str | None) -> bool:
    source = context.get_parameter_source(name) if name else None
    return source is not None and source.name == "COMMANDLINE"


def _written(context: typer.Context, parameter: Any) -> str:
    """Return an option as it was written, such as --no-chance."""
    if parameter.param_type_name == "argument":
        return "the game"
    off = parameter.secondary_opts if context.params[parameter.name] is False else ()
    return str((*off, *parameter.opts)[0])


class EvaluationOutput(NamedTuple):
    """Output of an evaluation: options, and the method that prints and writes the figures."""

    everything: bool = False
    write_to: Path | None = None
    json: bool = False

    def show(self, evaluation: Evaluation) -> None:
        """Print the figures, and write them if `write_to` is set."""
        if self.write_to is not None and not evaluation.broken_off:
            write_json(evaluation.to_json(), self.write_to)
        if not evaluation.results and not self.json:
            errors.print("There are no figures yet: no episode has finished.", highlight=False)
            return
        print_result(evaluation, json=self.json, everything=self.everything)
        if not self.json and not self.everything:
            out.print(MORE, style="dim", highlight=False)
