"""Logits processors of vLLM's two model runners, as thin shells around the rows.

vLLM 0.32 has two interfaces. The V1 runner, which a CPU uses, tells a processor of requests that enter, leave and move
in the batch. Model Runner V2, the default on GPUs, gives each request a slot, and tells which slot each row belongs to;
our processor for it was tested against a stand-in, and not run on a GPU.

A processor lives as long as vLLM. Of an engine in the same process it has rows by number only: rows lead to their
engine, which is to be freed. On a server it has the rows themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from stratagem.language.engines.vllm.rows import fill
from stratagem.language.engines.vllm.served import HeldRequest, Holder, check_data


class V1Shell:
    """Processor of the V1 runner: requests by index in the batch, with the list to which vLLM appends its tokens."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        in_order = vllm_config is None or not vllm_config.scheduler_config.async_scheduling
        self._holder = Holder(vllm_config, in_order=in_order)
        self._held: dict[int, tuple[HeldRequest, Sequence[int]]] = {}

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse data of another version."""
        check_data(sampling_params.extra_args)

    def is_argmax_invariant(self) -> bool:
        """Return False: the processor chooses the argmax."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow the requests that were removed, added and moved, in this order."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._held.pop(index, None)
        for index, params, _, said in batch_update.added:
            held = self._holder.hold(params.extra_args)
            self._set(index, None if held is None else (held, said))
        for source, target, direction in batch_update.moved:
            first, second = self._held.pop(source, None), self._held.pop(target, None)
            self._set(target, first)
            if direction.name == "SWAP":
                self._set(source, second)

    def _set(self, index: int, held: tuple[HeldRequest, Sequence[int]] | None) -> None:
        self._held.pop(index, None)
        if held is not None:
            self._held[index] = held

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Draw or score every row of ours."""
        rows = [(index, held.row(said)) for index, (held, said) in sorted(self._held.items())]
        fill(logits, [(index, row) for index, row in rows if row is not None])
        return logits


class V2Shell:
    """Processor of Model Runner V2: requests by slot; not run on a GPU."""

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        self._holder = Holder(vllm_config, in_order=True)
        self._states = req_states
        self._slots: dict[int, HeldRequest] = {}

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse data of another version."""
        check_data(sampling_params.extra_args)

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Take the slot's new request; True if it is ours."""
        self._slots.pop(req_idx, None)
        held = self._holder.hold(sampling_params.extra_args)
        if held is not None:
            self._slots[req_idx] = held
        return held is not None

    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        """Draw or score every row of ours."""
        slots = ctx.expanded_idx_mapping.tolist()
        held = [(index, slot, self._slots[slot]) for index, slot in enumerate(slots) if slot in self._slots]
        rows = [
            (index, one.row(self._appended_tokens(index, slot, ctx) if one.listens else ()))
            for index, slot, one in held
        ]
        fill(logits, [(index, row) for index, row in rows if row is not None])
        return logits

    def _appended_tokens(self, index: int, slot: int, ctx: Any) -> list[int]:
        """Return the tokens that vLLM appended to a prompt; none while it is being read."""
        start, end = int(self._states.prompt_len.np[slot]), int(ctx.pos[index]) + 1
        said: list[int] = self._states.all_token_ids.gpu[slot, start : max(start, end)].tolist()
        return said


@cache
def v1_processor() -> type:
    """Return the processor's class for the V1 runner; this imports vLLM."""
    from vllm.v1.sample.logits_processor import LogitsProcessor

    return type("StratagemProcessor", (V1Shell, LogitsProcessor), {})


@cache
def v2_processor() -> type:
    """Return the processor's class for Model Runner V2; this imports vLLM."""
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

    return type("StratagemProcessor", (V2Shell, LogitsProcessor), {})
