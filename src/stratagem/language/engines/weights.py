"""Weights of each row: the base, one adapter for all rows, or several adapters side by side.

With several, their factors are stacked: one batched product over adapters with the same number of rows adds `(x A) B`
to a layer's output. So one pass costs one pass, however many adapters there are. A step that does not run the
model's own layers takes the factors of the stack, also of a single adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import groupby
from typing import Any, NamedTuple

import torch

from stratagem.language.models.adapters import active, adapter_names, adapter_parameters, check_adapter, lora_layers
from stratagem.language.models.language_model import LanguageModel

Names = tuple[str, ...]


_BASE = -1
"""Number of a row without an adapter."""


class AdapterFactors(NamedTuple):
    """Factors of A adapters at some linear layers of one input; ranks are filled up with zeros to the largest, r."""

    inward: torch.Tensor
    """First factors, those of the layers side by side [A, in, K * r]."""
    outward: list[tuple[slice, slice, torch.Tensor]]
    """Second factors [A, r, out] with their columns in the product of the first ones, and in the output."""


class AdapterRun(NamedTuple):
    """Neighbouring adapters with the same number of neighbouring rows each."""

    first: int
    """Number of the first adapter."""
    num_adapters: int
    start: int
    """First row."""
    num_rows: int
    """Rows of each adapter."""

    @property
    def adapters(self) -> slice:
        """Numbers of the adapters."""
        return slice(self.first, self.first + self.num_adapters)

    @property
    def rows(self) -> slice:
        """Rows of all of them."""
        return slice(self.start, self.start + self.num_adapters * self.num_rows)


class RowGroups(NamedTuple):
    """Rows of a pass by adapter, without those of the base."""

    runs: list[AdapterRun]
    order: torch.Tensor | None
    """Rows in the order of the runs; None if they stand in it already."""


class Stack:
    """Several adapters of a model side by side."""

    def __init__(self, lm: LanguageModel, names: Names) -> None:
        self.names = names
        self._device = lm.model.device
        self._layers = [layer for layer in lora_layers(lm) if any(name in layer.lora_A for name in names)]
        rank = max(int(layer.lora_A[name].weight.shape[0]) for layer in self._layers for name in layer.lora_A)
        self._stacked = {id(layer): _stack_factors(layer, names, rank) for layer in self._layers}
        self._lm = lm
        self._layers_at: dict[Hashable, Sequence[Any]] = {}
        self.parts: dict[Hashable, AdapterFactors | None] = {}
        """Factors by their place; a graph reads them again, so they stay where they are."""
        self._adapters: Names = ()
        self.groups = RowGroups([], None)

    def _forward(self, layer: Any) -> Callable[..., torch.Tensor]:
        """Compute a layer with the stack, in place of its own forward pass."""
        part = self._part_at(id(layer), lambda: [layer])

        def forward(x: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
            result: torch.Tensor = layer.base_layer(x)
            if part is not None:
                self._add(part, x.reshape(-1, x.shape[-1]), result.view(-1, result.shape[-1]))
            return result

        return forward

    def rows(self, adapters: Sequence[str]) -> None:
        """Set the rows of the next passes."""
        if (adapters := tuple(adapters)) == self._adapters:
            return
        self._adapters = adapters
        numbers = [self.names.index(name) if name else _BASE for name in adapters]
        runs, order = group_rows(numbers), None
        if sum(run.num_adapters for run in runs) > len({*numbers} - {_BASE}):  # fewer products weigh more than copies
            own = [row for row, number in enumerate(numbers) if number != _BASE]
            own.sort(key=numbers.__getitem__)
            runs, order = group_rows([numbers[row] for row in own]), torch.tensor(own, device=self._device)
        self.groups = RowGroups(runs, order)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run the layers with the stack within."""
        for layer in self._layers:
            layer.forward = self._forward(layer)
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
        if (part := self._part_at(place, layers)) is not None:
            self._add(part, x, outputs)

    def _part_at(self, place: Hashable, layers: Callable[[], Sequence[Any]]) -> AdapterFactors | None:
        if place not in self.parts:
            self._layers_at[place] = layers()
            self.parts[place] = self._part(self._layers_at[place])
        return self.parts[place]

    def _add(self, part: AdapterFactors, x: torch.Tensor, outputs: torch.Tensor) -> None:
        runs, order = self.groups
        x, sums = (flat.view(len(self._adapters), -1, flat.shape[-1]) for flat in (x, outputs))
        if order is not None:
            x, sums = x[order], sums[order]
        x, sums = x.to(part.inward.dtype), sums.to(part.inward.dtype)
        for run in runs:
            inner = torch.bmm(x[run.rows].reshape(run.num_adapters, -1, x.shape[-1]), part.inward[run.adapters])
            own = sums[run.rows].view(run.num_adapters, -1, sums.shape[-1])
            for some, span, outward in part.outward:
                own[..., span].baddbmm_(inner[..., some], outward[run.adapters])
        if order is not None:
            outputs.view(len(self._adapters), -1, outputs.shape[-1])[order] = sums.to(outputs.dtype)
        elif sums.dtype != outputs.dtype:
            outputs.copy_(sums.view_as(outputs))

    def refresh(self) -> bool:
        """Copy the adapters' present weights into the factors, which stay in their places; False if that cannot be."""
        if not {*self.names} <= {*adapter_names(self._lm)}:
            return False
        new = Stack(self._lm, self.names)
        for key, part in self.parts.items():
            own = new._part(self._layers_at[key])
            if (part is None) != (own is None):
                return False
            if part is not None and own is not None and not _copy_factors(part, own):
                return False
        self._layers, self._stacked = new._layers, new._stacked
        return True

    def _part(self, layers: Sequence[Any]) -> AdapterFactors | None:
        inward, outward, start, end = list[torch.Tensor](), list[tuple[slice, slice, torch.Tensor]](), 0, 0
        for layer in layers:
            start, end = end, end + layer.out_features
            if (factors := self._stacked.get(id(layer))) is not None:
                rank = factors[1].shape[1]
                some = slice(len(outward) * rank, (len(outward) + 1) * rank)
                inward.append(factors[0])
                outward.append((some, slice(start, end), factors[1]))
        return AdapterFactors(torch.cat(inward, dim=-1), outward) if outward else None


