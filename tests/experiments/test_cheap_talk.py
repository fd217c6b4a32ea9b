"""The experiment on cheap talk: its equilibria are those of theory, and its figures those of known pairs."""

import math
import re
import tomllib
from pathlib import Path

import beliefs_table
import cheap_talk_table
import harm_table
import pytest
from cheap_talk_equilibria import channel_information, grid_equilibria, most_informative, numbered
from cheap_talk_table import DECEPTION, INFORMATION, pair_figures

from stratagem.games.catalogue import make_game
from stratagem.games.sender_receiver.players import best_equilibrium, interval_equilibria, most_blocks
from stratagem.players.catalogue import make_player


@pytest.mark.parametrize("bias", [0.0, 0.5, 1.0, 1.5, 2.0])
def test_pure_equilibria_on_the_grid_hold_every_interval_equilibrium(bias):
    """`interval_equilibria` follows from the condition on neighbouring blocks, and the search knows no intervals."""
    found = {equilibrium.blocks for equilibrium in grid_equilibria(6, bias)}
    for sizes in interval_equilibria(6, bias):
        assert numbered([block for block, size in enumerate(sizes) for _ in range(size)]) in found


def test_most_informative_equilibria_are_the_known_ones():
    """All states at small biases, blocks of 2 and 4 states at b = 1, of 1 and 5 at b = 1.5, and babbling at b = 2."""
    found = [most_informative(6, bias) for bias in (0.0, 0.5, 1.0, 1.5, 2.0)]
    two, one = (-sum(p * math.log(p) for p in shares) for shares in ((2 / 6, 4 / 6), (1 / 6, 5 / 6)))
    assert found == pytest.approx([math.log(6), math.log(6), two, one, 0.0])


def test_every_equilibrium_on_the_grid_is_one():
    """No state would rather bring about another action, and each action is the best answer to those who choose it."""
    for equilibrium in grid_equilibria(4, 1.0):
        columns = [index for index in range(7) if any(row[index] > 0.0 for row in equilibrium.channel)]
        for state, row in enumerate(equilibrium.channel):
            losses = {index: (index / 2 - state - 1.0) ** 2 for index in columns}
            assert all(losses[index] == pytest.approx(min(losses.values())) for index in columns if row[index] > 0.0)
        for index in columns:
            mass = [row[index] for row in equilibrium.channel]
            mean = sum(state * p for state, p in enumerate(mass)) / sum(mass)
            assert abs(mean - index / 2) <= 0.25 + 1e-6


def test_information_of_a_channel_is_zero_for_babbling():
    assert channel_information([[0.5, 0.5]] * 4) == pytest.approx(0.0)
    assert channel_information([[1.0, 0.0], [0.0, 1.0]]) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("name", "bias", "information", "nash_conv"),
    [
        ("Babbler", 1.0, 0.0, 0.0),
        ("Honest", 1.0, math.log(6), 5 / 6),  # all but the last state gain 1 by naming the next one
        ("Equilibrium", 1.5, -math.log(1 / 6) / 6 - 5 * math.log(5 / 6) / 6, 0.0),
    ],
)
def test_figures_of_known_pairs(name, bias, information, nash_conv):
    game = make_game(f"sender-receiver(bias={bias})")
    found = pair_figures(game, make_player(name, game), make_player(name, game))
    assert found[INFORMATION] == pytest.approx(information)
    assert found["NashConv"] == pytest.approx(nash_conv)
    assert found["greedy NashConv"] == pytest.approx(nash_conv)
    assert found["equilibrium"] is (nash_conv == 0.0)


def test_deception_of_an_exaggerator_is_seen_by_a_believer_alone():
    game = make_game("sender-receiver(bias=1)")
    liar = make_player("Exaggerator", game)
    believed, known = (pair_figures(game, liar, make_player(name, game)) for name in ("Honest", "Exaggerator"))
    assert believed[DECEPTION] > 0.5
    assert known[DECEPTION] < believed[DECEPTION]


DECLARED = Path(__file__).parents[2] / "experiments" / "declared"


@pytest.mark.parametrize(
    ("name", "table"), [("cheap-talk", cheap_talk_table), ("harm", harm_table), ("beliefs", beliefs_table)]
)
def test_families_have_the_declared_numbers_of_tests(name, table):
    """A family that grows after its declaration has other corrected p-values."""
    declared = tomllib.loads((DECLARED / f"{name}.toml").read_text("utf-8"))["families_of_tests"]
    sizes = {family: int(size) for family, size in re.findall(r"\*(\w+)\*\s\((\d+)\)", declared)}
    assert sizes == {family: len(tests) for family, tests in table.PAIRS.items()}


def test_best_equilibrium_of_the_game_is_in_the_search():
    sizes = best_equilibrium(6, 1.0, most_blocks(6, 1.0))
    assert sizes == (2, 4)
