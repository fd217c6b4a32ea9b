"""Evaluation as JSON: every figure with its uncertainty, its sample and its provenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratagem.base.provenance import provenance
from stratagem.games.base import Game, Json
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import stakes_of
from stratagem.measure.comparisons import family, holm_p
from stratagem.measure.evaluate import EvaluationRow, GameResult
from stratagem.measure.expectation import SCALE
from stratagem.measure.figures.catalogue import stored_figure
from stratagem.measure.figures.figure import OF_PAYOFFS, PAYOFF, Figure
from stratagem.measure.matchups import Matchup
from stratagem.measure.memorisation import OtherWords
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.metrics.payoff import mean_pay, pool_advantage
from stratagem.measure.statistics import Estimate
from stratagem.measure.tournament import CrossPlay
from stratagem.measure.validity import validity

_COMMON = "points on the common scale"


def scale_of(game: Game[Any]) -> float | None:
    """Return the factor from a payoff of this game to the common scale; None where that differs by seat or by deal."""
    stakes = {
        stakes_of(state, seat) for state in (game.start(Key(0)), game.start(Key(1))) for seat in range(game.spec.seats)
    }
    if len(stakes) != 1:
        return None
    common = stakes.pop()
    return SCALE / common.cooperative if common else 1.0


def unit_in(game: Game[Any], figure: Figure) -> str:
    """Return the unit of a figure in a game.

    That of metrics of payoffs is the game's own only where its scale is the common one.
    """
    if figure.unit == OF_PAYOFFS:
        return game.spec.unit if scale_of(game) == 1.0 else _COMMON
    return game.spec.unit if figure.unit == PAYOFF else figure.unit


def units_of_metrics(result: GameResult) -> dict[str, str]:
    """Return the unit of each metric of a game's rows; empty for a pure number."""
    return {name: unit_in(result.game, stored_figure(name)) for row in result.rows for name in row.metrics}


def unscaled_payoffs(result: GameResult, row: EvaluationRow) -> tuple[Estimate | None, Estimate | None]:
    """Return the payoff a round and the pool's advantage, in the game's own unit."""
    sample = Sample(result.game, row.matchups)
    return mean_pay(sample, scaled=False), pool_advantage(sample, scaled=False)


def evaluation_json(results: list[GameResult], suite: str, seed: int, episodes: int) -> Json:
    """Return the whole evaluation."""
    adjusted, tested = holm_p(results), family(results)
    return {
        "suite": suite,
        "seed": seed,
        "episodes_asked_per_opponent": episodes,
        "made_by": provenance(),
        "family": {"name": tested.name, "comparisons": list(tested.comparisons)},
        "games": [_game_json(result, adjusted) for result in results],
    }


def _game_json(result: GameResult, adjusted: Mapping[tuple[str, str], float]) -> Json:
    spec = result.game.spec
    return {
        "game": result.text,
        "version": spec.version,
        "unit": spec.unit,
        "seats": "rotated over paired deals",
        "scale": scale_of(result.game),
        "units": units_of_metrics(result),
        "players": [_row_json(result, row) for row in result.rows],
        "differences_on_played_deals": {
            name: {**difference.to_json(), "holm_p": adjusted.get((result.text, name))}
            for name, difference in result.differences.items()
        },
        "warnings": list(result.warnings),
    }


def _row_json(result: GameResult, row: EvaluationRow) -> Json:
    pay, pool = unscaled_payoffs(result, row)
    return {
        "player": row.player,
        "metrics": {name: estimate and estimate.to_json() for name, estimate in row.metrics.items()},
        "nulls": row.nulls,
        "by_seat": [figures.to_json() for figures in row.by_seat],
        "unscaled": {"payoff": pay and pay.to_json(), "pool_advantage": pool and pool.to_json()},
        "exact": {"not_computed": row.exploitability.why_not_exact},
        row.exploitability.basis.json_key: row.exploitability.to_json(),
        "replies": row.validity and row.validity.to_json(),
        "in_other_words": [_other_words_json(result.game, row, other) for other in row.in_other_words],
        "opponents": [_bout_json(result.game, matchup) for matchup in row.matchups],
    }


def _other_words_json(game: Game[Any], row: EvaluationRow, other: OtherWords) -> Json:
    disguised, replies = Sample(game, other.matchups), validity(other.matchups)
    pay, illegal = mean_pay(disguised, scaled=True), METRICS["illegal"].measure(disguised)
    gap = METRICS["memorisation_gap"].measure(Sample(game, row.matchups, (other.matchups,)))
    return {
        "player": other.player,
        "proof": other.proof,
        "payoff": pay and pay.to_json(),
        "gap": gap and gap.to_json(),
        "illegal": illegal and illegal.to_json(),
        "replies": replies and replies.to_json(),
    }


def _bout_json(game: Game[Any], matchup: Matchup) -> Json:
    wins = METRICS["win rate"].measure(Sample(game, (matchup,)))
    return {
        "opponent": matchup.opponent,
        "version": matchup.version,
        "pools": list(matchup.pools),
        "episodes": len(matchup.episodes),
        "win_rate": wins and wins.to_json(),
        "payoff": matchup.payoff().to_json(),
        "advantage": matchup.advantage().to_json(),
        "unscaled_payoff": matchup.payoff(scaled=False).to_json(),
        "unscaled_advantage": matchup.advantage(scaled=False).to_json(),
        **({"prompts": matchup.prompts.to_json()} if matchup.prompts else {}),
    }


def tournament_json(result: CrossPlay, seed: int, episodes: int) -> Json:
    """Return the cross-play matrix, the row player's payoff against the column player."""
    return {
        "game": result.text,
        "unit": result.game.spec.unit,
        "seed": seed,
        "episodes_per_pair": episodes,
        "made_by": provenance(),
        "players": list(result.players),
        "payoff": [[cell.to_json() for cell in row] for row in result.payoff],
        "mean_against_others": [estimate.to_json() for estimate in result.means],
        "warnings": list(result.warnings),
    }