def group_rows(numbers: Sequence[int]) -> list[AdapterRun]:
    """Return the runs of rows that have these adapters, by number."""
    runs, start = list[AdapterRun](), 0
    for number, some in groupby(numbers):
        run = AdapterRun(number, 1, start, sum(1 for _ in some))
        start = run.rows.stop
        if number == _BASE:
            continue
        last = runs[-1] if runs else None
        if last and (last.adapters.stop, last.rows.stop, last.num_rows) == (number, run.start, run.num_rows):
            runs[-1] = last._replace(num_adapters=last.num_adapters + 1)
        else:
            runs.append(run)
    return runs


def _stack_factors(layer: Any, names: Names, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return both factors [A, in, r] and [A, r, out] of all adapters at a layer, their scales in the second.

    They are zeros where an adapter leaves the layer alone. Their format is that of the base, as in training.
    """
    base = layer.get_base_layer().weight
    like = base if base.is_floating_point() else next(iter(layer.lora_A.values())).weight
    inward = like.new_zeros(len(names), layer.in_features, rank)
    outward = like.new_zeros(len(names), rank, layer.out_features)
    for number, name in enumerate(names):
        if name in layer.lora_A:
            first, second = layer.lora_A[name].weight, layer.lora_B[name].weight
            inward[number, :, : first.shape[0]] = first.t()
            outward[number, : first.shape[0]] = second.t() * layer.scaling[name]
    return inward, outward


def _copy_factors(part: AdapterFactors, new: AdapterFactors) -> bool:
    """Copy factors onto others of the same shapes; False if they have other ones."""
    pairs = [
        (part.inward, new.inward),
        *((own[2], other[2]) for own, other in zip(part.outward, new.outward, strict=True)),
    ]
    if any(own.shape != other.shape for own, other in pairs):
        return False
    for own, other in pairs:
        own.copy_(other)
    return True


_KEPT = 4
"""Number of sets of adapters whose stacks are cached; the least recently used are dropped."""


class BatchWeights:
    """Base and adapters of a model, for the rows of a batch."""

    def __init__(self, lm: LanguageModel) -> None:
        self.lm = lm
        self.own_layers = True
        """True if passes run the model's own layers; otherwise a step takes the factors of `stack`."""
        self.stack: Stack | None = None
        """Adapters of the rows; None if the model's own layers know the only one, or if there is none."""
        self.adapters: Names = ()
        """Adapter of each row of the next pass."""
        self.stacks: dict[Names, Stack] = {}
        """Stacks of the last sets of adapters."""

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
        self.stack = self.stacks.pop(names, None) or Stack(self.lm, names)
        self.stacks[names] = self.stack
        if len(self.stacks) > _KEPT:
            del self.stacks[next(iter(self.stacks))]
        with active(self.lm, None), self.stack.at_work() if self.own_layers else nullcontext():
            try:
                yield
            finally:
                self.stack = None

    def rows(self, adapters: Sequence[str]) -> object:
        """Set the weights of the rows of the next pass, and return what it reads beside the weights of the model."""
        self.adapters = tuple(adapters)
        if self.stack is not None:
            self.stack.rows(adapters)
        return self.stack, None if self.stack is None else self.stack.groups

    def forget(self) -> None:
        """Forget the stacks of changed weights."""
        self.stacks.clear()

    def refresh(self) -> None:
        """Take new weights of adapters into the stacks where they are; a stack of other shapes is forgotten."""
        with torch.inference_mode():  # in which they were made
            self.stacks = {names: stack for names, stack in self.stacks.items() if stack.refresh()}

    def places(self) -> tuple[int, ...]:
        """Return the memory addresses of the adapter weights that the rows read."""
        if self.stack is not None:
            return (id(self.stack),)
        names = {*self.adapters} - {""}
        return tuple(weight.data_ptr() for name in sorted(names) for weight in adapter_parameters(self.lm, name))
