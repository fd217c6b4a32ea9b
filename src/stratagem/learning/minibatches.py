"""Mini-batches: the examples of each optimizer step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pydantic import Field

from stratagem.games.key import Key
from stratagem.settings import Settings


class Batches(Settings):
    """Sizes of batches and mini-batches, and the number of epochs over each batch."""

    batch_size: int = Field(default=100, ge=1)
    """Number of successive examples in a batch; their order is shuffled within the batch."""
    mini_batch_size: int = Field(default=10, ge=1)
    """Number of examples in an optimizer step."""
    epochs: int = Field(default=1, ge=1)
    """Number of passes over each batch."""

    def drawn(self, count: int, key: Key) -> Iterator[list[int]]:
        """Yield the indices of the examples of every step; the same key draws the same order.

        Parts that cannot all be full are as equal as can be: a last step on one example left over would move the
        weights as far as any other.
        """
        for number, batch in enumerate(parts(range(count), self.batch_size)):
            for epoch in range(self.epochs):
                order = list(batch)
                key.at("batch", number, "epoch", epoch).rng().shuffle(order)
                yield from map(list, parts(order, self.mini_batch_size))

    def steps(self, count: int) -> int:
        """Return the number of optimizer steps for a number of examples."""
        return self.epochs * sum(
            len(parts(batch, self.mini_batch_size)) for batch in parts(range(count), self.batch_size)
        )


def parts(indices: Sequence[int], size: int) -> list[Sequence[int]]:
    """Split indices into the fewest parts of at most `size`, whose sizes differ by at most one."""
    number = -(-len(indices) // size)
    ends = [len(indices) * part // number for part in range(number + 1)] if number else []
    return [indices[start:end] for start, end in pairwise(ends)]
