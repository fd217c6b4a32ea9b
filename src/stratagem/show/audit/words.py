"""Sentences of a card: the verdict, and one on how each figure was measured."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from stratagem.base.number_texts import number
from stratagem.measure.audit.card import AuditCost, Card
from stratagem.measure.audit.condition import Outcome
from stratagem.measure.audit.measurement import LEVEL, Measurement

_GAINS = (".exploitability", ".exploitability_ratio")
"""Ends of the names of figures that the card begins with."""
NONE = "–"
"""Mark of a figure that is not there."""


def verdict(card: Card) -> Sequence[str]:
    """Return what stands at the top: the alarms, how many tests they survived, the level of limits, and the notes."""
    return [*_warn_unanswered(card), *_describe_unsaid(card.cost), *_alarms(card), *_level(card), *card.notes]


def summarise(card: Card) -> list[str]:
    """Return a sentence for each game: what an opponent gains who knows the agent's strategy, beside random play."""
    return [
        _exploitation(figure)
        for figure in card.figures
        if figure.group == "exploitability" and figure.name.endswith(_GAINS) and _says_something(figure)
    ]


def _says_something(figure: Measurement) -> bool:
    """Return whether a gain is known, or limited on a side: one of at least 0 says nothing."""
    return figure.value is not None or figure.upper is not None or bool(figure.lower)


def _exploitation(figure: Measurement) -> str:
    game, unit, limits = figure.name.rpartition(".")[0], figure.unit, ends(figure)
    if figure.name.endswith(_GAINS[1]):
        share = limits if figure.value is None else f"{number(figure.value)} ({limits})"
        return f"{game}: over games that nobody has seen it is {share} times as exploitable as random play."
    if figure.value is None:
        gain = limits.replace("≥", "at least").replace("≤", "at most")
    else:
        gain = number(figure.value) if limits == NONE else f"{number(figure.value)} ({limits})"
    random = "" if figure.chance is None else f" Against random play it would be {number(figure.chance)}."
    return f"{game}: an opponent who knows this agent's strategy gains {gain} {unit} by it.{random}"


def _level(card: Card) -> Iterator[str]:
    """Yield the level of an exploitability between two one-sided limits, which a reader would take for an interval."""
    if any(figure.lower is not None and figure.upper is not None and _one_sided(figure) for figure in card.figures):
        yield "Each limit of an exploitability holds with 95 %, both together with 90 %."


def _one_sided(figure: Measurement) -> bool:
    return figure.group == "exploitability" and "one-sided" in figure.interval


def _warn_unanswered(card: Card) -> Iterator[str]:
    """Yield a warning where the agent did not reply."""
    if card.unanswered:
        cost = card.cost
        yield (
            f"The agent gave no reply to {cost.failed} of {cost.calls} questions. Its figures are mostly those of "
            f"default actions, so a condition that does not hold is inconclusive. The last reason: {cost.failure}"
        )


_ENDS = {
    "length": "the reply was cut off by the limit of tokens: raise `max_new_tokens`",
    "refusal": "the model refused a reply",
    "filter": "a filter of the server withheld the reply",
}
"""Clause of a sentence by the end of a call."""


def _describe_unsaid(cost: AuditCost) -> Iterator[str]:
    """Yield a sentence for each way in which illegal replies were not all of the agent's answer."""
    for end, count in cost.unsaid.items():
        yield f"In {count} of the {cost.decisions} decisions there was no legal action, and {_ENDS[end]}."


def _alarms(card: Card) -> Sequence[str]:
    """Return the number of alarms, each alarm, and each difference from the baseline."""
    tests = sum(figure.p is not None or figure.certain for figure in card.figures)
    differences = [_differs(figure, card.baseline) for figure in card.figures if figure.differs]
    if not card.alarms:
        none = f"No alarm. {tests} nulls were tested at {LEVEL:.0%}, with Holm's correction; none was rejected."
        return [none, *differences]
    lines = [_alarm(figure) for figure in card.alarms]
    return [f"{len(lines)} of {tests} tests and observations raise an alarm.", *lines, *differences]


def _differs(figure: Measurement, baseline: str) -> str:
    """Return a difference from the baseline."""
    parts = ["" if figure.value is None else f"{number(figure.value)} "]
    parts += [f"({limits}) "] if (limits := ends(figure)) != NONE else []
    return f"{figure.name}: {''.join(parts)}{figure.unit}. It differs from {baseline}."


def _alarm(figure: Measurement) -> str:
    """Return an alarm with its figure and the null that it rejects."""
    shown = f" ({limits})" if (limits := ends(figure)) != NONE and figure.value is not None else ""
    figures = f"{number(figure.value)}{shown}" if figure.value is not None else ends(figure)
    return f"{figure.name}: {figures} {figure.unit}. Rejected hypothesis: {figure.null}."


def ends(figure: Measurement) -> str:
    """Return the interval in figures, or its one end."""
    lower, upper = (None if end is None else number(end) for end in (figure.lower, figure.upper))
    if lower is None:
        return NONE if upper is None else f"≤ {upper}"
    return f"≥ {lower}" if upper is None else f"{lower} … {upper}"


def replay(figure: Measurement, folder: str) -> str:
    """Return the command that shows the episode of a figure; empty where it has none."""
    if not figure.episode or not figure.record:
        return ""
    record = shlex.quote(f"{folder}/{figure.record}")
    return f"stratagem show {record} --episode {shlex.quote(figure.episode)}"


def describe_outcome(card: Card, condition: str, outcome: Outcome) -> str:
    """Return the outcome of a condition in words, with the reason where it is inconclusive."""
    return f"{outcome}. {card.why_inconclusive(condition)}" if outcome == "inconclusive" else outcome


def sentence(figure: Measurement) -> str:
    """Return how a figure was measured, its null and its example."""
    if figure.why_not:
        return f"Not measured: {figure.why_not}"
    parts = [figure.method]
    if figure.interval:
        parts.append(f"Limits: {figure.interval}.")
    if figure.null:
        parts.append(f"Null: {figure.null}." if figure.p is None else f"Null: {figure.null} (p = {figure.p:.4f}).")
    if figure.example:
        parts.append(figure.example)
    if replay(figure, ""):
        parts.append(f"Replay: {replay(figure, 'FOLDER')}")
    return " ".join(part for part in parts if part)
