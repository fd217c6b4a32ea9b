"""Training examples from episodes: group setups, selected decisions, decision columns and examples.

Every online algorithm goes this way. A row is a decision of the policy, or one rewarded part of it, such as an order of
a sheet. Tokens in no line of the action, such as reasoning and tags, belong to the decision as a whole.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from stratagem.games.base import Seat
from stratagem.games.key import Key
from stratagem.language.decoding.stream import TextStream
from stratagem.language.decoding.vocabulary import Vocabulary
from stratagem.language.engines.base import Call
from stratagem.learn.advantages.base import AdvantageEstimate, Decisions, Floats, encode_values
from stratagem.learn.example import Example, example_from_call
from stratagem.learn.gradient_signal import HALF, TERM
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Decision, Episode, Purpose
from stratagem.training.message_branches import NO_BRANCHES, MessageBranches, Totals

Term = Callable[[Episode, Seat], Mapping[int, float]]
"""Reward term: value of each round of an episode for a seat, by round number."""


def round_payoffs(episode: Episode, seat: Seat) -> Mapping[int, float]:
    """Return the payoff of a seat by round number."""
    return {number: payoffs[seat] for number, payoffs in enumerate(episode.rounds)}


def term_by_round(name: str) -> Term:
    """Return the payoff or a safety signal of a seat as a term; a branched rollout begins in the middle of a game."""

    def by_round(episode: Episode, seat: Seat) -> Mapping[int, float]:
        rows = episode.rounds if name == "payoff" else episode.signals.get(name, ())
        first = episode.decisions[0].round
        return {first + index: row[seat] or 0.0 for index, row in enumerate(rows)}

    return by_round


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
    """Decision of the policy, or one part of it, with the call that sampled it; None where no token was sampled."""

    episode: int
    group: str
    decision: Decision
    call: Call | None
    part: int = 0
    """Index of the part in the decision."""
    rewards: Mapping[str, float] = field(default_factory=dict)
    """Reward terms of the row, where an algorithm gives them to decisions and parts, and not to rounds."""


def select_decisions(episodes: Sequence[Episode], slots: Collection[int] = (0,)) -> list[SelectedDecision]:
    """Return the decisions of the players in `slots`, in the order of play; in self-play give all slots."""
    return select_trained(episodes, [slots] * len(episodes))


def select_trained(episodes: Sequence[Episode], slots: Sequence[Collection[int]]) -> list[SelectedDecision]:
    """Return the decisions of the players in the slots that are trained in each episode, in the order of play."""
    return [
        SelectedDecision(number, episode.group, decision, sampled_call(decision))
        for number, episode in enumerate(episodes)
        for decision in episode.decisions
        if decision.slot in slots[number]
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
    *,
    others: bool = False,
) -> Decisions:
    """Return the columns of decisions that an advantage estimator reads, with reward terms by round.

    The value of a round stands at the seat's first decision in it. With `others` there are the other seats' terms, too.
    """
    own = {(row.episode, row.decision.seat) for row in rows}
    values = {name: {(e, seat): term(episodes[e], seat) for e, seat in own} for name, term in terms.items()}
    columns: dict[str, list[float]] = {name: [] for name in terms}
    seen = set[tuple[int, int, int]]()
    for row in rows:
        seat, number = row.decision.seat, row.decision.round
        for name, column in columns.items():
            first = (row.episode, seat, number) not in seen
            column.append(values[name][row.episode, seat].get(number, 0.0) if first else 0.0)
        seen.add((row.episode, seat, number))
    times = [row.decision.round for row in rows]
    of_others = {"others": rewards_of_others(rows, episodes, terms)} if others else {}
    return estimator_columns(rows, episodes, columns, times, branches, totals_of(terms), **of_others)


def rewards_of_others(
    rows: Sequence[SelectedDecision], episodes: Sequence[Episode], terms: Mapping[str, Term]
) -> dict[str, Floats]:
    """Return the reward terms of the other seats, summed over them.

    They stand at the first part of a seat's last decision in a round, and go from this round to the next in which the
    seat decides, since a seat may decide nothing where the others have a reward.
    """
    last: dict[tuple[int, Seat], dict[int, int]] = {}
    for index, row in enumerate(rows):
        if not row.part:
            last.setdefault((row.episode, row.decision.seat), {})[row.decision.round] = index
    columns = {name: np.zeros(len(rows)) for name in terms}
    for (number, seat), by_round in last.items():
        episode, begins = episodes[number], sorted(by_round)
        for name, term in terms.items():
            for other in range(len(episode.players)):
                for when, value in term(episode, other).items() if other != seat else ():
                    if since := bisect(begins, when):
                        columns[name][by_round[begins[since - 1]]] += value
    return columns


def estimator_columns(
    rows: Sequence[SelectedDecision],
    episodes: Sequence[Episode],
    terms: Mapping[str, Sequence[float]],
    times: Sequence[int],
    branches: MessageBranches,
    totals: Totals,
    **columns: Any,
) -> Decisions:
    """Return the columns that an advantage estimator reads, with given reward terms and times of the rows.

    Each seat of an episode counts as an episode of its own. It is compared with the same seat in the other episodes of
    the group.
    """
    role, roles = encode_values(f"{episodes[row.episode].game}/{row.decision.seat}" for row in rows)
    return Decisions(
        episode=encode_values((row.episode, row.decision.seat) for row in rows)[0],
        group=encode_values((row.group, row.decision.seat) for row in rows)[0],
        round=np.array(times, dtype=np.int64),
        role=role,
        roles=roles,
        keep=np.array([row.decision.keep for row in rows], dtype=np.bool_),
        terms={name: np.array(column, dtype=np.float64) for name, column in terms.items()},
        **branches.columns([(episodes[row.episode], row.decision) for row in rows], list(terms), totals),
        **columns,
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


def training_examples(
    rows: Sequence[SelectedDecision], estimate: AdvantageEstimate, vocabulary: Vocabulary | None = None
) -> list[Example]:
    """Return the training examples of the sampled decisions, each with its advantage and its centred reward terms.

    The advantages are written into the decisions, so that the record has them. Where a decision has several parts, each
    token has the advantage of its part, and `vocabulary` spells the tokens.
    The rollouts of a group are split into two halves, which measure the gradient signal-to-noise ratio of each term.
    The centred terms are not divided by the standard deviation of the reward, since that would mix their gradients.
    """
    columns = {"advantage": estimate.advantage.tolist()}
    columns |= {f"{TERM}{name}": column.tolist() for name, column in estimate.centred_terms.items()}
    halves, decisions = _halves(rows), dict[int, list[int]]()
    for number, row in enumerate(rows):
        if row.call is not None and row.decision.keep:
            decisions.setdefault(id(row.decision), []).append(number)
    examples = list[Example]()
    for own in decisions.values():
        values, first = {name: [column[i] for i in own] for name, column in columns.items()}, rows[own[0]]
        examples.append(_example(first, values, vocabulary).with_row(**{HALF: float(halves[first.episode])}))
    return examples


def _example(row: SelectedDecision, values: Mapping[str, Sequence[float]], vocabulary: Vocabulary | None) -> Example:
    """Return the example of a decision from the values of its rows, and write the advantage into the decision."""
    assert row.call is not None, "no token was sampled"
    if len(values["advantage"]) == 1:
        example = example_from_call(row.call, **{name: column[0] for name, column in values.items()})
        row.decision.advantage = values["advantage"][0]
        return example
    assert vocabulary is not None, "a decision with several parts needs the vocabulary"
    example, start = example_from_call(row.call), len(row.call.prompt.tokens)
    parts = part_of_each_token(row.call, row.decision.action, vocabulary)
    by_token = [parts[position - start] for position in example.loss_positions]
    columns = {name: _spread_over_tokens(column, by_token) for name, column in values.items()}
    row.decision.advantage = math.fsum(columns["advantage"]) / len(by_token)
    return example.with_columns(**columns)


def _spread_over_tokens(values: Sequence[float], parts: Sequence[int | None]) -> tuple[float, ...]:
    """Return the value of each token's part; the mean over the parts where a token belongs to none."""
    mean = float(np.mean(values))
    return tuple(mean if index is None or index >= len(values) else values[index] for index in parts)


def part_of_each_token(call: Call, action: str | None, vocabulary: Vocabulary) -> list[int | None]:
    """Return for each token of a reply the number of the action's line in which it begins; None where it is in none."""
    lines = {line: number for number, line in reversed(list(enumerate((action or "").split("\n"))))}
    stream = TextStream(vocabulary, call.prompt.tokens)
    texts = [stream.add(token) for token in call.tokens]
    reply_lines = "".join(texts).split("\n")
    ends = list(accumulate(len(line) + 1 for line in reply_lines))
    parts = [lines.get(line.strip()) for line in reply_lines]
    begins = accumulate((len(text) for text in texts), initial=0)
    return [parts[min(bisect(ends, begin), len(parts) - 1)] for begin, _ in zip(begins, texts, strict=False)]


def _halves(rows: Sequence[SelectedDecision]) -> dict[int, int]:
    """Return the half of each episode; the episodes of a group alternate between the two halves."""
    groups: dict[str, dict[int, int]] = {}
    for row in rows:
        group = groups.setdefault(row.group, {})
        group.setdefault(row.episode, len(group) % 2)
    return {episode: half for group in groups.values() for episode, half in group.items()}
