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

from stratagem.evaluation.deal_means import mean_of_deals
from stratagem.evaluation.statistics import Estimate, exactly
from stratagem.evaluation.talk.asking import Asker, Position
from stratagem.evaluation.talk.deaf import DeafTo, Missing
from stratagem.evaluation.talk.effect import variation
from stratagem.evaluation.talk.instead import instead
from stratagem.evaluation.talk.ledger import Ledger, Said, ledger
from stratagem.evaluation.talk.placebo import Arms, Effect, by_message, sampled_effect
from stratagem.games.base import Seat
from stratagem.games.key import Key
from stratagem.games.talk import MOVE, SILENT, Statement, Talk, TalkState, talk_state_of
from stratagem.play.dispatch import RequestQueue
from stratagem.play.forks import steps
from stratagem.play.match import Match, Setup
from stratagem.play.records import Decision, Episode
from stratagem.play.scheduler import play
from stratagem.players.base import Player

Pair = tuple[Estimate | None, Estimate | None]
"""Figures of the speaker and of its readers, the mean over them."""
Steps = list[tuple[TalkState, list[Decision]]]


@dataclass(frozen=True, kw_only=True)
class Plan:
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


class Drawn(NamedTuple):
    """Message that was drawn from an episode."""

    place: int
    """Number of the episode."""
    said: Said
    state: TalkState
    """Position in which it was said."""
    actions: dict[Seat, str | None]
    """Lines of all seats there."""
    later: Steps
    """Positions after it."""


