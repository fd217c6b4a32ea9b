"""Bodies of requests: the supported options, and a sentence for each of the others.

An option that would change the answer and is not supported is refused, never ignored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from stratagem.base.errors import BadParameter
from stratagem.base.settings import FiniteSettings, Settings
from stratagem.connect.endpoint.refusal import RefusedRequest
from stratagem.language.engines.base import Chat
from stratagem.language.engines.remote.replies import sound
from stratagem.show.web.bodies import parse_object

MOST_CHOICES = 64
"""Largest number of answers of one request."""
MOST_TOKENS = 8192
"""Largest number of tokens of a reply."""
MOST_VALUES = 16_384
"""Largest number of values in the JSON of a request: the checks of more would take seconds."""
_MOST_OPTIONS = 64
_MOST_STOPS = 4
"""Largest number of stop texts in OpenAI's protocol."""
_SEEDS = (-(1 << 63), (1 << 64) - 1)
"""Range of whole numbers of 64 bits, with a sign or without, since clients send both."""
LABELS = ("user", "metadata", "safety_identifier")
"""Fields that name the caller and change no answer."""
NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "stream": (False,),
    "store": (False,),
    "echo": (False,),
    "best_of": (1,),
    "suffix": ("",),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "parallel_tool_calls": (True, False),
    "service_tier": ("auto", "default"),
}
"""Options of the protocol that are not supported, with the values that ask for nothing."""
Number = Annotated[float, Field(strict=True)]


class MessagePart(Settings):
    """Text of a message in parts."""

    type: Literal["text"]
    text: StrictStr


class ChatMessageBody(Settings):
    """Message of a chat."""

    role: Literal["system", "developer", "user", "assistant"]
    content: StrictStr | Annotated[list[MessagePart], Field(fail_fast=True)]
    name: StrictStr = ""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        """Leave out fields without a value, such as the `refusal` of a message that a client sends back."""
        return {name: value for name, value in data.items() if value is not None} if isinstance(data, dict) else data

    @property
    def text(self) -> str:
        """The whole text."""
        parts = [self.content] if isinstance(self.content, str) else [part.text for part in self.content]
        return sound("".join(parts))


class ServedPosition(Settings):
    """Position of a seat in the served game."""

    state: dict[str, Any] | None = None
    """State of the game, as `State.dump` returns it; None where the prompt shows it."""
    seat: StrictInt
    """Seat that is to act."""


class Body(FiniteSettings):
    """Options of chats and of texts."""

    model: StrictStr
    n: Annotated[int, Field(strict=True, ge=1, le=MOST_CHOICES)] = 1
    temperature: Annotated[Number, Field(ge=0.0, le=2.0)] | None = None
    top_p: Annotated[Number, Field(gt=0.0, le=1.0)] | None = None
    max_tokens: Annotated[int, Field(strict=True, ge=1, le=MOST_TOKENS)] | None = None
    seed: Annotated[int, Field(strict=True, ge=_SEEDS[0], le=_SEEDS[1])] | None = None
    stop: StrictStr | Annotated[list[StrictStr], Field(max_length=_MOST_STOPS)] = ""
    stratagem: ServedPosition | None = None

    @property
    def stops(self) -> tuple[str, ...]:
        """Texts before which a reply ends."""
        return tuple(filter(None, [self.stop] if isinstance(self.stop, str) else self.stop))


class ChatBody(Body):
    """Body of `/v1/chat/completions`."""

    messages: Annotated[list[ChatMessageBody], Field(min_length=1, fail_fast=True)]
    max_completion_tokens: Annotated[int, Field(strict=True, ge=1, le=MOST_TOKENS)] | None = None
    logprobs: StrictBool = False
    top_logprobs: Annotated[int, Field(strict=True, ge=0, le=20)] | None = None

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if None not in (limits := (self.max_tokens, self.max_completion_tokens)) and limits[0] != limits[1]:
            raise ValueError("max_tokens and max_completion_tokens are two names of one limit, and here they differ")
        if self.top_logprobs is not None and not self.logprobs:
            raise ValueError("top_logprobs needs logprobs=true")
        return self


class TextBody(Body):
    """Body of `/v1/completions`."""

    prompt: StrictStr


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """Request that a player is to answer."""

    model: str
    chat: Chat = ()
    text: str | None = None
    """Text to continue, where the request is no chat."""
    n: int = 1
    temperature: float | None = None
    """Sampling temperature; None is the player's own, as in the options below."""
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stops: tuple[str, ...] = ()
    top_logprobs: int | None = None
    """Number of likely actions to tell beside the chosen one; None tells no probability."""
    position: ServedPosition | None = None


def read_chat(data: bytes) -> ChatRequest:
    """Read a request for a chat completion."""
    body = _read(ChatBody, data)
    chat = tuple(("system" if one.role == "developer" else one.role, one.text) for one in body.messages)
    limit = body.max_tokens if body.max_completion_tokens is None else body.max_completion_tokens
    top = (body.top_logprobs or 0) if body.logprobs else None
    return _asked_decoding(body, chat=chat, max_tokens=limit, top_logprobs=top)


def read_text(data: bytes) -> ChatRequest:
    """Read a request for the completion of a text."""
    body = _read(TextBody, data)
    text = sound(body.prompt)
    return _asked_decoding(body, chat=(("user", text),), text=text, max_tokens=body.max_tokens)


def _asked_decoding(body: Body, **more: Any) -> ChatRequest:
    return ChatRequest(
        model=body.model,
        n=body.n,
        temperature=body.temperature,
        top_p=body.top_p,
        seed=body.seed,
        stops=body.stops,
        position=body.stratagem,
        **more,
    )


B = TypeVar("B", bound=Body)


def _read(cls: type[B], data: bytes) -> B:
    try:
        given = parse_object(data)
        if len(given) > _MOST_OPTIONS or _has_many_values(given):
            raise RefusedRequest(f"A request has at most {_MOST_OPTIONS} options and {MOST_VALUES} values.", status=413)
        return cls.read(_effective(given))
    except BadParameter as error:
        raise RefusedRequest(str(error)) from None


def _has_many_values(given: object) -> bool:
    """Return whether JSON has more values than a request may have."""
    waiting, count = [given], 1
    while waiting and count <= MOST_VALUES:
        value = waiting.pop()
        inside: Collection[object] = (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        )
        count += len(inside)
        if count <= MOST_VALUES:
            waiting += inside
    return count > MOST_VALUES


def _effective(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have an effect; one that is not supported is refused."""
    kept = {name: value for name, value in given.items() if value is not None and name not in LABELS}
    for name, harmless in NEUTRAL.items():
        if name in kept and (value := kept.pop(name)) not in harmless:
            allowed = " or ".join(json.dumps(one) for one in harmless)
            shown = json.dumps(value)[:100]
            raise RefusedRequest(
                f"The option {name}={shown} is not supported here: leave it out, or set {allowed}.", param=name
            )
    return kept
