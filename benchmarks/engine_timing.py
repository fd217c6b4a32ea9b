"""Timing of every part of the engine's benchmark: sides in turn, forward passes, and figures."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:  # nothing heavy is imported: this module serves commands whose imports are measured
    from stratagem.language.engines.reader import SharingReader


class Figure(NamedTuple):
    """One line of the table."""

    name: str
    best: float
    median: float
    repeats: int
    unit: str
    asked: str = ""
    """Required ratio; empty where the figure only explains."""


class Timing(NamedTuple):
    """Seconds of every repeat."""

    seconds: tuple[float, ...]

    def figure(self, name: str, unit: str, scale: float = 1.0, asked: str = "") -> Figure:
        """The times in some unit; the best is the shortest."""
        best, median = min(self.seconds), statistics.median(self.seconds)
        return Figure(name, best * scale, median * scale, len(self.seconds), unit, asked)

    def times(self, other: Timing, name: str, asked: str = "") -> Figure:
        """Return the ratio of the other's time to ours: best against best, median against median."""
        best = min(other.seconds) / min(self.seconds)
        median = statistics.median(other.seconds) / statistics.median(self.seconds)
        return Figure(name, best, median, len(self.seconds), "times", asked)


def count(name: str, value: float, unit: str, asked: str = "") -> Figure:
    """A number that every repeat gives again."""
    return Figure(name, value, value, 1, unit, asked)


def race(sides: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Timing]:
    """Time all sides in turn, again and again, so that a slow spell of the machine meets all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, run in sides.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(found)) for name, found in seconds.items()}


@dataclass
class ReaderPasses:
    """Within it, counts the forward passes of our engine's reader and their seconds, output layer included."""

    reader: SharingReader
    count: int = 0
    seconds: float = 0.0
    _step: Any = None

    def __enter__(self) -> Self:
        self._step, self.reader.step = self.reader.step, self  # type: ignore[assignment]  # it stands in for the step
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.reader.step = self._step

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_step"], name)

    def __call__(self, *given: Any) -> Any:
        start = time.perf_counter()
        result = self._step(*given)
        self.count, self.seconds = self.count + 1, self.seconds + time.perf_counter() - start
        return result


@dataclass
class Passes:
    """Within it, counts the forward passes of a transformers model and their seconds, output layer included."""

    model: Any
    count: int = 0
    rows: int = 0
    tokens: int = 0
    seconds: float = 0.0
    _started: float = 0.0
    _hooks: list[Any] = field(default_factory=list)

    def __enter__(self) -> Self:
        base = getattr(self.model, "get_base_model", lambda: self.model)()
        decoder, head = base.get_decoder(), base.get_output_embeddings()
        self._hooks = [decoder.register_forward_pre_hook(self._pass, with_kwargs=True)]
        for module in (decoder, head):
            self._hooks.append(module.register_forward_pre_hook(self._begin))
            self._hooks.append(module.register_forward_hook(self._end))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for hook in self._hooks:
            hook.remove()

    def _pass(self, _: Any, args: tuple[Any, ...], given: Mapping[str, Any]) -> None:
        ids = args[0] if args else given.get("input_ids")
        ids = given["inputs_embeds"][..., 0] if ids is None else ids
        self.count, self.rows, self.tokens = self.count + 1, self.rows + ids.shape[0], self.tokens + ids.numel()

    def _begin(self, *_: Any) -> None:
        self._started = time.perf_counter()

    def _end(self, *_: Any) -> None:
        self.seconds += time.perf_counter() - self._started
