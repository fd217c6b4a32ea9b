"""Harness that asks for one reply to one prompt, in this process, without the turns before it.

A prompt of Stratagem has all that a seat knows. So each turn is a conversation of its own, and a branch of the trace.
"""

from __future__ import annotations

from typing import ClassVar

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.errors import MODEL_TRANSPORT_ERROR_EXIT_CODE

_SHOWN = 2000
"""Number of characters of an error that are kept."""


class PromptConfig(vf.HarnessConfig):
    """Settings of the harness; it has none of its own."""


class PromptHarness(vf.Harness[PromptConfig]):
    """Sends the messages of a turn, and nothing else."""

    APPENDS_SYSTEM_PROMPT: ClassVar[bool] = True
    SUPPORTS_RESUME: ClassVar[bool] = True
    EXECUTES_CODE: ClassVar[bool] = False
    NEEDS_CONTAINER: ClassVar[bool] = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, prompt = self.resolve_prompt(data)
        told = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else list(prompt or [])
        messages = [vf.SystemMessage(content=system), *told] if system else told
        return await _asked(endpoint, secret, ctx.model, messages)

    async def resume(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        messages: vf.Messages,
        tool_interception_url: str | None = None,
    ) -> vf.ProgramResult:
        return await _asked(endpoint, secret, ctx.model, messages)


async def _asked(endpoint: str, secret: str, model: str, messages: vf.Messages) -> vf.ProgramResult:
    """Post a chat request to the server of the rollout, which applies the sampling settings and keeps the reply."""
    body = {"model": model, "messages": [message_to_wire(message) for message in messages]}
    try:  # without a timeout of its own, since each agent has one
        async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
            headers = {"authorization": f"Bearer {secret}"}
            reply = await client.post(f"{endpoint}/chat/completions", json=body, headers=headers)
    except httpx.TransportError as error:
        return vf.ProgramResult(MODEL_TRANSPORT_ERROR_EXIT_CODE, "", f"{type(error).__name__}: {error}")
    failed = reply.status_code >= 400
    return vf.ProgramResult(int(failed), "", reply.text[:_SHOWN] if failed else "")
