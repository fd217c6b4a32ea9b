"""Replies of servers, untrusted: whatever the input, the result is a reply or a `Failure`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stratagem.language.engines.base import Alternative, Finish
from stratagem.language.engines.remote.retries import Failure

LONGEST = 1 << 16
"""Largest number of characters of a reply; the rest is cut off."""
_LONGEST_ID = 200
"""Largest number of characters of an answer's id that are kept."""
_QUOTED = 200
"""Number of characters of a server's message in an error."""
_SEARCHED = 10_000
"""Number of characters that are searched for the message."""
_MOST_TOKENS = 1 << 40
_DECLINED: dict[str, Finish] = {"content_filter": "filter", "refusal": "refusal"}
"""Ends of a reply that a filter or the model itself withheld, by `finish_reason`."""
FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
"""Codes of errors that say that a filter withheld the answer to a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReply:
    """Model's answer from a server."""

    text: str
    finish: Finish
    num_prompt: int = 0
    num_reply: int = 0
    alternatives: tuple[tuple[Alternative, ...], ...] = ()
    reasoning: str = ""
    """Thoughts that the server tells apart from the reply."""
    answer_id: str = ""


def read_reply(body: bytes, hide: Callable[[str], str]) -> ServerReply:
    """Read the first choice of a chat completion, without secrets."""
    answer = _mapping(parse_json(body))
    choice = _mapping(_first(answer.get("choices")))
    ended, message = choice.get("finish_reason"), _mapping(choice.get("message"))
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    declined = _DECLINED.get(ended) if isinstance(ended, str) else None
    if refusal and not text:
        text, declined = refusal, declined or "refusal"
    if text is None and (ended == "length" or declined):
        text = ""
    usage = _mapping(answer.get("usage"))
    num_prompt, num_reply = tokens_of(usage.get("prompt_tokens")), tokens_of(usage.get("completion_tokens"))
    if text is None:
        answered = f"answered with no chat completion: {quote_start(hide(error_message(body)))}"
        why = _no_text(ended, hide) if choice else answered
        raise Failure(why, num_prompt=num_prompt, num_reply=num_reply)
    text = hide(text)
    finish: Finish = "length" if ended == "length" or len(text) > LONGEST else "done"
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning")) or ""
    return ServerReply(
        text=text[:LONGEST],
        finish=declined or finish,
        num_prompt=num_prompt,
        num_reply=num_reply,
        alternatives=read_alternatives(choice, hide),
        reasoning=hide(reasoning)[:LONGEST],
        answer_id=hide(_text(answer.get("id")) or "")[:_LONGEST_ID],
    )


def read_models(body: bytes, hide: Callable[[str], str]) -> list[str]:
    """Read the names of the models that a server lists."""
    listed = _mapping(parse_json(body)).get("data")
    names = [_mapping(model).get("id") for model in (listed if isinstance(listed, list) else [])]
    return [quote_start(hide(name)) for name in names if isinstance(name, str) and name]


def error_message(body: bytes) -> str:
    """Return the message of an error where there is one, else the answer as it is."""
    answer = parse_json(body)
    error = _mapping(answer).get("error", answer)
    for message in (error, *(_mapping(error).get(name) for name in ("message", "detail"))):
        if isinstance(message, str) and message.strip():
            return message
    return _decode_body(body)


def error_code(body: bytes) -> str:
    """Return the code of an error where there is one; empty without."""
    code = _mapping(_mapping(parse_json(body)).get("error")).get("code")
    return code if isinstance(code, str) else ""


def quote_start(text: str) -> str:
    """Return the beginning of a text on one line, without control characters; `nothing` where there is none."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:_SEARCHED]).split())
    return (line or "nothing") if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"


def sound(text: str) -> str:
    """Replace halves of characters, which cannot be sent or stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


def parse_json(body: bytes) -> Any:
    """Parse the JSON of an answer; None where it is none."""
    try:
        return json.loads(_decode_body(body))
    except (ValueError, RecursionError):
        return None


