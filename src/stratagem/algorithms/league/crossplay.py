"""A league's last table: everybody against everybody on deals of their own, and what that says of the population."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from stratagem.algorithms.league.alliances import alliances
from stratagem.algorithms.league.exploitability import Openness
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.seats import Seats
from stratagem.evaluation.matchups import Evaluator, Matchup
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
"""A win beyond chance is worth telling if it is such a share of all that can be won and lost a round."""


def last_table(recipe: LeagueRecipe, game: Game[Any], population: Population, seats: Seats) -> Json:
    """The members shown, their cross-play, ratings, mixture, alpha-rank, cycles and what was forgotten."""
    shown = members(recipe, population)
    names = [member.name for member in shown]
    players = [seats.player(member) for member in shown]
    evaluator = Evaluator(recipe.league.crossplay_games, Key(recipe.seed).at("crossplay"), exact_budget=0)
    matchups = {
        pair: evaluator.matchup(game, players[pair[0]], players[pair[1]], ("opponents",))
        for pair in pairs(game, len(names))
    }
    pay, errors = _matrix(game, len(names), matchups)
    low, high = game.spec.bounds
    meta = skew(pay)
    sure = sure_margins(game, len(names), matchups)
    scores = [score for pair, matchup in matchups.items() for score in game_scores(names, pair, matchup)]
    mains = [name for name, learner in recipe.learners.items() if learner.role == "main"]
    lines = [[m.name for m in shown if m.parent == learner] for learner in mains]  # others begin anew by design
    nash, open_to = nash_mixture(meta).tolist(), Openness(game, seats, recipe.exact_budget)
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
        "nash_exploitability": open_to.mixture(shown, nash),
        "alpha_rank": alpha_rank(meta / (high - low)).tolist(),  # its alpha is for pay of that scale
        "cycles": [list(found) for found in cycles(sure, names)],
        "forgotten": [list(found) for found in forgotten(sure, names, lines)],
        "exploitability": [open_to.of(member) for member in shown],
        "over_time": {name: open_to.over_time(_kept(population, name)) for name in mains},
        **alliances(game, len(names), matchups),
    }


def members(recipe: LeagueRecipe, population: Population) -> list[Member]:
    """All who do not change, of a learner's checkpoints the first, the last and some between."""
    found = [member for member in population.of(learns=False) if not member.parent]
    for learner in recipe.learners:
        kept = _kept(population, learner)
        places = np.linspace(0, len(kept) - 1, recipe.league.crossplay_snapshots).round() if kept else np.zeros(0)
        found += [kept[place] for place in sorted({int(place) for place in places})]
    return found


def _kept(population: Population, learner: str) -> list[Member]:
    return [member for member in population.of(learns=False) if member.parent == learner]


def _matrix(game: Game[Any], size: int, matchups: dict[tuple[int, int], Matchup]) -> tuple[Floats, Floats]:
    """What each gets against each in the game's own unit, and the standard errors; nothing against itself."""
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
    """Half of what one gets more than the other where they meet; 0 where it may be chance, at 95 %, or next to none.

    With two seats both figures of a pair come from the same games, so what is judged is their difference deal by deal.
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
    """Half the difference of two estimates from games of their own."""
    se = None if one.se is None or other.se is None else math.hypot(one.se, other.se) / 2.0
    return Estimate((one.mean - other.mean) / 2.0, se, min(one.n, other.n), exact=one.exact and other.exact)


def _is_sure(margin: Estimate) -> bool:
    """Whether it is none by Student's t over deals; a single deal says nothing."""
    found = students(margin)
    return margin.exact or (found.low is not None and found.low > 0.0) or (found.high is not None and found.high < 0.0)


def game_scores(names: Sequence[str], pair: tuple[int, int], matchup: Matchup) -> Iterator[Score]:
    """A pair's points game by game, each with its deal; with more than two seats the mean over the others."""
    for episode in matchup.episodes:
        hero = episode.seat_of(0)
        others = [pay for seat, pay in enumerate(episode.payoffs) if seat != hero]
        own = episode.payoffs[hero]
        points = sum(0.5 if abs(own - pay) < 1e-9 else float(own > pay) for pay in others) / len(others)
        yield Score(names[pair[0]], names[pair[1]], points, deal=episode.group)


def _placings(names: Sequence[str], matchups: dict[tuple[int, int], Matchup]) -> Iterator[Placing]:
    """Every game of one member and another; with more than two seats the others are one side, paid their mean."""
    for (row, column), matchup in matchups.items():
        for episode in matchup.episodes:
            hero = episode.seat_of(0)
            others = [pay for seat, pay in enumerate(episode.payoffs) if seat != hero]
            pays = (episode.payoffs[hero], sum(others) / len(others))
            yield Placing((names[row], names[column]), (round(pays[0], 9), round(pays[1], 9)))
