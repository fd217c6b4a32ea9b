"""Audits within tests: the agent of a function, the settings of a mark, the record, and the message of a failure."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, update_wrapper
from hashlib import blake2b
from inspect import iscoroutinefunction
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import pytest

import stratagem
from stratagem.api.arguments import names_of, several
from stratagem.api.audit_plans import checked_plan
from stratagem.api.audits import Audit
from stratagem.api.audits import audit as audit_agent
from stratagem.api.player_like import NamesPlayer, PlayerLike
from stratagem.api.serving import serving
from stratagem.base.errors import BadParameter, BadRecord, StratagemError
from stratagem.base.lock import LockHeld, hold_lock, wait_for_lock
from stratagem.base.options import is_number
from stratagem.games.bounded import make_bounded_game
from stratagem.measure.audit.identity import AgentIdentity, identify
from stratagem.measure.audit.plan import DECISIONS, GAMES, AuditPlan
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.given import GameLike
from stratagem.testing import ASKED_AGAIN, CARD

LIMITS = ("lower", "upper")
LINES = 10
"""Largest number of lines of a message."""
MOST_RECORDS = 256
"""Number of records in the cache: every change of an agent begins a new one."""
_USUAL = DECISIONS // len(GAMES)
T = TypeVar("T")


@dataclass(frozen=True)
class AgentTest:
    """Settings of an audit in a test."""

    game: GameLike | Sequence[GameLike] = "kuhn"
    below: float | None = None
    """Value that the limit of the exploitability may not exceed, in each game."""
    limit: str = "lower"
    """Limit that is compared: a lower one above `below` shows too much; an upper one below it shows little enough."""
    fail_if: str | Sequence[str] = ()
    """Further conditions that fail the test."""
    decisions: int = _USUAL
    seed: int = 0
    against: PlayerLike | None = None
    probes: str | Sequence[str] = ()
    engine: str | None = None
    version: str = ""
    """Text that vouches for what cannot be compared of the agent: while it is the same, the record is used again."""

    def conditions(self, games: Sequence[str]) -> list[str]:
        """Return the conditions that fail the test."""
        if self.limit not in LIMITS:
            raise BadParameter(f"`limit` is {' or '.join(LIMITS)}, not {self.limit!r}.")
        if self.below is not None and not is_number(self.below):
            raise BadParameter(f"`below` is a number, not {self.below!r}.")
        if not isinstance(self.version, str):
            raise BadParameter(f"`version` is a text, not {self.version!r}.")
        own = [] if self.below is None else [f"{game}.exploitability.{self.limit} > {self.below:g}" for game in games]
        return [*own, *names_of(self.fail_if, "condition")]


def read_mark(args: Sequence[Any], kwargs: Mapping[str, Any]) -> AgentTest:
    """Read the arguments of a mark; one that could fail no test is refused."""
    test = read_test(args, kwargs)
    if test.below is None and not names_of(test.fail_if, "condition"):
        raise BadParameter("The mark needs `below=` or `fail_if=`: without a condition it can fail no test.")
    return test


def read_test(args: Sequence[Any], kwargs: Mapping[str, Any]) -> AgentTest:
    """Read the settings of an audit."""
    try:
        return AgentTest(*args, **kwargs)
    except TypeError as error:
        known = ", ".join(AgentTest.__dataclass_fields__)
        raise BadParameter(f"The settings of an audit are {known}: {str(error).partition('() ')[2]}.") from None


def agent_of(function: Callable[..., Any], fixtures: Mapping[str, Any], *, asked: bool) -> PlayerLike:
    """Return the agent that a function is, or that it returns; `fixtures` are the values of its other parameters."""
    if asked:
        return _with_fixtures(function, fixtures)
    agent: PlayerLike = function(**fixtures)
    if not (isinstance(agent, str | Player | NamesPlayer) or callable(agent)):
        raise BadParameter(
            f"{function.__name__} returned {agent!r}: it should return a player, its name or a function, or have a "
            "parameter `question`, and answer it."
        )
    return agent


def _with_fixtures(function: Callable[..., Any], fixtures: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a function of the question alone, under the name of the one that also takes fixtures."""

    async def answer_later(question: dict[str, Any]) -> object:
        return await function(question=question, **fixtures)

    def answer(question: dict[str, Any]) -> object:
        return function(question=question, **fixtures)

    agent = answer_later if iscoroutinefunction(function) else answer
    update_wrapper(agent, function, updated=())
    del agent.__dict__["__wrapped__"]  # its signature has the fixtures
    return agent


