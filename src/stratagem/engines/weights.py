"""Weights of each row: the base, one adapter for all rows, or several adapters side by side.

With several, their factors are stacked: a layer's output is the base's plus `((x A) * mask) B`, where A and B hold all
adapters' factors next to one another and each row's mask keeps the part of its own adapter. So one pass costs one pass,
however many adapters there are; the rows of the base have an empty mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from stratagem.models.adapters import active, check_adapter, lora_layers
from stratagem.models.language_model import LanguageModel

Names = tuple[str, ...]


class Stack:
    """Several adapters of a model side by side."""

    def __init__(self, lm: LanguageModel, names: Names) -> None:
        self.names = names
        self._device = lm.model.device
        layers = list(lora_layers(lm))
        self._ranks = {name: _rank(layers, name) for name in names}
        self._layers = [(layer, self._forward(layer)) for layer in layers]
        self._mask = torch.zeros(0)

    def _forward(self, layer: Any) -> Callable[..., torch.Tensor]:
        """Compute a layer with the stack, in place of its own forward pass."""
        factors = [_factors(layer, name, rank) for name, rank in self._ranks.items()]
        inward = torch.cat([first for first, _ in factors]).t().contiguous()
        outward = torch.cat([second for _, second in factors], dim=1).t().contiguous()

        def forward(x: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
            base: torch.Tensor = layer.base_layer(x)
            inner = (x.to(inward.dtype) @ inward) * self._mask
            return base + (inner @ outward).to(base.dtype)

        return forward

    def rows(self, adapters: Sequence[str]) -> None:
        """Set the rows of the next passes."""
        parts = [
            torch.tensor([[float(name == own)] for own in adapters]).expand(-1, self._ranks[name])
            for name in self.names
        ]
        self._mask = torch.cat(parts, dim=1)[:, None].to(self._device)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run the layers with the stack within."""
        for layer, forward in self._layers:
            layer.forward = forward
        try:
            yield
        finally:
            for layer, _ in self._layers:
                del layer.forward


def _rank(layers: Sequence[Any], name: str) -> int:
    return int(next(layer.lora_A[name].weight.shape[0] for layer in layers if name in layer.lora_A))


def _factors(layer: Any, name: str, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the two factors of an adapter at a layer, its scale in the second.

    Nothing where it leaves the layer alone.
    """
    if name in layer.lora_A:
        return layer.lora_A[name].weight, layer.lora_B[name].weight * layer.scaling[name]
    other = next(iter(layer.lora_A.values())).weight
    return other.new_zeros(rank, layer.in_features), other.new_zeros(layer.out_features, rank)


_KEPT = 4
"""Number of sets of adapters whose stacks are cached; the least recently used are dropped."""


class Weights:
    """Base and adapters of a model, for the rows of a batch."""

    def __init__(self, lm: LanguageModel) -> None:
        self.lm = lm
        self._stacks: dict[Names, Stack] = {}
        self._stack: Stack | None = None

    @contextmanager
    def under(self, adapters: Sequence[str]) -> Iterator[None]:
        """Allow rows under any of these within (empty: the base)."""
        for name in {*adapters} - {""}:
            check_adapter(self.lm, name)
        if len({*adapters}) == 1:
            with active(self.lm, adapters[0] or None):
                yield
            return
        names = tuple(sorted({*adapters} - {""}))
        self._stack = self._stacks.pop(names, None) or Stack(self.lm, names)
        self._stacks[names] = self._stack
        if len(self._stacks) > _KEPT:
            del self._stacks[next(iter(self._stacks))]
        with active(self.lm, None), self._stack.at_work():
            try:
                yield
            finally:
                self._stack = None

    def rows(self, adapters: Sequence[str]) -> None:
        """Set the weights of the rows of the next pass."""
        if self._stack is not None:
            self._stack.rows(adapters)

    def forget(self) -> None:
        """Forget the stacks of changed weights."""
        self._stacks.clear()
