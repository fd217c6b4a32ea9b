"""Scorer: the agent's payoff a round and its share of illegal turns, with intervals over deals."""

from __future__ import annotations

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from stratagem.integrations.inspect.figures import Figures, estimates
from stratagem.integrations.inspect.solver import FIGURES


def _intervals() -> Metric:
    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return estimates([Figures(**score.score.metadata) for score in scores if score.score.metadata])

    return compute


intervals = metric(name="intervals", scores="unreduced")(_intervals)
"""Estimates over all episodes; each epoch has deals of its own."""


def _payoff() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        played = state.store.get(FIGURES)
        if played is None:
            return Score.unscored(explanation="A limit stopped the episode before its end, so it has no score.")
        figures = Figures(**played)
        return Score(value=_values(figures), explanation=_sentence(figures), metadata=figures.to_json())

    return score


payoff = scorer(name="payoff", metrics=[intervals()])(_payoff)
"""Scorer of episodes."""


def _values(figures: Figures) -> dict[str, float]:
    return {"pay": figures.payoff / figures.rounds, "illegal": figures.illegal / max(1, figures.turns)}


def _sentence(figures: Figures) -> str:
    return (
        f"Seat {figures.seat} against {figures.opponent}: return {figures.payoff:+g} over {figures.rounds} rounds; "
        f"{figures.illegal} of {figures.turns} turns without a legal action."
    )
