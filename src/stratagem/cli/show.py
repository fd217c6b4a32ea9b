"""`stratagem show`: recorded episodes, listed or printed turn by turn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.records import read_record
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json, print_table
from stratagem.cli.transcript import print_episode
from stratagem.cli.words import calls_json, print_words
from stratagem.errors import StratagemError
from stratagem.play.records import Episode, episode_json


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
    json: options.Json = False,
) -> None:
    """List recorded episodes, or print one of them turn by turn."""
    if episode is None and (files is not None or words):
        option, what = ("--files", "writes the files") if files is not None else ("--words", "prints the words")
        raise StratagemError(f"{option} {what} of one episode: name it with --episode.")
    record = read_record(folder, calls=words)
    if episode is not None and files is not None:
        out.print(f"{len(record.write_files(files, episode))} files in {files}", markup=False)
    elif episode is not None:
        _print(record.episode(episode), words=words, json=json)
    elif json:
        print_json([episode_json(e) for e in record.episodes[:first]])
    else:
        print_table(record.listed(first))
        if (more := len(record.episodes) - first) > 0:
            out.print(f"and {more} more: --first N lists more, --episode NUMBER prints one", markup=False)


def _print(episode: Episode, *, words: bool, json: bool) -> None:
    if not json:
        return print_episode(episode, print_words if words else None)
    return print_json(episode_json(episode) | ({"calls": calls_json(episode)} if words else {}))
