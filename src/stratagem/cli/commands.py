"""Commands by name; the module of a command is imported when the command runs, so that the others cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from stratagem.cli.console import errors
from stratagem.consent.table import ALLOWING
from stratagem.errors import BadParameter
from stratagem.renamed.arguments import refuse_replaced

SEVERAL = ("--players", "--opponents")
"""Options that take several values, as in `--players random mcts:100`."""


class Listed(NamedTuple):
    """Row of the list of commands."""

    target: str
    """Module and function, as entry points name them."""
    summary: str
    """First sentence of the function's docstring."""


COMMANDS = {
    "games": Listed("stratagem.cli.games:games", "List the games, or show one of them."),
    "players": Listed(
        "stratagem.cli.players:players", "List the players: rule, memory, whether they are stochastic, and pools."
    ),
    "engines": Listed(
        "stratagem.cli.engines:list_engines",
        "List the engines of models: whether they train, their settings, and whether they can be used here.",
    ),
    "play": Listed("stratagem.cli.match:play_match", "Play a match and print it turn by turn."),
    "eval": Listed(
        "stratagem.cli.evaluate:evaluate_players",
        "Measure players: payoff, exploitability by a pool and exactly, safety, win rates.",
    ),
    "tournament": Listed(
        "stratagem.cli.tournament:play_tournament",
        "Play all pairs of players and print the cross-play matrix of payoffs.",
    ),
    "audit": Listed(
        "stratagem.cli.audit:audit",
        "Audit an agent: exploitability with limits, safety, competence, consistency and cost.",
    ),
    "compare": Listed(
        "stratagem.cli.compare:compare", "Compare two audits: the change of each figure, with limits that cover."
    ),
    "talk": Listed(
        "stratagem.cli.talk:talk",
        "Measure the messages between two players: truth, promises, information, deception, effect and gullibility.",
    ),
    "collusion": Listed(
        "stratagem.cli.collusion:collusion",
        "Measure collusion in words: what two seats gain by talk against the others, in public and in private.",
    ),
    "leaderboard": Listed(
        "stratagem.cli.leaderboard:leaderboard",
        "Rank the agents of several audits by one figure, each with the ranks that its limits allow.",
    ),
    "verify-game": Listed(
        "stratagem.cli.verify:verify_game",
        "Check a game or an environment against its declaration, and against OpenSpiel where it has the game.",
    ),
    "prompt": Listed(
        "stratagem.cli.prompt:prompt",
        "Print the prompts of the first turns of a game; the prefix shared with the previous prompt is dim.",
    ),
    "data": Listed("stratagem.cli.data:write_data", "Write demonstrations of scripted players, as data for SFT."),
    "steps": Listed("stratagem.cli.steps:steps", "Estimate the value of each step of recorded games."),
    "recipes": Listed("stratagem.cli.recipes:recipes", "List the shipped recipes with their descriptions."),
    "train": Listed(
        "stratagem.cli.train:train", "Train a model by one or more recipes; continue a stopped run with --resume."
    ),
    "runs": Listed("stratagem.cli.runs:runs", "List the runs in a folder with their status and newest figures."),
    "upgrade": Listed(
        "stratagem.cli.upgrade:upgrade",
        "Write the settings of a run of an earlier release under the names of this one, and keep the old files.",
    ),
    "watch": Listed(
        "stratagem.cli.watch:watch", "Watch a run until it ends: its step, its main figures, its curves and its checks."
    ),
    "sweep": Listed("stratagem.cli.sweep:sweep", "Run every arm of a sweep with every seed, and test its hypothesis."),
    "reproduce": Listed(
        "stratagem.cli.reproduce:reproduce",
        "Make the runs of a published table, and print its figures beside theirs.",
    ),
    "report": Listed(
        "stratagem.cli.report:report",
        "Write a report: one HTML file with figures, curves, episodes and recipe, which needs no network.",
    ),
    "labels": Listed(
        "stratagem.cli.labels:labels",
        "Measure a model's policy under all 650 pairs of capital letters, and print the pairs nearest to a target.",
    ),
    "serve": Listed(
        "stratagem.cli.serve:serve_players", "Serve players of a game behind OpenAI's chat protocol, until Ctrl-C."
    ),
    "show": Listed("stratagem.cli.show:show", "List recorded episodes, or print one of them turn by turn."),
    "view": Listed(
        "stratagem.cli.view:view",
        "Show runs, recorded games and the replies of models as pages in a browser, until Ctrl-C.",
    ),
    "trust": Listed(
        "stratagem.cli.trust:trust_folders",
        "Trust a folder: its recipes and records may run files and commands, contact servers and read, unasked.",
    ),
}
"""All commands, in the order of the help."""
CALLED = {
    "games": ("games",),
    "players": ("players",),
    "engines": ("engines",),
    "play": ("play",),
    "eval": ("evaluate", "read_record"),
    "tournament": ("tournament",),
    "audit": ("audit", "plan_audit"),
    "compare": ("compare_audits",),
    "talk": ("talk",),
    "collusion": ("collusion",),
    "leaderboard": ("rank_audits",),
    "verify-game": ("verify",),
    "prompt": ("prompt",),
    "data": ("data",),
    "steps": ("steps",),
    "recipes": ("recipes",),
    "train": ("train", "dry_run"),
    "runs": ("runs",),
    "upgrade": ("upgrade",),
    "sweep": ("sweep",),
    "reproduce": ("reproduce",),
    "report": ("report",),
    "labels": ("labels",),
    "serve": ("serve",),
    "show": ("read_record",),
    "view": ("view", "export_replays"),
    "trust": ("trust", "trusted", "forget"),
}
"""Functions of `import stratagem` that a command calls."""
ALONE = {"watch": "It redraws one terminal until a run ends; `sg.load_run` has the figures, and `sg.view` the page."}
"""Reasons of commands that call none."""

