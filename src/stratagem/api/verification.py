"""Verification: `verify` checks the rules of a game against its declaration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import show_progress
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.options import check_seed, whole
from stratagem.games import conformance
from stratagem.games.base import Game, Json
from stratagem.games.conformance import RULES, ConformanceReport, RuleCheck
from stratagem.games.conformance.brute_force import HISTORIES
from stratagem.games.conformance.report import BrokenRule, NotApplicable
from stratagem.games.conformance.shrinking import ConformanceRule
from stratagem.games.conformance.walk import VerifiedGame
from stratagem.games.foreign.audit import AUDIT
from stratagem.games.foreign.catalogue import is_foreign, make_foreign
from stratagem.games.key import Key
from stratagem.players.given import GameLike, as_game
from stratagem.players.pools import Pool, check_weights, make_named, naming_safety
from stratagem.show.table import ResultTable, text_table

_TRIES = 60
"""Number of episodes that are tried to find the smallest one that shows a fault."""

__all__ = ["Verification", "verify"]


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Checks of a game; false as a condition where one failed. It has no figures, so there is no picture."""

    report: ConformanceReport

    @property
    def ok(self) -> bool:
        """True if nothing failed."""
        return self.report.ok

    @property
    def failed(self) -> Sequence[str]:
        """Names of the failed checks."""
        return self.report.failed

    @property
    def exit_status(self) -> int:
        """1 if a check failed."""
        return 0 if self.ok else 1

    def __bool__(self) -> bool:
        return self.ok

    def rows(self) -> list[Json]:
        """Return one row for each check."""
        checks = self.report.checks
        return [{"check": check.name, "outcome": check.outcome, "detail": check.detail} for check in checks]

    def to_json(self) -> Json:
        """Return the report, as `stratagem verify-game --json` prints it."""
        return self.report.to_json()

    def tables(self) -> list[ResultTable]:
        title = str(self.report).partition("\n")[0]
        rows = [(str(row["outcome"]), str(row["check"]), str(row["detail"])) for row in self.rows()]
        return [text_table(title, ("outcome", "check", "detail"), rows)]


@one_sentence
def verify(
    game: GameLike,
    *,
    episodes: int = 30,
    seed: int = 0,
    brute_force: bool = False,
    histories: int = HISTORIES,
    progress: bool = True,
) -> Verification:
    """Check a game or an environment against its declaration, and against OpenSpiel where it has the game.

    An environment of another package is named as in `textarena:KuhnPoker-v0`.

    Args:
        game: Game, or an environment such as textarena:KuhnPoker-v0.
        episodes: Number of random episodes of each check.
        seed: Seed of all randomness.
        brute_force: True to compare exact figures of random policies with those of every history of a small game.
        histories: Largest number of histories that are compared.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    whole("verify", "episodes", episodes, 1)
    whole("verify", "histories", histories, 1)
    check_seed(seed)
    foreign = isinstance(game, str) and is_foreign(game)
    if foreign and brute_force:
        raise BadParameter(f"{game} is an environment of another package, whose histories cannot be enumerated.")
    made: Any = make_foreign(str(game)) if foreign else as_game(game)
    further = _by_brute_force(made, histories, Key(seed)) if brute_force else list[RuleCheck]
    rules = AUDIT if foreign else (*RULES, PLAYERS_RULE)
    with show_progress(len(rules) + brute_force, shown=progress) as step:
        report = conformance.verify(made, episodes=episodes, key=Key(seed), rules=rules, tries=_TRIES, step=step)
        if brute_force:
            step("compares every history")
        return Verification(replace(report, checks=(*report.checks, *further())))


def _by_brute_force(game: Game[Any], histories: int, key: Key) -> Callable[[], list[RuleCheck]]:
    """Return the check by brute force, which is made last; a game that is too large is refused at once."""
    from stratagem.measure.brute_force_check import brute_force_check, explore_game  # it loads numpy

    size = explore_game(game, histories)
    return lambda: [brute_force_check(game, size, key)]


def named_players(case: VerifiedGame) -> str:
    """Check that every player of the pools and every demonstrator exists, and can play the game."""
    game, safety = case.game, naming_safety(case.game)
    if safety is None or not (safety.pools or safety.demonstrators):
        raise NotApplicable("the game names no players")
    try:
        made = [player for pool, names in safety.pools.items() for player in Pool(pool, names).make(game)]
        made += [make_named("The demonstrators", name, game) for name in safety.demonstrators]
        if safety.demonstrators:
            check_weights(safety.demonstrators, f"The demonstrators of {game.spec.name}")
    except StratagemError as error:
        raise BrokenRule(str(error)) from error
    return f"{len({player.name for player in made})} players of pools and demonstrators"


PLAYERS_RULE = ConformanceRule("players", named_players, ("signals",))
