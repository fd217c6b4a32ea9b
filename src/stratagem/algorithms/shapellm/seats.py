"""From what a recipe says of its seats to who sits there; what cannot be is refused before anything is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.shapellm.bases import Base
from stratagem.algorithms.shapellm.language_seat import LanguageSeat, speaks_of
from stratagem.algorithms.shapellm.recipe import ShapingRecipe
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.algorithms.shapellm.seat_settings import (
    Frozen,
    Learns,
    Remembers,
    Scripted,
    SeatSettings,
    Speaks,
    Tabular,
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


def check_seats(recipe: ShapingRecipe, game: Game[Any]) -> None:
    """Refuse what the game does not admit, as far as can be told without a model."""
    if len(recipe.seats) != game.spec.seats:
        raise BadParameter(
            f"{game.spec.name} has {game.spec.seats} seats, and the recipe has {len(recipe.seats)}: "
            f"{', '.join(recipe.seats)}."
        )
    for slot, (name, seat) in enumerate(recipe.seats.items()):
        try:
            if isinstance(seat, Remembers):
                check_memory(seat.memory, make_style(seat.style), game)
                make_style(seat.style).messages(game.start(Key(0)).view(slot))
            if isinstance(seat, Tabular):
                TabularLearner(make_style(seat.style), seat.initial_probability).row(game.start(Key(0)).view(slot))
            if isinstance(seat, Scripted):
                make_player(seat.player, game)
        except BadParameter as error:
            raise BadParameter(f"The seat {name}: {error}") from error


def check_speech(recipe: ShapingRecipe, game: Game[Any], bases: Mapping[str, Base]) -> None:
    """Refuse actions that a model cannot say in its mode, such as labels of two tokens in `single`."""
    for slot, (name, seat) in enumerate(recipe.seats.items()):
        if isinstance(seat, Speaks):
            engine = spoken_by(recipe, seat, bases).engine
            state = game.start(Key(0))
            view = state.view(slot if slot in state.to_act else state.to_act[0])
            try:
                check_mode(seat.mode, speaker(speaks_of(seat), engine), view)
            except BadParameter as error:
                raise BadParameter(f"The seat {name}, with {engine.name}: {error}") from error


def spoken_by(recipe: ShapingRecipe, seat: Speaks, bases: Mapping[str, Base]) -> Served:
    """Who answers for a seat: a base of the run, or for a frozen one that names a model, that model as it is."""
    if recipe.elsewhere(seat):
        return served(seat.model)
    return Served(bases[recipe.base_of(seat)].engine, "")


@dataclass(frozen=True)
class Seating:
    """Makes the seats of a run."""

    recipe: ShapingRecipe
    game: Game[Any]
    bases: Mapping[str, Base]
    """By the recipe's names."""
    strict: bool = False

    def seats(self) -> dict[str, Seat]:
        """Everybody, by name, as they are before the first trial."""
        return {name: self._seat(name, seat) for name, seat in self.recipe.seats.items()}

    def _seat(self, name: str, seat: SeatSettings) -> Seat:
        if isinstance(seat, Scripted):
            return Seat(make_player(seat.player, self.game))
        if isinstance(seat, Frozen):
            return Seat(self._frozen(name, seat), seat.memory)
        every = episodes_between(seat.update_every, self.recipe.episodes)
        if isinstance(seat, Tabular):
            return TabularSeat(name, seat, every)
        return self._learning(name, seat, every)

    def _frozen(self, name: str, seat: Frozen) -> ModelPlayer:
        engine, adapter = spoken_by(self.recipe, seat, self.bases)
        return model_player(speaks_of(seat), engine, adapter, name)

    def _learning(self, name: str, seat: Learns, every: int) -> LanguageSeat:
        base, key = self.bases[self.recipe.base_of(seat)], Key(self.recipe.seed).at("seat", name)
        return LanguageSeat(name, seat, base, every, key, strict=self.strict)
