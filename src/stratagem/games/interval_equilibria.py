"""Pure interval equilibria of the sender-receiver game on a grid of states.

The states 0 to n - 1 are cut into K blocks of consecutive states. The sender tells the block alone, and the receiver
answers with the mean of the block, its only best answer. With sizes n_1, ..., n_K this is an equilibrium exactly if

    4b - 2 <= n_(k+1) - n_k <= 4b + 2    for k = 1, ..., K - 1.

Proof. Let j be the last state of block k. Its answer is a_k = j - (n_k - 1) / 2, the next block's
a_(k+1) = j + (n_(k+1) + 1) / 2. The sender in state s wants s + b and loses the squared distance from it, so it prefers
a_k exactly if s + b lies at or below the midpoint (a_k + a_(k+1)) / 2 = j + (n_(k+1) - n_k + 2) / 4. State j must lie
there, which is the left inequality; state j + 1 must not lie below, which is the right one. A state further away is
then on the right side of every midpoint, since midpoints ascend with the blocks. A message that no block uses is
answered like a used one, so it offers the sender nothing new.

Crawford and Sobel (1982) have states on [0, 1]. There each boundary type is indifferent, and the next interval is
longer by exactly 4b. On a grid nobody need be indifferent, so there are more equilibria, and truth-telling is one for
every b up to .5. Their formula for the number of intervals does not hold here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import accumulate, pairwise

from stratagem.errors import CannotCompute

Sizes = tuple[int, ...]
"""Sizes of the blocks, the block of state 0 first."""


def is_equilibrium(sizes: Sizes, bias: float) -> bool:
    """Return whether a partition into blocks of these sizes is an equilibrium."""
    return all(fits(size, after, bias) for size, after in pairwise(sizes))


def fits(size: int, after: int, bias: float) -> bool:
    """Return whether a block may follow a block of this size."""
    return 4.0 * bias - 2.0 <= after - size <= 4.0 * bias + 2.0


def interval_equilibria(states: int, bias: float) -> Iterator[Sizes]:
    """Yield every equilibrium; there may be very many where the bias is below 1."""
    yield from _completed((), states, bias)


def _completed(begun: Sizes, left: int, bias: float) -> Iterator[Sizes]:
    if not left:
        yield begun
    for size in range(1, left + 1):
        if not begun or fits(begun[-1], size, bias):
            yield from _completed((*begun, size), left - size, bias)


def block_numbers(states: int, bias: float) -> tuple[int, ...]:
    """Return the numbers of blocks for which there is an equilibrium."""
    return tuple(number for number in range(1, states + 1) if _best(states, bias, number) is not None)


def most_blocks(states: int, bias: float) -> int:
    """Return the largest number of blocks for which there is an equilibrium."""
    return next(number for number in range(states, 0, -1) if _best(states, bias, number) is not None)


def best_equilibrium(states: int, bias: float, num_blocks: int) -> Sizes:
    """Return the equilibrium of so many blocks in which the receiver loses least; the first in order of equals."""
    if (sizes := _best(states, bias, num_blocks)) is None:
        known = ", ".join(map(str, block_numbers(states, bias)))
        raise CannotCompute(
            f"With {states} states and bias {bias:g} the interval equilibria have {known} blocks, not {num_blocks}."
        )
    return sizes


@lru_cache(maxsize=256)
def _best(states: int, bias: float, num_blocks: int) -> Sizes | None:
    """Search from the last block to the first, over the states left and the size of the block before."""

    @cache
    def rest(left: int, blocks: int, before: int) -> tuple[float, Sizes] | None:
        if not blocks or left < blocks:
            return None if left or blocks else (0.0, ())
        sizes = (size for size in range(1, left - blocks + 2) if not before or fits(before, size, bias))
        tails = ((size, rest(left - size, blocks - 1, size)) for size in sizes)
        whole = [(tail[0] + _spread(size), (size, *tail[1])) for size, tail in tails if tail is not None]
        return min(whole, default=None)

    found = rest(states, num_blocks, 0)
    return None if found is None else found[1]


def _spread(size: int) -> float:
    """Return the sum of squared distances of a block's states from their mean."""
    return size * (size * size - 1) / 12


def receiver_loss(sizes: Sizes) -> float:
    """Return the receiver's expected loss: `sum n_k (n_k^2 - 1) / 12 n`, and the sender's is larger by b^2."""
    return sum(map(_spread, sizes)) / sum(sizes)


def blocks_of(sizes: Sizes) -> tuple[range, ...]:
    """Return the states of each block."""
    ends = list(accumulate(sizes))
    return tuple(range(end - size, end) for size, end in zip(sizes, ends, strict=True))
