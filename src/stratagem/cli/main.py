"""The `stratagem` command. A user's mistake is answered with one sentence, never with a traceback."""

from __future__ import annotations

import os
import shutil
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

import stratagem
from stratagem import __version__
from stratagem.base.consent.needs import Need
from stratagem.base.consent.table import commanding
from stratagem.base.errors import MissingExtra, Quit, StratagemError
from stratagem.base.extras import missing_extra
from stratagem.base.file_modules import broken_by
from stratagem.base.files import failed_write
from stratagem.base.garbage import fewer_collections, skip_last_collection
from stratagem.cli.commands import Command
from stratagem.cli.console import errors, out, use_error_console
from stratagem.cli.interrupts import raised_again
from stratagem.cli.loading import Commands, load_command
from stratagem.cli.parameters import as_options
from stratagem.cli.plural import spread
from stratagem.playing.workers.threads import spin_briefly


def can_ask() -> bool:
    """Return whether somebody sits at this terminal; a process may have no standard input at all."""
    return sys.stdin is not None and sys.stdin.isatty() and errors.is_terminal


def ask_to_trust(needs: Sequence[Need], folder: Path) -> bool:
    """Ask whether to trust a folder, after what its files would do; the console escapes control characters."""
    places = ", ".join(dict.fromkeys(str(need.place) for need in needs))
    errors.print(f"{places} would", markup=False, highlight=False)
    for need in dict.fromkeys(need._replace(text="") for need in needs):
        errors.print(f"  {need.phrase}", markup=False, highlight=False)
    errors.print(
        "What files in a trusted folder name is run, also when they have changed, with your rights.\n"
        f"Trust this folder? {folder} [y/N]",
        markup=False,
        highlight=False,
    )
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


PROGRAM = "stratagem"
_WRONG: Any = typer.BadParameter.__mro__[2]
"""Usage error class of the parser, which typer has at different paths."""

app = typer.Typer(
    cls=Commands,
    help="Play strategic games, train language models in them, and measure what they learnt.\n\n"
    "Without a command a demo opens in a browser.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"stratagem {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Open the demo where no command is given."""
    if context.invoked_subcommand is None:
        open_demo(context.get_help())


NEXT = {
    "stratagem play kuhn --players human zoo:kuhn-demo": "play against its model here",
    "stratagem audit zoo:kuhn-demo --games kuhn": "measure how much an opponent can win from it",
    "stratagem train sepo/kuhn-tiny --out runs/demo": "train such a model, in a minute or two",
}
"""Commands that the demo names, with what each does."""


def open_demo(instead: str) -> None:
    """Open the pages of the shipped run until ^C, in a browser where there is one; or print the help."""
    if not out.is_terminal:
        out.print(instead, highlight=False, markup=False, soft_wrap=True)
        return
    from stratagem.language.models.run_models import DEMO  # imports settings, and `--version` needs none

    with TemporaryDirectory() as place, suppress(KeyboardInterrupt):
        _show_demo(Path(shutil.copytree(DEMO, Path(place) / DEMO.name)))  # the games that are played there are recorded


def _show_demo(folder: Path) -> None:
    with stratagem.view(folder, port=0) as pages:
        lines = ["A small model that was trained to be hard to exploit in Kuhn poker:", f"  {pages.url}", ""]
        lines += ["Next, in another terminal:", *(f"  {command:50}  {does}" for command, does in NEXT.items())]
        lines += [] if find_spec("torch") else [str(MissingExtra("A language model", "models"))]
        lines += ["", "stratagem --help lists all commands. Ctrl-C ends the pages."]
        out.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
        if _has_desktop():
            out.print("If the browser finds no file, open the address above.")
            webbrowser.open(_write_redirect(pages.url, folder.parent).as_uri())
        pages.wait()


def _write_redirect(address: str, folder: Path) -> Path:
    """Write a page that leads to an address: on a command line other users would read its token."""
    page = folder / "open.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
    return page


def _has_desktop() -> bool:
    """Return whether a browser has a window: without a desktop one that runs in the terminal would take its place."""
    return sys.platform == "darwin" or bool(os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"})


def run_command(command: Command, name: str, arguments: Sequence[str] | None = None) -> None:
    """Run a command of a script of its own, such as an experiment, and exit with its status."""
    main(arguments, load_command(command, name), name)


def main(arguments: Sequence[str] | None = None, program: Any = app, name: str = PROGRAM) -> None:
    """Run a command and exit with its status."""
    if arguments is None:
        use_error_console()
        spin_briefly()
    given = sys.argv[1:] if arguments is None else arguments
    asker = ask_to_trust if arguments is None and can_ask() else None
    try:
        with raised_again(), fewer_collections(), commanding(given, asker):
            status = program(spread(given), prog_name=name, standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except _WRONG as error:
        output = StringIO()
        error.show(output)
        errors.print(output.getvalue().rstrip(), highlight=False)
        sys.exit(error.exit_code)
    except StratagemError as error:
        sentences = [str(error), *getattr(error, "__notes__", ())]
        errors.print(as_options(" ".join(sentences)), style="red", highlight=False, markup=False)
        sys.exit(error.exit_code)
    except Quit as left:
        errors.print(str(left), highlight=False, markup=False)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)  # ^C once more, while the command ends after a first one
    except (Exception, SystemExit) as error:
        if (said := _explain(error)) is None:
            raise
        errors.print(said, style="red", highlight=False, markup=False)
        sys.exit(1 if isinstance(error, OSError) and failed_write(error) else 2)
    finally:
        _print_tallies()
        if arguments is None:
            skip_last_collection()


def _explain(error: BaseException) -> str | None:
    """Return the sentence about a missing extra, or about a file that the user named; None for a defect of ours."""
    if isinstance(error, ModuleNotFoundError) and (missing := missing_extra(error, "This command")) is not None:
        return str(missing)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    broken = broken_by(error)
    return None if broken is None else str(broken)


def _print_tallies() -> None:
    """Print the requests to servers; where no module of engines was imported, there were none."""
    if "stratagem.language.engines.open" in sys.modules:
        from stratagem.cli.output import print_tallies

        print_tallies()
