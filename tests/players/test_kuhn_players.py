"""Kuhn players: their probabilities by card, and the equilibrium family against OpenSpiel's exploitability."""

import pyspiel
import pytest
from transcripts import view_of

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.kuhn import KuhnFacts, players
from stratagem.games.kuhn.players import AlwaysPassQueen, NashApprox

GAME = make_game("kuhn")
SITUATIONS = ("", "P", "B", "PB")


def aggression(player):
    """The probability of betting or calling, by betting line, for J, Q and K."""
    rows = {}
    for line in SITUATIONS:
        mixes = [player.policy(view_of(GAME, KuhnFacts(len(line) % 2, card, line, len(line) != 1))) for card in "JQK"]
        rows[line] = [mix.get("BET", 0.0) + mix.get("CALL", 0.0) for mix in mixes]
    return rows


def exploitability(player):
    """Return the payoff of OpenSpiel's best responses against the player, the mean over the seats."""
    twin = GAME.twin()
    table, nodes = {}, [twin.spiel.new_initial_state()]
    while nodes:
        node = nodes.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            mix = player.policy(twin.view(node))
            legal = node.legal_actions()
            table[node.information_state_string()] = [(a, mix.get(twin.action(node, a), 0.0)) for a in legal]
        nodes += [node.child(action) for action in node.legal_actions()]
    assert len(table) == 12
    return pyspiel.exploitability(twin.spiel, table)


@pytest.mark.parametrize("alpha", [0.0, 0.05, 1 / 6, 0.25, 1 / 3])
def test_nash_approx_cannot_be_exploited(alpha):
    assert exploitability(NashApprox(alpha=alpha)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", ["TightPassive", "LooseAggressive", "AlwaysBet", "TightValue", "PotControl"])
def test_the_others_can(name):
    assert exploitability(getattr(players, name)()) > 0.01


def test_passing_every_queen_costs():
    assert exploitability(AlwaysPassQueen()) > 0.01


@pytest.mark.parametrize(
    ("name", "opening", "after_pass", "facing_bet", "after_check_and_bet"),
    [
        ("NashApprox", [1 / 3, 0, 1], [1 / 3, 0, 1], [0, 1 / 3, 1], [0, 2 / 3, 1]),
        ("AlwaysPassQueen", [1 / 3, 0, 1], [1 / 3, 0, 1], [0, 0, 1], [0, 0, 1]),
        ("TightPassive", [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]),
        ("LooseAggressive", [1, 1, 1], [1, 1, 1], [0, 1, 1], [0, 1, 1]),
        ("AlwaysBet", [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]),
        ("TightValue", [0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]),
        ("PotControl", [0, 0, 0], [0, 0, 0], [0, 1, 1], [0, 1, 1]),
        ("CallingStation", [0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]),
    ],
)
def test_probabilities_for_jack_queen_king(name, opening, after_pass, facing_bet, after_check_and_bet):
    rows = aggression(getattr(players, name)())
    expected = {"": opening, "P": after_pass, "B": facing_bet, "PB": after_check_and_bet}
    for line, row in expected.items():
        assert rows[line] == pytest.approx(row), line


def test_alpha_shifts_the_opener_only():
    calm, usual = aggression(NashApprox(alpha=0.0)), aggression(NashApprox())
    assert calm[""] == [0, 0, 0]
    assert calm["PB"] == pytest.approx([0, 1 / 3, 1])
    assert (calm["P"], calm["B"]) == (usual["P"], usual["B"])


def test_alpha_is_checked():
    with pytest.raises(BadParameter, match=r"from 0 to 0\.333"):
        NashApprox(alpha=0.5)
