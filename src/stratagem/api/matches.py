"""Matches: `play` seats players at a game, and returns their episodes and payoffs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from stratagem.api.arguments import as_folder
from stratagem.api.episodes import Episodes
from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player, players_of
from stratagem.api.progress import show_progress
from stratagem.api.serving import serving
from stratagem.base.options import check_seed, whole
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.measure.figures.catalogue import figures_of
from stratagem.measure.statistics import Estimate, ratio
from stratagem.players.catalogue import suggest_opponent
from stratagem.players.given import GameLike, as_game
from stratagem.players.human import at_keyboard
from stratagem.playing import scheduler
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.seating import rotate_seats
from stratagem.show.table import ResultTable, text_table

_TABLES = 256
"""Number of tables that are open at a time; one where a person sits."""

__all__ = ["MatchResult", "Total", "play"]


@dataclass(frozen=True)
class Total:
    """Figures of one player of a match."""

    player: str
    payoff: Estimate
    """Mean payoff a round."""
    wins: int
    """Episodes in which nobody had more, and somebody had less."""
    illegal_turns: int


@dataclass(frozen=True, repr=False)
class MatchResult(Episodes):
    """Episodes of a match, and the totals of its players."""

    game: Game[Any]
    players: tuple[str, ...]
    """Names of the players by slot; seats rotate, slots do not."""

    def totals(self) -> list[Total]:
        """Return the figures of each player, by slot."""
        return [self._total(slot, name) for slot, name in enumerate(self.players)]

    def _total(self, slot: int, name: str) -> Total:
        seats = [(episode, episode.seat_of(slot)) for episode in self.episodes]
        return Total(
            name,
            _pay(self.episodes, slot),
            sum(e.payoffs[seat] == max(e.payoffs) > min(e.payoffs) for e, seat in seats),
            sum(e.num_illegal[seat] for e, seat in seats),
        )

    def payoffs(self) -> dict[str, Estimate]:
        """Return the mean payoff a round of each player; of players of one name the first is meant."""
        return {total.player: total.payoff for total in reversed(self.totals())}

    def tables(self) -> list[ResultTable]:
        count = len(self.episodes)
        title = f"{self.episodes[0].game}: {count} episode{'s' if count > 1 else ''}, {self.game.spec.unit}"
        figures = figures_of("payoff", "wins", "illegal_turns")
        rows = [(total.player, total.payoff, total.wins, total.illegal_turns) for total in self.totals()]
        return [text_table(title, ("player", *figures), rows)]


def _pay(episodes: Sequence[Episode], slot: int) -> Estimate:
    """Return the mean payoff of a player over all rounds, as an evaluation counts it."""
    return ratio(episodes, lambda e: e.payoffs[e.seat_of(slot)], lambda e: max(1, len(e.rounds)), lambda e: e.group)


@one_sentence
def play(
    game: GameLike,
    players: PlayerLike | Sequence[PlayerLike] | None = None,
    *,
    episodes: int = 1,
    seed: int = 0,
    record: str | Path | None = None,
    keep: int | None = None,
    engine: str | None = None,
    progress: bool = True,
) -> MatchResult:
    """Play a match; seats rotate between episodes over paired deals.

    A match is printed turn by turn by the command, and returned as its episodes.

    Args:
        game: Game, such as `kuhn` or `ipd(rounds=20)`.
        players: Players, one a seat; a single one takes all seats. By default you, and strong players at the others.
        episodes: Number of episodes.
        seed: Seed of all randomness.
        record: New folder for the episodes and decisions, as Parquet.
        keep: Number of episodes that keep their decisions in memory, the first ones; by default all.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    whole("play", "episodes", episodes, 1)
    check_seed(seed)
    if keep is not None:
        whole("play", "keep", keep, 0)
    made = as_game(game)
    listed = _players_of_person(made) if players is None else players_of(players)
    with serving(engine):
        seated = [as_player(one, made) for one in (listed * made.spec.seats if len(listed) == 1 else listed)]
        return _play_match(Match(made, seated), episodes, seed, as_folder(record), keep, progress)


def _players_of_person(game: Game[Any]) -> list[PlayerLike]:
    """Return the players of a match of a person who names none."""
    return ["human", *[suggest_opponent(game)] * (game.spec.seats - 1)]


def _play_match(
    match: Match, episodes: int, seed: int, record: Path | None, keep: int | None, progress: bool
) -> MatchResult:
    person = any(at_keyboard(player) for player in match.players)
    setups = list(islice(rotate_seats(match, episodes, Key(seed), name=f"{match.text}/{seed}"), episodes))
    numbers = {setup.id: number for number, setup in enumerate(setups)}
    live = 1 if person else _TABLES
    finished: dict[int, Episode] = {}
    with show_progress(episodes, shown=progress and not person) as step:
        for episode in _record_setups(iter(setups), live, record):
            step(match.text)
            number = numbers[episode.id]
            finished[number] = episode if keep is None or number < keep else replace(episode, decisions=[])
    return MatchResult(tuple(finished[number] for number in sorted(finished)), match.game, match.names)


def _record_setups(setups: Iterator[Setup], live: int, record: Path | None) -> Iterator[Episode]:
    """Play the setups, and record the episodes if there is a folder for them, which is made first."""
    if record is None:
        return scheduler.play(setups, live=live)
    from stratagem.playing import store

    folder = store.fresh(record)
    return store.record(scheduler.play(setups, live=live), folder)
