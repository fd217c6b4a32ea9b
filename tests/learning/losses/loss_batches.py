"""Random batches that hold what a loss declares and nothing else, whole and in pieces."""

import random
from dataclasses import replace

import torch

from stratagem.learn.losses.base import Columns, Outputs

EXTRAS = ("reference_logprobs", "entropies", "values", "target_logprobs")
LEARNT = ("policy_logprobs", "entropies", "values", "target_logprobs")


def numbers(rng, name, size):
    """A column's numbers: logarithms of probabilities, positive sizes, flags, or anything."""
    draws = torch.tensor([rng.gauss(0.0, 1.0) for _ in range(size)], dtype=torch.float64)
    if name in ("weight", "target_entropy"):
        return draws.abs()
    if name in ("desirable", "kl"):
        return (draws > 0).double()
    return draws


def batch(loss, seed, *, spread=0.3, examples=8):
    """Outputs and columns for a loss; `spread` is how far apart the policies are, in logarithms."""
    rng = random.Random(seed)
    lengths = [rng.randrange(1, 6) for _ in range(examples)]
    example = torch.tensor([number for number, length in enumerate(lengths) for _ in range(length)])
    size = len(example)
    said = -3.0 * torch.tensor([rng.random() for _ in range(size)], dtype=torch.float64)

    def near():
        return said + spread * numbers(rng, "any", size)

    tokens = {name: near() if name == "old_logprobs" else numbers(rng, name, size) for name in sorted(loss.columns)}
    rows = {name: numbers(rng, name, examples) for name in sorted(loss.rows)}
    if "divisor" in rows:
        rows["divisor"] = torch.full((examples,), 17.0, dtype=torch.float64)
    if "kl" in rows:
        rows["kl"][:2] = torch.tensor([1.0, 0.0])
    if loss.paired:
        rows["chosen"] = torch.tensor([1.0, 0.0] * (examples // 2), dtype=torch.float64)
    outputs = {
        "policy_logprobs": said,
        "reference_logprobs": near(),
        "entropies": numbers(rng, "weight", size),
        "values": numbers(rng, "any", size),
        "target_logprobs": -numbers(rng, "weight", size),
    }
    pairs = torch.arange(examples) // 2 + 40 if loss.paired else None
    columns = Columns(example=example, num_examples=examples, tokens=tokens, rows=rows, pairs=pairs)
    wanted = {"policy_logprobs", *loss.extras}
    return Outputs(**{name: value for name, value in outputs.items() if name in wanted}), columns


def leaves(outputs):
    """The same outputs as leaves of a graph, and those of them that learn."""
    names = [name for name in ("policy_logprobs", *EXTRAS) if getattr(outputs, name) is not None]
    copies = {name: getattr(outputs, name).clone().requires_grad_(name in LEARNT) for name in names}
    return Outputs(**copies), [copies[name] for name in names if name in LEARNT]


def part(outputs, columns, examples):
    """The piece that holds these examples."""
    chosen = torch.tensor(examples)
    places = torch.isin(columns.example, chosen)
    index = torch.searchsorted(chosen, columns.example[places])
    some = {
        name: getattr(outputs, name)[places]
        for name in ("policy_logprobs", *EXTRAS)
        if getattr(outputs, name) is not None
    }
    return Outputs(**some), replace(
        columns,
        example=index,
        num_examples=len(examples),
        tokens={name: column[places] for name, column in columns.tokens.items()},
        rows={name: column[chosen] for name, column in columns.rows.items()},
        pairs=None if columns.pairs is None else columns.pairs[chosen],
    )


def cut(rng, columns):
    """The examples in random pieces that cut no pair, in their order within each."""
    units = columns.pairs.tolist() if columns.pairs is not None else list(range(columns.num_examples))
    names = sorted(set(units))
    rng.shuffle(names)
    piece_of = {name: place % 3 for place, name in enumerate(names)}
    return [[number for number, unit in enumerate(units) if piece_of[unit] == piece] for piece in range(3)]
