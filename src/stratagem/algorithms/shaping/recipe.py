"""A recipe for learners with clocks of their own: the game, who sits where, and how long a trial is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.kl_sft import KLSFTRecipe, KLSFTSettings
from stratagem.algorithms.shaping.seat_settings import Frozen, Learns, SeatSettings, Speaks, Tabular, episodes_between
from stratagem.algorithms.target_policies import TargetPolicy
from stratagem.models.reference import parse_model
from stratagem.settings import FiniteSettings
from stratagem.training.recipe_file import AnyRecipe, over

_KINDS = ("naive", "shaper", "frozen", "scripted", "tabular")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TAKEN = "lora_"


class FinalGames(FiniteSettings):
    """What is played when all is learnt, without learning."""

    games: int = Field(default=100, ge=1)
    """How many games of each length."""
    rounds: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """How long they are, for a game that says how many rounds it has; without any they are as long as an episode."""


class ShapingRecipe(AnyRecipe):
    """Trials of several environments side by side, each of several episodes one after the other."""

    algorithm: Literal["shaping"] = "shaping"
    """By which algorithm it learns."""
    game: str = "ipd-shapellm"
    """What is played."""
    model: str = "tiny"
    """The base of every seat that names none."""
    seats: dict[str, SeatSettings] = Field(min_length=1)
    """Who sits where, by names of your own, in the order of the seats."""
    trials: int = Field(default=300, ge=1)
    """How many trials are played; nobody forgets between two."""
    environments: int = Field(default=5, ge=1)
    """How many games are played side by side."""
    episodes: int = Field(default=5, ge=1)
    """How many each plays one after the other; a game's own `rounds` is the length of one."""
    start: tuple[TargetPolicy, ...] = ()
    """What the base is taught to begin with, before there is any learner; without it, it stays as it is."""
    kl_sft: KLSFTSettings = KLSFTSettings()
    """How it is taught that."""
    checkpoint_every: int = Field(default=10, ge=1)
    """Trials between two checkpoints."""
    record_every: int = Field(default=10, ge=1)
    """Every so many trials what was played is kept."""
    test: FinalGames = FinalGames()
    """What is played at the end."""

    @model_validator(mode="before")
    @classmethod
    def _as_usual(cls, data: Any) -> Any:
        """A file may say under `usual` what its naive learners, or its shapers, have in common; a seat's own counts."""
        if not isinstance(data, Mapping) or "usual" not in data:
            return data
        usual, seats = data["usual"], data.get("seats", {})
        if not _is_tables(usual) or not _is_tables(seats):
            raise ValueError(
                "`usual` has a table for a kind of learner, as [usual.naive], and `seats` one for each seat"
            )
        if unknown := set(usual) - set(_KINDS):
            raise ValueError(f"`usual` tells of {', '.join(sorted(unknown))}, and there are {', '.join(_KINDS)}")
        whole = {name: over(usual.get(str(seat.get("learner")), {}), seat) for name, seat in seats.items()}
        return {**{name: value for name, value in data.items() if name != "usual"}, "seats": whole}

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name, seat in self.seats.items():
            if not _NAME.fullmatch(name) or name in _TAKEN:
                raise ValueError(
                    f"a seat cannot be called {name!r}: take letters, digits, - and _, a letter first, no part of lora_"
                )
            if isinstance(seat, Learns | Tabular):
                self._check_clock(name, episodes_between(seat.clock, self.episodes))
                self._check_compared(name, seat)
            if isinstance(seat, Learns):
                self._check_learner(name, seat)
        if self.start and not self.bases:
            raise ValueError("a `start` teaches the base of seats that learn, and no seat is on one: leave it out")
        if self.start and (held := [text for text in self.bases if parse_model(text).four_bit]):
            raise ValueError(f"{held[0]!r} in 4 bits cannot be taught a `start`: leave `start` out, or +4bit")
        return self

    def _check_clock(self, name: str, between: int) -> None:
        if self.episodes % between:
            raise ValueError(
                f"`seats.{name}` learns every {between} episodes, which do not divide the {self.episodes} of a trial: "
                'take a `clock` that does, or "trial"'
            )

    def _check_compared(self, name: str, seat: Learns | Tabular) -> None:
        """A return that is compared with the mean over one environment is compared with itself."""
        centred = isinstance(seat, Tabular) or seat.ppo.centre == "turn"
        if centred and self.environments == 1:
            how = 'learner = "tabular"' if isinstance(seat, Tabular) else 'ppo.centre = "turn"'
            raise ValueError(
                f"`seats.{name}` learns from how `environments` differ (`{how}`), and one alone teaches it nothing: "
                "take at least 2"
            )

    def _check_learner(self, name: str, seat: Learns) -> None:
        text = self.base_of(seat)
        ref = parse_model(text)
        if seat.optimizer.schedule != "constant" or seat.optimizer.warmup_ratio:
            raise ValueError(
                f"`seats.{name}.optimizer` cannot have a schedule, as how many steps are taken depends on what is "
                "played: its `pace` goes by how often it learns"
            )
        if ref.kind == "api":
            raise ValueError(f"`seats.{name}` learns, and a model behind a server has no weights here: name another")
        if ref.adapters:
            raise ValueError(f"`seats.{name}` learns an adapter of its own: name a base without one, not {text!r}")

    @property
    def sft_steps(self) -> int:
        """Steps of KL-SFT, of all bases together."""
        if not self.start:
            return 0
        one = KLSFTRecipe(target_policies=self.start, kl_sft=self.kl_sft)
        return one.steps * len(self.bases)

    @property
    def bases(self) -> tuple[str, ...]:
        """The models that seats are on, each once."""
        spoken = (seat for seat in self.seats.values() if isinstance(seat, Speaks))
        return tuple(dict.fromkeys(self.base_of(seat) for seat in spoken if not self.elsewhere(seat)))

    def base_of(self, seat: Speaks) -> str:
        """The model of a seat."""
        return seat.model or self.model

    def elsewhere(self, seat: Speaks) -> bool:
        """Whether a seat's model is used as it is, and is nothing that this run makes or changes."""
        return isinstance(seat, Frozen) and bool(seat.model)


def _is_tables(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(inner, Mapping) for inner in value.values())
