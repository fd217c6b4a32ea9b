"""Logits processors of vLLM's two model runners, as thin shells around the rows.

vLLM 0.32 has two interfaces. The V1 runner, which a CPU uses, tells a processor of requests that enter, leave and move
in the batch. Model Runner V2, the default on GPUs, gives each request a slot, and tells which slot each row belongs to;
our processor for it was tested against a stand-in, and not run on a GPU.

A processor lives as long as vLLM, so it has rows by number only: rows lead to their engine, which is to be freed.
"""

from __future__ import annotations

from typing import Any

import torch

from stratagem.engines.vllm.rows import fill_numbered, number_of


class V1Shell:
    """Processor of the V1 runner: rows by index in the batch."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._numbers: dict[int, int] = {}

    def is_argmax_invariant(self) -> bool:
        """Return False: the processor chooses the argmax."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow the requests that were removed, added and moved, in this order."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._numbers.pop(index, None)
        for index, params, *_ in batch_update.added:
            self._set(index, number_of(params.extra_args))
        for source, target, direction in batch_update.moved:
            first, second = self._numbers.pop(source, None), self._numbers.pop(target, None)
            self._set(target, first)
            if direction.name == "SWAP":
                self._set(source, second)

    def _set(self, index: int, number: int | None) -> None:
        self._numbers.pop(index, None)
        if number is not None:
            self._numbers[index] = number

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Draw or score every row of ours."""
        fill_numbered(logits, sorted(self._numbers.items()))
        return logits


class V2Shell:
    """Processor of Model Runner V2: rows by slot; not run on a GPU."""

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        self._slots: dict[int, int] = {}

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Take the slot's new request; True if it is ours."""
        self._slots.pop(req_idx, None)
        number = number_of(sampling_params.extra_args)
        if number is not None:
            self._slots[req_idx] = number
        return number is not None

    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        """Draw or score every row of ours."""
        slots = ctx.expanded_idx_mapping.tolist()
        fill_numbered(logits, [(index, self._slots[slot]) for index, slot in enumerate(slots) if slot in self._slots])
        return logits


def v1_processor() -> type:
    """Return the processor's class for the V1 runner; this imports vLLM."""
    from vllm.v1.sample.logits_processor import LogitsProcessor

    return type("StratagemProcessor", (V1Shell, LogitsProcessor), {})


def v2_processor() -> type:
    """Return the processor's class for Model Runner V2; this imports vLLM."""
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

    return type("StratagemProcessor", (V2Shell, LogitsProcessor), {})
