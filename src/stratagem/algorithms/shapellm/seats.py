"""Construction of a run's seats from the recipe; impossible seats are refused before anything is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.shapellm.bases import Base
from stratagem.algorithms.shapellm.language_seat import LanguageSeat, decoding_settings
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.algorithms.shapellm.seat_settings import (
    FrozenSettings,
    ModelSettings,
    PPOLearnerSettings,
    PromptSettings,
    ScriptedSettings,
    SeatSettings,
    TabularSettings,
    episodes_between,
)
from stratagem.algorithms.shapellm.tabular_seat import TabularLearner, TabularSeat
from stratagem.engines.open import Served, served
from stratagem.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.play.memory import check_memory
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.modes import check_mode
from stratagem.prompting.catalogue import make_style
from stratagem.training.policy import model_player, speaker


def check_seats(recipe: ShapeLLMRecipe, game: Game[Any]) -> None:
    """Refuse seats that the game does not admit, as far as can be checked without a model."""
    if len(recipe.seats) != game.spec.seats:
        raise BadParameter(
            f"{game.spec.name} has {game.spec.seats} seats, and the recipe has {len(recipe.seats)}: "
            f"{', '.join(recipe.seats)}."
        )
    for slot, (name, seat) in enumerate(recipe.seats.items()):
        try:
            if isinstance(seat, PromptSettings):
                check_memory(seat.memory, make_style(seat.style), game)
                make_style(seat.style).messages(game.start(Key(0)).view(slot))
            if isinstance(seat, TabularSettings):
                TabularLearner(make_style(seat.style), seat.initial_probability).row(game.start(Key(0)).view(slot))
            if isinstance(seat, ScriptedSettings):
                make_player(seat.player, game)
        except BadParameter as error:
            raise BadParameter(f"The seat {name}: {error}") from error


def check_speech(recipe: ShapeLLMRecipe, game: Game[Any], bases: Mapping[str, Base]) -> None:
    """Refuse actions that a model cannot output in its mode, such as labels of two tokens in `single`."""
    for slot, (name, seat) in enumerate(recipe.seats.items()):
        if isinstance(seat, ModelSettings):
            engine = engine_of(recipe, seat, bases).engine
            state = game.start(Key(0))
            view = state.view(slot if slot in state.to_act else state.to_act[0])
            try:
                check_mode(seat.mode, speaker(decoding_settings(seat), engine), view)
            except BadParameter as error:
                raise BadParameter(f"The seat {name}, with {engine.name}: {error}") from error


def engine_of(recipe: ShapeLLMRecipe, seat: ModelSettings, bases: Mapping[str, Base]) -> Served:
    """Return the engine of a seat: that of a base of the run, or of the model that a frozen seat names."""
    if recipe.has_own_model(seat):
        return served(seat.model)
    return Served(bases[recipe.base_of(seat)].engine, "")


@dataclass(frozen=True)
class SeatFactory:
    """Factory of the seats of a run."""

    recipe: ShapeLLMRecipe
    game: Game[Any]
    bases: Mapping[str, Base]
    """Bases by the recipe's names."""
    strict: bool = False

    def seats(self) -> dict[str, Seat]:
        """Make the seats by name, in their state before the first trial."""
        return {name: self._seat(name, seat) for name, seat in self.recipe.seats.items()}

    def _seat(self, name: str, seat: SeatSettings) -> Seat:
        if isinstance(seat, ScriptedSettings):
            return Seat(make_player(seat.player, self.game))
        if isinstance(seat, FrozenSettings):
            return Seat(self._frozen(name, seat), seat.memory)
        every = episodes_between(seat.update_every, self.recipe.episodes)
        if isinstance(seat, TabularSettings):
            return TabularSeat(name, seat, every)
        return self._learning(name, seat, every)

    def _frozen(self, name: str, seat: FrozenSettings) -> ModelPlayer:
        engine, adapter = engine_of(self.recipe, seat, self.bases)
        return model_player(decoding_settings(seat), engine, adapter, name)

    def _learning(self, name: str, seat: PPOLearnerSettings, every: int) -> LanguageSeat:
        base, key = self.bases[self.recipe.base_of(seat)], Key(self.recipe.seed).at("seat", name)
        return LanguageSeat(name, seat, base, every, key, strict=self.strict)
