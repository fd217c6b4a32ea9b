"""A league's last table: everybody against everybody on deals of their own, and what that says of the population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.seats import Seats
from stratagem.errors import CannotCompute
from stratagem.evaluation.bouts import Bout, Table
from stratagem.evaluation.exact import exact
from stratagem.evaluation.hostility import Hostility, alliance, hostility
from stratagem.evaluation.tournament import pairs
from stratagem.games.base import Game, Json
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.key import Key
from stratagem.league.member import Member, Population
from stratagem.league.meta_game import Floats, alpha_rank, cycles, forgotten, nash_mixture, skew
from stratagem.league.ratings import Score, elo
from stratagem.league.skill import Placing, skills
from stratagem.play.records import Episode
from stratagem.players.base import Player

TABLE = "league.json"
_SURE = 2.0
"""So many standard errors is a win beyond chance,"""
_LEAST = 0.01
"""and worth telling if it is such a share of all that can be won and lost a round."""


def last_table(recipe: LeagueRecipe, game: Game[Any], population: Population, seats: Seats) -> Json:
    """The members shown, their cross-play, ratings, mixture, alpha-rank, cycles and what was forgotten."""
    shown = members(recipe, population)
    names = [member.name for member in shown]
    players = [seats.player(member) for member in shown]
    table = Table(recipe.league.crossplay, Key(recipe.seed).at("crossplay"), exact_budget=0)
    bouts = {
        pair: table.bout(game, players[pair[0]], players[pair[1]], ("opponents",)) for pair in pairs(game, len(names))
    }
    pay, errors = _matrix(game, len(names), bouts)
    meta = skew(pay)
    low, high = game.spec.bounds
    beyond = np.maximum(_SURE * np.hypot(errors, errors.T) / 2.0, _LEAST * (high - low))
    sure = np.where(np.abs(meta) > beyond, meta, 0.0)
    scores = [_score(names, pair, bout) for pair, bout in bouts.items()]
    mains = [name for name, learner in recipe.learners.items() if learner.role == "main"]
    lines = [[m.name for m in shown if m.parent == learner] for learner in mains]  # others begin anew by design
    return {
        "game": recipe.games[0],
        "members": [{"name": m.name, "role": m.role, "parent": m.parent, "step": m.step} for m in shown],
        "aside": population.aside,
        "deals": recipe.league.crossplay,
        "pay": pay.tolist(),
        "errors": errors.tolist(),
        "elo": [asdict(rating) for rating in elo(scores)],
        "skill": [asdict(skill) for skill in skills(list(_placings(names, bouts)), table.key)],
        "nash": nash_mixture(meta).tolist(),
        "alpha_rank": alpha_rank(meta).tolist(),
        "cycles": [list(found) for found in cycles(sure, names)],
        "forgotten": [list(found) for found in forgotten(sure, names, lines)],
        "exploitability": [_exploitability(game, player, recipe.exact_budget) for player in players],
        "alliance": _alliances(game, len(names), bouts),
    }


def members(recipe: LeagueRecipe, population: Population) -> list[Member]:
    """All who do not change, of a learner's checkpoints the first, the last and some between."""
    found = [member for member in population.of(learns=False) if not member.parent]
    for learner in recipe.learners:
        kept = [member for member in population.of(learns=False) if member.parent == learner]
        places = np.linspace(0, len(kept) - 1, recipe.league.shown).round() if kept else np.zeros(0)
        found += [kept[place] for place in sorted({int(place) for place in places})]
    return found


def _matrix(game: Game[Any], size: int, bouts: dict[tuple[int, int], Bout]) -> tuple[Floats, Floats]:
    """What each gets against each in the game's own unit, and the standard errors; nothing against itself."""
    pay, errors = np.zeros((size, size)), np.zeros((size, size))
    for (row, column), bout in bouts.items():
        own = bout.pay(scaled=False)
        pay[row, column], errors[row, column] = own.mean, own.se or 0.0
        if game.spec.seats == 2 and row != column:
            other = bout.opponent_pay(scaled=False)
            pay[column, row], errors[column, row] = other.mean, other.se or 0.0
    return pay, errors


def _score(names: Sequence[str], pair: tuple[int, int], bout: Bout) -> Score:
    """Games and points of a pair; with more than two seats the mean over the others at the table."""
    points = 0.0
    for episode in bout.episodes:
        hero = episode.seat_of(0)
        others = [pay for seat, pay in enumerate(episode.payoffs) if seat != hero]
        own = episode.payoffs[hero]
        points += sum(0.5 if abs(own - pay) < 1e-9 else float(own > pay) for pay in others) / len(others)
    return Score(names[pair[0]], names[pair[1]], points, float(len(bout.episodes)))


def _placings(names: Sequence[str], bouts: dict[tuple[int, int], Bout]) -> Iterator[Placing]:
    """Every game of one member and another; with more than two seats the others are one side, paid their mean."""
    for (row, column), bout in bouts.items():
        for episode in bout.episodes:
            hero = episode.seat_of(0)
            others = [pay for seat, pay in enumerate(episode.payoffs) if seat != hero]
            pays = (episode.payoffs[hero], sum(others) / len(others))
            yield Placing((names[row], names[column]), (round(pays[0], 9), round(pays[1], 9)))


def _alliances(game: Game[Any], size: int, bouts: dict[tuple[int, int], Bout]) -> list[float | None]:
    """For each member the tacit alliance of its copies against an outsider, over all outsiders; in Diplomacy alone."""
    if not isinstance(game, Diplomacy):
        return []
    found: list[float | None] = []
    for column in range(size):
        counts = [_against_outsider(e) for row in range(size) if row != column for e in bouts[row, column].episodes]
        total = Hostility(*(np.sum([getattr(one, part) for one in counts], axis=0) for part in Hostility._fields))
        index = alliance(total, np.arange(game.spec.seats) > 0)
        found.append(None if np.isnan(index) else index)
    return found


def _against_outsider(episode: Episode) -> Hostility:
    """The counts of a game with the outsider first, wherever it sat."""
    order = [episode.seat_of(slot) for slot in range(len(episode.slots))]
    counts = hostility(episode)
    return Hostility(counts.attacks[np.ix_(order, order)], counts.chances[np.ix_(order, order)])


def _exploitability(game: Game[Any], player: Player, budget: int) -> float | None:
    """Exact, where the game is small enough and the player states its probabilities."""
    if not budget:
        return None
    try:
        return exact(game, player, budget).exploitability
    except CannotCompute:
        return None
