"""Figures of talk, each defined once over a `TalkSource`: of a tree, of play, and of recorded games.

A statement is judged by what its speaker knows. What was meant or believed plays no part: a code that both know may
name everything falsely and deceive nobody. The level of chance of a share is the same share with what was said shuffled
over situations of equal public history.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stratagem.evaluation.talk.information import information_on_action, mutual_information
from stratagem.evaluation.talk.source import Commitment, F, Pair, ReaderMove, Shuffle, T, TalkSource, Utterance, Weighed
from stratagem.games.talk.language import Kind

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
    return source.mean([(one, _kept(one.item)) for one in source.commitments(kind)])


def keeping_by_chance(source: TalkSource[F], kind: Kind) -> float | None:
    """Return the same with what was said shuffled over the decisions that it bound."""
    return by_chance(source.shuffled(source.commitments(kind)), lambda what, where: what.kept_at(where))


def keeping_lift(source: TalkSource[F], kind: Kind) -> F | None:
    """Return the same, less the probability with silence in the place of the promise or request."""
    return source.mean([(one, lift_of(one.item)) for one in source.commitments(kind)])


def lift_of(one: Commitment) -> float:
    """Return the probability that a promise is kept, less that after silence."""
    return _kept(one) - (one.kept_after_silence or 0.0)


def _kept(one: Commitment) -> float:
    return one.kept_at(one) or 0.0


def state_information(source: TalkSource[F]) -> float | None:
    """Return the mutual information of what the speaker sees and its message, given the public history."""
    rows = source.joint()
    return None if rows is None else weighted((p, mutual_information(joint)) for p, joint in rows)


def action_information(source: TalkSource[F]) -> float | None:
    """Return the information that a message, drawn independently of the deal, has on the reader's first move."""
    rows = source.signals()
    return None if rows is None else weighted((p, information_on_action(talk)) for p, talk in rows)


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


def share(source: TalkSource[F], items: Sequence[Weighed[T]], holds: Callable[[T], bool | None]) -> F | None:
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


def weighted(figures: Iterable[tuple[float, float]]) -> float:
    """Return a mean by weight; 0 where nothing has a weight."""
    rows = list(figures)
    total = math.fsum(p for p, _ in rows)
    return math.fsum(p * value for p, value in rows) / total if total else 0.0
