"""Table of an evaluation over drawn games: a game is a sample, so limits hold for the family that was drawn from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.drawing import draw_game
from stratagem.games.drawn.seeded import DrawnGame
from stratagem.measure.evaluate import CHANCE
from stratagem.measure.figures.audits import audit_figure
from stratagem.measure.figures.catalogue import stored_figure
from stratagem.measure.statistics import Estimate, exactly, students, with_interval
from stratagem.show.evaluation_file import EvaluationFigures, GameTable, PlayerFigures
from stratagem.show.table import Column, ResultTable, Value, text_table

_COMMON = ("win rate", "illegal")
"""Figures whose unit is the same in all games; payoffs have another scale in each."""
_DRAWN = "drawn"


def table_over_draws(evaluation: EvaluationFigures, names: Mapping[str, str] | None = None) -> Iterator[ResultTable]:
    """Yield the means over the drawn games of an evaluation; nothing of one with fewer than two of them."""
    games = [game for game in evaluation.games if game.game.partition("(")[0] == _DRAWN]
    if len(games) < 2:
        return
    ratio = audit_figure("exploitability_ratio")
    columns: tuple[Column, ...] = ("player", *map(stored_figure, _COMMON), ratio)
    rows: list[tuple[Value, ...]] = []
    for player in dict.fromkeys(row.player for game in games for row in game.players):
        own = [_row_of(game, player) for game in games]
        common = [_mean([None if row is None else row.metrics.get(name) for row in own]) for name in _COMMON]
        chance = [_row_of(game, CHANCE) for game in games]
        ratio_of = _ratio(own, chance, list(map(_range_of, games)))
        rows.append(((names or {}).get(player, player), *common, ratio_of))
    yield text_table(f"{evaluation.suite}: over {len(games)} drawn games, each a sample", columns, rows)


def _row_of(game: GameTable, player: str) -> PlayerFigures | None:
    return next((row for row in game.players if row.player == player), None)


def _mean(values: Sequence[Estimate | None]) -> Value:
    known = [value.mean for value in values if value is not None and not math.isnan(value.mean)]
    return with_interval(known) if known else None


def _range_of(game: GameTable) -> float:
    """Return the payoff range of a drawn game, the mean over its seats."""
    made = make_bounded_game(game.game)
    assert isinstance(made, DrawnGame)
    return fmean(draw_game(made.seed, made.family, made.size).worth.payoff_ranges)


def _ratio(
    own: Sequence[PlayerFigures | None], random: Sequence[PlayerFigures | None], ranges: Sequence[float]
) -> Value:
    """Return the sum of exploitabilities in shares by that of random play, with the error of a ratio over games."""
    pairs = [
        (mine / scale, chance / scale)
        for one, other, scale in zip(own, random, ranges, strict=True)
        if (mine := _exploitability(one)) is not None and (chance := _exploitability(other)) is not None
    ]
    total = sum(chance for _, chance in pairs)
    if len(pairs) < 2 or total <= 0.0:
        return None
    ratio, number = sum(mine for mine, _ in pairs) / total, len(pairs)
    spread = math.fsum((mine - ratio * chance) ** 2 for mine, chance in pairs) / (number - 1)
    error = math.sqrt(number * spread) / total
    return students(Estimate(ratio, error, number)) if error > 1e-12 else exactly(ratio)


def _exploitability(row: PlayerFigures | None) -> float | None:
    found = None if row is None else row.exploitability
    if found is None or found.estimate is None or found.is_bound or math.isnan(found.estimate.mean):
        return None
    return found.estimate.mean
