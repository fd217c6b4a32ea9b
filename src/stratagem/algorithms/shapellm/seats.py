"""Construction of a run's seats from the recipe; impossible seats are refused before anything is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from stratagem.algorithms.shapellm.bases import Base
from stratagem.algorithms.shapellm.kinds import SeatSettings
from stratagem.algorithms.shapellm.language_seat import LanguageSeat, decoding_settings
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.algorithms.shapellm.seat_settings import (
    FrozenSettings,
    ModelSettings,
    PPOLearnerSettings,
    PromptSettings,
    ScriptedSettings,
    TabularSettings,
    episodes_between,
)
from stratagem.algorithms.shapellm.shapers.catalogue import SHAPERS
from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame, two_by_two
from stratagem.algorithms.shapellm.shapers.mfos import MetaLearner, MFOSSeat, MFOSSettings
from stratagem.algorithms.shapellm.shapers.seat import MemoryOneSeat, MemoryOneSettings
from stratagem.algorithms.shapellm.tabular_seat import TabularLearner, TabularSeat
from stratagem.engines.open import Served, served
from stratagem.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.play.memory import check_memory
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.modes import check_mode
from stratagem.players.pools import make_bot
from stratagem.prompting.catalogue import make_style
from stratagem.training.policy import model_player, speaker


def check_seats(recipe: ShapeLLMRecipe, game: Game[Any]) -> None:
    """Refuse seats that the game does not admit, as far as can be checked without a model."""
    if len(recipe.seats) != game.spec.seats:
        raise BadParameter(
            f"{game.spec.name} has {game.spec.seats} seats, and the recipe has {len(recipe.seats)}: "
            f"{', '.join(recipe.seats)}."
        )
    if recipe.final_evaluation.rounds and not hasattr(game, "rounds"):
        raise BadParameter(
            f"{game.spec.name} has no parameter `rounds`, so its games have one length: leave "
            "`final_evaluation.rounds` out."
        )
    for slot, (name, seat) in enumerate(recipe.seats.items()):
        try:
            if isinstance(seat, PromptSettings):
                check_memory(seat.memory, make_style(seat.style), game)
                make_style(seat.style).messages(game.start(Key(0)).view(slot))
            if isinstance(seat, TabularSettings):
                TabularLearner(make_style(seat.style), seat.initial_probability).row(game.start(Key(0)).view(slot))
            if isinstance(seat, ScriptedSettings):
                make_bot(seat.player, game)
            if isinstance(seat, MemoryOneSettings):
                two_by_two(game)
                _check_opponent(list(recipe.seats)[1 - slot], list(recipe.seats.values())[1 - slot], game)
        except BadParameter as error:
            raise BadParameter(f"The seat {name}: {error}") from error


def _check_opponent(name: str, opponent: SeatSettings, game: Game[Any]) -> None:
    """Refuse an opponent whose policy is not one probability for each last joint action."""
    match opponent:
        case MemoryOneSettings():
            known = True
        case TabularSettings():
            known = opponent.memory in ("none", "last")
        case ScriptedSettings():
            traits = make_player(opponent.player, game).traits
            known = traits.exact and traits.memory in (0, 1)
        case _:
            known = False
    if not known:
        raise BadParameter(
            f"it learns from the opponent's five probabilities, and {name} has none: give {name} a learner with "
            "exact values, a table with the memory last, or a scripted player that remembers one round."
        )


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
    meta_policies: Mapping[str, Tensor] = field(default_factory=dict)
    """Weights of the trained meta-policies of M-FOS by seat."""

    def seats(self) -> dict[str, Seat]:
        """Make the seats by name, in their state before the first trial."""
        return {name: self._seat(name, seat, slot) for slot, (name, seat) in enumerate(self.recipe.seats.items())}

    def _seat(self, name: str, seat: SeatSettings, slot: int) -> Seat:
        if isinstance(seat, ScriptedSettings):
            return Seat(make_player(seat.player, self.game))
        if isinstance(seat, FrozenSettings):
            return Seat(self._frozen(name, seat), seat.memory)
        if isinstance(seat, MemoryOneSettings):
            return self._exact(name, seat, slot)
        every = episodes_between(seat.update_every, self.recipe.episodes)
        if isinstance(seat, TabularSettings):
            return TabularSeat(name, seat, every, self._key(name))
        return self._learning(name, seat, every)

    def _key(self, name: str) -> Key:
        return Key(self.recipe.seed).at("seat", name)

    def _exact(self, name: str, seat: MemoryOneSettings, slot: int) -> MemoryOneSeat[Any]:
        if isinstance(seat, MFOSSettings):
            return MFOSSeat(name, seat, self.game, slot, self._key(name), self.meta_policies.get(name))
        return SHAPERS[type(seat)](name, seat, self.game, slot, self._key(name))

    def _frozen(self, name: str, seat: FrozenSettings) -> ModelPlayer:
        engine, adapter = engine_of(self.recipe, seat, self.bases)
        return model_player(decoding_settings(seat), engine, adapter, name)

    def _learning(self, name: str, seat: PPOLearnerSettings, every: int) -> LanguageSeat:
        base = self.bases[self.recipe.base_of(seat)]
        return LanguageSeat(name, seat, base, every, self._key(name), strict=self.strict)


def meta_learners(recipe: ShapeLLMRecipe, game: Game[Any]) -> dict[str, MetaLearner]:
    """Make the learners of the meta-policies of all M-FOS seats."""
    return {
        name: MetaLearner(seat, MemoryOneGame.of(game, slot, seat.discount), Key(recipe.seed).at("meta", name))
        for slot, (name, seat) in enumerate(recipe.seats.items())
        if isinstance(seat, MFOSSettings)
    }
