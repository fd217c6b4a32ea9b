"""Episodes to learn from, and the decisions in them: of one seat in groups of rollouts, of all seats in self-play."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stratagem.engines.base import Call
from stratagem.games.base import Seat
from stratagem.games.key import Key
from stratagem.learning.advantages.base import AdvantageEstimate, Decisions, coded
from stratagem.learning.example import Example, of_call
from stratagem.learning.gradient_signal import HALF, TERM
from stratagem.play.match import Match, Setup
from stratagem.play.records import Decision, Episode, Purpose

Term = Callable[[Episode, Seat], Mapping[int, float]]
"""A term of the reward: the value of each round of an episode for a seat, by the round's number."""


def payoff(episode: Episode, seat: Seat) -> Mapping[int, float]:
    """The payoff of each round."""
    return {number: payoffs[seat] for number, payoffs in enumerate(episode.rounds)}


def grouped(
    match: Match,
    groups: int,
    size: int,
    key: Key,
    *,
    name: str,
    purpose: Purpose = "train",
    before: int = 0,
    same_start: bool = True,
) -> Iterator[Setup]:
    """So many groups of episodes; a group shares the seats and, unless told otherwise, the start.

    The players rotate between groups, from the seats that they had after the groups that were played `before`.
    """
    seats = len(match.players)
    for number in range(groups):
        start = match.game.start(key.at("start", number)) if same_start else None
        slots = tuple((seat - before - number) % seats for seat in range(seats))
        for rollout in range(size):
            yield Setup(
                id=f"{name}/{number}.{rollout}",
                match=match,
                slots=slots,
                key=key.at("rollout", number, rollout),
                purpose=purpose,
                group=f"{name}/{number}",
                state=start,
            )


@dataclass(frozen=True)
class Taken:
    """A decision of the policy, and the call whose sampled tokens it came from; None where nothing was sampled."""

    episode: int
    group: str
    decision: Decision
    call: Call | None


def taken(episodes: Sequence[Episode], slots: Collection[int] = (0,)) -> list[Taken]:
    """The decisions of some players of the match in the order of play: of the first, or in self-play of all."""
    return [
        Taken(number, episode.group, decision, sampled(decision))
        for number, episode in enumerate(episodes)
        for decision in episode.decisions
        if decision.slot in slots
    ]


def sampled(decision: Decision) -> Call | None:
    """The call whose tokens were drawn for a decision; None where it had to be recovered, or had no choice."""
    if not decision.calls or decision.how == "recovered":
        return None
    call = decision.calls[0]
    return call if call.finish != "error" and any(span.kind == "sampled" for span in call.spans) else None


def decisions_of(rows: Sequence[Taken], episodes: Sequence[Episode], terms: Mapping[str, Term]) -> Decisions:
    """Columns of decisions; the value of a round stands at the seat's first decision in it.

    Each seat of an episode is an episode of its own here, and is compared with the same seat of its group.
    """
    own = {(row.episode, row.decision.seat) for row in rows}
    values = {name: {(e, seat): term(episodes[e], seat) for e, seat in own} for name, term in terms.items()}
    columns: dict[str, list[float]] = {name: [] for name in terms}
    role, roles = coded(f"{episodes[row.episode].game}/{row.decision.seat}" for row in rows)
    seen = set[tuple[int, int, int]]()
    for row in rows:
        seat, number = row.decision.seat, row.decision.round
        for name, column in columns.items():
            first = (row.episode, seat, number) not in seen
            column.append(values[name][row.episode, seat].get(number, 0.0) if first else 0.0)
        seen.add((row.episode, seat, number))
    return Decisions(
        episode=coded((row.episode, row.decision.seat) for row in rows)[0],
        group=coded((row.group, row.decision.seat) for row in rows)[0],
        round=np.array([row.decision.round for row in rows], dtype=np.int64),
        role=role,
        roles=roles,
        keep=np.array([row.decision.keep for row in rows], dtype=np.bool_),
        terms={name: np.array(column) for name, column in columns.items()},
    )


def examples_of(rows: Sequence[Taken], estimate: AdvantageEstimate) -> list[Example]:
    """Return the examples of the sampled decisions, with the advantage and the part of each reward term in it.

    The rollouts of every group are dealt into two halves, by which a term's gradient can be told from its noise. A
    term's part is taken before all are divided by the spread of their sum, through which any term bends the others'
    gradients.
    """
    halves, found = _halves(rows), []
    for number, row in enumerate(rows):
        advantage = float(estimate.advantage[number])
        if row.call is not None and row.decision.keep:
            shares = {f"{TERM}{name}": float(column[number]) for name, column in estimate.centred_terms.items()}
            example = of_call(row.call, advantage=advantage, **shares)
            found.append(replace(example, row={HALF: float(halves[row.episode])}))
    return found


def _halves(rows: Sequence[Taken]) -> dict[int, int]:
    """The half of every episode: those of a group, in whatever order they ended, are counted off by twos."""
    groups: dict[str, dict[int, int]] = {}
    for row in rows:
        group = groups.setdefault(row.group, {})
        group.setdefault(row.episode, len(group) % 2)
    return {episode: half for group in groups.values() for episode, half in group.items()}
