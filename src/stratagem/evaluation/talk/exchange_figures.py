"""Exact figures of an exchange of messages: what a message tells, whether it deceives, what it binds, what it changes.

Both players state their probabilities. Every figure is of one speaker and one reader in a game of two seats, given the
public history before the message. Replaced messages stand in the place of the real one in the views, so the turn stays
and no later draw moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from stratagem.evaluation.talk.effect import variation
from stratagem.evaluation.talk.exchange import Exchange
from stratagem.evaluation.talk.exchange_promises import Kept, grouped
from stratagem.evaluation.talk.information import action_information, mutual_information
from stratagem.evaluation.talk.signalling import Signalling
from stratagem.evaluation.talk.talk_tree import Sent, TalkTree, quieted
from stratagem.games.base import Seat
from stratagem.games.talk import SILENT
from stratagem.players.base import Mix

K = TypeVar("K")
Pair = tuple[float, float]
"""Figures of the speaker and of the reader."""
_LEAST = 1e-9
"""Smallest difference of two returns that counts."""


@dataclass(frozen=True)
class TalkFigures:
    """Figures of a speaker's messages to a reader in one exchange, given the public history before it."""

    messages: float
    """Probability that the speaker says something."""
    state_information: float
    """Mutual information of what the speaker sees and its message, in nats."""
    action_information: float
    """Mutual information of the message, drawn independently of the deal, and the reader's first move, in nats."""
    honesty: float | None
    """True statements, over those that the speaker knows to be true or false."""
    honesty_by_chance: float | None
    """The same with the messages shuffled over deals."""
    deception: float | None
    """Statements that deceive, over the same."""
    deception_by_chance: float | None
    keeping: float | None
    """Probability that a promise is kept at the decision that it binds; None if no promise binds one."""
    keeping_by_chance: float | None
    """The same with the promises shuffled over the decisions that they bind."""
    keeping_lift: float | None
    """The same, less the probability after silence in the place of the promise."""
    met: float | None
    """Probability that the reader meets a request; None if no request binds a decision of its own."""
    met_by_chance: float | None
    met_lift: float | None
    effect: float | None
    """Total variation of the reader's first move against silence in its view alone; None if nothing is said."""
    effect_on_table: float | None
    """Total variation of both seats' first moves against silence to which both respond."""
    gain_by_reader: Pair | None
    """Returns of the speaker and the reader, less those if the reader alone knew of silence in its place."""
    gain_by_table: Pair | None
    """The same, less those after silence to which both respond."""
    returns: Pair
    """Expected returns of the speaker and the reader."""
    jammed: Pair
    """The same if nothing that either says arrives, and each remembers silence."""
    gullibility: float
    """Return of the reader if nothing of what the speaker says arrives, less its return."""

    @property
    def worth(self) -> Pair:
        """Worth of talk for the speaker and the reader: their returns less those with both channels jammed."""
        return self.returns[0] - self.jammed[0], self.returns[1] - self.jammed[1]


def exchange_figures(table: TalkTree, speaker: Seat, number: int = 0) -> TalkFigures:
    """Compute all figures of one speaker in one of its exchanges, numbered from 0; its reader is the other seat."""
    exchange = Exchange(table, speaker, number)
    sent, shuffled = exchange.sent, _shuffled(exchange.sent)
    took_place = math.fsum(one.probability for one in sent)
    spoken = math.fsum(one.probability for one in sent if one.line != SILENT)
    answered = _answered(exchange)
    seats, deaf = [speaker, 1 - speaker], table.deaf(1 - speaker)
    promises, requests = (Kept(exchange, kind) for kind in ("move", "ask"))
    returns, jammed = table.values[0], table.jammed
    return TalkFigures(
        messages=spoken / took_place if took_place else 0.0,
        state_information=_by_history(sent, lambda group: mutual_information(_added(map(_told, group)))),
        action_information=_weighted((p, action_information(talk)) for p, talk in answered),
        honesty=_share(sent, lambda one: one.truth),
        honesty_by_chance=_share(shuffled, lambda one: one.truth),
        deception=_share(sent, lambda one: deceives(one, sent, speaker)),
        deception_by_chance=_share(shuffled, lambda one: deceives(one, sent, speaker)),
        keeping=promises.probability,
        keeping_by_chance=promises.by_chance,
        keeping_lift=promises.lift,
        met=requests.probability,
        met_by_chance=requests.by_chance,
        met_lift=requests.lift,
        effect=_effect(exchange),
        effect_on_table=_effect_on_table(exchange) / spoken if spoken > 0.0 else None,
        gain_by_reader=_gain_by_reader(exchange, spoken),
        gain_by_table=_gain_by_table(sent, seats, spoken),
        returns=(float(returns[speaker]), float(returns[1 - speaker])),
        jammed=(float(jammed[speaker]), float(jammed[1 - speaker])),
        gullibility=float(deaf[1 - speaker] - returns[1 - speaker]),
    )


