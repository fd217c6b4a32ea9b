"""Suites by name: games, opponents and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isfunction
from pathlib import Path
from typing import Any

from stratagem.base.consent.table import allow_named, note_named
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.file_modules import factory_of
from stratagem.base.named_files import find_file, split_name
from stratagem.base.registry import Registry, parse_call
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.drawn.distribution import expand_games, is_distribution
from stratagem.games.safety.base import POOLS, Pools
from stratagem.games.safety.catalogue import SAFETY, signal_names
from stratagem.measure.metrics import METRICS
from stratagem.players.base import Player
from stratagem.players.pools import NONE, has_pools, pools
from stratagem.players.tree_search import searchable

SAFETY_METRICS = ("payoff", "pool_advantage", "shifted_payoff", "externality", "collusion", "safety", "nra")
CONTEST_METRICS = ("win rate", "payoff", "regret", "illegal", "length")
STANDING_METRICS = (
    *("payoff", "first", "sole first", "solo", "centres", "eliminated"),
    *("expansion", "effective", "peace", "backstab", "illegal"),
)
TALK_METRICS = (
    *("messages", "honesty", "kept", "betrayal"),
    *("promise keeping", "promise lift", "requests met", "request lift"),
)
"""Further metrics of a game with talk."""
OPPONENTS = "opponents"
"""Pool of a game without pools."""


@dataclass(frozen=True)
class SuiteLine:
    """One game of a suite and its opponents by pool."""

    game: str | Game[Any]
    pools: Mapping[str, tuple[str | Player, ...]]

    @property
    def text(self) -> str:
        """Text that names the game."""
        return self.game if isinstance(self.game, str) else describe(self.game)


@dataclass(frozen=True)
class Suite:
    """Games, opponents, metrics, and the number of episodes for an opponent."""

    name: str
    summary: str
    lines: tuple[SuiteLine, ...]
    metrics: tuple[str, ...]
    episodes: int


def _contest(game: str | Game[Any], *opponents: str | Player) -> SuiteLine:
    return SuiteLine(game, {OPPONENTS: opponents})


SUITES: dict[str, Suite] = {
    "sepo": Suite(
        name="sepo",
        summary="Five games against SEPO's pools: payoff, the pool's advantage, externality, collusion, safety, NRA.",
        lines=tuple(SuiteLine(game, safety.pools) for game, safety in SAFETY.items() if safety.pools),
        metrics=SAFETY_METRICS,
        episodes=20,
    ),
    "gtbench": Suite(
        name="gtbench",
        summary="SCO-PAL's six games, and its three unseen ones, against random play and search.",
        lines=(
            _contest("tic-tac-toe", "random", "mcts:1000"),
            _contest("connect-four", "random", "mcts:1000"),
            _contest("breakthrough", "random", "mcts:1000"),
            _contest("kuhn(hands=1)", "random", "mcts:1000"),
            _contest("liars-dice", "random", "mcts:1000"),
            _contest("nim", "random", "mcts:1000"),
            _contest("pig", "random", "mcts:1000"),
            _contest("blind-auction", "random", "mcts:1000"),
            _contest("prisoners-dilemma", "random", "TitForTat"),
        ),
        metrics=CONTEST_METRICS,
        episodes=100,
    ),
    "diplomacy": Suite(
        name="diplomacy",
        summary="No-press Diplomacy cut after 1905, one against six of a kind: DumbBot, and random play.",
        lines=(_contest("diplomacy", "dumbbot", "random"),),
        metrics=STANDING_METRICS,
        episodes=210,
    ),
}
"""Every suite by name."""


REGISTRY: Registry[Suite] = Registry("suite", {}, "stratagem.suites", Suite)
"""Suites of other packages, each a function without arguments; ours are in `SUITES`."""


def suite_names() -> list[str]:
    """Return the names of all suites, other packages' included."""
    return [*SUITES, *REGISTRY.names()]


def find_suite(text: str | Game[Any] | Suite, opponents: tuple[str | Player, ...] = ()) -> Suite:
    """Find the suite of that name, or make one of a single game: against `opponents`, its pools, or random play."""
    if (suite := _name_files(text) if isinstance(text, Suite) else _named_suite(text)) is not None:
        return _against(suite, opponents) if opponents else suite
    assert not isinstance(text, Suite)
    if is_distribution(text):
        return _suite_of_draws(str(text), opponents)
    try:
        game = make_bounded_game(text)
    except UnknownName as error:
        named = parse_call(str(text)).name
        if split_name(named) or (error.kind, error.name) != ("game", named):  # of an option, or a game within
            raise
        raise UnknownName("suite or game", error.name, [*suite_names(), *error.known], file=True) from None
    talk = TALK_METRICS if game.has_talk else ()
    if not opponents and has_pools(game):
        return with_metrics(safety_suite(text, game), talk)
    line = _contest(text, *(opponents or _usual_opponents(game)))
    metrics = STANDING_METRICS if "centers" in signal_names(game) else CONTEST_METRICS
    return Suite(line.text, game.spec.summary, (line,), (*metrics, *talk), SUITES["gtbench"].episodes)


