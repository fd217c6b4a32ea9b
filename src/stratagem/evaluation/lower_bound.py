"""Lower bound on exploitability: what an exploiter under a budget gains from an agent, beside the agent itself.

The value of any strategy at a seat is at most that of the best response. So the mean payoff of the exploiter less the
agent's own, in the same seat and deals, is an unbiased estimate of a lower bound on the gain of a deviation, however
poor the exploiter is. The mean over the seats bounds the exploitability, the sum NashConv. Where rounds know nothing of
each other, the first round of the game is played: a player that acts in others otherwise has a bound for the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from stratagem.errors import BadParameter, CannotCompute
from stratagem.evaluation.agent_model import AgentModel, Frequencies, model_of
from stratagem.evaluation.deal_means import mean_of_deals
from stratagem.evaluation.exploiter import Exploiter
from stratagem.evaluation.statistics import Estimate, mean
from stratagem.games.base import Game, Json, Seat
from stratagem.games.key import Key
from stratagem.options import whole
from stratagem.play.match import Match
from stratagem.play.records import Episode
from stratagem.play.seating import rotated
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.human import at_keyboard
from stratagem.workers.shards import played

DEALS = 100
"""Number of deals; each is played once at every seat."""
_RECORDED = 200
"""Number of deals from which the moves of an agent are counted that cannot be asked."""
Makers = Mapping[int, Callable[[], Player]]
"""Exploiters by budget."""


@dataclass(frozen=True)
class BudgetPoint:
    """Gain at one budget, a round, in the unit of the game."""

    budget: int
    by_seat: tuple[Estimate, ...]
    mean: Estimate
    """Mean over the seats: the lower bound on exploitability."""


@dataclass(frozen=True)
class LowerBound:
    """Gains of exploiters with growing budgets; the last one, chosen beforehand, is the figure."""

    method: str
    budget_unit: str
    model: str
    """Knowledge of the agent that the exploiter had."""
    deals: int
    values: tuple[Estimate, ...]
    """Value of the agent at each seat against itself."""
    curve: tuple[BudgetPoint, ...]
    unit: str

    @property
    def exploitability(self) -> Estimate:
        """Lower bound on NashConv divided by the number of seats."""
        return self.curve[-1].mean

    @property
    def nash_conv(self) -> Estimate:
        """Lower bound on NashConv."""
        return self.exploitability.times(len(self.values))

    def to_json(self) -> Json:
        """Return every figure by name."""
        bounds = {"nash_conv": self.nash_conv.to_json(), "exploitability": self.exploitability.to_json()}
        return {**asdict(self), **bounds}


Bound = Callable[[Game[Any], Player, Key], LowerBound]
"""Measurement of a lower bound for an agent."""


def search_bound(game: Game[Any], agent: Player, key: Key, *, budget: int, deals: int = DEALS) -> LowerBound:
    """Measure search with up to `budget` simulations a decision against an agent."""
    whole("The lower bound", "budget", budget, 1)
    check_seats(game)
    model = known_model(game, agent, key)
    makers = {size: partial(Exploiter, agent, model, size) for size in budgets(budget)}
    return measured_bound(game, agent, makers, key, ("search", "simulations a decision", model.kind), deals=deals)


def player_bound(
    game: Game[Any], agent: Player, key: Key, *, exploiter: str | Player, deals: int = DEALS
) -> LowerBound:
    """Measure a player that is there already, such as a trained model, against an agent."""
    check_seats(game)
    player = exploiter_of(exploiter, game)
    return measured_bound(
        game, agent, {0: lambda: player}, key, (player.name, "", "nothing but its own training"), deals=deals
    )


def exploiter_of(exploiter: str | Player, game: Game[Any]) -> Player:
    """Make a player that exploits; refused if it sees what is hidden, or is a person."""
    player = make_player(exploiter, game)
    if player.traits.sees_hidden and game.spec.private_information:
        raise BadParameter(f"{player.name} sees what is hidden, so what it gains bounds no best response.")
    if at_keyboard(player):
        raise BadParameter("An exploiter plays hundreds of episodes: a human takes a seat in `stratagem play`.")
    return player


def known_model(game: Game[Any], agent: Player, key: Key) -> AgentModel:
    """Return the best model of an agent: its policy, its moves, or the frequencies in a record made for it."""
    return model_of(game, agent) or Frequencies(_self_play(game, agent, _RECORDED, key.at("recorded")))


def check_seats(game: Game[Any]) -> None:
    """Refuse a game in which nobody can exploit anybody."""
    if game.spec.seats < 2:
        raise BadParameter(f"{game.spec.name} has one seat, so nobody can exploit anybody in it.")


def measured_bound(
    game: Game[Any],
    agent: Player,
    makers: Makers,
    key: Key,
    labels: tuple[str, str, str],
    *,
    deals: int = DEALS,
) -> LowerBound:
    """Play each exploiter at every seat against the agent, and the agent against itself, on the same deals.

    `labels` is the method, the unit of its budget, and its knowledge of the agent.
    """
    whole("The lower bound", "deals", deals, 2)
    own = _self_play(game, agent, deals, key)
    rounds = mean([float(max(1, len(episode.rounds))) for episode in own]).mean
    spec = game.spec
    shared = spec.rounds if spec.independent_rounds and spec.rounds else rounds  # bounds are those of all rounds
    least, most = (bound / shared for bound in spec.bounds)
    curve = []
    for budget, make in makers.items():
        exploiter = make()
        episodes = _played(Match(game, [exploiter, *[agent] * (game.spec.seats - 1)]), deals, key, exploiter.name)
        _refuse_errors(exploiter, episodes)
        curve.append(_point(budget, _by_deal(episodes, game, rounds), _by_deal(own, game, rounds), most - least))
    return LowerBound(
        method=labels[0],
        budget_unit=labels[1],
        model=labels[2],
        deals=deals,
        values=tuple(mean_of_deals(column, least, most) for column in zip(*_by_deal(own, game, rounds), strict=True)),
        curve=tuple(curve),
        unit=game.spec.unit,
    )


def budgets(largest: int) -> list[int]:
    """Return 10, 30, 100, 300 and so on, and the largest."""
    sizes = [size for power in range(1, len(str(largest)) + 1) for size in (10**power, 3 * 10**power) if size < largest]
    return [*sizes, largest]


def _self_play(game: Game[Any], agent: Player, deals: int, key: Key) -> list[Episode]:
    return _played(Match(game, [agent] * game.spec.seats), deals, key, "itself")


def _played(match: Match, deals: int, key: Key, name: str) -> list[Episode]:
    setups = rotated(match, deals * len(match.players), key, name=f"{match.text}/{name}", purpose="probe")
    return played(replace(setup, rounds=1 if match.game.spec.independent_rounds else None) for setup in setups)


def _by_deal(episodes: Sequence[Episode], game: Game[Any], rounds: float) -> list[list[float]]:
    """Return for each deal the payoffs a round of slot 0 at each seat."""
    seats: Sequence[Seat] = range(game.spec.seats)
    deals: dict[str, dict[Seat, float]] = {}
    for episode in episodes:
        seat = episode.seat_of(0)
        deals.setdefault(episode.group, {})[seat] = episode.payoffs[seat] / rounds
    return [[payoffs[seat] for seat in seats] for payoffs in deals.values()]


def _point(budget: int, exploiter: list[list[float]], agent: list[list[float]], reach: float) -> BudgetPoint:
    """Return the gains at a budget; none is larger than `reach`, by the bounds of payoffs."""
    gains = [
        [won - own for won, own in zip(row, base, strict=True)] for row, base in zip(exploiter, agent, strict=True)
    ]
    by_seat = tuple(mean_of_deals(column, -reach, reach) for column in zip(*gains, strict=True))
    return BudgetPoint(budget, by_seat, mean_of_deals([sum(row) / len(row) for row in gains], -reach, reach))


def _refuse_errors(exploiter: Player, episodes: Sequence[Episode]) -> None:
    for episode in episodes:
        for row in episode.decisions:
            if row.how == "error" and row.slot == 0:
                raise CannotCompute(f"{exploiter.name} failed: {row.said}")
