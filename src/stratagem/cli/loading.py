"""Commands of the parser: known by their summaries, and loaded with their options when they run."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from stratagem.base.consent.table import ALLOWING
from stratagem.base.errors import BadParameter
from stratagem.base.renamed.arguments import REPLACED_COMMANDS, refuse_replaced
from stratagem.cli.commands import COMMANDS, GROUPS, PLURAL, Command, function_named
from stratagem.cli.console import errors, out
from stratagem.cli.parameters import as_options
from stratagem.cli.plural import TAKEN, taken_words


def permissions() -> list[Any]:
    """Return the options that allow a single thing; they act by themselves, so that no command has to pass them on."""
    return _acting(_declare_permissions, "Permissions")


def _allow(parameter: typer.CallbackParam, things: Sequence[str] | None) -> None:
    kind = str(parameter.name).removeprefix("allow_")
    for thing in things or ():
        ALLOWING[kind](thing)


Things = list[str] | None


def _declare_permissions(
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


def terms(unanswered: int) -> list[Any]:
    """Return the options of `sg.servers`; each sets its terms while the command runs.

    The command ends with the status `unanswered` if more requests than a share had no reply, after its output.
    """
    from stratagem.api.servers import servers
    from stratagem.cli.generated import typed_options

    def take(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> None:
        try:
            if parameter.name == "max_failed":
                _fail_above(context, value, unanswered)
            elif value is not None:
                context.with_resource(servers(**{str(parameter.name): value}))
        except BadParameter as error:
            said = re.sub(rf"servers needs `{parameter.name}`(?: of)?", f"{parameter.opts[0]} must be", str(error))
            raise BadParameter(said) from None

    return _acting(typed_options(servers, take), "Models behind servers")


def _fail_above(context: typer.Context, share: float | None, status: int) -> None:
    """Let a command end with a status where more requests than a share had no reply."""
    from stratagem.api.servers import servers
    from stratagem.language.engines.outcomes import failing_above
    from stratagem.language.engines.remote.terms import MAX_FAILED

    limit = MAX_FAILED if share is None else share
    context.with_resource(servers(max_failed=limit))  # refuses what is no share
    context.with_resource(servers(max_failed=1.0))  # results would say the same sentence a second time
    context.with_resource(failing_above(limit, status))


def as_command(function: Any, name: str = "", kind: Any = TyperCommand) -> Any:
    """Return a function as a command of the parser."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name or None, cls=kind)(function)
    return get_command(app)


def _acting(function: Any, section: str) -> list[Any]:
    """Return the options of a function whose callbacks act by themselves, so that no command has to pass them on."""
    found = [one for one in as_command(function).params if one.name != "help"]
    for one in found:
        one.expose_value = False
        one.rich_help_panel = section
    return found


def _function_of(command: str) -> str:
    """Return the name of the function that a command calls."""
    return str(COMMANDS[command].function).rpartition(":")[2] if command in COMMANDS else ""


def _option_names(given: Sequence[str]) -> list[str]:
    """Return the parameters of the options among words."""
    words = (one.partition("=")[0] for one in given if one.startswith("--"))
    return [one.removeprefix("--").replace("-", "_") for one in words]


def _is_slip(option: str, known: Sequence[str]) -> bool:
    """Return whether an option is a known one with a letter too many, too few or wrong."""
    return bool(get_close_matches(option, known, cutoff=0.85))


def _words_for(argument: Any) -> set[str]:
    """Return the words by which one may call an argument: its name, and those that its help begins with."""
    help_begins = re.split(r"[.,]", re.sub(r"\(.*?\)", "", argument.help or ""))[0]
    found = {str(argument.name), *re.findall(r"[a-z]+", help_begins.lower())}
    return found | {f"{word}s" for word in found} | {word.removesuffix("s") for word in found}


