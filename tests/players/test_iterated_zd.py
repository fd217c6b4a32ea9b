"""Zero-determinant players: published probabilities, and the line that they enforce in the long run."""

import numpy as np
import pytest
from transcripts import assert_plays, view_of

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.matrix import MatrixFacts
from stratagem.games.matrix.players_zd import OUTCOMES, ExtortZD, GenerousZD

OTHERS = {
    "always cooperates": (1.0, 1.0, 1.0, 1.0),
    "tit for tat with slips": (0.99, 0.01, 0.99, 0.01),
    "win-stay lose-shift with slips": (0.98, 0.02, 0.02, 0.98),
    "mixed": (0.7, 0.7, 0.7, 0.7),
    "any": (0.31, 0.84, 0.12, 0.47),
    "mostly defects": (0.2, 0.1, 0.3, 0.15),
}
"""Memory-one opponents: the probability of cooperating after CC, CD, DC and DD, their own move first."""


def cooperation(player, game, seat, outcome):
    """Return the player's own policy after one outcome."""
    labels = game.seat_labels(seat)
    facts = MatrixFacts(seat, labels, game.seat_labels(1 - seat), (outcome[0],), (outcome[1],), 1)
    return player.policy(view_of(game, facts)).get(labels[0], 0.0)


def long_run_payoffs(player, game, seat, other):
    """Mean payoffs of the player and the other, from the stationary distribution over the four outcomes."""
    chain = np.empty((4, 4))
    for row, (own, theirs) in enumerate(OUTCOMES):
        p = cooperation(player, game, seat, (own, theirs))
        q = other[OUTCOMES.index((theirs, own))]
        chain[row] = [p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)]
    system = np.vstack([chain.T - np.eye(4), np.ones(4)])
    weights = np.linalg.lstsq(system, np.array([0, 0, 0, 0, 1.0]), rcond=None)[0]
    assert np.allclose(weights @ chain, weights)
    assert weights.min() > -1e-9
    return weights @ np.array([pays(game, seat, outcome) for outcome in OUTCOMES])


def pays(game, seat, outcome):
    row, column = outcome if seat == 0 else outcome[::-1]
    return game.payoffs[row][column][seat], game.payoffs[row][column][1 - seat]


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("name", "player"),
    [
        ("ipd", ExtortZD()),
        ("ipd", ExtortZD(chi=3.0)),
        ("ipd", ExtortZD(chi=5.0, phi=0.01)),
        ("ipd-shapellm", ExtortZD(chi=1.5)),
        ("prisoners-dilemma", ExtortZD()),
        ("c-ipd", ExtortZD(chi=4.0)),
        ("icg", ExtortZD(chi=1.2)),
        ("ipd", GenerousZD()),
        ("ipd", GenerousZD(chi=4.0, phi=0.02)),
        ("ipd-shapellm", GenerousZD(chi=3.0)),
    ],
    ids=str,
)
def test_line_is_enforced(name, player, seat, other):
    assert_on_the_line(make_game(name), player, seat, other)


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize(("seat", "chi"), [(0, 3.0), (1, 1.2)])
def test_line_is_enforced_from_one_seat_of_an_asymmetric_game(seat, chi, other):
    assert_on_the_line(make_game("c-ipd"), GenerousZD(chi=chi), seat, other)


def assert_on_the_line(game, player, seat, other):
    mine, theirs = long_run_payoffs(player, game, seat, other)
    anchor_mine, anchor_theirs = pays(game, seat, player.anchor)
    assert mine - anchor_mine == pytest.approx(player.chi * (theirs - anchor_theirs), abs=1e-9)


def test_another_player_is_on_no_such_line():
    """The check above can fail: one changed probability leaves the line."""
    game = make_game("ipd")

    class Bent(ExtortZD):
        def four_vector(self, game, seat):
            return (0.5, *super().four_vector(game, seat)[1:])

    mine, theirs = long_run_payoffs(Bent(), game, 0, OTHERS["any"])
    assert abs((mine - 1) - 2 * (theirs - 1)) > 0.01


@pytest.mark.parametrize(
    ("player", "published"),
    [
        (ExtortZD(chi=3.0), (11 / 13, 1 / 2, 7 / 26, 0.0)),  # Press and Dyson 2012, the example with chi = 3
        (ExtortZD(chi=2.0), (8 / 9, 1 / 2, 1 / 3, 0.0)),  # Stewart and Plotkin 2012, Extort-2
        (GenerousZD(chi=2.0), (1.0, 1 / 8, 1.0, 1 / 4)),  # Stewart and Plotkin 2012, ZDGTFT-2
    ],
)
def test_published_probabilities(player, published):
    assert player.four_vector(make_game("ipd"), 0) == pytest.approx(published)


def test_transcripts():
    """The largest phi makes 1 - phi * 9 = 0 after being suckered; mutual defection is answered with defection."""
    assert_plays(ExtortZD(phi=1 / 9), against="DDDD", gives="CDDD")
    assert_plays(GenerousZD(), against="CCCC", gives="CCCC")


@pytest.mark.parametrize(
    ("name", "player", "sentence"),
    [
        ("icg", ExtortZD(chi=2.0), "at least 1 and at most 1.333"),
        ("c-ipd", ExtortZD(chi=2.0), "at least 2.5"),
        ("c-ipd", GenerousZD(chi=2.0), "no `chi` serves both seats"),
        ("ipd", ExtortZD(phi=0.2), "at most 0.1111"),
        ("matrix(payoffs=[[(2,2),(0,0)],[(0,0),(1,1)]], cooperative=True)", ExtortZD(chi=1.0), "no probabilities"),
        ("imp", ExtortZD(), "two-by-two game with cooperation"),
        ("kuhn", GenerousZD(), "two-by-two game with cooperation"),
    ],
)
def test_impossible_lines_are_refused(name, player, sentence):
    with pytest.raises(BadParameter, match=sentence):
        player.check(make_game(name))


@pytest.mark.parametrize("make", [lambda: ExtortZD(chi=0.5), lambda: GenerousZD(phi=0.0)])
def test_options_are_checked(make):
    with pytest.raises(BadParameter, match=r"`(chi` of at least 1|phi` above 0)"):
        make()
