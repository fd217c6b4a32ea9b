"""Final evaluation of a league: cross-play of all members on separate deals, and measures of the population."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate, combinations
from typing import Any

import numpy as np
from openskill.models import PlackettLuce

from stratagem.algorithms.league.meta_game import alpha_rank, cycles, find_forgotten_wins, nash_mixture, skew
from stratagem.algorithms.league.ratings import Score, elo
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Json
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.key import Key
from stratagem.games.talk import without_talk
from stratagem.measure.exploitability.exact import check_stated, of_policy
from stratagem.measure.exploitability.measurement import ExploitabilitySettings, exploitability, missing
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.hostility import Hostility, alliance, hostility
from stratagem.measure.matchups import Evaluator, Matchup, mean_payoff
from stratagem.measure.statistics import Estimate, students
from stratagem.measure.tournament import pairs
from stratagem.measure.tree_policy import Floats, Oracle, mix_policies, oracle_of, policy_on
from stratagem.playing.records import Episode
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.member_players import MemberPlayers


@dataclass(frozen=True)
class Placing:
    """One game: the members on its sides, and the payoff of each."""

    names: tuple[str, ...]
    payoffs: tuple[float, ...]


@dataclass(frozen=True)
class Skill:
    """Mean and uncertainty; openskill begins at 25 and 25/3."""

    name: str
    mu: float
    sigma: float


def skills(games: Sequence[Placing], key: Key) -> list[Skill]:
    """Rate everybody after all games, the best first; a game of a member with itself is left out."""
    model = PlackettLuce()
    rated = {name: model.rating() for game in games for name in game.names}
    for game in key.at("order").rng().sample(games, len(games)):
        if len(set(game.names)) < len(game.names):
            continue
        rated_now = model.rate([[rated[name]] for name in game.names], scores=list(game.payoffs))
        rated |= {name: side[0] for name, side in zip(game.names, rated_now, strict=True)}
    skills_found = [Skill(name, rating.mu, rating.sigma) for name, rating in rated.items()]
    return sorted(skills_found, key=lambda skill: (-skill.mu, skill.name))


class LeaguePolicies:
    """Policies of members on the tree of the game, with the exact exploitability of each and of their mixtures."""

    def __init__(self, game: Game[Any], players: MemberPlayers, budget: int) -> None:
        self.game = game
        self.players = players
        self.budget = budget
        self._policies: dict[str, Floats] = {}

    @cached_property
    def oracle(self) -> Oracle | None:
        """Best responses on the game's tree; None where nothing is hidden, or the tree is too large."""
        if not self.budget or not self.game.spec.private_information:
            return None
        try:
            return oracle_of(self.game, self.budget)
        except CannotCompute:
            return None

    def of(self, member: Member) -> Exploitability:
        """Return the exploitability of a member, or why it cannot be computed."""
        if not self.budget:
            return missing({"exact": "The recipe gives exact figures no budget."})
        if self.oracle is not None:
            return self.mixture([member], [1.0])
        return exploitability(self.game, self.players.player(member), ExploitabilitySettings("exact", self.budget))

    def mixture(self, members: Sequence[Member], shares: Sequence[float]) -> Exploitability:
        """Return the exploitability of the mixture that draws a member per game, in games of hidden information."""
        some = [(member, share) for member, share in zip(members, shares, strict=True) if share > 0.0]
        if self.oracle is None or not some:
            return missing({"exact": "The game has no tree of hidden information that can be walked."})
        try:
            policies = [self._policy(self.oracle, member) for member, _ in some]
        except CannotCompute as error:
            return missing({"exact": str(error)})
        return of_policy(self.oracle, mix_policies(self.oracle.tree, policies, [share for _, share in some]))

    def _policy(self, oracle: Oracle, member: Member) -> Floats:
        if member.name not in self._policies:
            player = self.players.player(member)
            check_stated(player)
            self._policies[member.name] = policy_on(oracle.tree, player)
            self.players.trim()
        return self._policies[member.name]

    def over_time(self, snapshots: Sequence[Member]) -> list[Json]:
        """Return for each snapshot of a learner its exploitability, and that of the average of all up to it."""
        if self.oracle is None:
            return []
        return [
            {
                "step": so_far[-1].step,
                "own": self.of(so_far[-1]).exact,
                "average": self.mixture(so_far, [1.0] * len(so_far)).exact,
            }
            for so_far in accumulate(([member] for member in snapshots), lambda before, one: [*before, *one])
        ]


