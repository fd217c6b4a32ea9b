"""Figures of messages by play: in any exchange, for any number of seats, where a tree would be too large.

One message is drawn from each episode. From there play is branched: with the message, with silence in its place, and
with the reader deaf to it. Branches of one message share the dice of the game and of the players, which reduces
variance and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from stratagem.games.base import Seat
from stratagem.games.key import Key
from stratagem.games.talk import MOVE, SILENT, Statement, Talk, TalkState, talk_state_of
from stratagem.games.talk.language import Kind
from stratagem.measure.deal_means import mean_of_deals
from stratagem.measure.statistics import Estimate, exactly
from stratagem.measure.talk.asking import AskedPosition, RepeatedAsker
from stratagem.measure.talk.definitions import variation
from stratagem.measure.talk.interventions import DeafTo, Missing, instead
from stratagem.measure.talk.ledger import Bound, Ledger, SaidMessage, ledger
from stratagem.measure.talk.recorded_games import CommittedDecision, RecordedGames, SpokenEpisode
from stratagem.measure.talk.source import Arm, GainArm, Pair, ReaderMove, WeighedItem
from stratagem.players.base import Player
from stratagem.playing.dispatch import RequestQueue
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Decision, Episode
from stratagem.playing.scheduler import play

Steps = list[tuple[TalkState, list[Decision]]]


@dataclass(frozen=True, kw_only=True)
class TalkPlan:
    """Amount of play behind the figures."""

    episodes: int
    key: Key = field(default_factory=lambda: Key(0))
    replies: int = 16
    """Replies of a player that states no probabilities, to each position."""
    playouts: int = 4
    """Playouts of each branch."""
    queue: Callable[[], RequestQueue] | None = None

    def play(self, setups: Sequence[Setup]) -> dict[str, Episode]:
        """Return the episodes by id."""
        return {episode.id: episode for episode in play(setups, self.queue() if self.queue else None)}


class SampledMessage(NamedTuple):
    """Message that was drawn from an episode."""

    place: int
    """Number of the episode."""
    said: SaidMessage
    state: TalkState
    """Position in which it was said."""
    actions: dict[Seat, str | None]
    """Lines of all seats there."""
    later: Steps
    """Positions after it."""


class TalkPlay(RecordedGames):
    """Games of a speaker at one seat, with readers at all others, and branches of them."""

    def __init__(self, game: Talk, speaker: Player, reader: Player, seat: Seat, plan: TalkPlan) -> None:
        super().__init__(())
        self.game, self.speaker, self.reader, self.seat, self.plan = game, speaker, reader, seat, plan
        self.others = [other for other in range(game.spec.seats) if other != seat]
        self.slots = tuple((other - seat) % game.spec.seats for other in range(game.spec.seats))

    @property
    def spoken(self) -> list[SpokenEpisode]:
        rows = zip(self.episodes, self.books, strict=True)
        return [SpokenEpisode(episode, book, self.seat) for episode, book in rows]

    def _match(self, reader: Player) -> Match:
        return Match(self.game, [self.speaker, *[reader] * len(self.others)])

    def _episodes(self, arm: str, reader: Player) -> list[Episode]:
        """Play all deals; the arms have the same deals and dice."""
        match, key = self._match(reader), self.plan.key.at("talk", self.seat)
        setups = [
            Setup(id=f"{arm}/{deal}", match=match, slots=self.slots, key=key.at("deal", deal), group=str(deal))
            for deal in range(self.plan.episodes)
        ]
        found = self.plan.play(setups)
        return [found[setup.id] for setup in setups]

    @cached_property
    def episodes(self) -> list[Episode]:
        return self._episodes("talk", self.reader)

    @cached_property
    def books(self) -> list[Ledger]:
        """Ledgers of the episodes."""
        return [ledger(episode) for episode in self.episodes]

    @cached_property
    def drawn(self) -> list[SampledMessage]:
        """One message of the speaker from each episode in which it said something."""
        return [drawn for place in range(len(self.episodes)) for drawn in self._draw_message(place)]

    def _draw_message(self, place: int) -> Iterator[SampledMessage]:
        said = [one for one in self.books[place].messages if one.seat == self.seat and one.text]
        if not said:
            return
        one = said[self.plan.key.at("message", self.seat, place).integer(len(said))]
        walked = [(said_at, rows) for state, rows in steps(self.episodes[place]) if (said_at := talk_state_of(state))]
        number = next(n for n, (_, rows) in enumerate(walked) if rows and rows[0].turn == one.turn)
        state, rows = walked[number]
        yield SampledMessage(place, one, state, {row.seat: row.action for row in rows}, walked[number + 1 :])

    def reader_moves(self) -> list[WeighedItem[ReaderMove]]:
        return self._moves

    @cached_property
    def _moves(self) -> list[WeighedItem[ReaderMove]]:
        """First moves of each reader after the drawn messages; silence stands for the message in its view alone."""
        heard = [(drawn, list(self._answers(drawn))) for drawn in self.drawn]
        rows = [(number, position) for number, (_, positions) in enumerate(heard) for position in positions]
        if not rows:
            return []
        with_it = [position for _, position in rows]
        without = [_silence_position(position, heard[number][0].said.place) for number, position in rows]
        asker = self._asker
        arms = [asker.mixes(with_it, "message"), asker.mixes(without, "silence")]
        arms += [] if asker.states else [asker.mixes(with_it, "placebo")]
        moves = (ReaderMove(*mixes) for mixes in zip(*arms, strict=True))
        return [WeighedItem(move, deal=number) for (number, _), move in zip(rows, moves, strict=True)]

    @property
    def _asker(self) -> RepeatedAsker:
        return RepeatedAsker(self.reader, self.plan.key.at("effect", self.seat), self.plan.replies, self.plan.queue)

    def placebo(self) -> Estimate | None:
        if not self._moves or self._asker.states:
            return exactly(0.0) if self._moves else None
        again = [(one, one.item) for one in self._moves]
        return self.mean_by_message([(one, variation(move.after_message, move.placebo or {})) for one, move in again])

    def held_commitments(self, kind: Kind) -> list[CommittedDecision]:
        """Return what the speaker's promises, or its requests, have bound, with the policy of who is bound.

        One that states no probabilities is asked about the drawn messages alone.
        """
        promised = kind == "move"
        key, player = self.plan.key.at("held", self.seat, int(promised)), self.speaker if promised else self.reader
        asker = RepeatedAsker(player, key, self.plan.replies, self.plan.queue)
        bound = list(self._bound(promised=promised, all_messages=asker.states))
        if not bound:
            return []
        seen = [_position(one) for _, one in bound]
        unheard = [_silence_position(at, one.said.place) for at, (_, one) in zip(seen, bound, strict=True)]
        mixes = zip(asker.mixes(seen, "message"), asker.mixes(unheard, "silence"), strict=True)
        return [CommittedDecision(episode, one, *mix) for (episode, one), mix in zip(bound, mixes, strict=True)]

    def _bound(self, *, promised: bool, all_messages: bool) -> Iterator[tuple[Episode, Bound]]:
        drawn = {id(one.said) for one in self.drawn}
        for episode, book in zip(self.episodes, self.books, strict=True):
            for one in book.promises if promised else book.requests:
                mine = one.said.seat == self.seat and one.outcome in ("kept", "broken")
                if mine and (all_messages or id(one.said) in drawn):
                    yield episode, one

    def _answers(self, drawn: SampledMessage) -> Iterator[AskedPosition]:
        """Yield the first move of each reader after a message, as long as it is remembered."""
        for reader in (seat for seat in self.others if drawn.said.read_by(seat)):
            for state, rows in drawn.later:
                if not rows or (self.game.forgets and state.round != drawn.state.round):
                    break
                if state.exchange == MOVE and reader in state.to_act:
                    yield AskedPosition(state, reader, rows[0].turn)
                    break

    def gain(self, arm: GainArm) -> Pair[Estimate] | None:
        """Return what a message adds to the returns of the speaker and its readers.

        `reader`: over silence in the readers' views alone. `table`: over silence to which all respond. `lie`: of a
        statement that its speaker knew to be false, over a true one of its form.
        """
        paid = self._branch_returns
        rows = [(paid[one.place, "said"], paid[one.place, arm]) for one in self.drawn if (one.place, arm) in paid]
        if not rows:
            return None
        own, other = ([said[who] - instead_of[who] for said, instead_of in rows] for who in (0, 1))
        return self._difference(own), self._difference(other)

    @cached_property
    def _branch_returns(self) -> dict[tuple[int, str], tuple[float, float]]:
        """Mean returns of the speaker and its readers, by the episode of a message and the branch."""
        branches = {(drawn.place, arm): setups for drawn in self.drawn for arm, setups in self._branches(drawn)}
        found = self.plan.play([setup for setups in branches.values() for setup in setups])
        return {where: self._mean_returns([found[setup.id] for setup in setups]) for where, setups in branches.items()}

    def _mean_returns(self, episodes: Sequence[Episode]) -> tuple[float, float]:
        """Return the mean return of the speaker, and of its readers."""
        own = math.fsum(episode.payoffs[self.seat] for episode in episodes)
        other = math.fsum(episode.payoffs[seat] for episode in episodes for seat in self.others)
        return own / len(episodes), other / len(episodes) / len(self.others)

    def _branches(self, drawn: SampledMessage) -> Iterator[tuple[str, list[Setup]]]:
        line = drawn.actions[self.seat]
        said = self._after(drawn, line)
        missing = Missing(self.reader, said.messages[drawn.said.place])
        yield "said", self._setups(drawn, "said", said, self.reader)
        yield "reader", self._setups(drawn, "reader", said, missing)
        yield "table", self._setups(drawn, "table", self._after(drawn, SILENT), self.reader)
        if truths := self._truths(drawn):
            true = truths[self.plan.key.at("truth", self.seat, drawn.place).integer(len(truths))]
            yield "lie", self._setups(drawn, "lie", self._after(drawn, true), self.reader)

    def _truths(self, drawn: SampledMessage) -> list[str]:
        """Return the true statements that could replace a false one: same form, same reader; else none."""
        said, talk = drawn.said, self.game
        if not isinstance(said.intent, Statement) or said.truth is not False:
            return []
        head = talk.naming.head(said.to) if talk.addresses else ""
        alike = [i for i in talk.sayable(said.view) if isinstance(i, Statement) and i.form == said.intent.form]
        return [f"{head}{intent.text}" for intent in alike if intent.truth(said.view)]

    def _after(self, drawn: SampledMessage, line: str | None) -> TalkState:
        """Return the position after another line of the speaker; the other seats say what they said."""
        state = drawn.state.fork()
        state.play({**drawn.actions, self.seat: line})
        return state

    def _setups(self, drawn: SampledMessage, arm: str, state: TalkState, reader: Player) -> list[Setup]:
        match, key = self._match(reader), self.plan.key.at("branch", self.seat, drawn.place)
        return [
            Setup(
                id=f"{arm}/{drawn.place}/{number}",
                match=match,
                slots=self.slots,
                key=key.at(number),
                purpose="probe",
                state=state,
                fresh_chance=number > 0,
                forked_at=drawn.said.turn + 1,
            )
            for number in range(self.plan.playouts)
        ]

    def returns(self, arm: Arm = "talk") -> Pair[Estimate] | None:
        if arm != "talk":
            return None
        paid, bounds = [self._mean_returns([episode]) for episode in self.episodes], self.game.spec.bounds
        return mean_of_deals([own for own, _ in paid], *bounds), mean_of_deals([other for _, other in paid], *bounds)

    def less(self, one: Arm, other: Arm) -> Pair[Estimate] | None:
        """Return a difference of returns deal by deal; jammed channels are not played.

        Most deals have a difference of 0, and few a large one: see `mean_of_deals` for the interval. A reader that
        does not listen has 0 in every deal, so its interval always covers.
        """
        if "jammed" in (one, other):
            return None
        arms = [self.episodes if arm == "talk" else self._deaf for arm in (one, other)]
        pairs = [
            (self._mean_returns([first]), self._mean_returns([second])) for first, second in zip(*arms, strict=True)
        ]
        own, others = ([first[who] - second[who] for first, second in pairs] for who in (0, 1))
        return self._difference(own), self._difference(others)

    @cached_property
    def _deaf(self) -> list[Episode]:
        """The same deals with readers that hear nothing of the speaker."""
        return self._episodes("deaf", DeafTo(self.reader, self.seat))

    def _difference(self, values: Sequence[float]) -> Estimate:
        """Estimate the mean difference of a seat's returns; no two returns differ by more than the bounds do."""
        least, most = self.game.spec.bounds
        return mean_of_deals(values, least - most, most - least)


def _position(bound: Bound) -> AskedPosition:
    assert bound.state is not None
    return AskedPosition(bound.state, bound.seat, bound.turn)


def _silence_position(position: AskedPosition, place: int) -> AskedPosition:
    return position._replace(state=instead(position.state, place, SILENT))
