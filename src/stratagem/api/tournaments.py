"""Tournaments: `tournament` plays everybody against everybody, and returns the cross-play matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stratagem.api.arguments import as_folder
from stratagem.api.evaluations import Evaluation
from stratagem.api.pictures import matrix
from stratagem.api.plans import Plan, carry_out
from stratagem.api.play_settings import TournamentSettings
from stratagem.api.player_like import as_player, players_of
from stratagem.api.progress import Step
from stratagem.api.result import Plotted, remarks_on
from stratagem.api.settings import takes_settings
from stratagem.engines.outcomes import OutcomesByModel, counting_outcomes
from stratagem.evaluation import tournament as tournaments
from stratagem.evaluation.evaluate import CHANCE
from stratagem.evaluation.figures.catalogue import figures_of
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.recorded import Reading, recorded
from stratagem.evaluation.report import tournament_json
from stratagem.evaluation.resumable import ResumableRecord
from stratagem.evaluation.tournament import CrossPlay, num_batches
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.play.records import Episode
from stratagem.players.agents import each_once
from stratagem.players.base import Player
from stratagem.players.given import as_game
from stratagem.players.pools import pools
from stratagem.show.table import Numbers, Table, Value, columns_of, text_table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Tournament", "TournamentPlan", "TournamentSettings", "plan_tournament", "tournament"]


_MEANING = "Payoff a round of the row against the column. A bare figure is exact; ± is a standard error over deals."


@dataclass(frozen=True, repr=False)
class Tournament(Plotted):
    """Cross-play matrix of a tournament."""

    cross_play: CrossPlay
    seed: int
    episodes: int
    """Number of episodes of each pair."""
    outcomes: OutcomesByModel = field(default_factory=OutcomesByModel)
    """Requests behind the figures by model: their number, and how many had no reply, were refused or filtered."""

    def rows(self) -> list[Json]:
        """Return one row for each pair: the payoff a round of `player` against `opponent`."""
        names = self.cross_play.players
        return [
            {"player": names[row], "opponent": names[column], **pay.to_json()}
            for row, line in enumerate(self.cross_play.pay)
            for column, pay in enumerate(line)
        ]

    def to_json(self) -> Json:
        """Return the matrix, as `stratagem tournament --json` prints it."""
        data = tournament_json(self.cross_play, self.seed, self.episodes)
        return data | {"requests": self.outcomes.to_json()}

    def remarks(self) -> list[str]:
        """Return the shares of requests that had no reply, were refused or filtered."""
        return remarks_on(self.outcomes)

    def tables(self) -> list[Table]:
        order, means = self.cross_play.ranking(), self.cross_play.means
        where = f"{self.episodes} episodes per pair where play is sampled, seats rotated over paired deals"
        title = f"{self.cross_play.text}   {where}, {self._unit}"
        columns = columns_of(
            "",
            "player",
            *figures_of("mean_against_others"),
            *(Numbers(str(n), 2) for n in range(1, len(order) + 1)),
        )
        rows: list[tuple[Value, ...]] = [
            (str(rank), self._name(row), means[row], *(self.cross_play.pay[row][column] for column in order))
            for rank, row in enumerate(order, 1)
        ]
        return [replace(text_table(title, columns, rows), notes=(_MEANING,), warnings=self.cross_play.warnings)]

    def _name(self, row: int) -> str:
        name = self.cross_play.players[row].removeprefix(f"{self.cross_play.game.spec.family}/")
        return "random (chance)" if name == CHANCE else name

    def plot(self) -> Figure:
        """Draw the matrix, the best mean first."""
        order = self.cross_play.ranking()
        pay = [[self.cross_play.pay[row][column].mean for column in order] for row in order]
        return matrix(self.cross_play.text, [self.cross_play.players[row] for row in order], pay, self._unit)

    @property
    def _unit(self) -> str:
        return self.cross_play.game.spec.unit


@dataclass(frozen=True)
class TournamentPlan(Plan[TournamentSettings, Tournament, Evaluation]):
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
        return Tournament(result, self.settings.seed, self.evaluator.episodes, outcomes)

    def so_far(self, episodes: Iterable[Episode]) -> Evaluation:
        """Return the figures of those episodes that are finished."""
        results = recorded(episodes, Reading(crossed=True, seed=self.settings.seed))
        return Evaluation(tuple(results), self.text, self.settings.seed, broken_off=True)


def plan_tournament(settings: TournamentSettings) -> TournamentPlan:
    """Plan a tournament, and open its record."""
    at, made = settings, as_game(settings.game)
    text = at.game if isinstance(at.game, str) else describe(made)
    listed = players_of(at.players, least=0) or list(
        dict.fromkeys(name for pool in pools(made).values() for name in pool.players)
    )
    seated = each_once(as_player(name, made) for name in [*listed, *([CHANCE] if at.chance else [])])
    plan: dict[str, Any] = {"command": "tournament", "game": text, "players": [player.name for player in seated]}
    plan |= {"episodes": at.episodes, "seed": at.seed}
    kept = ResumableRecord(as_folder(at.record), plan, resume=at.resume)
    evaluator = Evaluator(episodes=at.episodes, key=Key(at.seed), record=kept)
    return TournamentPlan(at, evaluator, kept, made, text, tuple(seated))


@takes_settings(TournamentSettings)
def tournament(settings: TournamentSettings) -> Tournament:
    """Play all pairs of players, by default those of the game's pools, and random play with `chance`."""
    return carry_out(plan_tournament, settings)
