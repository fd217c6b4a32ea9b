"""Hidden states under frozen weights, cached over steps: a reference policy reads a pack that it has read before once.

The prompts of a small game are the same in every iteration, and so is the pack of their tokens. A cached state was
computed by the same pass over the same pack, so it is the same to the last bit, in a resumed process too.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple
from weakref import ref

import torch

from stratagem.learn.packing import Pack

LIMIT = 32 * 2**20
"""Most bytes of cached states: the loss tokens of a hundred batches of a model of 135 million weights."""


class FrozenStates:
    """Cache of hidden states by the digest of their pack; the least recently used go first."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._states: OrderedDict[bytes, _StatesOfWeights] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._states)

    def find(
        self, pack: Pack, nodes: Sequence[int], weights: Iterable[torch.Tensor], read: Callable[[], torch.Tensor]
    ) -> torch.Tensor:
        """Return the states of some tokens of a pack under some weights, `read` unless they are known."""
        weights = list(weights)
        digest = _digest(pack, nodes, weights)
        known = self._states.pop(digest, None)
        if known is not None and not known.is_of(weights):
            self._size -= _bytes(known.states)
            known = None
        if known is None:
            known = _StatesOfWeights(read(), tuple(map(ref, weights)))
            self._size += _bytes(known.states)
        self._states[digest] = known
        while self._size > self._limit and self._states:
            _, dropped = self._states.popitem(last=False)
            self._size -= _bytes(dropped.states)
        return known.states


class _StatesOfWeights(NamedTuple):
    """States with the weights that they were computed by."""

    states: torch.Tensor
    weights: tuple[ref[torch.Tensor], ...]

    def is_of(self, weights: Sequence[torch.Tensor]) -> bool:
        """Test whether these are the weights: new ones may stand in the memory of old ones that are gone."""
        return all(one() is other for one, other in zip(self.weights, weights, strict=True))


def _digest(pack: Pack, nodes: Sequence[int], weights: Iterable[torch.Tensor]) -> bytes:
    """Return the digest of all that the states depend on; a version counts the changes of a tensor in place."""
    branches = chain.from_iterable((branch.start, branch.end, branch.depth) for branch in pack.branches)
    versions = chain.from_iterable((weight.data_ptr(), weight._version) for weight in weights)  # noqa: SLF001
    key = hashlib.blake2b(digest_size=16)
    for numbers in (pack.tokens, branches, nodes, versions):
        own = array("q", numbers)
        key.update(len(own).to_bytes(8, "big"))
        key.update(own.tobytes())
    return key.digest()


def _bytes(states: torch.Tensor) -> int:
    return states.numel() * states.element_size()
