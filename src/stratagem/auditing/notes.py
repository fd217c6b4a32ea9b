"""Notes of a card: what its figures take for granted."""

from __future__ import annotations

from collections.abc import Iterable

from stratagem.auditing.checks.base import QUESTIONS, ProbeResult, last_attempts
from stratagem.evaluation.resumable import is_unanswered
from stratagem.evaluation.sampled.asking import LONG


def short_replies(results: Iterable[ProbeResult]) -> tuple[str, ...]:
    """Return a sentence where short replies of a server are taken as independent, which a cache would make wrong."""
    lengths = [length for result in results for length in _lengths(result)]
    short = sum(length < LONG for length in lengths)
    if not short:
        return ()
    return (
        f"{short} of {len(lengths)} replies to questions have fewer than {LONG} characters: equal ones among them are "
        "taken as independent, so limits and tests do not hold if a cache gave them.",
    )


def _lengths(result: ProbeResult) -> list[int]:
    """Return the lengths of the replies to questions of an agent that may not be asked the same twice."""
    traits = result.task.agent.traits
    if result.probe != QUESTIONS or traits.repeats or not traits.stochastic:
        return []
    rows = [row for episode in result.asked() for row in last_attempts(episode) if not is_unanswered(row)]
    return [len("\n".join(call.text for call in row.calls)) for row in rows]
