"""Weights of each row: the base, one adapter for all rows, or several adapters side by side.

With several, their factors are stacked: a layer's output is the base's plus `((x A) * mask) B`, where A and B hold all
adapters' factors next to one another and each row's mask keeps the part of its own adapter. So one pass costs one pass,
however many adapters there are; the rows of the base have an empty mask. A step that does not run the model's own
layers takes the factors of the stack, also of a single adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import torch

from stratagem.models.adapters import active, check_adapter, lora_layers
from stratagem.models.language_model import LanguageModel

Names = tuple[str, ...]


class Part(NamedTuple):
    """Factors at some linear layers of one input."""

    inward: torch.Tensor
    """First factors side by side [in, K * R]."""
    outward: list[tuple[slice, slice, torch.Tensor]]
    """Second factors [R, out], with their columns in the product of the first ones, and in the output."""


class Stack:
    """Several adapters of a model side by side."""

    def __init__(self, lm: LanguageModel, names: Names) -> None:
        self.names = names
        self._device = lm.model.device
        layers = list(lora_layers(lm))
        self._ranks = {name: _rank(layers, name) for name in names}
        self._layers = [layer for layer in layers if any(name in layer.lora_A for name in names)]
        self._stacked = {id(layer): self._factors(layer) for layer in self._layers}
        self._parts: dict[tuple[int, int], Part | None] = {}
        self._mask: torch.Tensor | None = None

    def _factors(self, layer: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Return both factors [in, R] and [R, out] of all adapters at a layer."""
        factors = [_factors(layer, name, rank) for name, rank in self._ranks.items()]
        inward = torch.cat([first for first, _ in factors]).t().contiguous()
        return inward, torch.cat([second for _, second in factors], dim=1).t().contiguous()

    def _forward(self, layer: Any, inward: torch.Tensor, outward: torch.Tensor) -> Callable[..., torch.Tensor]:
        """Compute a layer with the stack, in place of its own forward pass."""

        def forward(x: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
            base: torch.Tensor = layer.base_layer(x)
            inner = x.to(inward.dtype) @ inward
            inner = inner if self._mask is None else inner * self._mask
            return base + (inner @ outward).to(base.dtype)

        return forward

    def rows(self, adapters: Sequence[str]) -> None:
        """Set the rows of the next passes."""
        if len(self.names) == 1 and {*adapters} == {*self.names}:
            self._mask = None
            return
        parts = [
            torch.tensor([[float(name == own)] for own in adapters]).expand(-1, self._ranks[name])
            for name in self.names
        ]
        self._mask = torch.cat(parts, dim=1)[:, None].to(self._device)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run the layers with the stack within."""
        for layer in self._layers:
            layer.forward = self._forward(layer, *self._stacked[id(layer)])
        try:
            yield
        finally:
            for layer in self._layers:
                del layer.forward

    def add(
        self, place: tuple[int, int], layers: Callable[[], Sequence[Any]], x: torch.Tensor, outputs: torch.Tensor
    ) -> None:
        """Add the adapters' part to the outputs [N, out], side by side, of linear layers of one input x [N, in].

        `place` is the layer and the group of these linear layers.
        """
        if place not in self._parts:
            self._parts[place] = self._part(layers())
        if (part := self._parts[place]) is None:
            return
        inner = x.to(part.inward.dtype) @ part.inward
        if self._mask is not None:
            rows, _, rank = self._mask.shape
            inner.view(rows, -1, len(part.outward), rank).mul_(self._mask[:, None])
        for some, span, outward in part.outward:
            if outputs.dtype == outward.dtype:
                outputs[:, span].addmm_(inner[:, some], outward)
            else:
                outputs[:, span].add_((inner[:, some] @ outward).to(outputs.dtype))

    def _part(self, layers: Sequence[Any]) -> Part | None:
        inward, outward, start, end = list[torch.Tensor](), list[tuple[slice, slice, torch.Tensor]](), 0, 0
        for layer in layers:
            start, end = end, end + layer.out_features
            if (factors := self._stacked.get(id(layer))) is not None:
                rank = factors[1].shape[0]
                some = slice(len(outward) * rank, (len(outward) + 1) * rank)
                inward.append(factors[0])
                outward.append((some, slice(start, end), factors[1]))
        return Part(torch.cat(inward, dim=1), outward) if outward else None


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
        self.own_layers = True
        """True if passes run the model's own layers; otherwise a step takes the factors of `stack`."""
        self.stack: Stack | None = None
        """Adapters of the rows; None if the model's own layers know the only one, or if there is none."""
        self._stacks: dict[Names, Stack] = {}

    @contextmanager
    def under(self, adapters: Sequence[str]) -> Iterator[None]:
        """Allow rows under any of these within (empty: the base)."""
        names = tuple(sorted({*adapters} - {""}))
        for name in names:
            check_adapter(self.lm, name)
        if not names or (self.own_layers and len({*adapters}) == 1):
            with active(self.lm, adapters[0] or None):
                yield
            return
        self.stack = self._stacks.pop(names, None) or Stack(self.lm, names)
        self._stacks[names] = self.stack
        if len(self._stacks) > _KEPT:
            del self._stacks[next(iter(self._stacks))]
        with active(self.lm, None), self.stack.at_work() if self.own_layers else nullcontext():
            try:
                yield
            finally:
                self.stack = None

    def rows(self, adapters: Sequence[str]) -> None:
        """Set the weights of the rows of the next pass."""
        if self.stack is not None:
            self.stack.rows(adapters)

    def forget(self) -> None:
        """Forget the stacks of changed weights."""
        self._stacks.clear()
