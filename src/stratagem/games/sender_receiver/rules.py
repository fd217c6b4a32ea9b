"""The sender-receiver game with a grid of states: cheap talk between two seats that want nearly the same.

Each round a state s is drawn from 0 to n - 1, all equally likely. The sender sees it and sends one message; the
receiver sees the message alone and chooses an action a on half-points. The sender loses (a - s - b)^2 for its bias b,
the receiver (a - s)^2. It is the model of Crawford and Sobel (1982, Strategic information transmission, Econometrica
50), whose states fill an interval, on a grid; the equilibria of the two differ (`interval_equilibria`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole, within
from stratagem.games.abilities import SpeakingGame
from stratagem.games.base import Claim, Json, RoundResult, Seat, State, View, pending
from stratagem.games.choices import Flat
from stratagem.games.counting import count_in_words, in_words
from stratagem.games.disguise.invention import invent
from stratagem.games.key import Chance, Key
from stratagem.games.sender_receiver.safety import SenderReceiverSafety
from stratagem.games.spec import GameSpec

SENDER, RECEIVER = 0, 1
SILENT = "SILENT"
"""Message of a sender that says nothing; it is played for a sender without a legal reply."""
HONEST = "honest"
"""Signal of a true statement."""
_MOST_STATES, _MOST_BIAS = 100, 1000.0


class PastExchange(NamedTuple):
    """A round that is over, as both seats know it."""

    state: int
    message: str
    action: float


class SenderReceiverFacts(NamedTuple):
    """The state, for the sender alone; the message, once it is sent; and the rounds so far."""

    seat: Seat
    round: int
    state: int | None
    message: str | None
    past: tuple[PastExchange, ...]


class SenderReceiverState(State[SenderReceiverFacts]):
    """The state of this round, the message if it is sent, and the rounds before."""

    __slots__ = ("drawn", "message", "past")
    state_fields = ("drawn", "message", "past")
    game: SenderReceiver

    def __init__(self, game: SenderReceiver, chance: Chance) -> None:
        super().__init__(game, chance)
        self.drawn = 0
        self.message: str | None = None
        self.past: tuple[PastExchange, ...] = ()

    def begin(self) -> None:
        """Draw the state of the round; the sender acts."""
        self.drawn = self.chance.at("state", self.round).integer(self.game.states)
        self.message = None
        self.to_act = (SENDER,)

    def restore(self, data: Json) -> None:
        super().restore(data)
        self.past = tuple(PastExchange(*row) for row in self.past)

    def view(self, seat: Seat) -> View[SenderReceiverFacts]:
        seen = None if seat == RECEIVER or self.over else self.drawn
        return View(self.game, seat, SenderReceiverFacts(seat, self.round, seen, self.message, self.past))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != set(self.to_act):
            raise self.refuse(actions)
        (seat,) = self.to_act
        action = self.game.default(seat) if actions[seat] is None else actions[seat]
        if action is None or action not in self.game.choices_of(seat):
            raise self.refuse(actions)
        return self._take_action(float(action)) if seat == RECEIVER else self._send_message(action)

    def _send_message(self, message: str) -> RoundResult:
        self.message = message
        self.to_act = (RECEIVER,)
        return pending(2)

    def _take_action(self, action: float) -> RoundResult:
        assert self.message is not None
        self.past = (*self.past, PastExchange(self.drawn, self.message, action))
        payoffs, signals = self.game.payoffs(self.drawn, action), self.game.signals(self.drawn, self.message)
        self.round += 1
        if self.round < self.game.rounds:
            self.begin()
        else:
            self.message = None
            self.end()
        return RoundResult(payoffs, signals=signals)

    def resample(self, seat: Seat, chance: Chance) -> SenderReceiverState:
        """Redraw the state for the receiver: any state goes with any message."""
        copy = self.fork(chance)
        if seat == RECEIVER and not self.over:
            copy.drawn = chance.at("resample").integer(self.game.states)
        return copy


@dataclass(frozen=True, kw_only=True)
class SenderReceiver(SpeakingGame[SenderReceiverFacts]):
    """One seat knows the state and speaks, the other acts; what is said costs nothing and binds nobody."""

    state = SenderReceiverState
    safety = SenderReceiverSafety
    largest: ClassVar = {"states": 100, "bias": _MOST_BIAS, "labels": 100, "rounds": 10_000}

    states: int = 6
    """Number of states, equally likely."""
    bias: float = 1.0
    """Bias b of the sender: it wants the action s + b in the state s."""
    labels: int = 0
    """Number of messages without a meaning; with 0 there is one statement about each state, true or false."""
    rounds: int = 1
    """Number of rounds; after each, both seats are told the state."""

    def __post_init__(self) -> None:
        whole("The sender-receiver game", "states", self.states, 2)
        within("The sender-receiver game", "bias", self.bias, 0.0, _MOST_BIAS)
        whole("The sender-receiver game", "labels", self.labels, 0)
        whole("The sender-receiver game", "rounds", self.rounds, 1)
        for option in ("states", "labels"):
            if (value := getattr(self, option)) > _MOST_STATES:
                raise BadParameter(
                    f"The sender-receiver game has at most {_MOST_STATES} {option}, and {value} were asked for."
                )

    @cached_property
    def messages(self) -> tuple[str, ...]:
        """Messages but silence: statements by state, or labels."""
        if self.labels:
            return tuple(word.upper() for word in invent(self.labels, Key(0).at("sender-receiver")))
        return tuple(f"STATE {state}" for state in range(self.states))

    @cached_property
    def meanings(self) -> dict[str, int]:
        """State that each statement names; empty where messages are labels. Silence states nothing."""
        return {} if self.labels else {message: state for state, message in enumerate(self.messages)}

    @cached_property
    def _says(self) -> Flat:
        return Flat((*self.messages, SILENT))

    @cached_property
    def _answers(self) -> Flat:
        return Flat(write_action(number / 2) for number in range(2 * self.states - 1))

    @property
    def middle(self) -> float:
        """Mean of the states: the best action of a receiver that knows nothing."""
        return (self.states - 1) / 2

    def choices_of(self, seat: Seat) -> Flat:
        """Return the messages of the sender, or the actions of the receiver."""
        return self._says if seat == SENDER else self._answers

    def default(self, seat: Seat) -> str:
        """Return the action for a seat without a legal reply: silence, or the middle."""
        return SILENT if seat == SENDER else write_action(self.middle)

    def payoffs(self, state: int, action: float) -> tuple[float, float]:
        """Return the payoffs of sender and receiver: minus their losses."""
        return -((action - state - self.bias) ** 2), -((action - state) ** 2)

    def signals(self, state: int, message: str) -> dict[str, tuple[float | None, ...]]:
        """Return the signal `honest`: whether the sender's statement was true; none for silence and labels."""
        if self.labels:
            return {}
        return {HONEST: (float(self.meanings[message] == state) if message in self.meanings else None, None)}

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="sender-receiver",
            family="sender-receiver",
            summary=self._summary,
            reference="Crawford and Sobel 1982, on a grid of states",
            seat_names=("sender", "receiver"),
            simultaneous=False,
            utility="general-sum" if self.bias else "common",
            rounds=self.rounds,
            bounds=(-float(self.rounds * (self.states - 1 + self.bias) ** 2), 0.0),
            chance=True,
            private_information=True,
            symmetric=False,
            on_illegal="default",
            signals=() if self.labels else (HONEST,),
        )

    @property
    def _summary(self) -> str:
        rounds = f", {count_in_words(self.rounds, 'round')}" if self.rounds > 1 else ""
        return (
            f"Sender-receiver game: cheap talk about one of {in_words(self.states)} states, bias {self.bias:g}{rounds}."
        )

    def choices(self, facts: SenderReceiverFacts) -> Flat:
        return self.choices_of(facts.seat)

    def all_actions(self) -> tuple[str, ...]:
        return (*self._says, *self._answers)

    def default_action(self, facts: SenderReceiverFacts) -> str:
        return self.default(facts.seat)

    def silence(self, facts: SenderReceiverFacts) -> str | None:
        return SILENT if facts.seat == SENDER else None

    def claim(self, facts: SenderReceiverFacts, message: str) -> Claim | None:
        if facts.state is None or message not in self.meanings:
            return None
        return Claim(self.meanings[message] == facts.state, (self.messages[facts.state],), (RECEIVER,))

    def state_key(self, facts: SenderReceiverFacts) -> str:
        """Return the state and the message as far as the seat knows them: rounds leave nothing behind."""
        state = () if facts.state is None else (f"state {facts.state}",)
        message = () if facts.message is None else (f"message {facts.message}",)
        return ", ".join((*state, *message)) or "waits"

    def info_key(self, facts: SenderReceiverFacts) -> str:
        past = "".join(f" after {row.state}:{row.message}:{write_action(row.action)}" for row in facts.past)
        return f"{('sender', 'receiver')[facts.seat]}: {self.state_key(facts)}{past}"

    def vocabulary(self) -> tuple[str, ...]:
        return ("state", "sender", "receiver", "message", SILENT, *(self.messages if self.labels else ()))

    def rules(self, seat: Seat) -> str:
        times = "There is one round." if self.rounds == 1 else f"There are {self.rounds} rounds."
        told = "" if self.rounds == 1 else " After each round both are told the state."
        meant = (
            "They have no meaning of their own" if self.labels else "STATE 0 states that the state is 0, true or not"
        )
        return (
            f"You are the {('sender', 'receiver')[seat]}; another player is the {('receiver', 'sender')[seat]}. {times}"
            f"\nIn a round the state is drawn: a whole number from 0 to {self.states - 1}, each equally likely. The "
            "sender sees it, the receiver does not. The sender sends one message; the receiver sees the message alone, "
            f"and chooses a number from 0 to {self.states - 1} in steps of 0.5.{told}\n"
            f"Messages cost nothing. {meant}; {SILENT} says nothing.\n"
            "The receiver loses the square of the distance between its number and the state. The sender loses the "
            f"square of the distance between that number and {self._wanted}."
        )

    @property
    def _wanted(self) -> str:
        return f"the state plus {self.bias:g}" if self.bias else "the state"

    def situation(self, facts: SenderReceiverFacts) -> str:
        lines = [
            f"Round {number}: the state was {row.state}, the sender's message was {row.message}, the receiver chose "
            f"{write_action(row.action)}, your payoff was {self.payoffs(row.state, row.action)[facts.seat]:g}."
            for number, row in enumerate(facts.past, 1)
        ]
        return "\n".join([*lines, self._now(facts)])

    def _now(self, facts: SenderReceiverFacts) -> str:
        if facts.round == self.rounds:
            return "The game is over."
        begun = f"Round {facts.round + 1} of {self.rounds}: "
        if facts.seat == SENDER:
            sent = "Send a message." if facts.message is None else f"Your message is {facts.message}."
            return f"{begun}the state is {facts.state}. {sent}"
        if facts.message is None:
            return f"{begun}the sender has not sent its message yet."
        return f"{begun}the sender's message is {facts.message}. Choose a number."


def write_action(action: float) -> str:
    """Write an action as it is played: `2`, `2.5`."""
    return f"{action:g}"
