"""Interface of players for those who write one: the protocol, the base of scripted players, and their names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.file_modules import file_name_of
from stratagem.base.registry import parse_call
from stratagem.games.base import Seat, State, View
from stratagem.games.key import Key
from stratagem.language.engines.base import Chat
from stratagem.players.members import ANY_FAMILY, PlayerBase, family_of, members_of
from stratagem.players.protocol import Ask, Asking, How, Mix, Move, Player, ScoredActions, Traits, Turn

F = TypeVar("F")


def scores_of(player: Player, views: Sequence[View[Any]], ask: Asking | None = None) -> list[ScoredActions]:
    """Return the scored probabilities of a player in many situations; `ask` answers its requests."""
    if not player.traits.scored:
        raise CannotCompute(f"{player.name} has no scored probabilities: mode=prefix of a model behind a server has.")
    return members_of(player).scored(views, ask)


def stated_by(player: Player, views: Sequence[View[Any]]) -> list[Mix]:
    """Return the probabilities of a player in many situations, in one batch where the player has one."""
    return members_of(player).policies(views)


def prompts_by(player: Player, views: Sequence[View[Any]]) -> list[Chat] | None:
    """Return the prompt in which a player asks its model in each situation; None of a player without prompts."""
    return members_of(player).prompts_in(views)


@runtime_checkable
class Listener(Protocol):
    """Player that is told the payoffs of each round, as people are; it must not play by them."""

    def hear(self, view: View[Any], payoff: float, *, over: bool) -> None:
        """Receive the end of a round; the view is the position now."""
        ...


class Onlooker(ABC):
    """Base of a player that is shown the position after each turn, as a person at a page is; it must not play by it."""

    @abstractmethod
    def look(self, view: View[Any], state: State[Any] | None, actions: Mapping[Seat, str | None] | None) -> None:
        """Receive the position after a turn; the state and the actions are for players that see what is hidden."""


class Scripted(PlayerBase, ABC, Generic[F]):
    """Player whose rule is one function of its view: `strategy` gives an action or a mixture.

    Sampled play and the exact policy both follow from it, so they cannot disagree. What is no mixture is a failed turn.
    """

    traits: ClassVar[Traits] = Traits()

    @abstractmethod
    def strategy(self, view: View[F]) -> str | Mix:
        """Return the rule: one action, or actions with probabilities."""

    @property
    def name(self) -> str:
        return describe_player(self)

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


def describe_player(player: object) -> str:
    """Return the name `family/Class`, or `FILE.py:CLASS`, with the options that are not the default."""
    cls = type(player)
    options = []
    for name, field in getattr(cls, "__dataclass_fields__", {}).items():
        value = getattr(player, name)
        if value != field.default:
            options.append(f"{name}={format_option(value)}")
    family = family_of(cls)
    bare = file_name_of(cls) or (cls.__name__ if family == ANY_FAMILY else f"{family}/{cls.__name__}")
    return f"{bare}({', '.join(options)})" if options else bare


def format_option(value: object) -> str:
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
    "Onlooker",
    "Player",
    "ScoredActions",
    "Scripted",
    "Seat",
    "Traits",
    "Turn",
    "describe_player",
    "draw",
    "format_option",
    "is_probability",
    "prompts_by",
    "scores_of",
    "stated_by",
]
