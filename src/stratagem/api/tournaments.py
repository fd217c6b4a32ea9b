"""Tournaments: `tournament` plays everybody against everybody, and returns the cross-play matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratagem.api.arguments import as_folder, as_output
from stratagem.api.evaluations import Evaluation
from stratagem.api.mistakes import one_sentence
from stratagem.api.plans import PlayPlan
from stratagem.api.player_like import PlayerLike, as_player, players_of
from stratagem.api.progress import Step
from stratagem.api.result import PlayedResult
from stratagem.api.serving import serving
from stratagem.base.files import finite
from stratagem.base.options import check_seed, whole
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.engines.outcomes import counting_outcomes
from stratagem.measure import tournament as tournaments
from stratagem.measure.evaluate import CHANCE
from stratagem.measure.matchups import Evaluator
from stratagem.measure.recorded import RecordReading, figures_of_record
from stratagem.measure.report import tournament_json
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.tournament import CrossPlay, num_batches
from stratagem.players.agents import each_once
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game
from stratagem.players.pools import pools
from stratagem.playing.records import Episode
from stratagem.show.reports.files import TournamentSchema
from stratagem.show.table import ResultTable

__all__ = ["Tournament", "TournamentPlan", "tournament"]


@dataclass(frozen=True, repr=False)
class Tournament(PlayedResult):
    """Cross-play matrix of a tournament."""

    cross_play: CrossPlay
    seed: int
    episodes: int
    """Number of episodes of each pair."""

    def rows(self) -> list[Json]:
        """Return one row for each pair: the payoff a round of `player` against `opponent`."""
        names = self.cross_play.players
        return [
            {"player": names[row], "opponent": names[column], **pay.to_json()}
            for row, line in enumerate(self.cross_play.payoff)
            for column, pay in enumerate(line)
        ]

    def to_json(self) -> Json:
        """Return the matrix, as `stratagem tournament --json` prints it."""
        data = tournament_json(self.cross_play, self.seed, self.episodes)
        return data | {"requests": self.outcomes.to_json()}

    def tables(self) -> list[ResultTable]:
        where = f"{self.episodes} episodes per pair where play is sampled, seats rotated over paired deals"
        stored = TournamentSchema.model_validate(finite(self.to_json()))
        named = stored.model_copy(update={"players": list(map(self._name, stored.players))})
        return [named.table(f"{self.cross_play.text}   {where}, {stored.unit}")]

    def _name(self, player: str) -> str:
        name = player.removeprefix(f"{self.cross_play.game.spec.family}/")
        return "random (chance)" if name == CHANCE else name


@dataclass(frozen=True)
class TournamentPlan(PlayPlan[Tournament]):
    """Tournament that is checked and not played yet."""

    game: Game[Any]
    text: str
    """Text that names the game."""
    players: tuple[Player, ...]

    @property
    def total(self) -> int:
        """Number of batches of pairs, by which progress is counted."""
        return num_batches(self.game, len(self.players), self.evaluator.episodes)

    def run(self, step: Step) -> Tournament:
        """Play the tournament."""
        with counting_outcomes() as outcomes:
            result = tournaments.tournament(self.game, self.text, self.players, self.evaluator, step)
        return Tournament(result, self.seed, self.evaluator.episodes, outcomes=outcomes)

    def figures_so_far(self, episodes: Sequence[Episode]) -> Evaluation:
        """Return the figures of those episodes that are finished."""
        results = figures_of_record(episodes, RecordReading(crossed=True, seed=self.seed))
        return Evaluation(tuple(results), self.text, self.seed, broken_off=True)


@one_sentence
def tournament(
    game: GameLike,
    players: PlayerLike | Sequence[PlayerLike] = (),
    *,
    episodes: int = 20,
    seed: int = 0,
    chance: bool = True,
    record: str | Path | None = None,
    resume: bool = False,
    out: str | Path | None = None,
    engine: str | None = None,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> Tournament:
    """Play all pairs of players and print the cross-play matrix of payoffs.

    An exception that stops the play, such as an interrupt, has what is known as `so_far`.

    Args:
        game: Game.
        players: Players; by default those of the game's pools.
        episodes: Number of episodes of each pair.
        seed: Seed of all randomness.
        chance: True to include random play as the chance level.
        record: New folder for the episodes and decisions, as Parquet.
        resume: True to continue the record; recorded requests are not repeated.
        out: JSON file for the figures; a file of that name is replaced.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
        workers: Number of processes that share the work; with `ray=`, of workers on the cluster.
        ray: Ray cluster for the work: its address, `auto`, or `local` for a new one here.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    check_seed(seed)
    whole("tournament", "episodes", episodes, 1)
    file = as_output(out)
    with serving(engine, workers, ray):
        made = as_game(game)
        text = game if isinstance(game, str) else describe(made)
        listed = players_of(players, least=0) or _pool_players(made)
        seated = each_once(as_player(name, made) for name in [*listed, *([CHANCE] if chance else [])])
        noted: Json = {"command": "tournament", "game": text, "players": [player.name for player in seated]}
        kept = ResumableRecord(as_folder(record), noted | {"episodes": episodes, "seed": seed}, resume=resume)
        evaluator = Evaluator(episodes=episodes, key=Key(seed), record=kept)
        found = TournamentPlan(evaluator, kept, seed, made, text, tuple(seated)).play(shown=progress)
    if file is not None:
        found.save(file)
    return found


def _pool_players(game: Game[Any]) -> list[str]:
    """Return the players of the game's pools, each once."""
    return list(dict.fromkeys(name for pool in pools(game).values() for name in pool.players))
