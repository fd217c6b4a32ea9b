"""Record of an evaluation in progress: written after every batch, and read back after a stop.

No server is asked twice: finished episodes are read from the record, and in unfinished ones the replies of servers come
from the log of replies. A shard of tables that lacks an episode is played again as a whole, so the figures are those of
an evaluation that was never stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.file_modules import file_digests
from stratagem.base.files import read_small, write_file
from stratagem.language.engines.base import Call, Request, RequestAnswer
from stratagem.language.engines.outcomes import count_outcomes
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.language.engines.streaming import answer_requests
from stratagem.playing.answers import FILE as ANSWERS
from stratagem.playing.answers import Answers, LoggedQueue
from stratagem.playing.dispatch import Dispatcher, RequestQueue
from stratagem.playing.match import Setup
from stratagem.playing.records import Decision, Episode
from stratagem.playing.workers.shards import play_shards

PLAN = "evaluation.json"
"""File with the settings of the evaluation, in the folder of a record."""
_FILES = "files"
"""Entry of the settings with the digests of files."""
_SECONDS = 5.0
"""Seconds after which finished episodes are written, where no request is open."""
_WAITING = 0.2
"""The same before a wait for answers, at least."""
_PACE = 40.0
"""The same as a multiple of the last writing: an audit of a small local model spent a tenth of its time on files."""


class ResumableRecord:
    """Episodes of an evaluation so far; without a folder they are in memory only."""

    def __init__(
        self, folder: Path | None = None, plan: Mapping[str, Any] | None = None, *, resume: bool = False
    ) -> None:
        self.folder = folder
        self.finished: dict[str, Episode] = {}
        """Finished episodes by id, in the order of play."""
        self._earlier: set[str] = set()
        """Ids of episodes of an earlier session, until they are counted."""
        self._fresh: list[Episode] = []
        self._failed: list[Episode] = []  # with a server's error; written once it is known that those are few
        self.watch: Callable[[Episode], None] = lambda _: None
        """Called with each episode that is played now."""
        self._since = time.monotonic()
        self.pause = _WAITING
        """Seconds between writings before a wait for answers."""
        self._answers: Answers | None = None
        if resume and folder is None:
            raise StratagemError("`resume=True` goes on with a record: name its folder with `record=`.")
        if folder is not None:
            self._open(folder, dict(plan or {}), resume=resume)

    def _open(self, folder: Path, plan: dict[str, Any], *, resume: bool) -> None:
        from stratagem.playing.store import (  # loads pyarrow, so only with a folder
            hold_record,
            prepare,
            read_episodes,
            shards,
        )

        plan = with_files(plan)
        if resume:
            if not was_in_vain(folder):
                check_plan(folder, plan)
            hold_record(folder)
            self.finished = {episode.id: episode for episode in read_episodes(folder)} if shards(folder) else {}
            self._earlier = {*self.finished}
        elif shards(folder) or ((folder / PLAN).exists() and not was_in_vain(folder)):
            resumed = ", or add `resume=True`" if (folder / PLAN).exists() else ""  # play cannot go on
            raise StratagemError(f"{folder} already holds recorded episodes: choose another folder{resumed}.")
        prepare(folder)
        if not resume:  # else it is held since before its episodes were read
            hold_record(folder)
        write_file(folder / PLAN, json.dumps(plan, indent=1) + "\n")
        self._answers = Answers(folder)

    def close(self) -> None:
        """Let other processes go on with the record."""
        if self.folder is not None:
            from stratagem.playing.store import release_record

            release_record(self.folder)

    @property
    def clean(self) -> list[Episode]:
        """The finished episodes without an error of a server."""
        failed = {episode.id for episode in self._failed}
        return [episode for episode in self.finished.values() if episode.id not in failed]

    def play(self, setups: Sequence[Setup], queue: RequestQueue) -> dict[str, Episode]:
        """Play the setups that are not finished; return every episode by its id."""
        for setup in setups:
            self._check(setup)
        earlier = (self.finished[name] for name in self._take_earlier(setups))
        count_outcomes(call for episode in earlier for row in episode.decisions for call in row.calls)
        flushing = _Flushing(self._log_queue(queue), lambda: self._flush_after(self.pause))
        over = play_shards(setups, flushing, is_finished=lambda setup: setup.id in self.finished)
        try:
            with closing(over) as episodes:  # an interrupt here ends the requests that are open
                for episode in episodes:
                    if episode.id not in self.finished:
                        self._take(episode)
        except ServerFailed:
            self._forget()
            raise
        finally:
            self.flush()
        self._settle()
        return {setup.id: self.finished[setup.id] for setup in setups}

    def _take_earlier(self, setups: Sequence[Setup]) -> list[str]:
        """Return the episodes of an earlier session among these, each once."""
        found = [setup.id for setup in setups if setup.id in self._earlier]
        self._earlier -= {*found}
        return found

    def answer_requests(self, requests: Sequence[Request]) -> list[Call]:
        """Return the answers to requests outside of play; those of servers are logged, and not asked for again."""
        return answer_requests(_Waiting(self._log_queue(Dispatcher())), requests)

    def _check(self, setup: Setup) -> None:
        """Refuse an episode of other players or rules than those of today."""
        known = self.finished.get(setup.id)
        if known is None:
            return
        names = tuple(setup.match.names[slot] for slot in setup.slots)
        if (
            known.players != names
            or known.game_version != setup.match.game.spec.version
            or known.key != setup.key.value
        ):
            raise BadRecord(
                f"The record holds the episode {setup.id} of other players, another version or another seed: "
                "go on with those, or record to another folder."
            )

    def _log_queue(self, queue: RequestQueue) -> RequestQueue:
        return queue if self._answers is None else LoggedQueue(queue, self._answers)

    def _take(self, episode: Episode) -> None:
        self.finished[episode.id] = episode
        (self._failed if has_failed(episode) else self._fresh).append(episode)
        self.watch(episode)
        self._flush_after(_SECONDS)

    def _flush_after(self, seconds: float) -> None:
        if time.monotonic() - self._since > seconds:
            self.flush()

    def flush(self) -> None:
        """Write the finished episodes."""
        self._since = time.monotonic()
        if self.folder is not None and self._fresh:
            from stratagem.playing.store import shards, write_shard

            begun = time.monotonic()  # the first import takes longer than a writing
            write_shard(self.folder, max(shards(self.folder), default=-1) + 1, self._fresh)
            self._since = time.monotonic()
            self.pause = min(_SECONDS, max(_WAITING, _PACE * (self._since - begun)))
        self._fresh = []

    def _settle(self) -> None:
        """Accept the errors of servers, which were few enough."""
        self._fresh, self._failed = self._failed, []
        self.flush()

    def _forget(self) -> None:
        for episode in self._failed:
            del self.finished[episode.id]
        self._failed = []


class _Waiting:
    """Queue of requests by the interface of an engine."""

    def __init__(self, queue: RequestQueue) -> None:
        self._queue = queue
        self.submit = queue.submit

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[RequestAnswer]:
        """Return some answers to open requests."""
        return self._queue.poll()

    def cancel(self, tickets: Collection[int]) -> None:
        """Forget all open requests."""
        self._queue.cancel()


class _Flushing:
    """Queue of requests, before each of whose waits finished episodes are written."""

    def __init__(self, queue: RequestQueue, flush: Callable[[], None]) -> None:
        self._queue, self._flush = queue, flush
        self.submit, self.cancel = queue.submit, queue.cancel

    def poll(self) -> list[RequestAnswer]:
        self._flush()
        return self._queue.poll()


def has_failed(episode: Episode) -> bool:
    """Return whether a server gave no reply in an episode."""
    return any(map(is_unanswered, episode.decisions))


def is_unanswered(row: Decision) -> bool:
    """Return whether a server gave no reply where a decision was asked for."""
    return row.how == "error" and any(call.failed for call in row.calls)


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Read the settings of a recorded evaluation; None where the record is of something else."""
    try:
        plan = json.loads(read_small(folder / PLAN))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise BadRecord(f"{folder / PLAN} cannot be read: it is damaged.") from error
    if not isinstance(plan, dict):
        raise BadRecord(f"{folder / PLAN} cannot be read: it is damaged.")
    return plan


