"""Final evaluation of a league: cross-play of all members on separate deals, and measures of the population."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from stratagem.algorithms.league.alliances import alliances
from stratagem.algorithms.league.exploitability import MemberExploitability
from stratagem.algorithms.league.member_players import MemberPlayers
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.evaluation.matchups import Evaluator, Matchup, mean_payoff
from stratagem.evaluation.statistics import Estimate, students
from stratagem.evaluation.tournament import pairs
from stratagem.games.base import Game, Json
from stratagem.games.key import Key
from stratagem.league.member import Member, Population
from stratagem.league.meta_game import Floats, alpha_rank, cycles, forgotten, nash_mixture, skew
from stratagem.league.ratings import Score, elo
from stratagem.league.skill import Placing, skills

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
    nash, exploitability = nash_mixture(meta).tolist(), MemberExploitability(game, member_players, recipe.exact_budget)
    return {
        "game": recipe.games[0],
        "seats": game.spec.seats,
        "zero_sum": game.spec.utility == "zero-sum",
        "members": [{"name": m.name, "role": m.role, "parent": m.parent, "step": m.step} for m in shown],
        "aside": population.disabled,
        "games": recipe.league.crossplay_games,
        "deals": len({episode.group for episode in next(iter(matchups.values())).episodes}),
        "pay": pay.tolist(),
        "errors": [[None if math.isnan(error) else error for error in row] for row in errors.tolist()],
        "elo": [asdict(rating) for rating in elo(scores)],
        "skill": [asdict(skill) for skill in skills(list(_placings(names, matchups)), evaluator.key)],
        "nash": nash,
        "nash_exploitability": exploitability.mixture(shown, nash),
        "alpha_rank": alpha_rank(meta / (high - low)).tolist(),  # its alpha is for pay of that scale
        "cycles": [list(cycle) for cycle in cycles(sure, names)],
        "forgotten": [list(win) for win in forgotten(sure, names, lines)],
        "exploitability": [exploitability.of(member) for member in shown],
        "over_time": {name: exploitability.over_time(_snapshots(population, name)) for name in mains},
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