def alliances(game: Game[Any], size: int, matchups: Mapping[tuple[int, int], Matchup]) -> Json:
    """Return the alliance index of each member and its standard error, in Diplomacy.

    Every other member plays alone against copies of it, all on the same deals. The error is the jackknife's over deals.
    """
    if not isinstance(without_talk(game), Diplomacy):
        return {"alliance": [], "alliance_errors": []}
    estimates = [index_and_error(counts_by_deal(column, size, matchups), game.spec.seats) for column in range(size)]
    return {"alliance": [index for index, _ in estimates], "alliance_errors": [error for _, error in estimates]}


def counts_by_deal(column: int, size: int, matchups: Mapping[tuple[int, int], Matchup]) -> list[Hostility]:
    """Return the counts of each deal against copies of one member, over all outsiders."""
    counts = defaultdict[int, list[Hostility]](list)
    for row in range(size):
        for episode in matchups[row, column].episodes if row != column else ():
            counts[episode.key].append(_outsider_first(episode))
    return [_sum(deal) for deal in counts.values()]


def index_and_error(deals: list[Hostility], seats: int) -> tuple[float | None, float | None]:
    """Return the index over all deals and its jackknife error; None where there is none."""
    copies = np.arange(seats) > 0
    whole = alliance(_sum(deals), copies) if deals else math.nan
    less = [alliance(_sum(deals[:n] + deals[n + 1 :]), copies) for n in range(len(deals))] if len(deals) > 1 else []
    error = math.nan
    if less:
        error = math.sqrt((len(less) - 1) * float(np.mean((np.array(less) - np.mean(less)) ** 2)))
    return _finite(whole), _finite(error)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _sum(counts: Iterable[Hostility]) -> Hostility:
    attacks, chances = zip(*counts, strict=True)
    return Hostility(np.sum(attacks, axis=0), np.sum(chances, axis=0))


def _outsider_first(episode: Episode) -> Hostility:
    """Return the counts of a game, ordered with the outsider first."""
    order = [episode.seat_of(slot) for slot in range(len(episode.slots))]
    counts = hostility(episode)
    return Hostility(counts.attacks[np.ix_(order, order)], counts.chances[np.ix_(order, order)])


TABLE = "league.json"
_LEAST = 0.01
"""Smallest margin that counts as a win, as a share of the range of payoffs per round."""


def cross_play_evaluation(
    recipe: LeagueRecipe, game: Game[Any], population: Population, member_players: MemberPlayers
) -> Json:
    """Return cross-play payoffs, ratings, Nash mixture, alpha-rank, cycles and forgotten wins of the shown members."""
    shown = members(recipe, population)
    names = [member.name for member in shown]
    players = [member_players.player(member) for member in shown]
    evaluator = Evaluator(recipe.league.crossplay_games, Key(recipe.seed).at("crossplay"), exact_budget=0)
    met = pairs(game, len(names))
    found = evaluator.meet(game, [(players[row], players[column], ("opponents",)) for row, column in met])
    matchups = dict(zip(met, found, strict=True))
    pay, errors = _matrix(game, len(names), matchups)
    low, high = game.spec.bounds
    meta = skew(pay)
    sure = sure_margins(game, len(names), matchups)
    scores = [score for pair, matchup in matchups.items() for score in game_scores(names, pair, matchup)]
    mains = [name for name, learner in recipe.learners.items() if learner.role == "main"]
    lines = [[m.name for m in shown if m.parent == learner] for learner in mains]  # other roles are reset by design
    nash, policies = nash_mixture(meta).tolist(), LeaguePolicies(game, member_players, recipe.exact_budget)
    return {
        "game": recipe.games[0],
        "seats": game.spec.seats,
        "zero_sum": game.spec.utility == "zero-sum",
        "members": [{"name": m.name, "role": m.role, "parent": m.parent, "step": m.step} for m in shown],
        "aside": population.disabled,
        "games": recipe.league.crossplay_games,
        "deals": len({episode.group for episode in next(iter(matchups.values())).episodes}),
        "payoff": pay.tolist(),
        "errors": [[None if math.isnan(error) else error for error in row] for row in errors.tolist()],
        "elo": [asdict(rating) for rating in elo(scores)],
        "skill": [asdict(skill) for skill in skills(list(_placings(names, matchups)), evaluator.key)],
        "nash": nash,
        "nash_exploitability": policies.mixture(shown, nash).exact,
        "alpha_rank": alpha_rank(meta / (high - low)).tolist(),  # its alpha is for pay of that scale
        "cycles": [list(cycle) for cycle in cycles(sure, names)],
        "forgotten": [list(win) for win in find_forgotten_wins(sure, names, lines)],
        "exploitability": [policies.of(member).exact for member in shown],
        "over_time": {name: policies.over_time(_snapshots(population, name)) for name in mains},
        "outsiders": outsiders(game, len(names), matchups),
        **alliances(game, len(names), matchups),
    }


