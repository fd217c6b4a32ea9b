"""`stratagem show`: recorded episodes, listed or printed turn by turn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import number, print_json, table
from stratagem.cli.transcript import episode_json, tell
from stratagem.errors import StratagemError, UnknownName
from stratagem.play.forks import replay
from stratagem.play.records import Episode
from stratagem.play.store import read_episodes
from stratagem.runs.files import new_folder, write_file


def show(
    folder: Annotated[Path, typer.Argument(help="A folder that --record wrote.")],
    episode: Annotated[str | None, typer.Option(help="The id, or the number in the list, of one to tell.")] = None,
    files: Annotated[
        Path | None,
        typer.Option(help="A new folder for that episode's pictures and saved game, if its game has some."),
    ] = None,
    first: Annotated[int, typer.Option(min=1, help="How many to list.")] = 20,
    json: options.Json = False,
) -> None:
    """List recorded episodes, or print one of them turn by turn."""
    episodes = list(read_episodes(folder, calls=False))
    if episode is not None:
        by_name = {e.id: e for e in episodes} | {str(place): e for place, e in enumerate(episodes, 1)}
        if episode not in by_name:
            raise UnknownName("recorded episode", episode, [e.id for e in episodes])
        if files is not None:
            return written(by_name[episode], files)
        return print_json(episode_json(by_name[episode])) if json else tell(by_name[episode])
    if files is not None:
        raise StratagemError("--files writes what one episode left: name it with --episode.")
    if json:
        print_json([episode_json(e) for e in episodes[:first]])
        return None
    made = table(f"{folder}: {len(episodes)} episodes", "number", "id", "players", "rounds", "payoffs", numbers=False)
    for place, e in enumerate(episodes[:first], 1):
        payoffs = " ".join(number(pay, 2) for pay in e.payoffs)
        made.add_row(str(place), Text(e.id), Text(", ".join(e.players)), str(len(e.rounds)), payoffs)
    out.print(made)
    if len(episodes) > first:
        out.print(f"and {len(episodes) - first} more: --first N lists more, --episode NUMBER tells one", markup=False)
    return None


def written(episode: Episode, folder: Path) -> None:
    """Write the files of an episode's game, all of them or none."""
    made = dict(replay(episode).files())
    if not made:
        raise StratagemError(f"{episode.game} has no files of its own: `stratagem show` without --files tells it.")

    def fill(empty: Path) -> None:
        for name, text in made.items():
            write_file(empty / name, text)

    new_folder(folder, fill)
    out.print(f"{len(made)} files in {folder}", markup=False)