@dataclass(frozen=True)
class AgentAuditor:
    """Function that audits an agent for a test."""

    folder: Path | None
    """Folder of the records; None where none are kept."""
    test: str
    note: Callable[[str, str], None]
    """Function that adds a property to the report of the test."""

    def __call__(self, agent: PlayerLike, *args: Any, **kwargs: Any) -> Audit:
        """Audit an agent, and return its card; the test fails where a condition holds or cannot be judged."""
        return self.check(agent, self.in_one_sentence(lambda: read_test(args, kwargs)))

    def check(self, agent: PlayerLike, test: AgentTest) -> Audit:
        """Audit an agent, and fail the test by the card; there is no traceback, since no line of the test is wrong."""
        result = self.in_one_sentence(lambda: self._audit(agent, test))
        if result.exit_status:
            pytest.fail("\n".join(result.short_lines(LINES)), pytrace=False)
        return result

    def in_one_sentence(self, work: Callable[[], T]) -> T:
        """Return what a function returns; a mistake, a spent budget or a failed server fails the test in words."""
        try:
            return work()
        except StratagemError as error:
            said = " ".join([str(error), *getattr(error, "__notes__", ())])
        pytest.fail(said, pytrace=False)

    def _audit(self, agent: PlayerLike, test: AgentTest) -> Audit:
        with serving(test.engine):  # the plan opens a local model already
            games = several(test.game, "game")
            plan, _ = checked_plan(agent, games, test.decisions, test.seed, (), test.against, test.probes)
            with self._record(plan, test) as folder:
                ask = partial(
                    audit_agent,
                    agent,
                    games=games,
                    against=test.against,
                    decisions=test.decisions,
                    seed=test.seed,
                    out=folder,
                    fail_if=test.conditions(plan.games),
                    probes=test.probes,
                    progress=False,
                )
                try:
                    return ask()
                except BadRecord:  # damaged, or a file beside the agent's has changed
                    if folder is None or not folder.exists():
                        raise
                    shutil.rmtree(folder)
                    return ask()

    @contextmanager
    def _record(self, plan: AuditPlan, test: AgentTest) -> Iterator[Path | None]:
        """Yield the folder of the record, which nobody else uses within; a new one for an agent that may differ."""
        if self.folder is None:
            yield None
            return
        identity = _identify(plan)
        vouched = bool(test.version) or not identity.unseen
        key = [stratagem.__version__, plan.to_json(), identity.digest, test.engine, test.version]
        text = json.dumps(key if vouched else [*key, self.test], default=str)
        folder = self.folder / blake2b(text.encode(), digest_size=12).hexdigest()
        with wait_for_lock(lock := folder.with_suffix(".lock")):
            lock.touch()
            drop_old_records(self.folder)
            if not vouched:
                shutil.rmtree(folder, ignore_errors=True)
                self.note(ASKED_AGAIN, _why_asked(self.test, identity))
            self.note(CARD, str(folder))
            yield folder


def drop_old_records(place: Path) -> None:
    """Remove the records that were not used for the longest time; the time of its lock is that of its last use."""
    records = [lock.with_suffix("") for lock in sorted(place.glob("*.lock"), key=lambda lock: -lock.stat().st_mtime)]
    for old in [record for record in records if record.is_dir()][MOST_RECORDS:]:
        with suppress(LockHeld), hold_lock(old.with_suffix(".lock"), "this record"):
            shutil.rmtree(old, ignore_errors=True)


def _identify(plan: AuditPlan) -> AgentIdentity:
    """Return the identity of the agent, of the baseline, and of the games."""
    games = [make_bounded_game(game) for game in plan.games]
    agents = [plan.agent] if plan.baseline is None else [plan.agent, plan.baseline.agent]
    return identify(*games, *(make_player(agent, game) for agent, game in product(agents, games)))


def _why_asked(test: str, identity: AgentIdentity) -> str:
    return (
        f"{test}: the agent is asked again in each session, since {', '.join(identity.unseen[:3])} may change unseen; "
        '`version="..."` keeps its record.'
    )
