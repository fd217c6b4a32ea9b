"""FlexAttention against dense masks on a GPU: outputs and gradients of token trees, with times and peaks of memory.

The tree is that of `pack_memory.py`. Each kind of attention is compared with a dense mask in fp64, beside the deviation
of a dense mask in the same format: a kind agrees if it deviates by no more than three times as much. `flex_gradients`
is the step of a longer script. Without CUDA it says so, since FlexAttention has no backward pass on a processor;
`--kind branches` compares our own attention by branch there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from pack_memory import texts

from stratagem.learn.branch_attention import BranchMask, SparseMask
from stratagem.learn.example import Example
from stratagem.learn.flex_mask import FlexMask
from stratagem.learn.packing import pack_examples
from stratagem.learn.tree_batch import TreeBatch, tree_batch

HEADS, KEY_HEADS, SIZE = 8, 2, 64
TOKENS = (1024, 2048, 4096, 8192)
WINDOWS = (None, 128)
FACTOR, FLOOR = 3.0, 1e-6
"""Largest deviation, in units of that of a dense mask in the same format, and the one that is always small enough."""
SKIPPED = "FlexAttention has a backward pass on CUDA alone, and this machine has none: its gradients are not compared."


class Deviation(NamedTuple):
    """Root-mean-square differences from a dense mask in fp64, relative to its results."""

    output: float
    queries: float
    keys: float
    values: float


def flex_gradients(
    device: str = "cuda", kind: str = "flex", tokens: Sequence[int] = TOKENS, formats: Sequence[str] = ("fp32", "bf16")
) -> dict[str, Any]:
    """Compare a kind of attention with dense masks; the sentence `skipped` is in place of rows where that cannot be."""
    if kind == "flex" and (device != "cuda" or not torch.cuda.is_available()):
        return {"skipped": SKIPPED}
    rows = [compare(kind, size, window, dtype, device) for size in tokens for window in WINDOWS for dtype in formats]
    return {"kind": kind, "agrees": all(row["agrees"] for row in rows), "rows": rows}


def compare(kind: str, tokens: int, window: int | None, dtype: str, device: str) -> dict[str, Any]:
    """Compare one tree, window and number format."""
    made = [Example(tokens=(*text, 0), loss_positions=(len(text),)) for text in texts(tokens)]
    tree = tree_batch(pack_examples(made, 2 * tokens)[0])
    target, number = torch.device(device), torch.bfloat16 if dtype == "bf16" else torch.float32
    generator = torch.Generator().manual_seed(0)
    shapes = [(len(tree.rows), heads, tree.width, SIZE) for heads in (HEADS, KEY_HEADS, KEY_HEADS, HEADS)]
    given = [torch.randn(shape, generator=generator).to(target, number) for shape in shapes]
    sparse: SparseMask = FlexMask.of(tree, target) if kind == "flex" else BranchMask(tree, target)
    ours = partial(_by_mask, sparse, window)
    dense = partial(_by_table, _table(tree, window).to(target))
    expected = _results(dense, [each.double() for each in given])
    found, theirs = (_deviation(_results(attend, given), expected) for attend in (ours, dense))
    agrees = all(own <= max(FLOOR, FACTOR * other) for own, other in zip(found, theirs, strict=True))
    costs = {name: _cost(attend, given) for name, attend in ((kind, ours), ("dense", dense))}
    row = {"tokens": tree.width, "window": window, "dtype": dtype, "agrees": agrees}
    return {**row, kind: found._asdict() | costs[kind], "dense": theirs._asdict() | costs["dense"]}


def _table(tree: TreeBatch, window: int | None) -> torch.Tensor:
    near = tree.depths[:, :, None] - tree.depths[:, None, :] < (window or tree.width)
    return (tree.mask & near)[:, None]


def _by_mask(mask: SparseMask, window: int | None, *given: torch.Tensor) -> torch.Tensor:
    return mask.attend(given[0], given[1], given[2], SIZE**-0.5, window)


def _by_table(table: torch.Tensor, *given: torch.Tensor) -> torch.Tensor:
    keys, values = (each.repeat_interleave(HEADS // KEY_HEADS, dim=1) for each in given[1:])
    return torch.nn.functional.scaled_dot_product_attention(given[0], keys, values, attn_mask=table, scale=SIZE**-0.5)


def _results(attend: Callable[..., torch.Tensor], given: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the output, and the gradients of queries, keys and values."""
    inputs = [each.detach().requires_grad_() for each in given[:3]]
    output = attend(*inputs)
    return [output.detach(), *torch.autograd.grad((output * given[3]).sum(), inputs)]


def _deviation(found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> Deviation:
    return Deviation(
        *(float((own.double() - other).norm() / other.norm()) for own, other in zip(found, expected, strict=True))
    )


def _cost(attend: Callable[..., torch.Tensor], given: Sequence[torch.Tensor]) -> dict[str, float]:
    """Return the milliseconds of the faster of three passes forward and backward, and the MiB they take on a GPU."""
    if not given[0].is_cuda:
        return {}
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before, seconds = torch.cuda.memory_allocated(), list[float]()
    for _ in range(3):
        start = time.perf_counter()
        _results(attend, given)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return {"ms": 1000.0 * min(seconds), "mib": (torch.cuda.max_memory_allocated() - before) / 2**20}


def main() -> None:
    """Print the comparison as JSON, and leave with 1 where a kind does not agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--kind", choices=("flex", "branches"), default="flex")
    parser.add_argument("--tokens", nargs="+", type=int, default=list(TOKENS))
    asked = parser.parse_args()
    found = flex_gradients(asked.device, asked.kind, asked.tokens)
    print(json.dumps(found, indent=1))
    raise SystemExit(not found.get("agrees", True))


if __name__ == "__main__":
    main()