def was_in_vain(folder: Path) -> bool:
    """Return whether an evaluation was begun and recorded nothing, as with a wrong name of a model."""
    answers = folder / ANSWERS
    paid = answers.exists() and answers.stat().st_size > 0
    return (folder / PLAN).exists() and not paid and not any((folder / "episodes").glob("*.parquet"))


def with_files(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Add the digests of the Python files and programs that the settings name."""
    files = file_digests(_texts(plan))
    return {**plan, **({_FILES: files} if files else {})}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def check_plan(folder: Path, plan: Mapping[str, Any]) -> None:
    """Refuse to resume an evaluation with other settings, or with files that have changed since."""
    known = read_plan(folder)
    if known is None:
        raise BadRecord(
            f"There is no evaluation to go on with in {folder}: leave `resume=True` out, or name its folder."
        )
    given = json.loads(json.dumps(plan))
    _check_files(folder, known.pop(_FILES, {}), given.pop(_FILES, {}))
    if differing := sorted(name for name in {*known, *given} if known.get(name) != given.get(name)):
        changes = ", ".join(
            f"{name} ({_short(known.get(name))}, and now {_short(given.get(name))})" for name in differing
        )
        raise BadRecord(
            f"The evaluation in {folder} was begun with other settings: {changes}; give the first ones, or another "
            "folder."
        )


def _check_files(folder: Path, known: object, given: Mapping[str, str]) -> None:
    """Refuse files that have changed: the answers so far are those of other players or rules."""
    before = known if isinstance(known, Mapping) else {}
    if changed := sorted(name for name in given if before.get(name, given[name]) != given[name]):
        have = f"{' and '.join(changed)} {'has' if len(changed) == 1 else 'have'}"
        raise BadRecord(
            f"{have} changed since the evaluation in {folder} was begun, and its answers are those of before: choose "
            "another folder."
        )


def _short(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 100 else text[:99] + "…"