class TalkPlay:
    """Episodes of a speaker at one seat, with readers at all others."""

    def __init__(self, game: Talk, speaker: Player, reader: Player, seat: Seat, plan: Plan) -> None:
        self.game, self.speaker, self.reader, self.seat, self.plan = game, speaker, reader, seat, plan
        self.others = [other for other in range(game.spec.seats) if other != seat]
        self.slots = tuple((other - seat) % game.spec.seats for other in range(game.spec.seats))

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
    def drawn(self) -> list[Drawn]:
        """One message of the speaker from each episode in which it said something."""
        return [drawn for place in range(len(self.episodes)) for drawn in self._drawn(place)]

    def _drawn(self, place: int) -> Iterator[Drawn]:
        said = [one for one in self.books[place].messages if one.seat == self.seat and one.text]
        if not said:
            return
        one = said[self.plan.key.at("message", self.seat, place).integer(len(said))]
        walked = [(said_at, rows) for state, rows in steps(self.episodes[place]) if (said_at := talk_state_of(state))]
        number = next(n for n, (_, rows) in enumerate(walked) if rows and rows[0].turn == one.turn)
        state, rows = walked[number]
        yield Drawn(place, one, state, {row.seat: row.action for row in rows}, walked[number + 1 :])

    def effect(self) -> Effect | None:
        """Return the effect on the first move of the readers alone: in their views silence stands for the message."""
        heard = [(drawn, list(self._answers(drawn))) for drawn in self.drawn]
        rows = [(number, position) for number, (_, positions) in enumerate(heard) for position in positions]
        if not rows:
            return None
        with_it = [position for _, position in rows]
        without = [_silenced(position, heard[number][0].said.place) for number, position in rows]
        asker = Asker(self.reader, self.plan.key.at("effect", self.seat), self.plan.replies, self.plan.queue)
        if not asker.states:
            arms = (asker.draws(with_it, "message"), asker.draws(without, "silence"), asker.draws(with_it, "placebo"))
            return sampled_effect([Arms(*row) for row in zip(*arms, strict=True)], [number for number, _ in rows])
        mixes = zip(asker.mixes(with_it, "message"), asker.mixes(without, "silence"), strict=True)
        apart = [variation(one, other) for one, other in mixes]
        return Effect(by_message([number for number, _ in rows], apart), exactly(0.0))

    def _answers(self, drawn: Drawn) -> Iterator[Position]:
        """Yield the first move of each reader after a message, as long as it is remembered."""
        for reader in (seat for seat in self.others if drawn.said.read_by(seat)):
            for state, rows in drawn.later:
                if not rows or (self.game.forgets and state.round != drawn.state.round):
                    break
                if state.exchange == MOVE and reader in state.to_act:
                    yield Position(state, reader, rows[0].turn)
                    break

    def gains(self) -> dict[str, Pair]:
        """Return what a message adds to the returns of the speaker and its readers.

        `reader`: over silence in the readers' views alone. `table`: over silence to which all respond. `lie`: of a
        statement that its speaker knew to be false, over a true one of its form.
        """
        branches = {(drawn.place, arm): setups for drawn in self.drawn for arm, setups in self._branches(drawn)}
        found = self.plan.play([setup for setups in branches.values() for setup in setups])
        paid = {where: self._paid([found[setup.id] for setup in setups]) for where, setups in branches.items()}
        places = [drawn.place for drawn in self.drawn]
        return {arm: self._gain(paid, places, arm) for arm in ("reader", "table", "lie")}

    def _gain(self, paid: dict[tuple[int, str], tuple[float, float]], places: list[int], arm: str) -> Pair:
        rows = [(paid[place, "said"], paid[place, arm]) for place in places if (place, arm) in paid]
        if not rows:
            return None, None
        own, other = ([said[who] - instead_of[who] for said, instead_of in rows] for who in (0, 1))
        return self._difference(own), self._difference(other)

    def _paid(self, episodes: Sequence[Episode]) -> tuple[float, float]:
        """Return the mean return of the speaker, and of its readers."""
        own = math.fsum(episode.payoffs[self.seat] for episode in episodes)
        other = math.fsum(episode.payoffs[seat] for episode in episodes for seat in self.others)
        return own / len(episodes), other / len(episodes) / len(self.others)

    def _branches(self, drawn: Drawn) -> Iterator[tuple[str, list[Setup]]]:
        line = drawn.actions[self.seat]
        said = self._after(drawn, line)
        missing = Missing(self.reader, said.messages[drawn.said.place])
        yield "said", self._setups(drawn, "said", said, self.reader)
        yield "reader", self._setups(drawn, "reader", said, missing)
        yield "table", self._setups(drawn, "table", self._after(drawn, SILENT), self.reader)
        if truths := self._truths(drawn):
            true = truths[self.plan.key.at("truth", self.seat, drawn.place).integer(len(truths))]
            yield "lie", self._setups(drawn, "lie", self._after(drawn, true), self.reader)

    def _truths(self, drawn: Drawn) -> list[str]:
        """Return the true statements that could replace a false one: same form, same reader; else none."""
        said, talk = drawn.said, self.game
        if not isinstance(said.intent, Statement) or said.truth is not False:
            return []
        head = talk.naming.head(said.to) if talk.addresses else ""
        alike = [i for i in talk.sayable(said.view) if isinstance(i, Statement) and i.form == said.intent.form]
        return [f"{head}{intent.text}" for intent in alike if intent.truth(said.view)]

    def _after(self, drawn: Drawn, line: str | None) -> TalkState:
        """Return the position after another line of the speaker; the other seats say what they said."""
        state = drawn.state.fork()
        state.play({**drawn.actions, self.seat: line})
        return state

    def _setups(self, drawn: Drawn, arm: str, state: TalkState, reader: Player) -> list[Setup]:
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

    def returns(self) -> tuple[Estimate, Estimate]:
        """Return the returns of the speaker and of its readers."""
        paid, bounds = [self._paid([episode]) for episode in self.episodes], self.game.spec.bounds
        return mean_of_deals([own for own, _ in paid], *bounds), mean_of_deals([other for _, other in paid], *bounds)

    def gullibility(self) -> Estimate:
        """Return what the readers lose by hearing the speaker: their return with jammed ears less that without.

        Most deals have a difference of 0, and few a large one: see `mean_of_deals` for the interval. A reader that
        does not listen has 0 in every deal, so its interval always covers.
        """
        deaf = self._episodes("deaf", DeafTo(self.reader, self.seat))
        pairs = zip(deaf, self.episodes, strict=True)
        return self._difference([self._paid([jammed])[1] - self._paid([heard])[1] for jammed, heard in pairs])

    def _difference(self, values: Sequence[float]) -> Estimate:
        """Estimate the mean difference of a seat's returns; no two returns differ by more than the bounds do."""
        least, most = self.game.spec.bounds
        return mean_of_deals(values, least - most, most - least)


def _silenced(position: Position, place: int) -> Position:
    return position._replace(state=instead(position.state, place, SILENT))