def _decode_body(body: bytes) -> str:
    return body.decode("utf-8-sig", "replace")


def _no_text(ended: object, hide: Callable[[str], str]) -> str:
    reason = f" (finish_reason {quote_start(hide(ended))})" if isinstance(ended, str) and ended else ""
    return f"gave an answer without a text{reason}"


def _text(content: object) -> str | None:
    """Return the text of a message, which may come in parts."""
    if isinstance(content, list):
        parts = [_mapping(part).get("text") for part in content if _mapping(part).get("type") == "text"]
        content = "".join(part for part in parts if isinstance(part, str)) if parts else None
    return sound(content) if isinstance(content, str) else None


def _first(values: object) -> object:
    return values[0] if isinstance(values, list) and values else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def tokens_of(value: object) -> int:
    """Return a count, where a server gives a sensible one."""
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else 0


_MOST_LOGPROBS = 1 << 12
_MOST_ALTERNATIVES = 1 << 10
"""Largest numbers of tokens, and of others in the place of one, that are read: a server is not trusted to stop."""
_ROUNDING = 1e-3
"""Tolerance of a log-probability above 0."""
_LEAST = -1e300
"""Log-probability below which a token has none; JSON has integers that are no floating-point number."""


def read_alternatives(choice: Mapping[str, Any], hide: Callable[[str], str]) -> tuple[tuple[Alternative, ...], ...]:
    """Return for each token of a reply its alternatives, the token itself first; empty where the server tells none.

    Chat completions list them in `logprobs.content`; servers that keep to the form of plain completions, in parallel
    lists.

    Empty also where they repeat a secret, in one token or from one token to the next.
    """
    told = choice.get("logprobs")
    if not isinstance(told, dict):
        return ()
    positions = _of_chat(told["content"]) if isinstance(told.get("content"), list) else _of_lists(told)
    found = tuple(tuple(_unique(position)) for position in positions)
    written = (b"".join(row[0].token for row in found if row), *(one.token for row in found for one in row))
    text = b"\0".join(written).decode("utf-8", "replace")
    return found if hide(text) == text else ()


def _of_chat(content: list[Any]) -> Iterator[list[Alternative | None]]:
    for token in content[:_MOST_LOGPROBS]:
        row = token if isinstance(token, dict) else {}
        others = row.get("top_logprobs")
        yield [_alternative(one) for one in (row, *(others if isinstance(others, list) else ()))]


def _of_lists(told: Mapping[str, Any]) -> Iterator[list[Alternative | None]]:
    tokens, logprobs, tops = (told.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(tokens, list) or not isinstance(logprobs, list):
        return
    others = tops if isinstance(tops, list) else [{}] * len(tokens)
    for token, logprob, top in list(zip(tokens, logprobs, others, strict=False))[:_MOST_LOGPROBS]:
        pairs = [(token, logprob), *(top.items() if isinstance(top, dict) else ())]
        yield [_alternative({"token": text, "logprob": value}) for text, value in pairs]


def _alternative(row: object) -> Alternative | None:
    """Return a token with its log-probability; None where it is none."""
    told = row if isinstance(row, dict) else {}
    token, logprob, raw = told.get("token"), told.get("logprob"), told.get("bytes")
    if not isinstance(token, str) or not isinstance(logprob, int | float) or not logprob <= _ROUNDING:
        return None
    logprob = min(0.0, float(logprob)) if logprob > _LEAST else -math.inf
    if isinstance(raw, list) and all(type(byte) is int and 0 <= byte < 256 for byte in raw):
        return Alternative(bytes(raw), logprob)
    return Alternative(token.encode("utf-8", "replace"), logprob)


def _unique(position: list[Alternative | None]) -> Iterator[Alternative]:
    """Yield each token once."""
    seen = set[bytes]()
    for one in position[: _MOST_ALTERNATIVES + 1]:
        if one is not None and one.token not in seen:
            seen.add(one.token)
            yield one