def deceives(said: Sent, sent: Sequence[Sent], speaker: Seat) -> bool | None:
    """Return whether a statement deceives; None where its speaker does not know whether it is true."""
    if said.truth is not False:
        return None if said.truth is None else False
    alike = [one for one in sent if one.known is said.known and one.truth]
    form = said.statement.form if said.statement else ""
    truths = [one.values for one in alike if one.statement and one.statement.form == form]
    if not truths:
        return False
    own, other = (math.fsum(value[seat] for value in truths) / len(truths) for seat in (speaker, 1 - speaker))
    return said.values[speaker] > own + _LEAST and said.values[1 - speaker] < other - _LEAST


def _answered(exchange: Exchange) -> list[tuple[float, Signalling]]:
    """Return the reader's first moves by what it knows beside the message, and by the message; by public history."""
    table = exchange.table
    prior: dict[int, dict[Hashable, float]] = {}
    answers: dict[int, dict[tuple[Hashable, str], Mix]] = {}
    for number in exchange.answers():
        history, slot = exchange.history_of(number), int(exchange.said[table.nodes[number][0]])
        facts, remembered = table.sets[number].view.facts, exchange.remembers(number)
        beside = table.talk.info_key(quieted(facts, [exchange.place(slot)] if remembered else []))
        known = prior.setdefault(history, {})
        known[beside] = known.get(beside, 0.0) + float(table.reach[table.nodes[number]].sum())
        answers.setdefault(history, {})[beside, exchange.line(slot)] = table.row(number)
    groups = grouped(exchange.sent, lambda one: one.history)
    weights = {history: math.fsum(one.probability for one in groups[history]) for history in prior}
    return [
        (weights[history], _signalling(prior[history], groups[history], answers[history]))
        for history in prior
        if weights[history] > 0.0 and sum(prior[history].values()) > 0.0
    ]


def _signalling(
    prior: dict[Hashable, float], sent: Sequence[Sent], answers: dict[tuple[Hashable, str], Mix]
) -> Signalling:
    total, lines = math.fsum(prior.values()), _added((one.line, one) for one in sent)
    said = math.fsum(lines.values())
    return Signalling(
        prior={beside: p / total for beside, p in prior.items()},
        says={beside: {line: p / said for line, p in lines.items()} for beside in prior},
        answers=answers,
        returns=_unpaid,
        receiver_sees=lambda deal: deal,
    )


def _effect(exchange: Exchange) -> float | None:
    """Return the total variation of the reader's first move against silence, the mean over what is said and seen.

    As in play, a message comes with what the reader sees in its deal.
    """
    table, moves = exchange.table, list[tuple[float, float]]()
    for number in exchange.answers():
        nodes = table.nodes[number]
        if exchange.remembers(number) and exchange.line(int(exchange.said[nodes[0]])) != SILENT:
            apart = variation(table.row(number), table.row(exchange.unheard(number)))
            moves.append((float(table.reach[nodes].sum()), apart))
    total = math.fsum(p for p, _ in moves)
    return math.fsum(p * apart for p, apart in moves) / total if total else None


