"""Requests of a seat to a model of inspect, which logs, retries and caches them."""

from __future__ import annotations

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config

from stratagem.engines.base import Call, Finish, Prompt, Request
from stratagem.games.key import Key
from stratagem.integrations.outside import Outside

_FINISHES: dict[str, Finish] = {"max_tokens": "length", "model_length": "length", "content_filter": "filter"}
"""Reasons of a model to stop before its reply is complete."""
_SEED_BITS = 0x7FFF_FFFF
_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


async def asked(model: Model, engine: Outside, request: Request) -> tuple[Call, ModelOutput]:
    """Ask a model; sampling options are those that inspect was given."""
    given = active_generate_config().seed if model is get_model() else model.config.seed
    config = GenerateConfig(seed=seed_of(request.key, given))
    output = await model.generate(messages_of(request.prompt), config=config)
    usage = output.usage
    call = engine.call(
        request,
        output.completion,
        finish=_FINISHES.get(output.stop_reason, "done"),
        num_prompt=usage.input_tokens if usage else 0,
        num_reply=usage.output_tokens if usage else 0,
        seconds=output.time or 0.0,
    )
    return call, output


def seed_of(key: Key, given: int | None) -> int | None:
    """Return the seed of one request: it follows from `--seed` and the place in the match.

    One seed for all requests would repeat one reply wherever a situation comes back. None without `--seed`.
    """
    return None if given is None else key.at("seed", given).value & _SEED_BITS


def messages_of(prompt: Prompt) -> list[ChatMessage]:
    """Return the messages of a prompt as inspect has them."""
    return [_MESSAGES[role](content=text) for role, text in prompt.messages]
