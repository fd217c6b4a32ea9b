"""Figures of talk, each defined once over a `TalkSource`: of a tree, of play, and of recorded games.

A statement is judged by what its speaker knows. What was meant or believed plays no part: a code that both know may
name everything falsely and deceive nobody. The level of chance of a share is the same share with what was said shuffled
over situations of equal public history.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from stratagem.games.key import Key
from stratagem.games.talk.language import Kind
from stratagem.measure.talk.signalling import Signalling
from stratagem.measure.talk.source import (
    Commitment,
    F,
    Pair,
    ReaderMove,
    Shuffle,
    T,
    TalkSource,
    Utterance,
    WeighedItem,
)

X = TypeVar("X", bound=Hashable)
Y = TypeVar("Y", bound=Hashable)
Row = tuple[Hashable, Hashable, Hashable]
"""Public history, and the two things whose dependence is measured, such as the state and the message."""


def mutual_information(joint: Mapping[tuple[X, Y], float]) -> float:
    """Return the mutual information of a joint distribution: `sum p(x, y) log(p(x, y) / p(x) p(y))`."""
    first: dict[X, float] = {}
    second: dict[Y, float] = {}
    for (x, y), p in joint.items():
        first[x] = first.get(x, 0.0) + p
        second[y] = second.get(y, 0.0) + p
    terms = (p * math.log(p / (first[x] * second[y])) for (x, y), p in joint.items() if p > 0.0)
    return max(0.0, math.fsum(terms))  # of independent ones the terms cancel but for rounding


def information_on_action(talk: Signalling) -> float:
    """Return the information that the message has on the action, by intervention.

    The message is drawn as often as the speaker sends it, but independently of the deal (do(m)): what the receiver sees
    itself cannot then pass for an effect of the message. The figure is `I(m; a | what the receiver sees)`, the mean
    over messages of the influence of Jaques et al. (2019), and the one-step causal influence of communication of Lowe
    et al. (2019) where the receiver sees the message alone.
    """
    by_sight = ((p, _joint_answers(talk, heard)) for heard, p in talk.heard.items())
    return math.fsum(p * mutual_information(joint) for p, joint in by_sight)


def _joint_answers(talk: Signalling, heard: Hashable) -> dict[tuple[str, str], float]:
    """Return the joint probability of message and action at one sight, under the intervention."""
    return {
        (message, action): p * share
        for message, p in talk.messages.items()
        for action, share in talk.answer(heard, message).items()
    }


@dataclass(frozen=True)
class SampledInformation:
    """Mutual information of samples beside its level without any dependence, since samples bias it upwards."""

    plug_in: float
    """Conditional mutual information of the empirical distribution, given the public history."""
    null_mean: float
    """Mean of the same figure over permutations within equal public histories."""
    p_value: float
    """Share of permutations with at least as much information, the sample itself included."""
    n: int
    """Number of rows."""

    @property
    def excess(self) -> float:
        """Information above the null."""
        return self.plug_in - self.null_mean


def sampled_information(rows: Sequence[Row], key: Key, permutations: int = 1000) -> SampledInformation:
    """Estimate the information of independent rows, with a permutation null: the last column is shuffled over deals.

    Only rows of equal public history are exchanged, so that a dependence on the history counts for nothing.
    """
    groups: dict[Hashable, tuple[list[Hashable], list[Hashable]]] = {}
    for history, x, y in rows:
        xs, ys = groups.setdefault(history, ([], []))
        xs.append(x)
        ys.append(y)
    found = _conditional(groups.values(), len(rows))
    null = [
        _conditional(_shuffle_columns(groups.values(), key.at("shuffle", n)), len(rows)) for n in range(permutations)
    ]
    # a permutation with the same counts counts as reaching it, though its terms are added in another order
    reached = sum(value >= found - 1e-12 for value in null)
    mean = math.fsum(null) / permutations if permutations else math.nan
    return SampledInformation(found, mean, (reached + 1) / (permutations + 1), len(rows))


Columns = tuple[Sequence[Hashable], Sequence[Hashable]]


def _conditional(groups: Iterable[Columns], n: int) -> float:
    counts = (Counter(zip(xs, ys, strict=True)) for xs, ys in groups)
    return math.fsum(_information_of(count) * count.total() / n for count in counts)


def _information_of(count: Counter[tuple[Hashable, Hashable]]) -> float:
    total = count.total()
    return mutual_information({pair: number / total for pair, number in count.items()})


def _shuffle_columns(groups: Iterable[Columns], key: Key) -> Iterator[Columns]:
    for number, (xs, ys) in enumerate(groups):
        order = list(ys)
        key.at("group", number).rng().shuffle(order)
        yield xs, order


LEAST = 1e-9
"""Smallest difference of two returns that counts."""


def messages(source: TalkSource[F]) -> F | None:
    """Return the messages that were sent, over the occasions to send one."""
    found = share(source, source.messages(), lambda said: bool(said.text))
    return source.unreached if found is None else found


def honesty(source: TalkSource[F]) -> F | None:
    """Return the true statements, over those that the speaker knew to be true or false."""
    return share(source, source.messages(), lambda said: said.truth)


def honesty_by_chance(source: TalkSource[F]) -> float | None:
    """Return the same with what was said shuffled over deals."""
    return by_chance(source.shuffled_messages(), lambda said, where: said.truth_at(where))


def deception(source: TalkSource[F]) -> F | None:
    """Return the statements that deceive, over those that the speaker knew to be true or false."""
    if not source.judges_lies:
        return None
    return share(source, source.messages(), lambda said: deceives(source, said))


def deception_by_chance(source: TalkSource[F]) -> float | None:
    """Return the same with what was said shuffled over deals."""
    if not source.judges_lies:
        return None
    return by_chance(source.shuffled_messages(), lambda said, where: deceives(source, where))


def deceives(source: TalkSource[F], said: Utterance) -> bool | None:
    """Return whether a statement deceives; None where its speaker does not know whether it is true.

    The speaker knows it to be false, and against the true statement of the same form it raises the speaker's expected
    return and lowers the reader's. Where several are true, their mean stands for them; where none is, it deceives not.
    """
    if said.truth is not False:
        return None if said.truth is None else False
    change = source.against_truth(said)
    return change is not None and is_deceptive(*change)


def is_deceptive(gain: float, change: float, least: float = LEAST) -> bool:
    """Return whether a false statement deceives that adds so much to the speaker's return and to the reader's."""
    return gain > least and change < -least


def keeping(source: TalkSource[F], kind: Kind) -> F | None:
    """Return the probability of keeping at the decisions that promises bind, or of meeting requests."""
    return source.mean([(one, _keeping_share(one.item)) for one in source.commitments(kind)])


def keeping_by_chance(source: TalkSource[F], kind: Kind) -> float | None:
    """Return the same with what was said shuffled over the decisions that it bound."""
    return by_chance(source.shuffle_promises(source.commitments(kind)), lambda what, where: what.kept_at(where))


def keeping_lift(source: TalkSource[F], kind: Kind) -> F | None:
    """Return the same, less the probability with silence in the place of the promise or request."""
    return source.mean([(one, lift_of(one.item)) for one in source.commitments(kind)])


def lift_of(one: Commitment) -> float:
    """Return the probability that a promise is kept, less that after silence."""
    return _keeping_share(one) - (one.kept_after_silence or 0.0)


def _keeping_share(one: Commitment) -> float:
    return one.kept_at(one) or 0.0


def state_information(source: TalkSource[F]) -> float | None:
    """Return the mutual information of what the speaker sees and its message, given the public history."""
    rows = source.joint()
    return None if rows is None else weighted_mean((p, mutual_information(joint)) for p, joint in rows)


def action_information(source: TalkSource[F]) -> float | None:
    """Return the information that a message, drawn independently of the deal, has on the reader's first move."""
    rows = source.signals()
    return None if rows is None else weighted_mean((p, information_on_action(talk)) for p, talk in rows)


