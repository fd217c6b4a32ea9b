"""Interval equilibria of the sender-receiver game: the rule against every partition and the exact best response."""

from itertools import combinations, pairwise

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games import make_game
from stratagem.games.sender_receiver import SILENT, write_action
from stratagem.games.sender_receiver.players import (
    best_equilibrium,
    block_numbers,
    blocks_of,
    interval_equilibria,
    is_equilibrium,
    most_blocks,
    receiver_loss,
)
from stratagem.measure.exploitability.exact import exact
from stratagem.players.tabular import TablePlayer

BIASES = (0.5, 0.75, 1.0, 1.5, 2.0)


def partitions(states):
    """The sizes of all partitions into blocks of consecutive states."""
    for number in range(states):
        for cuts in combinations(range(1, states), number):
            ends = (0, *cuts, states)
            yield tuple(after - before for before, after in pairwise(ends))


def table_of(game, sizes):
    """The strategies of a partition: block k sends statement k; other messages are answered like that of block 0."""
    blocks = blocks_of(sizes)
    means = [(block[0] + block[-1]) / 2 for block in blocks]
    sends = {f"sender: state {state}": {f"STATE {k}": 1.0} for k, block in enumerate(blocks) for state in block}
    answers = {f"STATE {k}": means[k] if k < len(blocks) else means[0] for k in range(game.states)}
    hears = {f"receiver: message {message}": {write_action(mean): 1.0} for message, mean in answers.items()}
    return TablePlayer({**sends, **hears, f"receiver: message {SILENT}": {write_action(means[0]): 1.0}})


@pytest.mark.parametrize("bias", [*BIASES, 0.0, 0.3, 1.2])
def test_rule_agrees_with_exact_best_responses_over_all_partitions(bias):
    game = make_game(f"sender-receiver(bias={bias})")
    found = set(interval_equilibria(6, bias))
    for sizes in partitions(6):
        gain = exact(game, table_of(game, sizes)).nash_conv
        assert (gain < 1e-9) == is_equilibrium(sizes, bias) == (sizes in found), sizes


@pytest.mark.parametrize(("bias", "most"), zip(BIASES, (6, 3, 2, 2, 1), strict=True))
def test_most_blocks_of_six_states(bias, most):
    assert most_blocks(6, bias) == most == max(map(len, interval_equilibria(6, bias)))
    assert block_numbers(6, bias) == tuple(range(1, most + 1))


@pytest.mark.parametrize(
    ("bias", "expected"),
    [
        (0.75, {(6,), (1, 5), (2, 4), (1, 2, 3)}),
        (1.0, {(6,), (1, 5), (2, 4)}),
        (1.5, {(6,), (1, 5)}),
        (2.0, {(6,)}),
    ],
)
def test_equilibria_of_six_states(bias, expected):
    assert set(interval_equilibria(6, bias)) == expected


@pytest.mark.parametrize("bias", [0.0, 0.4, 0.75, 1.0])
@pytest.mark.parametrize("states", [5, 9])
def test_best_equilibrium_is_the_least_loss_of_all(bias, states):
    every = list(interval_equilibria(states, bias))
    for number in block_numbers(states, bias):
        alike = [sizes for sizes in every if len(sizes) == number]
        assert receiver_loss(best_equilibrium(states, bias, number)) == pytest.approx(min(map(receiver_loss, alike)))


def test_losses_are_those_of_the_game():
    game = make_game("sender-receiver(bias=0.75)")
    for sizes in interval_equilibria(6, 0.75):
        values = exact(game, table_of(game, sizes)).values
        loss = receiver_loss(sizes)
        assert values == pytest.approx((-loss - 0.75**2, -loss))


def test_unknown_number_of_blocks_is_refused():
    with pytest.raises(CannotCompute, match="have 1, 2 blocks, not 3"):
        best_equilibrium(6, 1.0, 3)
