"""`stratagem show`: recorded episodes, listed or printed turn by turn; `sg.read_record` reads them."""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.transcript import episode_table
from stratagem.base.errors import StratagemError
from stratagem.base.visible import visible
from stratagem.cli.console import out
from stratagem.cli.output import print_json, print_table
from stratagem.cli.parameters import JsonOption
from stratagem.cli.transcript import print_episode
from stratagem.games.base import Json
from stratagem.language.engines.base import Call
from stratagem.playing.records import Decision, Episode, episode_json
from stratagem.show.console import VisibleText

_BAR = "      │ "
_KINDS = {"forced": "forced", "argmax": "taken as the most likely legal token"}
"""Origins of tokens other than sampling."""


def print_words(decision: Decision) -> None:
    """Print the calls behind a decision."""
    for number, call in enumerate(decision.calls, 1):
        title = f"call {number} of {len(decision.calls)}, " if len(decision.calls) > 1 else ""
        policy = "/".join(filter(None, (call.policy.base, call.policy.adapter)))
        out.print(VisibleText(f"      {title}{policy}, version {call.policy.version}", style="bold"))
        for role, content in call.prompt.messages:
            _quote(role, content, "dim")
        if call.reasoning:
            _quote("reasoning", call.reasoning, "yellow")
        _quote(reply_title(call), call.text, "red" if call.failed else "green")


def reply_title(call: Call) -> str:
    """Describe a reply: how it ended, its tokens, and its probability."""
    if call.failed:
        return f"no reply ({call.finish})"
    kinds: list[str] = [span.kind for span in call.spans for _ in range(span.start, span.end)]
    parts = [f"{len(call.tokens) or call.num_reply} tokens"]
    parts += [f"{count} {told}" for kind, told in _KINDS.items() if (count := kinds.count(kind))]
    parts += [f"probability {math.exp(math.fsum(call.sampler_logprobs)):.3g}"] if call.sampler_logprobs else []
    return f"reply ({', '.join(parts)}{'' if call.finish == 'done' else f', ended by {call.finish}'})"


def _quote(title: str, content: str, style: str) -> None:
    out.print(VisibleText(f"      {title}", style="cyan"))
    for line in content.split("\n"):
        for part in _wrap_line(line):
            out.print(VisibleText(_BAR, style="cyan").append(part, style=style))


def _wrap_line(line: str) -> list[str]:
    """Cut a line to the width of a terminal, which would go on before the bar."""
    if not out.is_terminal:
        return [line]
    told, room = visible(line), max(20, out.width - len(_BAR))
    return [told[place : place + room] for place in range(0, max(1, len(told)), room)]


def calls_json(episode: Episode) -> list[Json]:
    """Return the calls of an episode as data, each with its decision."""
    return [
        {
            "turn": decision.turn, "seat": decision.seat, "attempt": decision.attempt,
            "policy": call.policy._asdict(),
            "messages": [{"role": role, "content": content} for role, content in call.prompt.messages],
            "reply": call.text, "reasoning": call.reasoning, "finish": call.finish,
            "tokens": list(call.tokens), "sampler_logprobs": list(call.sampler_logprobs),
        }
        for decision in episode.decisions
        for call in decision.calls
    ]  # fmt: skip


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
    json: JsonOption = False,
) -> None:
    """List recorded episodes, or print one of them turn by turn."""
    if episode is None and (files is not None or words):
        option, what = ("--files", "writes the files") if files is not None else ("--words", "prints the words")
        raise StratagemError(f"{option} {what} of one episode: name it with --episode.")
    if episode is None:
        _list_episodes(folder, first, json=json)
        return
    from stratagem.api.records import read_record  # loads the evaluation of records

    record = read_record(folder, calls=words)
    if files is not None:
        out.print(f"{len(record.write_files(files, episode))} files in {files}", markup=False)
    else:
        _print(record.episode(episode), words=words, json=json)


def _list_episodes(folder: Path, first: int, *, json: bool) -> None:
    """List the first episodes; no later shard is read, and of a table no decision."""
    from stratagem.playing.store import count_episodes, read_episodes  # loads pyarrow

    episodes = tuple(islice(read_episodes(folder, calls=False, decisions=json), first))
    if json:
        print_json([episode_json(one) for one in episodes])
        return
    total = count_episodes(folder)
    print_table(episode_table(folder, episodes, total))
    if (more := total - first) > 0:
        out.print(f"and {more} more: --first N lists more, --episode NUMBER prints one", markup=False)


def _print(episode: Episode, *, words: bool, json: bool) -> None:
    if not json:
        return print_episode(episode, print_words if words else None)
    return print_json(episode_json(episode) | ({"calls": calls_json(episode)} if words else {}))