def outsiders(game: Game[Any], size: int, matchups: Mapping[tuple[int, int], Matchup]) -> list[Json]:
    """Return the payoff of an outsider among copies of each member, over all outsiders; none with two seats."""
    if game.spec.seats < 3 or size < 2:
        return []
    met = ([matchups[row, column] for row in range(size) if row != column] for column in range(size))
    return [mean_payoff(some, scaled=False).to_json() for some in met]


def members(recipe: LeagueRecipe, population: Population) -> list[Member]:
    """Return all frozen members; of a learner's snapshots the first, the last and some between."""
    shown = [member for member in population.of(learns=False) if not member.parent]
    for learner in recipe.learners:
        snapshots, count = _snapshots(population, learner), recipe.league.crossplay_snapshots
        indices = np.linspace(0, len(snapshots) - 1, count).round() if snapshots else np.zeros(0)
        shown += [snapshots[index] for index in sorted({int(index) for index in indices})]
    return shown


def _snapshots(population: Population, learner: str) -> list[Member]:
    return [member for member in population.of(learns=False) if member.parent == learner]


def _matrix(game: Game[Any], size: int, matchups: dict[tuple[int, int], Matchup]) -> tuple[Floats, Floats]:
    """Return the payoff matrix in the game's own unit, with standard errors; the diagonal is 0."""
    pay, errors = np.zeros((size, size)), np.zeros((size, size))
    for (row, column), matchup in matchups.items():
        own = matchup.payoff(scaled=False)
        pay[row, column], errors[row, column] = own.mean, _error(own)
        if game.spec.seats == 2 and row != column:
            other = matchup.opponent_payoff(scaled=False)
            pay[column, row], errors[column, row] = other.mean, _error(other)
    return pay, errors


def _error(estimate: Estimate) -> float:
    return math.nan if estimate.se is None else estimate.se


def sure_margins(game: Game[Any], size: int, matchups: Mapping[tuple[int, int], Matchup]) -> Floats:
    """Return half the payoff difference of each pair; 0 where it is not significant at 95 %, or below `_LEAST`.

    With two seats both payoffs of a pair come from the same games, so the test is on their difference by deal.
    """
    low, high = game.spec.bounds
    margins = np.zeros((size, size))
    for row, column in combinations(range(size), 2):
        if game.spec.seats == 2:
            margin = matchups[row, column].advantage(scaled=False).times(-0.5)
        else:
            margin = _between(*(matchups[pair].payoff(scaled=False) for pair in ((row, column), (column, row))))
        if _is_sure(margin) and abs(margin.mean) > _LEAST * (high - low):
            margins[row, column], margins[column, row] = margin.mean, -margin.mean
    return margins


def _between(one: Estimate, other: Estimate) -> Estimate:
    """Return half the difference of two independent estimates."""
    se = None if one.se is None or other.se is None else math.hypot(one.se, other.se) / 2.0
    return Estimate((one.mean - other.mean) / 2.0, se, min(one.n, other.n), exact=one.exact and other.exact)


def _is_sure(margin: Estimate) -> bool:
    """True if Student's interval over deals excludes 0; a single deal has no interval."""
    interval = students(margin)
    above = interval.low is not None and interval.low > 0.0
    return margin.exact or above or (interval.high is not None and interval.high < 0.0)


def game_scores(names: Sequence[str], pair: tuple[int, int], matchup: Matchup) -> Iterator[Score]:
    """Yield a pair's points game by game, each with its deal; with more than two seats the mean over the others."""
    for episode in matchup.episodes:
        own_seat = episode.seat_of(0)
        others = [payoff for seat, payoff in enumerate(episode.payoffs) if seat != own_seat]
        own = episode.payoffs[own_seat]
        # payoffs are sums, so equal ones may differ in the last digit
        points = sum(0.5 if abs(own - payoff) < 1e-9 else float(own > payoff) for payoff in others) / len(others)
        yield Score(names[pair[0]], names[pair[1]], points, deal=episode.group)


def _placings(names: Sequence[str], matchups: dict[tuple[int, int], Matchup]) -> Iterator[Placing]:
    """Yield every game of two members; with more than two seats the others are one side with their mean payoff."""
    for (row, column), matchup in matchups.items():
        for episode in matchup.episodes:
            own_seat = episode.seat_of(0)
            others = [payoff for seat, payoff in enumerate(episode.payoffs) if seat != own_seat]
            payoffs = (episode.payoffs[own_seat], sum(others) / len(others))
            yield Placing((names[row], names[column]), (round(payoffs[0], 9), round(payoffs[1], 9)))
