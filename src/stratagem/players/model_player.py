"""Model as a player: a speaker and a mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.language.engines.base import Chat
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.players.base import Ask, Asking, Mix, ScoredActions, Traits, Turn
from stratagem.players.members import ModelUse, PlayerBase
from stratagem.players.modes import MODES, check_mode
from stratagem.players.scoring import scored_policies
from stratagem.players.speaker import Speaker
from stratagem.players.stating import masked_policies, single_policies

PRICE = 40
"""Cost of a prompt in situations walked over."""


@dataclass(frozen=True, kw_only=True)
class ModelPlayer(PlayerBase):
    """Player that asks its engine for every move; `LanguagePlayer` makes one from a text, a trainer from its policy."""

    name: str
    speaker: Speaker
    mode: str = "direct"

    @property
    def traits(self) -> Traits:
        return Traits(
            stochastic=self.speaker.sampling.temperature > 0.0,
            memory=self.speaker.style.memory,
            reads_words=True,
            exact=MODES[self.mode].exact,
            scored=MODES[self.mode].scored,
            fallible=self.mode == "single",
            repeats=self.speaker.engine.capabilities.repeats,
            price=PRICE,
        )

    def model_use(self) -> ModelUse:
        return ModelUse(self.speaker, self.mode)

    def check(self, game: Game[Any]) -> None:
        """Refuse a mode that the model, the style or the game does not admit, before it is played."""
        state = game.start(Key(0))
        self.check_view(state.view(state.to_act[0]))

    def check_view(self, view: View[Any]) -> None:
        """Refuse a view that the mode or the style cannot read."""
        check_mode(self.mode, self.speaker, view)

    def turn(self, ask: Ask) -> Turn:
        return MODES[self.mode].turn(self.speaker, ask)

    def policy(self, view: View[Any]) -> Mix:
        return self.policies([view])[0]

    def prompts_in(self, views: Sequence[View[Any]]) -> list[Chat]:
        """Return the messages of the prompt in each situation."""
        return [self.speaker.chat(view) for view in views]

    def scored(self, views: Sequence[View[Any]], ask: Asking | None = None) -> list[ScoredActions]:
        """Return the probabilities in many situations by a server's log-probabilities."""
        if not MODES[self.mode].scored:
            raise CannotCompute(f"{self.name} is not read by its first tokens: mode=prefix is.")
        return scored_policies(self.speaker, views, ask)

    def policies(self, views: Sequence[View[Any]], past: Past = NOTHING) -> list[Mix]:
        """Return the probabilities in many situations, in one batch, with one past for all of them."""
        if not MODES[self.mode].exact:
            raise CannotCompute(
                f"{self.name} thinks before it acts, so only play can measure it: mode=direct states its probabilities."
            )
        states = single_policies if self.mode == "single" else masked_policies
        return states(self.speaker, views, past)
