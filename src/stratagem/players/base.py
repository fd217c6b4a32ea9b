"""Interface of players: an `Ask` goes in, a `Move` comes out, at once or by way of requests.

Players keep no state. What a seat may know comes in its `Ask`, so forks and resumes need no snapshot of players.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

from stratagem.engines.base import Call, Chat, Request
from stratagem.errors import BadParameter, CannotCompute
from stratagem.file_modules import file_name_of
from stratagem.games.base import Seat, State, View
from stratagem.games.key import Key
from stratagem.prompting.past import NOTHING, Past
from stratagem.registry import parse_call

F = TypeVar("F")
Mix = Mapping[str, float]
"""Actions and their probabilities."""


class Scored(NamedTuple):
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
    price: int = 1
    """Cost of its probabilities in one situation, in situations looked at."""


class Ask:
    """One seat's turn: its view, its memory of earlier episodes, and a key for its own random draws.

    The key is computed on demand because most players never draw.
    """

    __slots__ = ("_state", "_table_key", "attempt", "past", "recall", "slot", "turn", "view")

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
    ) -> None:
        """`recall` None stands for an episode whose beginning the seat has not seen."""
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
        return Ask(view, self._table_key, self.slot, self.turn, self.attempt, self._state, seen, self.recall)

    def within(self, traits: Traits, number: int | None) -> Ask:
        """Return the same turn for a player inside this one: with the state only if its traits need it.

        A `number` gives it draws of its own.
        """
        shown = self._state if traits.sees_hidden or traits.searches else None
        key = self._table_key if number is None else self._table_key.at("within", number)
        return Ask(self.view, key, self.slot, self.turn, self.attempt, shown, self.past, self.recall)

    def peek(self) -> State[Any]:
        """Return a copy of the true state, for players whose traits say `sees_hidden`.

        The copy's future chance is its own.
        """
        if self._state is None:
            raise CannotCompute("A player that looks at the true state must declare it: Traits(sees_hidden=True).")
        return self._state.fork(self.key.at("peek"))

    def redrawn(self, chance: Key) -> State[Any]:
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


class _ScoredPlayer(Protocol):
    """Player whose traits say `scored`."""

    def scored(self, views: Sequence[View[Any]], ask: Asking | None = None) -> list[Scored]: ...


def scores_of(player: Player, views: Sequence[View[Any]], ask: Asking | None = None) -> list[Scored]:
    """Return the scored probabilities of a player in many situations; `ask` answers its requests."""
    if not player.traits.scored:
        raise CannotCompute(f"{player.name} has no scored probabilities: mode=prefix of a model behind a server has.")
    return cast("_ScoredPlayer", player).scored(views, ask)


def stated_by(player: Player, views: Sequence[View[Any]]) -> list[Mix]:
    """Return the probabilities of a player in many situations, in one batch where the player has one."""
    together = getattr(player, "policies", None)
    mixes: list[Mix] = together(views) if together else [player.policy(view) for view in views]
    return mixes


def prompts_by(player: Player, views: Sequence[View[Any]]) -> list[Chat] | None:
    """Return the prompt in which a player asks its model in each situation; None of a player without prompts."""
    prompts = getattr(player, "prompts_in", None)
    asked: list[Chat] | None = prompts(views) if prompts else None
    return asked


@runtime_checkable
class Listener(Protocol):
    """Player that is told the payoffs of each round, as people are; it must not play by them."""

    def hear(self, view: View[Any], payoff: float, *, over: bool) -> None:
        """Receive the end of a round; the view is the position now."""
        ...


class Scripted(ABC, Generic[F]):
    """Player whose rule is one function of its view: `strategy` gives an action or a mixture.

    Sampled play and the exact policy both follow from it, so they cannot disagree. What is no mixture is a failed turn.
    """

    family: ClassVar[str] = "any"
    traits: ClassVar[Traits] = Traits()

    @abstractmethod
    def strategy(self, view: View[F]) -> str | Mix:
        """Return the rule: one action, or actions with probabilities."""

    @property
    def name(self) -> str:
        return described(self)

    def turn(self, ask: Ask) -> Turn:
        plan = self.strategy(ask.view)
        if isinstance(plan, str):
            return Move(plan)
        if not isinstance(plan, Mapping) or not is_probability(plan):
            raise ValueError(f"{plan!r} is no action, and no mixture: its probabilities are at least 0 and sum to 1")
        return Move(draw(plan, ask.key))

    def policy(self, view: View[F]) -> Mix:
        plan = self.strategy(view)
        return {plan: 1.0} if isinstance(plan, str) else plan


def draw(mix: Mix, key: Key) -> str:
    """Draw one action from a mixture."""
    return list(mix)[key.choose(list(mix.values()))]


def described(player: object) -> str:
    """Return the name `family/Class`, or `FILE.py:CLASS`, with the options that are not the default."""
    cls = type(player)
    options = []
    for name, field in getattr(cls, "__dataclass_fields__", {}).items():
        value = getattr(player, name)
        if value != field.default:
            options.append(f"{name}={shown(value)}")
    family = getattr(cls, "family", "any")
    bare = file_name_of(cls) or (cls.__name__ if family == "any" else f"{family}/{cls.__name__}")
    return f"{bare}({', '.join(options)})" if options else bare


def shown(value: object) -> str:
    """Format an option for a name, short where that loses nothing: a name must make the same player again."""
    if isinstance(value, str):
        return value if _reads_back(value) else repr(value)
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)


def _reads_back(text: str) -> bool:
    """Return whether an option is this text where a name has it without quotation marks."""
    with suppress(BadParameter):
        return parse_call(f"name(option={text}, next=1)")[1:] == ((), {"option": text, "next": 1})
    return False


def is_probability(mix: Mix) -> bool:
    """Return whether a mixture is a distribution: nothing negative, and a sum of one."""
    return all(p >= 0.0 for p in mix.values()) and abs(sum(mix.values()) - 1.0) < 1e-9


__all__ = [
    "Ask",
    "Asking",
    "How",
    "Mix",
    "Move",
    "Player",
    "Scored",
    "Scripted",
    "Seat",
    "Traits",
    "Turn",
    "described",
    "draw",
    "is_probability",
    "prompts_by",
    "scores_of",
    "shown",
    "stated_by",
]