def effect(source: TalkSource[F]) -> F | None:
    """Return the total variation of the readers' first move against silence in their views, the mean over messages."""
    return source.mean_by_message([(move, distance(move.item)) for move in source.reader_moves()])


def distance(move: ReaderMove) -> float:
    """Return the total variation between a reader's policies after a message and after silence.

    That of two samples is above 0 even if their policies are equal, so that of the placebo is taken off. Where the
    policies differ, more is taken off than the bias there: the estimate errs on the low side.
    """
    apart = variation(move.after_message, move.after_silence)
    return apart if move.placebo is None else apart - variation(move.after_message, move.placebo)


def variation(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    """Return the total variation of two distributions: half the sum of the absolute differences."""
    return math.fsum(abs(one.get(action, 0.0) - other.get(action, 0.0)) for action in {**one, **other}) / 2.0


def gullibility(source: TalkSource[F]) -> F | None:
    """Return the readers' return if nothing of what the speaker says arrives, less their return.

    The speaker remembers what it said.
    """
    lost = source.less("deaf", "talk")
    return None if lost is None else lost[1]


def worth(source: TalkSource[F]) -> Pair[F] | None:
    """Return the worth of talk: the returns, less those of the same players with all channels jammed."""
    return source.less("talk", "jammed")


def share(source: TalkSource[F], items: Sequence[WeighedItem[T]], holds: Callable[[T], bool | None]) -> F | None:
    """Return the share of what holds, of what holds or does not; None is neither."""
    return source.rate([(one, answer) for one in items if (answer := holds(one.item)) is not None])


def by_chance(shuffles: Iterable[Shuffle[T]], judge: Callable[[T, T], float | None]) -> float | None:
    """Return the expected share when what was said is shuffled; `judge` takes what is said, and where."""
    hits, tries = 0.0, 0.0
    for pairs, size in shuffles:
        judged = [(p, answer) for p, what, where in pairs if (answer := judge(what, where)) is not None]
        hits += math.fsum(p * answer for p, answer in judged) / size
        tries += math.fsum(p for p, _ in judged) / size
    return hits / tries if tries else None


def weighted_mean(figures: Iterable[tuple[float, float]]) -> float:
    """Return a mean by weight; 0 where nothing has a weight."""
    rows = list(figures)
    total = math.fsum(p for p, _ in rows)
    return math.fsum(p * value for p, value in rows) / total if total else 0.0