class LoadedCommand(TyperCommand):
    """Command with its options: what they opened is closed, and a shell completes further words as values of one."""

    example: str = ""
    """Arguments and options of a use of the command."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the example, then arguments and options in sections: those that many commands share come last."""
        if self.example:
            with formatter.section("Example"):
                formatter.write(f"  {ctx.command_path} {self.example}\n")  # a line that is copied is not broken
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            own = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record := parameter.get_help_record(ctx):
                names, explained = record  # the parser begins those of an option that only negates with a slash
                section = getattr(parameter, "rich_help_panel", None) or own
                sections.setdefault(section, []).append((names.removeprefix(" / "), explained))
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; if one is refused, end what the ones before it set for the command."""
        with ExitStack() as refused:
            refused.callback(ctx.close)  # the command does not begin, so nobody else ends it
            given = list(args)  # the parser takes words from the list
            refuse_replaced(_function_of(str(self.name)), _option_names(given))
            ctx.meta[TAKEN] = taken_words(given)
            try:
                rest = super().parse_args(ctx, args)
            except Exception as error:
                self._explain(error, ctx)
                raise
            self._read_paths(ctx, given)
            refused.pop_all()
        return rest

    def _explain(self, error: Any, ctx: Any) -> None:
        """Add to an error of the parser what it cannot know; typer has its classes at different paths."""
        kind = type(error).__name__
        if kind == "MissingParameter":
            error.message = ctx.meta[TAKEN]  # follows the parser's own sentence
        if kind != "NoSuchOption" or _is_slip(error.option_name, error.possibilities or ()):
            return
        word = error.option_name.removeprefix("--").replace("-", "_")
        change = next((one.opts[0] for one in self.get_params(ctx) if one.name == "changes"), None)
        if any(word in _words_for(one) for one in self.get_params(ctx) if one.param_type_name == "argument"):
            error.message += f". It needs no option, as in: {ctx.command_path} {self.example}."
        elif change:
            error.message += f". A setting of the recipe is changed by {change} {word}=VALUE."

    def _read_paths(self, ctx: Any, args: list[str]) -> None:
        """Read `~`, which a shell leaves in `--out=~/x`: a folder of that name would be dangerous to remove.

        An empty text where a path is due, as of an unset variable, is refused: it would be the working folder.
        """
        words = [part for word in args for part in (word.split("=", 1) if word.startswith("--") else (word,))]
        given = dict(pairwise(words))
        for parameter in self.get_params(ctx):
            option = next((name for name in parameter.opts if name in given), None)
            if option is None or not isinstance(path := ctx.params.get(parameter.name), Path):
                continue
            if not given[option]:
                raise BadParameter(f"{option} needs a path, and its text is empty: name one, or leave it out.")
            if given[option].startswith("~"):
                ctx.params[parameter.name] = Path(os.path.expanduser(path))  # noqa: PTH111 - an unknown user stays

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the completions of a word to which no parameter is left."""
        offered = super().shell_complete(ctx, incomplete)
        for parameter in self.get_params(ctx) if incomplete[:1] != "-" else ():
            if set(PLURAL) & set(parameter.opts) and ctx.params.get(parameter.name):
                offered += parameter.shell_complete(ctx, incomplete)
        return offered


def load_command(command: Command, name: str) -> Any:
    """Return a command with its options: its own, those of servers, and permissions."""
    if command.is_by_hand:
        function = function_named(command.function)
    else:
        from stratagem.cli.generated import typed_function  # imports the readers of names

        function = typed_function(command)
    loaded = as_command(function, name, LoadedCommand)
    loaded.params += terms(command.unanswered) if command.servers else []
    loaded.params += permissions() if command.names_files else []
    loaded.example = command.example
    return loaded


HELP = Path(__file__).with_name("help.json")
"""Help of every command as the parser writes it; `make docs` writes the file, and a test holds it."""
WIDTH = 78
"""Width of the help on every terminal of 80 columns or more."""


def stored_help(name: str) -> str | None:
    """Return the help of a command without an import of its function; None where a narrow terminal breaks its lines."""
    if shutil.get_terminal_size().columns < WIDTH + 2:
        return None
    return str(json.loads(HELP.read_text("utf-8"))[name])


class LazyCommand(TyperCommand):
    """Command known by its summary until it runs."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(name, short_help=as_options(command.summary))
        self._command = command

    @cached_property
    def loaded(self) -> Any:
        """The command with its options."""
        return load_command(self._command, str(self.name))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the options of the command itself; the parser goes on from there. Help alone imports nothing."""
        if args == ["--help"] and (text := stored_help(str(self.name))) is not None:
            out.print(text, markup=False, highlight=False, soft_wrap=True)
            raise typer.Exit
        return self.loaded.make_context(info_name, args, parent=parent, **extra)


class Commands(TyperGroup):
    """All commands, none of them imported."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, command in COMMANDS.items():
            self.add_command(LazyCommand(name, command))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands in sections."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                limit = formatter.width - 6 - max(map(len, COMMANDS))
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit)) for name in names])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; one of an earlier release is answered with the present words."""
        if args and (new := REPLACED_COMMANDS.get(args[0])):
            raise BadParameter(f"`stratagem {args[0]}` was replaced: say {new}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt of which it says nothing itself is named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            errors.print("Interrupted.", style="yellow")
            raise typer.Exit(130) from None
