"""`stratagem show`: recorded episodes, listed or printed turn by turn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from stratagem.api.records import read_record
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import number, print_json, table
from stratagem.cli.transcript import print_episode
from stratagem.cli.words import calls_json, print_words
from stratagem.errors import StratagemError, UnknownName
from stratagem.play.forks import replay
from stratagem.play.records import Episode, episode_json
from stratagem.runs.files import new_folder, write_file


def show(
    folder: Annotated[Path, typer.Argument(help="Folder that --record wrote.")],
    episode: Annotated[str | None, typer.Option(help="Id, or number in the list, of an episode to print.")] = None,
    files: Annotated[
        Path | None,
        typer.Option(help="New folder for the episode's pictures and saved game, if its game has them."),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="With --episode: print the prompts and replies of models, too.")
    ] = False,
    first: Annotated[int, typer.Option(min=1, help="Number of episodes to list.")] = 20,
    allow_file: options.AllowFile = None,
    json: options.Json = False,
) -> None:
    """List recorded episodes, or print one of them turn by turn."""
    if episode is None and (files is not None or words):
        option, what = ("--files", "writes the files") if files is not None else ("--words", "prints the words")
        raise StratagemError(f"{option} {what} of one episode: name it with --episode.")
    episodes = read_record(folder, calls=words).episodes
    if episode is not None:
        by_name = {e.id: e for e in episodes} | {str(number): e for number, e in enumerate(episodes, 1)}
        if episode not in by_name:
            raise UnknownName("recorded episode", episode, [e.id for e in episodes])
        if files is not None:
            return write_episode_files(by_name[episode], files)
        return _print(by_name[episode], words=words, json=json)
    if json:
        print_json([episode_json(e) for e in episodes[:first]])
        return None
    grid = table(f"{folder}: {len(episodes)} episodes", "number", "id", "players", "rounds", "payoffs", numbers=False)
    for index, e in enumerate(episodes[:first], 1):
        payoffs = " ".join(number(pay, 2) for pay in e.payoffs)
        grid.add_row(str(index), Text(e.id), Text(", ".join(e.players)), str(len(e.rounds)), payoffs)
    out.print(grid)
    if len(episodes) > first:
        out.print(f"and {len(episodes) - first} more: --first N lists more, --episode NUMBER prints one", markup=False)
    return None


def _print(episode: Episode, *, words: bool, json: bool) -> None:
    if not json:
        return print_episode(episode, print_words if words else None)
    return print_json(episode_json(episode) | ({"calls": calls_json(episode)} if words else {}))


def write_episode_files(episode: Episode, folder: Path) -> None:
    """Write the files of an episode's game, all of them or none."""
    files = dict(replay(episode).files())
    if not files:
        raise StratagemError(f"{episode.game} has no files of its own: `stratagem show` without --files prints it.")

    def fill(empty: Path) -> None:
        for name, text in files.items():
            write_file(empty / name, text)

    new_folder(folder, fill)
    out.print(f"{len(files)} files in {folder}", markup=False)
