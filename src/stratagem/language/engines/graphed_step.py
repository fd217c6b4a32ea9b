"""Passes of one token a row as CUDA graphs: all kernels of a pass are started at once.

Without a graph a GPU waits for the processor, which starts some hundred small kernels a pass. A graph has fixed shapes
and fixed places in memory: rows are filled up to few numbers, columns come in blocks, and what changes from pass to
pass is copied into buffers that the graph reads. Shapes that come once or twice are not worth a graph.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch

from stratagem.language.engines.row_store import Blocks, RowStore
from stratagem.language.engines.steps import ForwardPass, WantedLogits, every_row
from stratagem.language.engines.weights import BatchWeights

BLOCKS = Blocks(rows=8, columns=64)
"""Rows and columns on a GPU come in these blocks, so that few shapes occur."""
OFTEN = 3
"""Number of passes of one shape from which on it has a graph."""
MOST_GRAPHS = 32
"""Number of graphs that are kept."""
_MANY = 4096
"""Number of shapes that are counted."""
Recorder = Callable[[Callable[[], None]], Callable[[], None]]
"""Function that runs some work on the device, and returns what runs it again on the same memory."""


class CudaGraphs:
    """Recorder of CUDA graphs on one device, which share memory for what lies between input and output.

    When none of its graphs is left, it cannot record another.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(self._device):
            current = torch.cuda.current_stream()
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(current)
            with torch.cuda.stream(stream):
                work()  # libraries allocate at the first call, which a graph must not hold
            current.wait_stream(stream)
            # after a failure torch leaves its own stream as the present one
            with torch.cuda.stream(current), torch.cuda.graph(graph, pool=self._pool):
                work()
        return graph.replay


def graphs_for(device: torch.device) -> Callable[[], Recorder] | None:
    """Return what makes recorders of graphs on a device; None where it has no graphs."""
    return partial(CudaGraphs, device) if device.type == "cuda" else None


class GraphShape(NamedTuple):
    """Shape and adapters of the passes of one graph."""

    rows: int
    first: int
    width: int
    adapters: tuple[str, ...]


@dataclass(eq=False)
class RecordedPass:
    """Pass that can be run again, with the buffers that it reads and writes."""

    ids: torch.Tensor
    positions: torch.Tensor
    columns: torch.Tensor
    mask: Any
    logits: torch.Tensor
    run: Callable[[], None]
    held: object
    """Tensors that the pass reads beside the buffers, so that they are not freed."""
    places: tuple[int, ...] = ()
    """Places in memory of the adapters' weights that the pass reads."""

    def __call__(self, ids: torch.Tensor, positions: torch.Tensor, columns: torch.Tensor, mask: Any) -> torch.Tensor:
        rows = len(ids)
        for buffer, new in ((self.ids, ids), (self.positions, positions), (self.columns, columns)):
            buffer[:rows] = new
        for buffer, new in zip(_tensors(self.mask), _tensors(mask), strict=True):
            buffer[:rows] = new
        self.run()
        return self.logits[:rows].clone()


