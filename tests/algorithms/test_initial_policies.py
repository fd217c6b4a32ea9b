"""ShapeLLM's Table 14, written out once more, and what it says about itself."""

import pytest

from stratagem.algorithms.kl_sft.target_policies import INITIAL_POLICIES
from stratagem.games.catalogue import make_game

TABLE_14 = """
ipd-shapellm H K 0.60 0.89 0.89 0.70 0.68
ipd-shapellm N Y 0.68 0.38 0.87 0.58 0.77
ipd-shapellm I X 0.12 0.21 0.75 0.34 0.24
imp S Y 0.71 0.78 0.87 0.57 0.70
imp N Y 0.48 0.32 0.60 0.56 0.66
imp N M 0.30 0.20 0.36 0.13 0.18
icg T K 0.61 0.90 0.87 0.82 0.82
icg N M 0.41 0.40 0.71 0.37 0.61
icg T F 0.24 0.47 0.47 0.02 0.11
"""


def test_the_printed_policies():
    printed = [one for one in INITIAL_POLICIES.values() if one.source.startswith("ShapeLLM, Table 14")]
    rows = [f"{one.game} {' '.join(one.labels)} {' '.join(f'{p:.2f}' for p in one.first)}" for one in printed]
    assert rows == TABLE_14.split("\n")[1:-1]


@pytest.mark.parametrize("name", INITIAL_POLICIES)
def test_a_policy_is_of_a_game_of_two_actions(name):
    one = INITIAL_POLICIES[name]
    game = make_game(one.game)
    assert len(one.first) == 5
    assert all(0.0 < share < 1.0 for share in one.first)
    assert len(set(one.labels)) == len(game.labels) == 2
    assert one.source.startswith("ShapeLLM, Table 14") or (
        one.source.startswith("assumed") and one.labels == game.labels
    )
