"""Players of the sender-receiver game: a code as sender, and the best answer to that code as receiver.

So Honest believes what it hears, Babbler ignores it, and Inverter reads its own permutation of the names.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from math import ceil
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import whole, within
from stratagem.games.base import Game, View
from stratagem.games.sender_receiver.rules import SENDER, SILENT, SenderReceiver, SenderReceiverFacts, write_action
from stratagem.players.base import Mix, Player, Scripted, Traits

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
    yield from _complete_sizes((), states, bias)


def _complete_sizes(begun: Sizes, left: int, bias: float) -> Iterator[Sizes]:
    if not left:
        yield begun
    for size in range(1, left + 1):
        if not begun or fits(begun[-1], size, bias):
            yield from _complete_sizes((*begun, size), left - size, bias)


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


class Talker(Scripted[SenderReceiverFacts]):
    """Player whose whole rule is its code: the messages that it sends in each state."""

    family = "sender-receiver"
    makes_statements: ClassVar[bool] = True
    """True if the code is made of statements, so that labels are not enough."""

    @abstractmethod
    def says(self, game: SenderReceiver, state: int) -> Mix:
        """Return the probability of each message in this state."""

    def check(self, game: Game[Any]) -> None:
        """Refuse a game without statements where the code needs them."""
        if self.makes_statements and isinstance(game, SenderReceiver) and game.labels:
            raise BadParameter(f"{self.name} makes statements, and {game.spec.name} with `labels` has none: labels=0.")

    def hears(self, game: SenderReceiver, message: str) -> float:
        """Return the best answer to the code: the nearest action to the mean of the state, given the message.

        A message that the code never uses tells nothing.
        """
        weights = [self.says(game, state).get(message, 0.0) for state in range(game.states)]
        if not (total := sum(weights)):
            return game.middle
        mean = sum(weight * state for state, weight in enumerate(weights)) / total
        return ceil(2.0 * mean - 0.5 - 1e-9) / 2.0

    def strategy(self, view: View[SenderReceiverFacts]) -> str | Mix:
        game, facts = view.game, view.facts
        assert isinstance(game, SenderReceiver)
        if facts.seat != SENDER:
            return write_action(self.hears(game, facts.message or SILENT))
        mix = self.says(game, facts.state or 0)
        return next(iter(mix)) if len(mix) == 1 else mix


class Honest(Talker):
    """States the truth; believes every statement."""

    def says(self, game: SenderReceiver, state: int) -> Mix:
        return {game.messages[state]: 1.0}


class Babbler(Talker):
    """Sends any message, silence too, whatever the state; ignores what it hears. An equilibrium for every bias."""

    traits = Traits(stochastic=True)
    makes_statements = False

    def says(self, game: SenderReceiver, state: int) -> Mix:
        messages = game.choices_of(SENDER)
        return dict.fromkeys(messages, 1.0 / messages.count)


@dataclass(frozen=True)
class Equilibrium(Talker):
    """A pure interval equilibrium: tells the block of the state, and answers a block by its mean.

    Among equilibria of as many blocks, the one in which the receiver loses least. A message that no block uses is
    answered like a used one.
    """

    makes_statements = False
    blocks: int = 0
    """Number of blocks; 0 for the most."""

    def __post_init__(self) -> None:
        whole("Equilibrium", "blocks", self.blocks, 0)

    def check(self, game: Game[Any]) -> None:
        """Refuse a number of blocks for which there is no equilibrium, or no messages."""
        if not isinstance(game, SenderReceiver) or not self.blocks:
            return
        messages = game.choices_of(SENDER).count
        known = [number for number in block_numbers(game.states, game.bias) if number <= messages]
        if self.blocks not in known:
            listed = ", ".join(map(str, known))
            raise BadParameter(f"{self.name} does not exist in this game: its equilibria have {listed} blocks.")

    def says(self, game: SenderReceiver, state: int) -> Mix:
        code = _block_code(game, self.blocks)
        block = next(number for number, states in enumerate(code.blocks) if state in states)
        return {code.messages[block]: 1.0}

    def hears(self, game: SenderReceiver, message: str) -> float:
        states = _block_code(game, self.blocks).meant[message]
        return (states[0] + states[-1]) / 2.0


@dataclass(frozen=True)
class _BlockCode:
    """Blocks of states, the message of each, and the block that each message stands for."""

    blocks: tuple[range, ...]
    messages: tuple[str, ...]
    meant: dict[str, range]


@lru_cache(maxsize=64)
def _block_code(game: SenderReceiver, num_blocks: int) -> _BlockCode:
    """Return the code of an equilibrium: a statement stands for the block of its state, the k-th label for block k."""
    every = tuple(game.choices_of(SENDER))
    num_blocks = num_blocks or _most(game, len(every))
    blocks = blocks_of(best_equilibrium(game.states, game.bias, num_blocks))
    if game.labels:
        meant = {message: blocks[min(place, num_blocks - 1)] for place, message in enumerate(every)}
        return _BlockCode(blocks, every[:num_blocks], meant)
    named = {message: next(b for b in blocks if state in b) for message, state in game.meanings.items()}
    named[SILENT] = next(b for b in blocks if int(game.middle) in b)
    return _BlockCode(blocks, tuple(game.messages[(b[0] + b[-1]) // 2] for b in blocks), named)


def _most(game: SenderReceiver, num_messages: int) -> int:
    """Return the largest number of blocks that the bias and the messages allow."""
    most = most_blocks(game.states, game.bias)
    if most <= num_messages:
        return most
    return max(number for number in block_numbers(game.states, game.bias) if number <= num_messages)


@dataclass(frozen=True)
class Liar(Talker):
    """With probability `p` names another state, each alike, else the true one; as receiver, knows the rate."""

    traits = Traits(stochastic=True)
    p: float = 0.5

    def __post_init__(self) -> None:
        within(self, "p", self.p, 0.0, 1.0)

    def says(self, game: SenderReceiver, state: int) -> Mix:
        other = self.p / (game.states - 1)
        mix = dict.fromkeys(game.messages, other) | {game.messages[state]: 1.0 - self.p}
        return {message: p for message, p in mix.items() if p > 0.0}


class Exaggerator(Talker):
    """Names the state whose believer would do what it wants, s + b or the nearest below the last; discounts as much."""

    def says(self, game: SenderReceiver, state: int) -> Mix:
        wanted = min(game.states - 1, ceil(state + game.bias - 0.5))
        return {game.messages[wanted]: 1.0}


class Inverter(Talker):
    """Names the state that is half of the states away, a fixed permutation; knows this code as receiver."""

    def says(self, game: SenderReceiver, state: int) -> Mix:
        return {game.messages[(state + game.states // 2) % game.states]: 1.0}


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "Honest": Honest,
    "Babbler": Babbler,
    "Equilibrium": Equilibrium,
    "Liar": Liar,
    "Exaggerator": Exaggerator,
    "Inverter": Inverter,
}
"""Players by name."""
