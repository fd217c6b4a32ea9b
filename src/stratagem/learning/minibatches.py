"""Which examples make each step, where a batch is learnt from in several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pydantic import Field

from stratagem.games.key import Key
from stratagem.settings import Settings


class Batches(Settings):
    """How many examples are learnt from together, and how often."""

    batch: int = Field(default=100, ge=1)
    """How many neighbours make a batch, within which the order is drawn; the next one begins when it is done with."""
    mini_batch: int = Field(default=10, ge=1)
    """How many make a step."""
    epochs: int = Field(default=1, ge=1)
    """How often each batch is gone through."""

    def drawn(self, count: int, key: Key) -> Iterator[list[int]]:
        """The places of the examples of every step, of so many in all; the same key draws the same order.

        Parts that cannot all be full are as equal as can be: a last step on one example left over would move the
        weights as far as any other.
        """
        for number, batch in enumerate(parts(range(count), self.batch)):
            for epoch in range(self.epochs):
                order = list(batch)
                key.at("batch", number, "epoch", epoch).rng().shuffle(order)
                yield from map(list, parts(order, self.mini_batch))

    def steps(self, count: int) -> int:
        """How many steps so many examples make."""
        return self.epochs * sum(len(parts(batch, self.mini_batch)) for batch in parts(range(count), self.batch))


def parts(places: Sequence[int], size: int) -> list[Sequence[int]]:
    """Neighbours in as few parts of at most `size` as will do, no two of which differ by more than one."""
    number = -(-len(places) // size)
    ends = [len(places) * part // number for part in range(number + 1)] if number else []
    return [places[start:end] for start, end in pairwise(ends)]
