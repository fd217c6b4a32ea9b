"""Language model that is asked as public arenas of games ask: free text, no list of moves, one retry, then the loss.

Kaggle's Game Arena tells the position, asks for a move after `Final Answer:`, asks again after an illegal one, and
counts a further one as a lost game. Its harness (`core_harness.py` of kaggle-environments, 2 attempts) makes the second
prompt from the first one, the reply and the move that was read from it. The words are those of each game. Here the
second question repeats the last line of the reply and says that it is no legal move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game, View
from stratagem.language.engines.base import Chat
from stratagem.players.base import Ask, Player, Traits, Turn, prompts_by
from stratagem.players.language import LanguagePlayer
from stratagem.players.members import WrapperPlayer
from stratagem.players.wrappers import check_player

STYLE = "arena"
"""Prompt style of arenas."""


@dataclass(frozen=True)
class ArenaPlayer(WrapperPlayer):
    """Language model with the style and the mode of arenas, in games that an illegal reply loses after one retry."""

    player: Player

    def __post_init__(self) -> None:
        if not isinstance(self.player, LanguagePlayer):
            raise BadParameter(
                f"arena asks a language model in other words, and {self.player.name} is none: leave arena out."
            )
        object.__setattr__(self, "player", replace(self.player, style=STYLE, mode="free"))

    @property
    def name(self) -> str:
        return f"arena({self.player.name})"

    @property
    def traits(self) -> Traits:
        return self.player.traits

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that has another consequence of an illegal reply than arenas have."""
        spec = game.spec
        if spec.on_illegal != "forfeit" or spec.retries != 1:
            raise BadParameter(
                f"An illegal reply does not lose {spec.name} after one retry, as arenas have it: take leduc, "
                "tic-tac-toe, connect-four, liars-dice, kuhn-spiel or another game of OpenSpiel."
            )
        check_player(self.player, game)

    def turn(self, ask: Ask) -> Turn:
        return self.player.turn(ask)

    def prompts_in(self, views: Sequence[View[Any]]) -> list[Chat] | None:
        """Return the prompts of the model."""
        return prompts_by(self.player, views)