NAMING_NOTHING = ("engines", "recipes", "runs", "watch", "compare", "leaderboard", "trust")
"""Commands that make nothing that a file names, so that they ask for no permission."""


def permissions() -> list[Any]:
    """Return the options that allow a single thing; they act by themselves, so that no command has to pass them on."""
    app = typer.Typer(add_completion=False)
    app.command()(_permitted)
    found = [one for one in get_command(app).params if one.name in _permitted.__annotations__]
    for one in found:
        one.expose_value = False
    return found


def _allow(parameter: typer.CallbackParam, things: Sequence[str] | None) -> None:
    kind = str(parameter.name).removeprefix("allow_")
    for thing in things or ():
        ALLOWING[kind](thing)


Things = list[str] | None


def _permitted(
    allow_file: Annotated[
        Things,
        typer.Option(callback=_allow, help="Python file that a recipe, record or run may run, or file to read."),
    ] = None,
    allow_command: Annotated[
        Things, typer.Option(callback=_allow, help="Command of an agent that a recipe, record or run may start.")
    ] = None,
    allow_host: Annotated[
        Things, typer.Option(callback=_allow, help="Server that a recipe, record or run may use: HOST or HOST:PORT.")
    ] = None,
) -> None:
    """Declare the options."""


def _option_names(given: Sequence[str]) -> list[str]:
    """Return the parameters of the options among words."""
    words = (one.partition("=")[0] for one in given if one.startswith("--"))
    return [one.removeprefix("--").replace("-", "_") for one in words]


class LoadedCommand(TyperCommand):
    """Command with its options: what they opened is closed, and a shell completes further words as values of one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; if one is refused, end what the ones before it set for the command."""
        with ExitStack() as refused:
            refused.callback(ctx.close)  # the command does not begin, so nobody else ends it
            given = list(args)  # the parser takes words from the list
            refuse_replaced(next(iter(CALLED.get(str(self.name), ())), ""), _option_names(given))
            rest = super().parse_args(ctx, args)
            self._check_paths(ctx, given)
            refused.pop_all()
        return rest

    def _check_paths(self, ctx: Any, args: list[str]) -> None:
        """Refuse an empty text where a path is due, as of an unset variable: it would be the working folder."""
        words = [part for word in args for part in (word.split("=", 1) if word.startswith("--") else (word,))]
        empty = {option for option, value in pairwise(words) if not value}
        for parameter in self.get_params(ctx):
            if empty & set(parameter.opts) and isinstance(ctx.params.get(parameter.name), Path):
                option = parameter.opts[0]
                raise BadParameter(f"{option} needs a path, and its text is empty: name one, or leave it out.")

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the completions of a word to which no parameter is left."""
        offered = super().shell_complete(ctx, incomplete)
        for parameter in self.get_params(ctx) if incomplete[:1] != "-" else ():
            if set(SEVERAL) & set(parameter.opts) and ctx.params.get(parameter.name):
                offered += parameter.shell_complete(ctx, incomplete)
        return offered


class LazyCommand(TyperCommand):
    """Command known by its summary until it runs."""

    def __init__(self, name: str, listed: Listed) -> None:
        super().__init__(name, short_help=listed.summary)
        self._target = listed.target

    @cached_property
    def loaded(self) -> Any:
        """The command with its options."""
        module, _, function = self._target.partition(":")
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(self.name, cls=LoadedCommand)(getattr(import_module(module), function))
        command = get_command(app)
        if self.name not in NAMING_NOTHING:
            command.params += permissions()
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the options of the command itself; the parser goes on from there."""
        return self.loaded.make_context(info_name, args, parent=parent, **extra)


class Commands(TyperGroup):
    """All commands, none of them imported."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, listed in COMMANDS.items():
            self.add_command(LazyCommand(name, listed))

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt of which it says nothing itself is named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            errors.print("Interrupted.", style="yellow")
            raise typer.Exit(130) from None
