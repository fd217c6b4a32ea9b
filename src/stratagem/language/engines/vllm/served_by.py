"""Interface of whatever runs vLLM for the batch: vLLM in this process, or a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.sampler import SampledToken
from stratagem.language.engines.vllm.rows import Row


@dataclass(frozen=True)
class AdapterVersion:
    """Version of an adapter as vLLM knows it."""

    name: str
    number: int
    """Number of the adapter in vLLM (`lora_int_id`)."""
    folder: Path
    own: bool
    """True if the folder is ours to remove."""


class Output(NamedTuple):
    """New tokens of a request."""

    name: str
    tokens: Sequence[int]
    ended: bool
    """True if vLLM ended the request."""
    drawn: Sequence[SampledToken | None] | None = None
    """The tokens as a server drew them; None in this process, where the row has its own draw, and for forced tokens."""


class Runtime(Protocol):
    """VLLM with the weights of one base."""

    @property
    def longest(self) -> int:
        """Maximum number of tokens of a prompt with its reply."""
        ...

    def add(self, row: Row, tokens: Ids, room: int, adapter: AdapterVersion | None) -> str:
        """Add a request whose tokens our processor draws, `room` at most, and return its name."""
        ...

    def step(self, *, wait: bool = True) -> list[Output]:
        """Return the next new tokens; with `wait`, of at least one request."""
        ...

    def abort(self, names: Sequence[str]) -> None:
        """End requests."""
        ...

    def unload(self, adapter: AdapterVersion) -> None:
        """Remove an adapter from its slot."""
        ...

    def reset(self) -> None:
        """Forget the cache of prefixes."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...
