"""Any OpenSpiel game as one of ours (Lanctot et al. 2019, arXiv:1908.09453): rules from the engine, words from a face.

Turns or simultaneous moves, any number of seats, chance drawn by key; one episode is one round, paid at its end or,
where the engine pays on the way, as it goes. A seat that says nothing legal ends the game and gets its least payoff.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from stratagem.errors import BadRecord
from stratagem.games.base import Json
from stratagem.games.key import Chance
from stratagem.games.spiel.rules import SpielRules
from stratagem.games.spiel.state import SpielState
from stratagem.games.spiel.twin import SpielTwin


@dataclass(frozen=True, kw_only=True)
class SpielGame(SpielRules):
    """A game that OpenSpiel plays."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parameters only; the engine is loaded again."""
        return partial(SpielGame, text=self.text, face=self.face, retries=self.retries), ()

    def start(self, chance: Chance) -> SpielState:
        state = SpielState(self, chance)
        state.arrive(self.engine.root)
        return state

    def load(self, data: Json, chance: Chance) -> SpielState:
        state = SpielState(self, chance)
        try:
            state.resume(data)
        except (KeyError, TypeError) as error:
            raise BadRecord(f"This is no state of {self.spec.name}: {error!r}.") from error
        return state

    def twin(self) -> SpielTwin:
        return self._twin

    @cached_property
    def _twin(self) -> SpielTwin:
        return SpielTwin(self)


def spiel(text: str) -> SpielGame:
    """Return any OpenSpiel game in the engine's own words: `spiel:hex(board_size=5)`."""
    return SpielGame(text=text)
