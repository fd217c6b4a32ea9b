"""Training examples from episodes: group setups, selected decisions, decision columns and examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stratagem.engines.base import Call
from stratagem.games.base import Seat
from stratagem.games.key import Key
from stratagem.learning.advantages.base import AdvantageEstimate, Decisions, coded
from stratagem.learning.example import Example, example_from_call
from stratagem.learning.gradient_signal import HALF, TERM
from stratagem.play.match import Match, Setup
from stratagem.play.records import Decision, Episode, Purpose
from stratagem.training.message_branches import NO_BRANCHES, MessageBranches, Totals

Term = Callable[[Episode, Seat], Mapping[int, float]]
"""Reward term: value of each round of an episode for a seat, by round number."""


def round_payoffs(episode: Episode, seat: Seat) -> Mapping[int, float]:
    """Return the payoff of a seat by round number."""
    return {number: payoffs[seat] for number, payoffs in enumerate(episode.rounds)}


def group_setups(
    match: Match,
    groups: int,
    size: int,
    key: Key,
    *,
    name: str,
    purpose: Purpose = "train",
    before: int = 0,
    same_start: bool = True,
    slots_of: Callable[[int], tuple[int, ...]] | None = None,
) -> Iterator[Setup]:
    """Yield the setups of `groups` groups of `size` episodes each.

    The episodes of a group have the same seats and, if `same_start`, the same initial state. The players rotate over
    the seats from group to group, or sit as `slots_of` says of a group. `before` is the number of earlier groups.
    """
    seats = len(match.players)
    for number in range(groups):
        start = match.game.start(key.at("start", number)) if same_start else None
        place = before + number
        slots = slots_of(place) if slots_of else tuple((seat - place) % seats for seat in range(seats))
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
class SelectedDecision:
    """Decision of the policy with the call that sampled it; None where no token was sampled."""

    episode: int
    group: str
    decision: Decision
    call: Call | None


def select_decisions(episodes: Sequence[Episode], slots: Collection[int] = (0,)) -> list[SelectedDecision]:
    """Return the decisions of the players in `slots`, in the order of play; in self-play give all slots."""
    return [
        SelectedDecision(number, episode.group, decision, sampled_call(decision))
        for number, episode in enumerate(episodes)
        for decision in episode.decisions
        if decision.slot in slots
    ]


def sampled_call(decision: Decision) -> Call | None:
    """Return the call whose tokens were sampled for a decision.

    None where the action was recovered, or where only one action was legal.
    """
    if not decision.calls or decision.how == "recovered":
        return None
    call = decision.calls[0]
    return call if not call.failed and any(span.kind == "sampled" for span in call.spans) else None


def decision_columns(
    rows: Sequence[SelectedDecision],
    episodes: Sequence[Episode],
    terms: Mapping[str, Term],
    branches: MessageBranches = NO_BRANCHES,
) -> Decisions:
    """Return the columns of decisions that an advantage estimator reads.

    The value of a round stands at the seat's first decision in it. Each seat of an episode counts as an episode of its
    own. It is compared with the same seat in the other episodes of the group.
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
        **branches.columns([(episodes[row.episode], row.decision) for row in rows], list(terms), totals_of(terms)),
    )


def totals_of(terms: Mapping[str, Term]) -> Totals:
    """Return the function that sums reward terms over the rounds of an episode."""

    def totals(episode: Episode, seat: Seat, since: Decision | None) -> Mapping[str, float]:
        first = 0 if since is None else since.round
        return {
            name: math.fsum(value for number, value in term(episode, seat).items() if number >= first)
            for name, term in terms.items()
        }

    return totals


def training_examples(rows: Sequence[SelectedDecision], estimate: AdvantageEstimate) -> list[Example]:
    """Return the training examples of the sampled decisions, each with its advantage and its centred reward terms.

    The advantages are written into the decisions, so that the record has them.
    The rollouts of a group are split into two halves, which measure the gradient signal-to-noise ratio of each term.
    The centred terms are not divided by the standard deviation of the reward, since that would mix their gradients.
    """
    halves, examples = _halves(rows), list[Example]()
    for number, row in enumerate(rows):
        advantage = float(estimate.advantage[number])
        if row.call is not None and row.decision.keep:
            shares = {f"{TERM}{name}": float(column[number]) for name, column in estimate.centred_terms.items()}
            example = example_from_call(row.call, advantage=advantage, **shares)
            examples.append(example.with_row(**{HALF: float(halves[row.episode])}))
            row.decision.advantage = advantage
    return examples


def _halves(rows: Sequence[SelectedDecision]) -> dict[int, int]:
    """Return the half of each episode; the episodes of a group alternate between the two halves."""
    groups: dict[str, dict[int, int]] = {}
    for row in rows:
        group = groups.setdefault(row.group, {})
        group.setdefault(row.episode, len(group) % 2)
    return {episode: half for group in groups.values() for episode, half in group.items()}