def _effect_on_table(exchange: Exchange) -> float:
    """Return the total variation of both seats' first moves against silence, times the probability of a message."""
    table, total = exchange.table, []
    for (number, _), before in exchange.occasions().items():
        actions = table.sets[number].actions
        after = {line: _mixed((p, exchange.plays[start + n]) for p, start in before) for n, line in enumerate(actions)}
        reach = math.fsum(p for p, _ in before)
        mix = table.row(number)
        told = (line for line in actions if line != SILENT and mix[line] > 0.0)
        total += [reach * mix[line] * variation(after[line], after[SILENT]) for line in told]
    return math.fsum(total)


def _mixed(parts: Iterable[tuple[float, Mapping[K, float]]]) -> dict[K, float]:
    """Return the mean of some distributions by weight."""
    mixed: dict[K, float] = {}
    rows = [(p, part) for p, part in parts if p > 0.0]
    total = math.fsum(p for p, _ in rows)
    for p, part in rows:
        for key, share in part.items():
            mixed[key] = mixed.get(key, 0.0) + p / total * share
    return mixed


def _gain_by_reader(exchange: Exchange, spoken: float) -> Pair | None:
    """Return what the messages add to both returns if the reader alone responds, and the speaker remembers them."""
    if not spoken:
        return None
    table = exchange.table
    after = [
        number
        for number, known in enumerate(table.sets)
        if known.seat == exchange.reader and exchange.said[table.nodes[number][0]] >= 0
    ]
    unheard = table.values_of(table.copied({number: exchange.unheard(number) for number in after}))
    starts = np.unique(exchange.start[exchange.start >= 0])
    gain = table.reach[starts] @ (table.values[starts] - unheard[starts]) / spoken
    return float(gain[exchange.speaker]), float(gain[exchange.reader])


def _gain_by_table(sent: Sequence[Sent], seats: Sequence[Seat], spoken: float) -> Pair | None:
    """Return what the messages add to both returns, over silence to which both respond."""
    if not spoken:
        return None
    own, other = (
        math.fsum(one.probability * (one.values[seat] - one.after_silence[seat]) for one in sent) / spoken
        for seat in seats
    )
    return own, other


def _told(one: Sent) -> tuple[tuple[str, str], Sent]:
    return (one.known.view.info_key, one.line), one


def _by_history(sent: Sequence[Sent], figure: Callable[[Sequence[Sent]], float]) -> float:
    """Return the mean over public histories of a figure of the messages after each."""
    groups = grouped(sent, lambda one: one.history).values()
    weighed = [(math.fsum(one.probability for one in group), group) for group in groups]
    return _weighted(
        (p, figure([one._replace(probability=one.probability / p) for one in group])) for p, group in weighed if p > 0.0
    )


def _weighted(figures: Iterable[tuple[float, float]]) -> float:
    rows = list(figures)
    total = math.fsum(p for p, _ in rows)
    return math.fsum(p * value for p, value in rows) / total if total else 0.0


def _added(pairs: Iterable[tuple[K, Sent]]) -> dict[K, float]:
    """Add up the probabilities of messages by key."""
    total: dict[K, float] = {}
    for key, one in pairs:
        total[key] = total.get(key, 0.0) + one.probability
    return total


def _shuffled(sent: Sequence[Sent]) -> list[Sent]:
    """Return the messages with the probabilities that they have when they are shuffled over deals."""
    return [one for group in grouped(sent, lambda one: one.history).values() for one in _shuffled_group(group)]


def _shuffled_group(sent: Sequence[Sent]) -> Iterator[Sent]:
    lines, sets = _added((one.line, one) for one in sent), _added((id(one.known), one) for one in sent)
    total = math.fsum(lines.values())
    for one in sent:
        yield one._replace(probability=lines[one.line] * sets[id(one.known)] / total if total else 0.0)


def _share(sent: Sequence[Sent], holds: Callable[[Sent], bool | None]) -> float | None:
    """Return the probability of what holds, over that of what holds or does not; None is neither."""
    judged: list[tuple[float, bool]] = [(one.probability, answer) for one in sent if (answer := holds(one)) is not None]
    total = math.fsum(p for p, _ in judged)
    return math.fsum(p for p, answer in judged if answer) / total if total > 0.0 else None


def _unpaid(deal: object, message: str, action: str) -> Pair:
    return 0.0, 0.0


__all__ = ["TalkFigures", "deceives", "exchange_figures"]
