"""A language model takes a seat: the same `Player` as a scripted bot, as a generator of requests.

`tiny`, `smollm2(mode=free)`, `lm(dir:PATH, style=reasoned, mode=constrained)`, `run:PATH@last`, `api:MODEL@URL`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.options import whole, within
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.language.engines.base import Chat, Sampling
from stratagem.language.engines.open import engine_for
from stratagem.language.engines.remote.protocol import check_extra
from stratagem.language.models.decoding_settings import read_sampler
from stratagem.language.models.reference import NAMED, parse_model
from stratagem.language.models.run_models import decoding_options, pin_label
from stratagem.language.models.unloaded import NotLoaded
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Ask, Asking, Mix, ScoredActions, Traits, Turn, format_option
from stratagem.players.members import ModelUse, PlayerBase
from stratagem.players.model_player import ModelPlayer
from stratagem.players.modes import MODES, check_style
from stratagem.players.speaker import Speaker

_WHO = "A language model"


@dataclass(frozen=True)
class LanguagePlayer(PlayerBase):
    """Language model that is asked in a prompt style and answers in a mode."""

    model: str
    """Model text as `models` names it, with an adapter or without."""
    mode: str = ""
    """Mode: free, recover, constrained, direct, single or prefix; by default direct, and free behind a server."""
    style: str = "plain"
    """Prompt style by name."""
    temperature: float = 1.0
    """Sampling temperature; 0 takes the most likely token."""
    top_k: int = 0
    """Number of most likely tokens to sample from; 0 leaves all."""
    top_p: float = 1.0
    """Nucleus sampling: the most likely tokens that together have at least this probability."""
    max_new_tokens: int = 256
    """Largest number of tokens of free text in a reply."""
    mid_text: bool = False
    """True to end free text as soon as an action stands anywhere in its last line."""
    system: str = ""
    """Text before the prompt of the style, in the message of the system."""
    extra_body: str = ""
    """Further fields of a request to a server, such as {'reasoning_effort': 'low'}."""
    min_p: float = 0.0
    """Min-p sampling: the tokens with at least this share of the greatest probability; 0 leaves all."""
    sampler: str = ""
    """Sampler by name with its parameters, such as epsilon_uniform(epsilon=0.1); empty draws from the policy itself."""

    def __post_init__(self) -> None:
        for option in ("model", "mode", "style", "system", "sampler"):
            if not isinstance(value := getattr(self, option), str):
                raise BadParameter(f"{_WHO} needs `{option}` as a text, not {value!r}.")
        if not isinstance(self.mid_text, bool):
            raise BadParameter(f"{_WHO} needs `mid_text` as True or False, not {self.mid_text!r}.")
        within(_WHO, "temperature", self.temperature, 0.0)
        whole(_WHO, "top_k", self.top_k, 0)
        within(_WHO, "top_p", self.top_p, 0.0, 1.0)
        within(_WHO, "min_p", self.min_p, 0.0, 1.0)
        whole(_WHO, "max_new_tokens", self.max_new_tokens, 1)
        _ = self._usual
        object.__setattr__(self, "extra_body", self._extra())
        object.__setattr__(self, "sampler", str(read_sampler(self.sampler)) if self.sampler else "")
        make_style(self.style)
        if self.mode and self.mode not in MODES:
            raise UnknownName("mode", self.mode, MODES)
        _ = self._sampling

    def _extra(self) -> str:
        """Return the further fields as JSON; refused for a model that is not behind a server."""
        if self.extra_body and parse_model(self.model).kind != "api":
            raise BadParameter(f"`extra_body` is for a model behind a server, unlike {self.model}: leave it out.")
        return check_extra(self.extra_body) if self.extra_body else ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the text and the options; another process loads the model for itself."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def name(self) -> str:
        """Text that makes this player again."""
        options = [
            f"{field.name}={_show_option(field.name, getattr(self, field.name))}"
            for field in fields(self)
            if field.name != "model" and getattr(self, field.name) != self._usual.get(field.name, field.default)
        ]
        model = _quote_text(self.model)
        if not options and model == self.model:
            return model
        if self.model in NAMED:
            return f"{self.model}({', '.join(options)})"
        return f"lm({', '.join([model, *options])})"

    @cached_property
    def _usual(self) -> dict[str, Any]:
        """The options that the name leaves out: how the models of a run are asked."""
        return decoding_options(self.model)

    @property
    def traits(self) -> Traits:
        return self._player.traits

    @cached_property
    def _player(self) -> ModelPlayer:
        return ModelPlayer(name=self.name, speaker=self.speaker, mode=self._mode)

    @property
    def _mode(self) -> str:
        return self.mode or ("free" if parse_model(self.model).kind == "api" else "direct")

    @cached_property
    def speaker(self) -> Speaker:
        """Model with its style and mode; it is loaded on first use."""
        engine, adapter = engine_for(self.model)
        return Speaker(
            engine=engine,
            adapter=adapter,
            style=make_style(self.style),
            sampling=self._sampling,
            max_new_tokens=self.max_new_tokens,
            mid_text=self.mid_text,
            system=self.system,
            extra_body=self.extra_body,
        )

    @cached_property
    def _sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_k, self.top_p, self.min_p, self.sampler)

    def model_use(self) -> ModelUse:
        """Return the model with its style and mode; it is loaded on first use."""
        return ModelUse(self.speaker, self.mode, self.model)

    def check(self, game: Game[Any]) -> None:
        """Refuse a mode that the model, the style or the game does not admit, before it is played."""
        try:
            self._player.check(game)
        except NotLoaded:
            state = game.start(Key(0))
            check_style(self._mode, make_style(self.style), state.view(state.to_act[0]))

    def check_view(self, view: View[Any]) -> None:
        """Refuse a view that the mode or the style cannot read."""
        self._player.check_view(view)

    def turn(self, ask: Ask) -> Turn:
        return self._player.turn(ask)

    def policy(self, view: View[Any]) -> Mix:
        return self._player.policy(view)

    def policies(self, views: Sequence[View[Any]]) -> list[Mix]:
        """Return the probabilities in many situations, in one batch."""
        return self._player.policies(views)

    def prompts_in(self, views: Sequence[View[Any]]) -> list[Chat]:
        """Return the messages of the prompt in each situation."""
        return self._player.prompts_in(views)

    def scored(self, views: Sequence[View[Any]], ask: Asking | None = None) -> list[ScoredActions]:
        """Return the probabilities in many situations by a server's log-probabilities, with what is unseen."""
        return self._player.scored(views, ask)


def language_player(model: object, **options: Any) -> LanguagePlayer:
    """Make the player of a text: a run's model answers as in training, and stays at its step when the run goes on."""
    if not isinstance(model, str):
        raise BadParameter(f"{_WHO} needs `model` as a text, not {model!r}.")
    return LanguagePlayer(pin_label(model), **(decoding_options(model) | options))


def _show_option(option: str, value: object) -> str:
    return repr(value) if option in ("system", "extra_body") else format_option(value)


def _quote_text(text: str) -> str:
    return repr(text) if set(text) & set(",()[]{}'\"") else text