class GraphedStep:
    """Forward pass by another step, whose frequent passes of one token a row are graphs."""

    def __init__(
        self,
        step: ForwardPass,
        store: RowStore,
        weights: BatchWeights,
        recorder: Callable[[], Recorder],
        *,
        keep: bool = False,
    ) -> None:
        """With `keep` a graph outlives the unit of work, and is run again where a new one would be recorded."""
        self._step, self._store, self._weights, self._recorder = step, store, weights, recorder
        self._record: Recorder | None = None
        """Recorder of the present graphs."""
        self.passes: dict[GraphShape, RecordedPass] = {}
        self.seen = Counter[GraphShape]()
        self._allocation = store.allocation
        """Allocation of the store that the graphs read and write."""
        self._logits: torch.Tensor | None = None
        """Output of all graphs that are recorded from now on."""
        self.works = True
        """False once a graph could not be recorded."""
        self.keep = keep
        self.kept_graphs: dict[tuple[GraphShape, int, tuple[int, ...]], RecordedPass] = {}
        """Graphs of earlier units, by shape, allocation of the store, and places of the adapters' weights."""

    @property
    def device(self) -> torch.device:
        return self._step.device

    @property
    def dtype(self) -> torch.dtype:
        return self._step.dtype

    def forget(self, *, base: bool) -> None:
        """Forget the graphs, since weights or the store have changed or gone."""
        self._step.forget(base=base)
        self._drop()

    def end_unit(self) -> None:
        """End a unit of work: the next one counts shapes anew, as a new process does, so its results are the same."""
        self._step.forget(base=False)
        self._set_aside() if self.keep else self._drop()

    def _set_aside(self) -> None:
        """Keep the present graphs for passes of the same shape on the same memory."""
        for shape, recorded in self.passes.items():
            self.kept_graphs[shape, self._allocation, recorded.places] = recorded
        while len(self.kept_graphs) > MOST_GRAPHS:
            del self.kept_graphs[next(iter(self.kept_graphs))]
        self.passes.clear()
        self.seen.clear()
        self._allocation = self._store.allocation

    def _drop(self) -> None:
        self.kept_graphs.clear()
        self.passes.clear()
        self.seen.clear()
        self._record = None
        self._allocation = self._store.allocation

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: Any, cache: Any, wanted: WantedLogits
    ) -> torch.Tensor:
        recorded = self._find_graph(ids, mask, cache, wanted) if self.works else None
        if recorded is None:
            return self._step(ids, positions, mask, cache, wanted)
        assert self._store.write is not None
        return recorded(ids, positions, self._store.write[1], mask)

    def _find_graph(self, ids: torch.Tensor, mask: Any, cache: Any, wanted: WantedLogits) -> RecordedPass | None:
        """Return the graph of this shape; None if it has none."""
        rows = round_up_rows(len(ids))
        if not every_row(wanted, ids.shape) or self._store.first + rows > self._store.room[0]:
            return None
        if self._allocation != self._store.allocation or len(self.seen) > _MANY:
            self._set_aside() if self.keep else self._drop()
        adapters = (*self._weights.adapters, *self._weights.adapters[-1:] * (rows - len(ids)))
        shape = GraphShape(rows, self._store.first, self._store.width, adapters)
        self.seen[shape] += 1
        if (found := self.passes.pop(shape, None)) is None and self.seen[shape] >= OFTEN:
            found = self._kept_graph(shape) or self._record_graph(shape, mask, cache)
        if found is not None:
            self.passes[shape] = found  # the most recent one is the last
            if len(self.passes) > MOST_GRAPHS:
                oldest = next(iter(self.passes))
                del self.passes[oldest], self.seen[oldest]
        return found

    def _kept_graph(self, shape: GraphShape) -> RecordedPass | None:
        """Return the graph of an earlier unit that reads the present memory."""
        if not self.kept_graphs:
            return None
        before = self._weights.adapters
        self._weights.rows(shape.adapters)
        found = self.kept_graphs.pop((shape, self._allocation, self._weights.places()), None)
        self._weights.rows(before)
        return found

    def _record_graph(self, shape: GraphShape, mask: Any, cache: Any) -> RecordedPass | None:
        """Record the pass of a shape; None if that fails, after which there are no graphs."""
        before = self._store.rows, self._store.write, self._weights.adapters
        try:
            return self._record_pass(shape, mask, cache)
        except RuntimeError as error:
            self.works = False
            self._drop()
            warnings.warn(f"passes are no CUDA graphs, and slower: {type(error).__name__}: {error}", stacklevel=2)
            return None
        finally:
            self._store.rows, self._store.write = before[:2]
            self._weights.rows(before[2])

    def _record_pass(self, shape: GraphShape, mask: Any, cache: Any) -> RecordedPass:
        rows, store, device = shape.rows, self._store, self.device
        ids, positions = (torch.zeros((rows, 1), dtype=torch.long, device=device) for _ in range(2))
        columns = torch.full((rows, 1), store.room[1] - 1, device=device)
        buffers = _map_mask(lambda tensor: tensor.new_zeros(rows, *tensor.shape[1:]), mask)
        numbers = torch.arange(shape.first, shape.first + rows, device=device)[:, None]
        wanted = WantedLogits(range(rows), [0] * rows)

        def computed() -> torch.Tensor:
            store.rows, store.write = rows, (numbers, columns)
            self._weights.rows(shape.adapters)  # does nothing the second time
            return self._step(ids, positions, buffers, cache, wanted)

        if self._logits is None or len(self._logits) < rows:
            self._logits = torch.empty_like(computed())
        logits, held = self._logits[:rows], self._weights.rows(shape.adapters)

        def work() -> None:
            logits.copy_(computed())

        self._record = self._record or self._recorder()
        run = self._record(work)
        return RecordedPass(
            ids, positions, columns, buffers, logits, run, (held, numbers), self._weights.places() if self.keep else ()
        )


def round_up_rows(rows: int) -> int:
    """Return the number of rows of the graph for some rows: a power of two, or whole blocks."""
    if rows >= BLOCKS.rows:
        return -(-rows // BLOCKS.rows) * BLOCKS.rows
    return 1 << (rows - 1).bit_length()


def _tensors(mask: Any) -> list[torch.Tensor]:
    return list(mask.values()) if isinstance(mask, dict) else [mask]


def _map_mask(change: Callable[[torch.Tensor], torch.Tensor], mask: Any) -> Any:
    if isinstance(mask, dict):
        return {kind: change(own) for kind, own in mask.items()}
    return change(mask)
