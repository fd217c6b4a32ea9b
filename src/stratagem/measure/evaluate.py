"""Evaluation: every player in every game of a suite, beside random play as the chance level and the exact figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.garbage import rare_collection
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.safety.base import POOLS
from stratagem.language.models.reference import placeless
from stratagem.measure.agreement import disagreements
from stratagem.measure.by_seat import SeatFigures, by_seat
from stratagem.measure.common_deals import pay_on_common_deals
from stratagem.measure.exploitability.measurement import ExploitabilitySettings, check_exploiter, exploitability
from stratagem.measure.exploitability.methods import BOUNDS
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.matchups import Evaluator, Matchup
from stratagem.measure.memorisation import OtherWords, Wrap, check_wraps, in_other_words
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.statistics import Difference, Estimate, paired_difference
from stratagem.measure.suites import Suite, SuiteLine
from stratagem.measure.validity import Validity, validity
from stratagem.players.agents import AgentPlayer, each_once, untold_options
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player, name_of_player
from stratagem.players.human import at_keyboard
from stratagem.players.pools import make_named, overlap_warning

Progress = Callable[[str], None]
CHANCE = "random"
"""Player of the chance level."""


@dataclass(frozen=True)
class EvaluationRow:
    """One player's figures in one game."""

    player: str
    metrics: dict[str, Estimate | None]
    exploitability: Exploitability
    """Exploitability, or the reason why there is none."""
    matchups: tuple[Matchup, ...]
    errors: tuple[str, ...]
    """Messages of errors that players raised, each once."""
    validity: Validity | None
    """Shares of a language model's replies by kind."""
    nulls: dict[str, float]
    """Figure under the null hypothesis by metric, of those that have one."""
    by_seat: tuple[SeatFigures, ...] = ()
    """Figures seat by seat, where seats have names or it was requested."""
    in_other_words: tuple[OtherWords, ...] = ()
    """The player under disguises, where they were requested."""


@dataclass(frozen=True)
class GameResult:
    """One game of a suite."""

    game: Game[Any]
    text: str
    rows: tuple[EvaluationRow, ...]
    differences: dict[str, Difference]
    """Payoff of each further player less the first's, on the same deals, by name."""
    warnings: tuple[str, ...] = field(default=())


@rare_collection()
def evaluate(
    suite: Suite,
    players: Sequence[str | Player],
    evaluator: Evaluator,
    *,
    chance: bool = True,
    seats: bool = False,
    disguises: Sequence[Wrap] = (),
    progress: Progress = lambda _: None,
) -> list[GameResult]:
    """Measure players in every game of the suite; by seat if `seats` or if seats have names.

    With `disguises` each player but the chance level also plays in other words.
    """
    made = checked_games(suite, players, chance=chance, exploiter=evaluator.exploitability, disguises=disguises)
    wanted = _agents(players, chance)
    return [
        _game(suite, line, game, wanted, evaluator, progress, seats=seats, disguises=disguises) for line, game in made
    ]


def checked_games(
    suite: Suite,
    players: Sequence[str | Player],
    *,
    chance: bool = True,
    exploiter: str | Player = "auto",
    disguises: Sequence[Wrap] = (),
) -> list[tuple[SuiteLine, Game[Any]]]:
    """Return the games of a suite, in each of which every player and opponent was made and can play."""
    made = [(line, make_bounded_game(line.game)) for line in suite.lines]
    _check_each_once([describe(game) for _, game in made])
    for line, game in made:
        check_exploiter(exploiter, game)
        agents = _players(_agents(players, chance), game)
        check_wraps(game, agents, disguises)
        seated = each_once([*agents, *(player for player, _ in _opponents(line, game))])
        if any(at_keyboard(player) for player in seated):
            raise StratagemError("An evaluation plays hundreds of episodes: a human takes a seat in `stratagem play`.")
    return made


def _check_each_once(texts: Sequence[str]) -> None:
    """Refuse a game that stands in two lines: figures, tests and records tell games apart by their texts."""
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise BadParameter(f"A suite has each game once, and {twice[0]} is there twice: put its opponents in one line.")


def num_rows(suite: Suite, players: Sequence[str | Player], *, chance: bool = True) -> int:
    """Return the number of rows of an evaluation."""
    return len(_agents(players, chance)) * len(suite.lines)


def _agents(players: Sequence[str | Player], chance: bool) -> list[str | Player]:
    """Return every player once, and the chance level last unless it was requested."""
    requested = any(name_of_player(player).strip().casefold() == CHANCE for player in players)
    by_name: dict[object, str | Player] = {}
    for player in (*players, CHANCE) if chance and not requested else players:
        by_name.setdefault(_known_by(player), player)
    return list(by_name.values())


def _known_by(player: str | Player) -> object:
    """Return the key of a player among others: name, version and untold options, and of agents the agent itself."""
    if isinstance(player, AgentPlayer):
        return player
    return player.strip() if isinstance(player, str) else (player.name, player.traits.version, untold_options(player))


def _players(names: Sequence[str | Player], game: Game[Any]) -> list[Player]:
    """Make each player once, however often and in how many ways it was named."""
    return each_once(make_player(name, game) for name in names)


def _opponents(line: SuiteLine, game: Game[Any]) -> list[tuple[Player, tuple[str, ...]]]:
    """Return each opponent once, however often and in how many ways it was named, with the pools it is in."""
    by_name: dict[object, tuple[Player, dict[str, None]]] = {}
    for pool, names in line.pools.items():
        for name in names:
            player = _opponent(pool, name, game)
            by_name.setdefault(_known_by(player), (player, {}))[1][pool] = None
    return [(player, tuple(pools)) for player, pools in by_name.values()]


