"""Exact figures of a model that plays tic-tac-toe by free replies: from its probabilities in all 4,520 positions.

A reply has two tokens, so its probability of naming a square is a product of two, over the whole vocabulary. What is
left to one is an illegal reply, which loses the game. Regret, exploitability, payoffs,
length and entropy follow without sampling.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from stratagem.games.base import State, View
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.solver import solve
from stratagem.language.engines.base import PolicyNode, ScoreRequest
from stratagem.language.engines.caches import reset_caches
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.policies import Stated, stated_policies
from stratagem.players.base import Ask, Mix, Player, Traits, Turn
from stratagem.players.catalogue import make_player
from stratagem.players.language import LanguagePlayer
from stratagem.players.speaker import Speaker

GAME = "tic-tac-toe(retries=0)"
COLUMNS, ROWS = "ABC", "123"
ASKED: dict[str, Any] = {"mode": "free", "style": "bare", "temperature": 1.0, "max_new_tokens": 2}
"""Settings of the recipes by which a model is asked."""
SITUATIONS = 10**6
"""More situations than an exact figure walks through."""
Figures = dict[str, float]


class Position(NamedTuple):
    """A position with its mover, and what its moves lose and lead to."""

    state: State[Any]
    regrets: Mapping[str | None, float]
    """Regret of every move, and under None of a lost turn: the whole value."""
    after: Mapping[str, str]
    """Key of the position after each move that ends nothing."""


@lru_cache(maxsize=1)
def positions() -> dict[str, Position]:
    """Return every position in which somebody is to move by its key, earlier ones first."""
    game = make_game(GAME)
    values, (low, high) = solve(game), game.spec.bounds
    layer = {_key(first := game.start(Key(0))): first}
    found = dict[str, Position]()
    while layer:
        later = dict[str, State[Any]]()
        for key, state in layer.items():
            after = dict[str, str]()
            for action, child in _children(state):
                if not child.over:
                    after[action] = _key(child)
                    later.setdefault(after[action], child)
            whole = (values.value(state, state.to_act[0]) - low) / (high - low)
            regrets: dict[str | None, float] = {None: whole}
            regrets.update(values.regrets(state))
            found[key] = Position(state, regrets, after)
        layer = later
    return found


def _children(state: State[Any]) -> list[tuple[str, State[Any]]]:
    (seat,), children = state.to_act, []
    for action in state.view(seat).choices:
        child = state.fork()
        child.play({seat: str(action)})
        children.append((str(action), child))
    return children


def _key(state: State[Any]) -> str:
    return state.view(state.to_act[0]).state_key


class Table(Player):
    """Player by a table of mixtures; what a mixture lacks to one is an illegal reply."""

    name = "table"
    traits = Traits(stochastic=True, memory=0, exact=True, fallible=True)

    def __init__(self, mixes: Mapping[str, Mix]) -> None:
        self.mixes = mixes

    def policy(self, view: View[Any]) -> Mix:
        return self.mixes[view.state_key]

    def turn(self, ask: Ask) -> Turn:
        raise NotImplementedError("a table is measured and not played")


def table_of(model: str) -> Table:
    """Return the table of a model that is asked as in the recipes."""
    reset_caches()
    found = positions()
    return Table(dict(zip(found, spoken(LanguagePlayer(model, **ASKED).speaker, views_of(found)), strict=True)))


def views_of(found: Mapping[str, Position]) -> list[View[Any]]:
    """Return what the mover of each position sees."""
    return [position.state.view(position.state.to_act[0]) for position in found.values()]


def spoken(speaker: Speaker, views: Sequence[View[Any]]) -> list[Mix]:
    """Return the probability that a free reply of two tokens names each legal square."""
    letters, digits = (tuple(speaker.engine.vocabulary.encode(mark)[0] for mark in marks) for marks in (COLUMNS, ROWS))
    nodes = (
        PolicyNode((), letters, masked=False),
        *(PolicyNode((letter,), digits, masked=False) for letter in letters),
    )
    asked = [
        ScoreRequest(prompt=speaker.prompt(view), nodes=nodes, adapter=speaker.adapter, sampling=speaker.sampling)
        for view in views
    ]
    mixes = list[Mix]()
    for view, (first, *second) in zip(views, speaker.engine.score(asked), strict=True):
        squares = {
            column + row: math.exp(before + logprob)
            for column, before, rows in zip(COLUMNS, first, second, strict=True)
            for row, logprob in zip(ROWS, rows, strict=True)
        }
        mixes.append({str(action): squares[str(action)] for action in view.choices})
    return mixes


def uniform() -> Table:
    """Return the table of random legal play, the chance level of every figure."""
    legal = {key: [move for move in position.regrets if move is not None] for key, position in positions().items()}
    return Table({key: dict.fromkeys(moves, 1.0 / len(moves)) for key, moves in legal.items()})


def figures(table: Table, start: Table) -> Figures:
    """Return the exact figures of a table; `start` is that of the model after SFT."""
    found, game = positions(), make_game(GAME)
    mixes = dict(zip(found, stated_policies(table, views_of(found)), strict=True))
    whole = exact(game, table, SITUATIONS)
    regrets = {key: sum(p * found[key].regrets[action] for action, p in mix.items()) for key, mix in mixes.items()}
    return {
        "regret": math.fsum(regrets.values()) / len(regrets),
        "illegal": math.fsum(1.0 - sum(table.mixes[key].values()) for key in found) / len(found),
        "exploitability": whole.exploitability,
        "self-play, first seat": whole.values[0],
        "payoff against the start": against(table, start),
        **{f"payoff against {name}": against(table, make_player(name, game)) for name in ("random", "perfect")},
        **self_play(mixes, table, regrets),
    }


def against(table: Table, other: Player) -> float:
    """Return the mean payoff against a player, over both seats."""
    pairs, game = ((table, other), (other, table)), make_game(GAME)
    return sum(expected_payoffs(game, pair, SITUATIONS).per_round(seat) for seat, pair in enumerate(pairs)) / len(pairs)


def self_play(mixes: Mapping[str, Stated], table: Table, regrets: Mapping[str, float]) -> Figures:
    """Return the figures of the table's games against itself, each position weighted by how often it is reached."""
    found = positions()
    reached = defaultdict[str, float](float, {next(iter(found)): 1.0})
    moves = lost = regret = illegal = entropy = 0.0
    for key, position in found.items():  # earlier positions first
        weight, mix = reached[key], mixes[key]
        moves, regret, lost = moves + weight, regret + weight * regrets[key], lost + weight * mix.get(None, 0.0)
        illegal += weight * (1.0 - sum(table.mixes[key].values()))
        entropy -= weight * sum(p * math.log(p) for p in mix.values() if p > 0.0)
        for action, later in position.after.items():
            reached[later] += weight * mix.get(action, 0.0)
    return {
        "length": moves,
        "forfeits": lost,
        "regret in self-play": regret / moves,
        "illegal in self-play": illegal / moves,
        "entropy in self-play": entropy / moves,
    }
