"""Memory of tensors: the peak of all storages that are alive, whatever allocated them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter


class MemoryMeter(TorchDispatchMode):
    """Meter of the storages that operations return within, forward and backward, on the device of any kind.

    What a kernel allocates and frees by itself is not seen.
    """

    def __init__(self, known: Iterable[torch.Tensor] = ()) -> None:
        """`known` tensors are alive throughout."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch gives it no types
        self._alive: dict[int, int] = {}
        self.known = sum(size for at, size in storages(known).items() if not self._alive.setdefault(at, 0))
        self.now = self.peak = self.known

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for tensor in tree_iter(result):
            if isinstance(tensor, torch.Tensor):
                self._add(tensor.untyped_storage())
        self.peak = max(self.peak, self.now)
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        at = storage._cdata  # noqa: SLF001 - the address of the storage, of which Python objects come and go
        if at not in self._alive:
            self._alive[at] = storage.nbytes()
            self.now += storage.nbytes()
            weakref.finalize(storage, self._drop, at)

    def _drop(self, at: int) -> None:
        self.now -= self._alive.pop(at)


def storages(tensors: Iterable[torch.Tensor]) -> dict[int, int]:
    """Return the bytes of the storages of tensors, each once."""
    return {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in tensors}  # noqa: SLF001
