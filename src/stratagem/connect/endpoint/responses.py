"""Responses in OpenAI's form."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence

from stratagem.connect.endpoint.bodies import ChatRequest
from stratagem.connect.endpoint.positions import SeatPosition
from stratagem.connect.endpoint.turns import ChatAnswer, log
from stratagem.games.base import Json
from stratagem.players.base import Mix


def completion(asked: ChatRequest, answers: Sequence[ChatAnswer], place: SeatPosition | None, player: str) -> Json:
    """Return the body of a response; the field `stratagem` says what was answered, and by whom."""
    chat = asked.text is None
    kind, prefix = ("chat.completion", "chatcmpl") if chat else ("text_completion", "cmpl")
    return {
        "id": f"{prefix}-{secrets.token_hex(12)}",
        "object": kind,
        "created": int(time.time()),
        "model": asked.model,
        "system_fingerprint": player,
        "choices": [_choice(index, answer, asked) for index, answer in enumerate(answers)],
        "usage": _usage(answers),
        "stratagem": {
            "player": player,
            "position": None if place is None else place.found,
            "how": [answer.how for answer in answers],
        },
    }


def models(names: Mapping[str, int]) -> Json:
    """Return the list of models: names with the times at which they were opened."""
    return {"object": "list", "data": [model(name, created) for name, created in names.items()]}


def model(name: str, created: int) -> Json:
    """Return the description of one model."""
    return {"id": name, "object": "model", "created": created, "owned_by": "stratagem"}


def _choice(index: int, answer: ChatAnswer, asked: ChatRequest) -> Json:
    shown: Json = {"text": answer.text}
    if asked.text is None:
        shown = {"message": {"role": "assistant", "content": answer.text, "refusal": None}}
    told = None if answer.mix is None else _logprobs(answer, answer.mix, asked.top_logprobs or 0)
    return {"index": index, **shown, "logprobs": told, "finish_reason": answer.finish}


def _logprobs(answer: ChatAnswer, mix: Mix, top: int) -> Json:
    """Return the probability of the action, which counts as one token, and of the likeliest actions."""
    likeliest = sorted(((action, p) for action, p in mix.items() if p > 0.0), key=lambda pair: -pair[1])
    token = _token(answer.action, mix.get(answer.action, 0.0))
    return {"content": [token | {"top_logprobs": [_token(*pair) for pair in likeliest[:top]]}], "refusal": None}


def _token(action: str, probability: float) -> Json:
    return {"token": action, "logprob": log(probability), "bytes": list(action.encode(errors="replace"))}


def _usage(answers: Sequence[ChatAnswer]) -> Json:
    """Return the numbers of tokens; the prompt counts once, whatever the number of choices."""
    prompt, reply = answers[0].num_prompt, sum(answer.num_reply for answer in answers)
    return {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
