"""Episode of which some seats are answered from outside, as the environments of other packages have it.

It is a table like those of a match. So keys, illegal replies, payoffs and records are those of `stratagem.play`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from numbers import Integral
from typing import Any

from stratagem.base.errors import BadParameter, CannotCompute, IllegalAction
from stratagem.games.base import Game, Seat, View
from stratagem.games.key import Key
from stratagem.games.spec import OnIllegal
from stratagem.language.decoding.stopping import after_thinking
from stratagem.players.base import Ask, Mix, Move, Player, Traits
from stratagem.players.members import PlayerBase
from stratagem.playing.dispatch import Dispatcher
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.table import Table


class ExternalAgent(PlayerBase):
    """Player whose moves come from outside: its turn waits until it is given one."""

    name = "external"
    traits = Traits(stochastic=True, memory=None, exact=False, repeats=False, fallible=True)

    def turn(self, ask: Ask) -> Generator[Any, Any, Move]:
        """Hand out the question, and take the move that comes back."""
        move: Move = yield ask
        return move

    def policy(self, view: View[Any]) -> Mix:
        raise CannotCompute("The moves of an external agent come from outside: the probabilities cannot be computed.")


class Session:
    """An episode in progress; `asks` are the questions that wait for answers from outside."""

    def __init__(self, match: Match, key: Key, name: str, group: str = "") -> None:
        """`group` names the deal in a record, where episodes of one deal are one observation."""
        setup = Setup(id=name, match=match, slots=tuple(range(match.game.spec.seats)), key=key, group=group)
        self._table = Table(setup, detail=True)
        self._queue = Dispatcher()
        self._asks: dict[Seat, Ask] = {}
        self._closed = 0
        """Number of rounds whose payoffs have been given out."""
        self._open = (0.0,) * match.game.spec.seats
        """Payoffs of the round in play that have been given out."""
        self.over = False
        self._go_on()

    @property
    def asks(self) -> Mapping[Seat, Ask]:
        """Questions that wait for answers, in the order of the seats."""
        return {seat: self._asks[seat] for seat in sorted(self._asks)}

    @property
    def episode(self) -> Episode:
        """Record of the episode; its decisions are there when it is over."""
        return self._table.episode

    @property
    def on_illegal(self) -> OnIllegal:
        """Consequence now for a seat without a legal action."""
        return self._table.state.on_illegal

    def view(self, seat: Seat) -> View[Any]:
        """Return the view of a seat now."""
        return self._table.state.view(seat)

    def answer(self, seat: Seat, action: str) -> None:
        """Play a legal action; anything else is refused and changes nothing."""
        choices = self._ask(seat).view.choices
        if action not in choices:
            game = self._table.state.game.spec.name
            raise IllegalAction(f"In {game} seat {seat} cannot play {action!r}: it may play {choices.summary()}.")
        self._take(seat, Move(action))

    def reply(self, seat: Seat, text: str) -> str | None:
        """Parse a free reply and play it; return the action, or None where it names none.

        It is read as that of a language model. Without an action the rule of the game follows: another attempt, a null
        or default action, or the end.
        """
        action = self._ask(seat).view.choices.parse(after_thinking(text)).action
        self._take(seat, Move(action, "free", said=None if action else text))
        return action

    def rewards(self) -> tuple[float, ...]:
        """Return the payoffs since the last call, by seat."""
        rounds, opened = self.episode.rounds[self._closed :], self._table.open_round
        given, self._open, self._closed = self._open, opened, len(self.episode.rounds)
        totals = [sum(row[seat] for row in rounds) for seat in range(len(opened))]
        return tuple(total - had + now for total, had, now in zip(totals, given, opened, strict=True))

    def _ask(self, seat: Seat) -> Ask:
        if seat not in self._asks:
            waiting = f"the seats to act are {list(self.asks)}" if self._asks else "the episode is over"
            raise IllegalAction(f"Seat {seat} has nothing to answer: {waiting}.")
        return self._asks[seat]

    def _take(self, seat: Seat, move: Move) -> None:
        del self._asks[seat]
        answer: Any = move  # an external agent is sent no call of an engine
        self._table.answer(seat, answer)
        self._go_on()

    def _go_on(self) -> None:
        """Play on until only external agents are asked, or the episode is over."""
        seats: dict[int, Seat] = {}
        while not self.over:
            self.over = self._table.advance()
            requests = self._table.new_requests()
            self._asks |= {seat: request for seat, request in requests if isinstance(request, Ask)}
            others = {seat: request for seat, request in requests if not isinstance(request, Ask)}
            seats |= dict(zip(self._queue.submit(list(others.values())), others, strict=True))
            if not seats:
                return
            for ticket, call in self._queue.poll():
                self._table.answer(seats.pop(ticket), call)


class Deals:
    """Deals one after another: those of the last seed, from the first on."""

    def __init__(self, seed: int) -> None:
        check_number("seed", seed)
        self._seed = seed
        self._next = 0

    def session(self, match: Match, seed: int | None = None, deal: int | None = None) -> Session:
        """Begin the next deal, the first of a seed, or a deal of this number."""
        if seed is not None:
            check_number("seed", seed)
            self._seed, self._next = int(seed), 0
        if deal is not None:
            check_number("deal", deal)
            self._next = deal
        number, self._next = self._next, self._next + 1
        return Session(match, deal_key(self._seed, number), f"{match.text}/{self._seed}/{number}")


def check_number(kind: str, number: object) -> None:
    """Refuse a seed or a deal that is no whole number of at least 0."""
    if type(number) is bool or not isinstance(number, Integral) or number < 0:
        raise BadParameter(f"A {kind} is a whole number of at least 0, not {number!r}.")


def match_of(game: Game[Any], players: Mapping[Seat, Player]) -> Match:
    """Return a match in which every seat without a player is an external agent's."""
    return Match(game, [players.get(seat) or ExternalAgent() for seat in range(game.spec.seats)])


def deal_key(seed: int, deal: int) -> Key:
    """Return the key of a deal, by which `stratagem.play` with the same seed deals alike."""
    return Key(seed).at("deal", deal)
