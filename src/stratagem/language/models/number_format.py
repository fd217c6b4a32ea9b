"""Choice of a model's number format, for `+dtype=auto`: bf16 where this machine multiplies it faster, else fp32.

A processor with units for bf16 (AVX-512 BF16, AMX) multiplies it several times as fast as fp32, and one without them
more slowly. Small models stay in fp32: their time is not in products, and their figures are compared to the last digit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any

from stratagem.language.models.shapes import ModelShape

SMALL = 50_000_000
"""Parameters below which a model stays in fp32."""
FASTER = 1.3
"""Least ratio of speeds at which bf16 is worth its rounding."""
_ROWS = (256, 16)
"""Rows of the products that are timed: a pass over texts, and a step of decoding many replies."""
SECONDS = 0.1
"""Time of each measurement; with two formats, two numbers of rows and two repeats it is a second in all."""


@dataclass(frozen=True)
class FormatChoice:
    """Choice of a number format, with the measurement that it rests on."""

    dtype: str
    why: str

    def __str__(self) -> str:
        """Say what was chosen, and why."""
        return f"Weights are in {self.dtype}: {self.why}."


def choose_format(shape: ModelShape, device: str) -> FormatChoice:
    """Return the number format of a model of these sizes on a device."""
    if shape.parameters < SMALL:
        return FormatChoice("fp32", f"a model of fewer than {SMALL / 1e6:.0f} million parameters stays in it")
    if device.startswith("mps"):
        return FormatChoice("fp32", "Apple's GPU computes in it")
    ratio = measure_ratio(shape.hidden, shape.intermediate, device)
    measured = f"here products in bf16 are {ratio:.1f} times as fast as in fp32, and {FASTER} is the limit"
    return FormatChoice("bf16" if ratio >= FASTER else "fp32", measured)


@cache
def measure_ratio(hidden: int, intermediate: int, device: str) -> float:
    """Return how many times as fast the products of a layer are in bf16, as a geometric mean over numbers of rows."""
    ratios = [
        products_per_second("bfloat16", rows, hidden, intermediate, device)
        / products_per_second("float32", rows, hidden, intermediate, device)
        for rows in _ROWS
    ]
    return exp(sum(map(log, ratios)) / len(ratios))


def products_per_second(dtype: str, rows: int, hidden: int, intermediate: int, device: str) -> float:
    """Measure how many products of a layer this machine computes in a second."""
    import torch

    left = torch.ones(rows, hidden, dtype=getattr(torch, dtype), device=device)
    right = torch.ones(intermediate, hidden, dtype=getattr(torch, dtype), device=device)
    return max(_repeat(left, right) for _ in range(2))


def _repeat(left: Any, right: Any) -> float:
    import torch

    from stratagem.language.models.onednn_linear import multiply  # that of training

    with torch.inference_mode():
        float(multiply(left, right)[0, 0])  # the first one is slower; the number waits for the device
        number, start, spent = 0, time.perf_counter(), 0.0
        while not number or spent < SECONDS:
            float(multiply(left, right)[0, 0])
            number, spent = number + 1, time.perf_counter() - start
    return number / spent
