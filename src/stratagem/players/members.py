"""Members of a player beyond its turn, declared once with the defaults of most players, and the walk of wrappers.

A `Player` needs four members. `PlayerBase` declares what else is asked of one; a player without that base has the
defaults where it has no member of the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import View
from stratagem.language.engines.base import Chat
from stratagem.players.protocol import Asking, Mix, Player, ScoredActions, Traits
from stratagem.players.speaker import Speaker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stratagem.games.tree import GameTree

ANY_FAMILY = "any"
"""Family of the players of every game."""


class ModelUse(NamedTuple):
    """Model that a player asks, and how."""

    speaker: Speaker
    mode: str
    """Mode by name; empty where the player has no mode."""
    model: str = ""
    """Model text; empty where the player was not made from one."""


class PlayerBase:
    """Members of a player with the defaults of most players; a subclass overrides those that it needs.

    A field of a subclass may have the name of a member, so those without arguments are attributes and no properties.
    """

    family: ClassVar[str] = ANY_FAMILY
    """Family of the games that it plays."""
    talks: ClassVar[bool] = False
    """True of a player of one family that also sends messages, in a game with talk."""
    inner: Player | None = None
    """Player that this one goes around; None of a player that is no wrapper."""
    on_tree: Callable[[GameTree], NDArray[np.float64]] | None = None
    """Method that returns the policy by slot of a whole game tree; None of a player that is asked view by view."""

    def policy(self, view: View[Any]) -> Mix:
        """Return the probability of every action in this situation."""
        raise CannotCompute(f"{type(self).__name__} states no probabilities.")

    def policies(self, views: Sequence[View[Any]]) -> list[Mix]:
        """Return the probabilities in many situations, in one batch where the player has one."""
        return [self.policy(view) for view in views]

    def prompts_in(self, views: Sequence[View[Any]]) -> list[Chat] | None:
        """Return the prompt in which the player asks its model in each situation; None without prompts."""
        return None

    def scored(self, views: Sequence[View[Any]], ask: Asking | None = None) -> list[ScoredActions]:
        """Return the scored probabilities in many situations, of a player whose traits say `scored`."""
        raise CannotCompute(f"{type(self).__name__} has no scored probabilities.")

    def model_use(self) -> ModelUse | None:
        """Return the model that the player itself asks, and how; None of a player that asks none."""
        return None


class WrapperPlayer(PlayerBase):
    """Player that goes around another, which is its field `player`."""

    player: Player

    @property
    def inner(self) -> Player:  # type: ignore[override]  # a property may not replace an attribute that can be set
        return self.player


class NamesakePlayer(WrapperPlayer):
    """Wrapper that has the name and the traits of the player within, since its record is that player's."""

    @property
    def name(self) -> str:
        return self.player.name

    @property
    def traits(self) -> Traits:
        return self.player.traits


class _UndeclaredMembers(PlayerBase):
    """Members of a player without the base: its own where it has them, else the defaults."""

    def __init__(self, player: Any) -> None:
        self._player = player
        for name in ("family", "talks", "inner", "on_tree", "policy", "policies", "prompts_in", "scored", "model_use"):
            if (own := getattr(player, name, None)) is not None:
                vars(self)[name] = own
        if self.inner is None:  # the usual field of a wrapper
            self.inner = getattr(player, "player", None)

    def model_use(self) -> ModelUse | None:
        speaker: Speaker | None = getattr(self._player, "speaker", None)
        return None if speaker is None else ModelUse(speaker, getattr(self._player, "mode", ""))


def members_of(player: Player) -> PlayerBase:
    """Return the declared members of any player."""
    return player if isinstance(player, PlayerBase) else _UndeclaredMembers(player)


def family_of(kind: type[Any]) -> str:
    """Return the family of games that players of a class play."""
    family: str = kind.family if issubclass(kind, PlayerBase) else getattr(kind, "family", ANY_FAMILY)
    return family


def layers(player: Player) -> Iterator[Player]:
    """Yield a player, the player that it goes around, and so on to the innermost."""
    yield player
    layer: object = members_of(player).inner
    while isinstance(layer, Player):  # a stranger's field of this name may hold anything
        yield layer
        layer = members_of(layer).inner


def innermost(player: Player) -> Player:
    """Return the player that no wrapper goes around: the last of its layers."""
    *_, last = layers(player)
    return last


__all__ = [
    "ANY_FAMILY",
    "ModelUse",
    "NamesakePlayer",
    "PlayerBase",
    "WrapperPlayer",
    "family_of",
    "innermost",
    "layers",
    "members_of",
]