def _opponent(pool: str, name: str | Player, game: Game[Any]) -> Player:
    """Make an opponent; an error names the pool, where opponents are in pools."""
    return (
        make_named(f"The pool {pool}", name, game)
        if pool in POOLS and isinstance(name, str)
        else make_player(name, game)
    )


def _game(
    suite: Suite,
    line: SuiteLine,
    game: Game[Any],
    names: Sequence[str | Player],
    evaluator: Evaluator,
    progress: Progress,
    *,
    seats: bool,
    disguises: Sequence[Wrap],
) -> GameResult:
    rows = []
    for player in _players(names, game):
        wraps = () if player.name == CHANCE else disguises
        rows.append(measure_player(suite, line, game, player, evaluator, progress, seats=seats, disguises=wraps))
    names_of = {pool: [*map(name_of_player, seated)] for pool, seated in line.pools.items()}
    warnings = [overlap_warning(game, names_of)] if "train" in line.pools else []
    warnings += [f"{row.player}: {error}" for row in rows for error in row.errors]
    warnings += [str(found) for found in disagreements(game, [(row.player, row.matchups) for row in rows])]
    warnings += [sentence for row in rows for sentence in _missing(row)]
    return GameResult(game, line.text, tuple(rows), differences(rows, evaluator), tuple(filter(None, warnings)))


def measure_player(
    suite: Suite,
    line: SuiteLine,
    game: Game[Any],
    agent: Player,
    evaluator: Evaluator,
    progress: Progress = lambda _: None,
    *,
    seats: bool = False,
    disguises: Sequence[Wrap] = (),
) -> EvaluationRow:
    """Return one player's figures in one game of a suite."""
    opponents = _opponents(line, game)
    progress(f"{line.text}: {agent.name} against {len(opponents)} opponents")
    matchups = evaluator.matchups(game, agent, opponents)
    others = in_other_words(game, agent, opponents, disguises, evaluator, matchups)
    found = exploitability(game, agent, _how(evaluator, agent))
    return row_of(game, agent.name, matchups, suite.metrics, found, seats=seats, others=others)


def _how(evaluator: Evaluator, agent: Player) -> ExploitabilitySettings:
    """Return the way to measure an exploitability; the chance level's is exact where that can be."""
    how = ExploitabilitySettings(
        method=evaluator.exploitability,
        effort=evaluator.effort,
        key=evaluator.key,
        budget=evaluator.exact_budget,
        deals=evaluator.deals,
        record=evaluator.record,
        queue=evaluator.queue(),
    )
    return replace(how, method="auto", effort=None) if agent.name == CHANCE else how


def _missing(row: EvaluationRow) -> list[str]:
    """Return a sentence for each method that was asked for and gave no figure."""
    names = {"replies": "exploitability from replies"} | dict.fromkeys(BOUNDS, "lower bound")
    reasons = row.exploitability.tried.items()
    return [f"{row.player} has no {names[method]}: {why}" for method, why in reasons if method in names]


def row_of(
    game: Game[Any],
    player: str,
    matchups: Sequence[Matchup],
    wanted: Sequence[str],
    found: Exploitability,
    *,
    seats: bool = False,
    others: Sequence[OtherWords] = (),
) -> EvaluationRow:
    """Return a player's figures by these metrics, with the exploitability or the reason why there is none."""
    sample = Sample(game, tuple(matchups), tuple(other.matchups for other in others))
    metrics = {name: METRICS.measure(name, sample) for name in wanted}
    nulls = {name: null for name in wanted if (null := METRICS.null(name, sample)) is not None}
    seat_rows = by_seat(game, matchups, wanted) if seats or game.spec.seat_names else ()
    errors = error_messages([*matchups, *(matchup for other in others for matchup in other.matchups)])
    replies = validity(matchups)
    return EvaluationRow(player, metrics, found, sample.matchups, errors, replies, nulls, seat_rows, tuple(others))


def error_messages(matchups: Sequence[Matchup]) -> tuple[str, ...]:
    """Return the messages of errors that players raised instead of moving, each once."""
    messages = [
        f"a turn {'' if episode.slots[row.seat] == 0 else f'of {matchup.opponent} '}failed: {row.said}"
        for matchup in matchups
        for episode in matchup.episodes
        for row in episode.decisions
        if row.how == "error"
    ]
    return tuple(dict.fromkeys(messages))[:5]


def differences(rows: Sequence[EvaluationRow], evaluator: Evaluator) -> dict[str, Difference]:
    """Compare payoffs against the opponents of the train pool (or all), deal by deal."""
    if not rows:
        return {}
    by_name = {}
    for row in rows[1:]:
        common = pay_on_common_deals([_compared_matchups(one) for one in (row, rows[0])])
        key = evaluator.key.at("difference", placeless(row.player))
        by_name[row.player] = paired_difference([own for own, _ in common], [first for _, first in common], key)
    return by_name


def _compared_matchups(row: EvaluationRow) -> list[Matchup]:
    """Return the matchups whose payoffs are compared."""
    return [matchup for matchup in row.matchups if {"train", "opponents"} & set(matchup.pools)]


def set_episodes(evaluator: Evaluator, episodes: int | None, suite: Suite) -> Evaluator:
    """Set the number of episodes, or take the suite's own."""
    number = suite.episodes if episodes is None else episodes
    if number < 1:
        raise StratagemError("An evaluation needs at least one episode an opponent.")
    return replace(evaluator, episodes=number)
