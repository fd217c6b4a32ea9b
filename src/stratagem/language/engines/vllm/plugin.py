"""Processors that vLLM loads by name: `--logits-processors stratagem.language.engines.vllm.plugin:V1`, or `V2`."""

from __future__ import annotations

from stratagem.language.engines.vllm.processors import v1_processor, v2_processor

_KINDS = {"V1": v1_processor, "V2": v2_processor}


def __getattr__(name: str) -> type:
    """Return the processor's class; its base is in vLLM, one for each of the two runners."""
    if name not in _KINDS:
        raise AttributeError(name)
    return _KINDS[name]()
