"""Settings of the transformers engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stratagem.base.options import whole

ROWS = 64
"""Replies in one forward pass where nothing else is chosen."""


@dataclass(frozen=True, kw_only=True)
class TransformersSettings:
    """Settings of memory and speed."""

    rows: int = 0
    """Maximum number of replies in one forward pass; fewer take less memory and more time. 0 is 64, and in a run what
    free memory allows. In fp32 tokens do not depend on it; log-probabilities change in their last bits."""
    prefix_cache_mib: int = 512
    """Maximum size of the cache of shared prefixes, in MiB; 0 caches nothing from one batch to the next. In fp32
    tokens do not depend on it; log-probabilities change in their last bits."""
    packed_weights_mib: int = 4096
    """Maximum size of a copy of the weights in oneDNN's layout, in MiB: on a processor a Llama-like model then answers
    about twice as fast. A larger model, or 0, is read by its own layers. A GPU needs no copy: any number but 0 allows
    its fused pass. In fp32 tokens do not depend on it; log-probabilities change in their last bits."""
    cuda_graphs: bool = True
    """True to run frequent passes on a GPU as CUDA graphs, which is faster; False spares their memory."""
    kept_graphs: Literal["auto"] | bool = "auto"
    """True to keep CUDA graphs from one unit of work to the next, with the memory that they read. `auto` is off, and in
    a run what free memory allows. Results do not depend on it."""

    def __post_init__(self) -> None:
        whole("The engine transformers", "rows", self.rows, 0)
        whole("The engine transformers", "prefix_cache_mib", self.prefix_cache_mib, 0)
        whole("The engine transformers", "packed_weights_mib", self.packed_weights_mib, 0)

    @property
    def num_rows(self) -> int:
        """Maximum number of replies in one forward pass."""
        return self.rows or ROWS
