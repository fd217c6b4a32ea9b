"""Who sits down: a player is asked with an `Ask` and answers with a `Move`, at once or by way of requests.

Players keep no state. What a seat may know comes in its `Ask`, so forks and resumes need no snapshot of players.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from stratagem.engines.base import Call, Request
from stratagem.errors import CannotCompute
from stratagem.games.base import Seat, State, View
from stratagem.games.key import Key
from stratagem.prompting.past import NOTHING, Past

F = TypeVar("F")
Mix = Mapping[str, float]
"""Actions and their probabilities."""
_PLACES = 1 << 10
"""More than any match has players, and more than any turn has attempts."""
How = Literal["scripted", "free", "recovered", "constrained", "illegal", "error", "absent"]


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a player declares about itself."""

    version: int = 1
    """Raised when a change would change its moves; results carry it."""
    stochastic: bool = False
    """Whether it ever mixes."""
    memory: int | None = 0
    """How many past rounds its choice depends on; None where there is no bound.

    0 and 1 promise more: that it looks at nothing but the round and what the view's state key tells. Exact figures rest
    on that.
    """
    sees_hidden: bool = False
    """Whether it looks at what its seat may not know (search over the true state)."""
    exact: bool = True
    """Whether `policy` can say its probabilities."""
    fallible: bool = False
    """Whether it may say nothing legal; what its probabilities lack of one is how likely that is."""
    price: int = 1
    """What it costs to be asked for its probabilities in one situation, in situations looked at."""


class Ask:
    """One seat's turn: its view, what it remembers of earlier episodes, and a key for its own dice.

    The key is lazy because most players never throw them.
    """

    __slots__ = ("_state", "_table_key", "attempt", "past", "slot", "turn", "view")

    def __init__(
        self,
        view: View[Any],
        table_key: Key,
        slot: int,
        turn: int,
        attempt: int,
        state: State[Any] | None,
        past: Past = NOTHING,
    ) -> None:
        self.view = view
        self.past = past
        self.slot = slot
        self.turn = turn
        self.attempt = attempt
        self._table_key = table_key
        self._state = state

    @property
    def key(self) -> Key:
        """The player's own dice: keyed by table, player slot (not seat), turn and attempt, taken as one number."""
        return self._table_key.at("player", (self.turn * _PLACES + self.slot) * _PLACES + self.attempt)

    def seeing(self, view: View[Any]) -> Ask:
        """The same turn with another view, for players that change what another player sees."""
        return Ask(view, self._table_key, self.slot, self.turn, self.attempt, self._state, self.past)

    def peek(self) -> State[Any]:
        """A copy of the true state, for players whose traits say `sees_hidden`; the copy's future chance is its own."""
        if self._state is None:
            raise CannotCompute("A player that looks at the true state must declare it: Traits(sees_hidden=True).")
        return self._state.fork(self.key.at("peek"))


class Move(NamedTuple):
    """What a seat plays, how it came to it, and the model calls behind it."""

    action: str | None
    how: How = "scripted"
    calls: tuple[Call, ...] = ()
    said: str | None = None
    """The reply itself, where it came to nothing legal."""


Turn = Move | Generator[Request, Call, Move]
"""A move at once, or a generator that yields requests, is sent the replies to them, and returns the move."""


@runtime_checkable
class Player(Protocol):
    """Anything that can take a turn."""

    @property
    def name(self) -> str:
        """The qualified name with its options, as results show it: `ipd/AlternateDefect(first=C)`."""
        ...

    @property
    def traits(self) -> Traits: ...

    def turn(self, ask: Ask) -> Turn:
        """The move, or a generator that yields requests and returns the move."""
        ...

    def policy(self, view: View[Any]) -> Mix:
        """The probability of every action in this situation; raises `CannotCompute` where the player cannot say."""
        ...


@runtime_checkable
class Listener(Protocol):
    """A player that is told what each round paid, as people are; it must not play by it."""

    def hear(self, view: View[Any], paid: float, *, over: bool) -> None:
        """A round has ended; the view is what stands now."""
        ...


class Scripted(ABC, Generic[F]):
    """A player whose rule is one function of what its seat sees: `strategy` gives an action or a mixture.

    Sampled play and the exact policy both follow from it, so they cannot disagree.
    """

    family: ClassVar[str] = "any"
    traits: ClassVar[Traits] = Traits()

    @abstractmethod
    def strategy(self, view: View[F]) -> str | Mix:
        """The rule: one action, or actions with probabilities."""

    @property
    def name(self) -> str:
        return described(self)

    def turn(self, ask: Ask) -> Turn:
        plan = self.strategy(ask.view)
        return Move(plan if isinstance(plan, str) else draw(plan, ask.key))

    def policy(self, view: View[F]) -> Mix:
        plan = self.strategy(view)
        return {plan: 1.0} if isinstance(plan, str) else plan


def draw(mix: Mix, key: Key) -> str:
    """One action from a mixture."""
    return list(mix)[key.choose(list(mix.values()))]


def described(player: object) -> str:
    """`family/Class` with the options that are not the default."""
    cls = type(player)
    options = []
    for name, field in getattr(cls, "__dataclass_fields__", {}).items():
        value = getattr(player, name)
        if value != field.default:
            options.append(f"{name}={shown(value)}")
    family = getattr(cls, "family", "any")
    bare = cls.__name__ if family == "any" else f"{family}/{cls.__name__}"
    return f"{bare}({', '.join(options)})" if options else bare


def shown(value: object) -> str:
    """An option as names show it: short where that loses nothing, since a name must make the same player again."""
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)


Policy = Callable[[View[Any]], Mix]


def is_probability(mix: Mix) -> bool:
    """Whether a mixture is one: nothing negative, and a sum of one."""
    return all(p >= 0.0 for p in mix.values()) and abs(sum(mix.values()) - 1.0) < 1e-9


__all__ = [
    "Ask",
    "How",
    "Mix",
    "Move",
    "Player",
    "Policy",
    "Scripted",
    "Seat",
    "Traits",
    "Turn",
    "described",
    "draw",
    "is_probability",
    "shown",
]
