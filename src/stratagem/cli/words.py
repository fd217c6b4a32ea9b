"""Words behind a decision for a terminal: the prompt as messages, and the reply of the model with its probability.

Every line of a text stands behind a bar, so that no text can pass for a line of the transcript.
"""

from __future__ import annotations

import math

from stratagem.cli.console import out
from stratagem.engines.base import Call
from stratagem.games.base import Json
from stratagem.play.records import Decision, Episode
from stratagem.show.console import Text
from stratagem.visible import visible

_BAR = "      │ "
_KINDS = {"forced": "forced", "argmax": "taken as the most likely legal token"}
"""Origins of tokens other than sampling."""


def print_words(decision: Decision) -> None:
    """Print the calls behind a decision."""
    for number, call in enumerate(decision.calls, 1):
        title = f"call {number} of {len(decision.calls)}, " if len(decision.calls) > 1 else ""
        policy = "/".join(filter(None, (call.policy.base, call.policy.adapter)))
        out.print(Text(f"      {title}{policy}, version {call.policy.version}", style="bold"))
        for role, content in call.prompt.messages:
            _quote(role, content, "dim")
        if call.reasoning:
            _quote("reasoning", call.reasoning, "yellow")
        _quote(reply_title(call), call.text, "red" if call.failed else "green")


def reply_title(call: Call) -> str:
    """Describe a reply: how it ended, its tokens, and its probability."""
    if call.failed:
        return f"no reply ({call.finish})"
    kinds: list[str] = [span.kind for span in call.spans for _ in range(span.start, span.end)]
    parts = [f"{len(call.tokens) or call.num_reply} tokens"]
    parts += [f"{count} {told}" for kind, told in _KINDS.items() if (count := kinds.count(kind))]
    parts += [f"probability {math.exp(math.fsum(call.sampler_logprobs)):.3g}"] if call.sampler_logprobs else []
    return f"reply ({', '.join(parts)}{'' if call.finish == 'done' else f', ended by {call.finish}'})"


def _quote(title: str, content: str, style: str) -> None:
    out.print(Text(f"      {title}", style="cyan"))
    for line in content.split("\n"):
        for part in _wrapped(line):
            out.print(Text(_BAR, style="cyan").append(part, style=style))


def _wrapped(line: str) -> list[str]:
    """Cut a line to the width of a terminal, which would go on before the bar."""
    if not out.is_terminal:
        return [line]
    told, room = visible(line), max(20, out.width - len(_BAR))
    return [told[place : place + room] for place in range(0, max(1, len(told)), room)]


def calls_json(episode: Episode) -> list[Json]:
    """Return the calls of an episode as data, each with its decision."""
    return [
        {
            "turn": decision.turn, "seat": decision.seat, "attempt": decision.attempt,
            "policy": call.policy._asdict(),
            "messages": [{"role": role, "content": content} for role, content in call.prompt.messages],
            "reply": call.text, "reasoning": call.reasoning, "finish": call.finish,
            "tokens": list(call.tokens), "sampler_logprobs": list(call.sampler_logprobs),
        }
        for decision in episode.decisions
        for call in decision.calls
    ]  # fmt: skip