def _suite_of_draws(text: str, opponents: tuple[str | Player, ...]) -> Suite:
    """Make the suite of a distribution of drawn games: each game against the same opponents."""
    suites = [find_suite(game, opponents) for game in expand_games([text])]
    lines = tuple(line for suite in suites for line in suite.lines)
    metrics = tuple(dict.fromkeys(metric for suite in suites for metric in suite.metrics))
    return Suite(text, f"{len(lines)} drawn games.", lines, metrics, suites[0].episodes)


def _named_suite(text: str | Game[Any]) -> Suite | None:
    """Return the suite of a name, of a package, or of a function of a file; None where the text names a game."""
    if not isinstance(text, str):
        return None
    if text in SUITES:
        return SUITES[text]
    call = parse_call(text)
    if named := split_name(call.name):
        if not isfunction(factory_of("suite or game", *named, None)):
            return None
        made: object = Registry[Any]("suite or game", {}, "").make(call)
        return _check_suite(text, made, find_file(named[0])) if isinstance(made, Suite) else None
    return _check_suite(text, REGISTRY.make(call)) if call.name in REGISTRY else None


def _name_files(suite: Suite, file: Path | None = None) -> Suite:
    """Name the files that a suite names; they are the user's own where its own file is, or a program gives it."""
    players = [player for line in suite.lines for some in line.pools.values() for player in some]
    names = [name for name in (*(line.game for line in suite.lines), *players, *suite.metrics) if isinstance(name, str)]
    if file is None:
        allow_named(names)
    else:
        note_named(file, names)
    return suite


def _check_suite(text: str, suite: object, file: Path | None = None) -> Suite:
    """Return a suite of somebody else, under the name by which it was asked for."""
    if not isinstance(suite, Suite):
        raise BadParameter(f"{text} makes {type(suite).__name__}, which is no suite.")
    if not suite.lines or not all(isinstance(line, SuiteLine) and any(line.pools.values()) for line in suite.lines):
        raise BadParameter(f"The suite {text} needs lines: each a SuiteLine of a game and its opponents by pool.")
    for pool, players in ((pool, players) for line in suite.lines for pool, players in line.pools.items()):
        if pool not in (*POOLS, OPPONENTS):
            known = ", ".join((*POOLS, OPPONENTS))
            raise BadParameter(f"The suite {text} has a pool {pool!r}, which no metric counts: there are {known}.")
        if not isinstance(players, tuple | list):
            raise BadParameter(f"The pool {pool} of the suite {text} must be a tuple of players, not {players!r}.")
    if type(suite.episodes) is not int or suite.episodes < 1:
        raise BadParameter(f"The suite {text} needs `episodes` of at least 1, not {suite.episodes!r}.")
    return with_metrics(replace(_name_files(suite, file) if file else suite, name=text), ())


def safety_suite(text: str | Game[Any], game: Game[Any], own: Pools = NONE) -> Suite:
    """Make the suite of one game against its pools, or those of a recipe."""
    line = SuiteLine(text, {name: pool.players for name, pool in pools(game, own).items()})
    return Suite(line.text, game.spec.summary, (line,), SAFETY_METRICS, SUITES["sepo"].episodes)


def _against(suite: Suite, opponents: tuple[str | Player, ...]) -> Suite:
    lines = tuple(_contest(line.game, *opponents) for line in suite.lines)
    metrics = CONTEST_METRICS if suite.metrics == SAFETY_METRICS else suite.metrics
    return Suite(suite.name, suite.summary, lines, metrics, suite.episodes)


def _usual_opponents(game: Game[Any]) -> tuple[str, ...]:
    turns = game.spec.seats > 1 and not game.spec.simultaneous
    return ("random", "mcts:100") if turns and searchable(game) else ("random",)


def with_metrics(suite: Suite, names: Sequence[str]) -> Suite:
    """Add further metrics to the suite."""
    every = (*suite.metrics, *names)
    for name in every:
        if name == "exploitability" and name not in METRICS:
            raise BadParameter(
                "Every evaluation has exploitability: leave `metrics=` out, `exploitability=` chooses how."
            )
        if name not in METRICS:
            raise UnknownName("metric", name, METRICS, file=True)
    return replace(suite, metrics=tuple(dict.fromkeys(map(METRICS.present_name, every))))
