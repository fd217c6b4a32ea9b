"""Observations of fixed form: the text of a view as text or as bytes, or OpenSpiel's tensor."""

from __future__ import annotations

import string
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.options import whole
from stratagem.games.base import Game, View
from stratagem.games.spiel.rules import SpielRules

CHARACTERS = frozenset(string.printable) - frozenset("\t\r\v\f")
"""Characters of a text observation; others are written as Python escapes."""


@dataclass(frozen=True)
class Observing(ABC):
    """Form of the observations of a game."""

    game: Game[Any]
    max_length: int
    """Length of the longest text, in characters or bytes."""
    key: ClassVar[str] = "observation"
    """Name of the observation beside the mask."""

    @classmethod
    def obstacle(cls, game: Game[Any]) -> str:
        """Return why a game has no such observations, in one sentence; empty where it has."""
        return ""

    @abstractmethod
    def __call__(self, view: View[Any], step: str) -> Any:
        """Return the observation of a seat; `step` says which part of its choice is due."""

    def _fitting(self, size: int) -> None:
        if size > self.max_length:
            raise BadParameter(
                f"An observation of {self.game.spec.name} has {size} characters, more than `max_length`, which is "
                f"{self.max_length}: make the environment with a larger one."
            )


class TextObservation(Observing):
    """Situation in words, as ASCII.

    PettingZoo's tests expect an array under the name `observation`, so a text has a name of its own.
    """

    key: ClassVar[str] = "text"

    def __call__(self, view: View[Any], step: str) -> str:
        text = _text(view, step).encode("ascii", "backslashreplace").decode()
        text = "".join(c if c in CHARACTERS else repr(c)[1:-1] for c in text)
        self._fitting(len(text))
        return text


class BytesObservation(Observing):
    """Situation in words, as UTF-8 with zeros at its end."""

    def __call__(self, view: View[Any], step: str) -> np.ndarray[Any, Any]:
        data = _text(view, step).encode()
        self._fitting(len(data))
        return np.frombuffer(data.ljust(self.max_length, b"\0"), dtype=np.uint8).copy()


class TensorObservation(Observing):
    """Information state of OpenSpiel as a tensor, or its observation where it has no information state."""

    @classmethod
    def obstacle(cls, game: Game[Any]) -> str:
        kind = game.engine.spiel.get_type() if isinstance(game, SpielRules) else None
        if kind and (kind.provides_information_state_tensor or kind.provides_observation_tensor):
            return ""
        return f"OpenSpiel has no tensors of {game.spec.name}: observe its text or bytes."

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tensor."""
        assert isinstance(self.game, SpielRules)
        spiel = self.game.engine.spiel
        informed = spiel.get_type().provides_information_state_tensor
        return tuple(spiel.information_state_tensor_shape() if informed else spiel.observation_tensor_shape())

    def __call__(self, view: View[Any], step: str) -> np.ndarray[Any, Any]:
        return np.array(view.facts.tensor, dtype=np.float32).reshape(self.shape)


OBSERVATIONS: dict[str, type[Observing]] = {
    "text": TextObservation,
    "bytes": BytesObservation,
    "tensor": TensorObservation,
}
"""Forms of observations by name."""


def observing(name: str, game: Game[Any], max_length: int) -> Observing:
    """Return the form of this name for a game."""
    whole("The environment", "max_length", max_length, 1)
    if name not in OBSERVATIONS:
        raise UnknownName("form of observations", str(name), OBSERVATIONS)
    if reason := OBSERVATIONS[name].obstacle(game):
        raise BadParameter(reason)
    return OBSERVATIONS[name](game, max_length)


def _text(view: View[Any], step: str) -> str:
    return f"{view.situation}\n{step}" if step else view.situation
