"""Wrappers of players: noise on the actions, and a delay of the history."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole, within
from stratagem.games.base import Game, View
from stratagem.games.choices import Choices
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixFacts, MatrixGame
from stratagem.games.negotiation_v1 import Pie, PieFacts
from stratagem.games.negotiation_v2 import Division, DivisionFacts
from stratagem.language.engines.base import Call, Chat, Request
from stratagem.players.base import (
    Ask,
    Asking,
    Mix,
    Move,
    Player,
    ScoredActions,
    Traits,
    Turn,
    format_option,
    prompts_by,
    scores_of,
)
from stratagem.players.members import WrapperPlayer
from stratagem.players.uniform import uniform

_MOST_DRAWS = 64
"""Draws of another action: of two that are equally likely, none differs once in 2^64 times."""


@runtime_checkable
class Choosy(Protocol):
    """Player that cannot play every game of its family."""

    def check(self, game: Game[Any]) -> None:
        """Refuse such a game, in one sentence."""
        ...


def check_player(player: Player, game: Game[Any]) -> None:
    """Refuse a player that cannot play this game; most can play every game of their family."""
    if isinstance(player, Choosy):
        player.check(game)


@dataclass(frozen=True)
class Noisy(WrapperPlayer):
    """Plays as another player, but with probability `p` a legal action that the other did not choose, uniformly."""

    player: Player
    p: float = 0.1

    def __post_init__(self) -> None:
        within("noise", "p", self.p, 0.0, 1.0)

    @property
    def name(self) -> str:
        return f"noise({self.player.name}, p={format_option(self.p)})"

    @property
    def traits(self) -> Traits:
        return replace(self.player.traits, stochastic=True)

    @property
    def depth(self) -> int:
        """Number of layers of noise; each layer has draws of its own."""
        return 1 + _depth(self.player)

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that the inner player cannot play."""
        check_player(self.player, game)

    def turn(self, ask: Ask) -> Turn:
        turn = self.player.turn(ask)
        return self._slip(turn, ask) if isinstance(turn, Move) else self._later(turn, ask)

    def _later(self, turn: Generator[Request, Call, Move], ask: Ask) -> Generator[Request, Call, Move]:
        return self._slip((yield from turn), ask)

    def _slip(self, move: Move, ask: Ask) -> Move:
        """Replace the action of a move; the slip counts as scripted, and an illegal reply is left alone."""
        key = ask.key.at("noise", self.depth)
        if move.action is None or key.unit() >= self.p:
            return move
        return move._replace(action=_other(ask.view.choices, move.action, key), how="scripted")

    def policy(self, view: View[Any]) -> Mix:
        return self._add_noise(self.player.policy(view), view)

    def prompts_in(self, views: Sequence[View[Any]]) -> list[Chat] | None:
        """Return the prompts of the player."""
        return prompts_by(self.player, views)

    def scored(self, views: Sequence[View[Any]], ask: Asking | None = None) -> list[ScoredActions]:
        """Return the probabilities in many situations, where those of the player are scored; as much is unseen."""
        told = scores_of(self.player, views, ask)
        return [
            ScoredActions(self._add_noise(mix, view), unseen) for view, (mix, unseen) in zip(views, told, strict=True)
        ]

    def _add_noise(self, inner: Mix, view: View[Any]) -> Mix:
        level = uniform(view.choices)
        if len(level) == 1:
            return inner
        mix = {action: (1.0 - self.p) * inner.get(action, 0.0) for action in level}
        for chosen, p in inner.items():
            for action, share in level.items():
                if p > 0.0 and action != chosen:
                    mix[action] += self.p * p * share / (1.0 - level[chosen])
        return mix


def _other(choices: Choices, action: str, key: Key) -> str:
    """Draw until another action comes; choices of one action never have any."""
    for attempt in range(_MOST_DRAWS if choices.count > 1 else 0):
        drawn = choices.sample(key.at("other", attempt))
        if drawn != action:
            return drawn
    return action


@dataclass(frozen=True)
class Delayed(WrapperPlayer):
    """Plays as another player would have with the history as it stood `rounds` rounds ago."""

    player: Player
    rounds: int = 1

    def __post_init__(self) -> None:
        whole("delay", "rounds", self.rounds, 1)
        if self.player.traits.sees_hidden or self.player.traits.searches:
            raise BadParameter(f"delay cannot keep news from {self.player.name}, which looks at the table itself.")

    @property
    def name(self) -> str:
        return f"delay({self.player.name}, rounds={self.rounds})"

    @property
    def traits(self) -> Traits:
        memory = self.player.traits.memory
        return replace(self.player.traits, memory=memory + self.rounds if memory else memory, scored=False)

    @property
    def depth(self) -> int:
        """Number of layers of noise within."""
        return _depth(self.player)

    def check(self, game: Game[Any]) -> None:
        """Refuse games whose rounds are not a history that can be cut."""
        if not isinstance(game, MatrixGame | Pie | Division):
            raise BadParameter(f"delay works in matrix games and the two negotiations, not in {game.spec.name}.")
        check_player(self.player, game)

    def turn(self, ask: Ask) -> Turn:
        return self.player.turn(ask.seeing(self._late(ask.view)))

    def policy(self, view: View[Any]) -> Mix:
        return self.player.policy(self._late(view))

    def _late(self, view: View[Any]) -> View[Any]:
        return View(view.game, view.seat, _earlier(view.facts, self.rounds))


def _earlier(facts: Any, rounds: int) -> Any:
    """Return the facts as they were so many counted rounds ago."""
    if not isinstance(facts, MatrixFacts | PieFacts | DivisionFacts):
        raise BadParameter("delay works in matrix games and the two negotiations only.")
    visible = max(0, len(facts.mine) - rounds)
    if isinstance(facts, MatrixFacts):
        facts = facts._replace(round=max(0, facts.round - rounds))
    return facts._replace(mine=facts.mine[:visible], theirs=facts.theirs[:visible])


def _depth(player: Player) -> int:
    return player.depth if isinstance(player, Noisy | Delayed) else 0
