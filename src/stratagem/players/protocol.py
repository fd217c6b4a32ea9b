"""Player as a table sees it: an `Ask` goes in, a `Move` comes out, at once or by way of requests.

Players keep no state. What a seat may know comes in its `Ask`, so forks and resumes need no snapshot of players.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from stratagem.base.errors import CannotCompute
from stratagem.games.base import State, View
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, Request
from stratagem.language.prompting.past import NOTHING, Past

Mix = Mapping[str, float]
"""Actions and their probabilities."""


class ScoredActions(NamedTuple):
    """Probabilities of actions as far as they are known.

    An action's probability is between its share and its share plus `unseen`. What is left to one belongs to replies
    without a legal action.
    """

    mix: Mix
    """Probability of each action that is known."""
    unseen: float
    """Probability of which it is not known to whom it belongs: to any action, or to none."""


Recall = tuple[tuple[str, str | None], ...]
"""A seat's own decisions of the episode: information sets and actions."""
_PLACES = 1 << 10
"""Bound above the number of players of a match and the number of attempts of a turn."""
How = Literal["scripted", "free", "recovered", "constrained", "illegal", "error", "absent"]


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Declared properties of a player."""

    version: int = 1
    """Version of its rule; a change that would change its moves raises it, and results carry it."""
    stochastic: bool = False
    """True if the player ever mixes."""
    memory: int | None = 0
    """Number of past rounds its choice depends on; None where there is no bound.

    0 and 1 promise more: the choice depends only on the round and the view's state key. Exact figures rest on that.
    """
    sees_hidden: bool = False
    """True if the player reads hidden information (search over the true state)."""
    reads_words: bool = False
    """True if the player reads the texts of a view or the names of actions; a disguise then changes what it sees."""
    searches: bool = False
    """True if the player redraws what its seat cannot see, and recalls its own decisions of the episode."""
    exact: bool = True
    """True if `policy` can state its probabilities."""
    scored: bool = False
    """True if `scored` tells the probabilities with a bound on what is unseen."""
    fallible: bool = False
    """True if the player may give no legal action; its probabilities then sum to less than one."""
    repeats: bool = True
    """True if the player answers the same turn in the same way again, at no price; False for people and servers."""
    remembers: bool = False
    """True if the player may remember one question when it answers the next, so that its replies may depend on it."""
    price: int = 1
    """Cost of its probabilities in one situation, in situations looked at."""


class Ask:
    """One seat's turn: its view, its memory of earlier episodes, and a key for its own random draws.

    The key is computed on demand because most players never draw.
    """

    __slots__ = ("_state", "_table_key", "attempt", "past", "recall", "refused", "slot", "turn", "view")

    def __init__(
        self,
        view: View[Any],
        table_key: Key,
        slot: int,
        turn: int,
        attempt: int,
        state: State[Any] | None,
        past: Past = NOTHING,
        recall: Recall | None = None,
        refused: str | None = None,
    ) -> None:
        """`recall` None stands for an episode whose beginning the seat has not seen.

        `refused` is the text of the reply before this attempt, which named no legal action; None where there was none.
        """
        self.refused = refused
        self.view = view
        self.past = past
        self.recall = recall
        self.slot = slot
        self.turn = turn
        self.attempt = attempt
        self._table_key = table_key
        self._state = state

    @property
    def key(self) -> Key:
        """Key of the player's own draws: a function of table, player slot (not seat), turn and attempt."""
        return _players(self._table_key.value).at((self.turn * _PLACES + self.slot) * _PLACES + self.attempt)

    @property
    def episode(self) -> str:
        """Name of the episode for a player that keeps notes: equal within it, and it tells nothing of the deal.

        Rotations of one deal have one table key, and differ in the seat.
        """
        return f"{self._table_key.at('episode', self.slot, self.view.seat).value:016x}"

    def seeing(self, view: View[Any], past: Past | None = None) -> Ask:
        """Return the same turn with another view or past, for players that change what another player sees."""
        seen = self.past if past is None else past
        rest = (self.attempt, self._state, seen, self.recall, self.refused)
        return Ask(view, self._table_key, self.slot, self.turn, *rest)

    def within(self, traits: Traits, number: int | None) -> Ask:
        """Return the same turn for a player inside this one: with the state only if its traits need it.

        A `number` gives it draws of its own.
        """
        shown = self._state if traits.sees_hidden or traits.searches else None
        key = self._table_key if number is None else self._table_key.at("within", number)
        return Ask(self.view, key, self.slot, self.turn, self.attempt, shown, self.past, self.recall, self.refused)

    def peek(self) -> State[Any]:
        """Return a copy of the true state, for players whose traits say `sees_hidden`.

        The copy's future chance is its own.
        """
        if self._state is None:
            raise CannotCompute("A player that looks at the true state must declare it: Traits(sees_hidden=True).")
        return self._state.fork(self.key.at("peek"))

    def redraw_state(self, chance: Key) -> State[Any]:
        """Return a state that the seat cannot tell from the true one, for players whose traits say `searches`."""
        if self._state is None:
            raise CannotCompute("A player that redraws what it does not see must declare it: Traits(searches=True).")
        if not self._state.game.spec.private_information:  # nobody sees what others choose now, and the state has none
            return self._state.fork(chance)
        return self._state.resample(self.view.seat, chance)


@lru_cache(maxsize=1024)
def _players(table_key: int) -> Key:
    """Return the key of all players' draws at a table."""
    return Key(table_key).at("player")


class Move(NamedTuple):
    """A seat's action, its origin, and the model calls behind it."""

    action: str | None
    how: How = "scripted"
    calls: tuple[Call, ...] = ()
    said: str | None = None
    """Reply without a legal action, as it was given."""


Turn = Move | Generator[Request, Call, Move]
"""A move at once, or a generator that yields requests, is sent the replies to them, and returns the move."""


@runtime_checkable
class Player(Protocol):
    """Anything that can take a turn."""

    @property
    def name(self) -> str:
        """Qualified name with its options, as results show it: `ipd/AlternateDefect(first=C)`."""
        ...

    @property
    def traits(self) -> Traits: ...

    def turn(self, ask: Ask) -> Turn:
        """Return the move, or a generator that yields requests and returns the move."""
        ...

    def policy(self, view: View[Any]) -> Mix:
        """Return the probability of every action in this situation.

        Raises `CannotCompute` where the player cannot say.
        """
        ...


Asking = Callable[[Sequence[Request]], list[Call]]
"""Function that answers requests, such as one that logs the answers."""


T = TypeVar("T")


def begin_turn(turn: Generator[Request, Call, T]) -> T | Generator[Request, Call, T]:
    """Run a generator up to its first request; return its result if there is none, and otherwise the rest of it."""
    try:
        request = next(turn)
    except StopIteration as stop:
        result: T = stop.value
        return result
    return _continue_turn(turn, request)


def _continue_turn(turn: Generator[Request, Call, T], request: Request) -> Generator[Request, Call, T]:
    """Go on with a generator that has yielded a request."""
    while True:
        call = yield request
        try:
            request = turn.send(call)
        except StopIteration as stop:
            result: T = stop.value
            return result
