"""Meta-game of the population page: the Nash mixture with its interval, cycles with their p, lines of descent."""

import numpy as np
import pytest

from stratagem.show.viewer.meta_game import LineageMember, advantages, complete, member_of, meta_game


def cell(mean, se=None, n=100, *, exact=False):
    return {"mean": mean, "se": se, "n": n, "exact": exact}


def matrix(means, **given):
    """A zero-sum matrix of cells."""
    return [[cell(mean, **given) for mean in row] for row in means]


ROCK = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
"""Rock, paper, scissors: paper beats rock, scissors beat paper, rock beats scissors."""
NOBODY = [LineageMember("")] * 3


@pytest.fixture
def few_redrawn(monkeypatch):
    """Few matrices are redrawn for intervals that a test does not look at; a program for each takes milliseconds."""
    monkeypatch.setattr("stratagem.show.viewer.meta_game.REDRAWN", 2)


def test_rock_paper_scissors_is_one_sure_cycle_with_equal_shares():
    found = meta_game(matrix(ROCK, exact=True), NOBODY)
    assert [one["share"] for one in found["nash"]] == pytest.approx([1 / 3] * 3)
    assert all(one["low"] is None for one in found["nash"]), "exact payoffs have no interval"
    assert (found["triples"], found["num_cycles"], found["num_sure"]) == (1, 1, 1)
    (cycle,) = found["cycles"]
    assert cycle["players"] == (0, 2, 1)
    assert [margin["mean"] for margin in cycle["margins"]] == [1.0, 1.0, 1.0]


def test_p_of_a_cycle_is_that_of_its_least_sure_edge_for_both_directions(few_redrawn):
    means = [[0, -1, 0.2], [1, 0, -1], [-0.2, 1, 0]]
    (cycle,) = meta_game(matrix(means, se=0.1), NOBODY)["cycles"]
    # t = 2 on 99 degrees of freedom has a one-sided p of .0241; Holm doubles it, for the triple has two directions
    assert cycle["p"] == pytest.approx(2 * 0.0241, abs=2e-4)
    (alone,) = meta_game(matrix(ROCK, se=None, n=1), NOBODY)["cycles"]
    assert alone["p"] == 1.0, "one deal tells nothing"


def test_equal_sampled_deals_are_not_exact():
    (cycle,) = meta_game(matrix(ROCK, se=0.0, n=4), NOBODY)["cycles"]
    # four equal deals have p = 2 / 2^4 by sign flips, half of it in one direction, and Holm doubles it
    assert cycle["p"] == pytest.approx(2 * 1 / 16)
    assert not any(margin["exact"] for margin in cycle["margins"])
    assert advantages(matrix(ROCK, exact=True)).of(0, 1).exact


def test_chance_makes_few_sure_cycles(few_redrawn):
    generator = np.random.default_rng(1)
    noise = np.triu(generator.standard_normal((12, 12)), 1)
    found = meta_game(matrix((noise - noise.T).tolist(), se=1.0), [LineageMember("")] * 12)
    assert found["triples"] == 220
    assert 20 < found["num_cycles"] < 90, "a quarter of 220 is 55"
    assert found["num_sure"] == 0


def test_interval_of_the_mixture_holds_the_share_and_the_strong_have_it_all():
    found = meta_game(matrix(ROCK, se=0.1), NOBODY)["nash"]
    assert all(one["low"] < 1 / 3 < one["high"] for one in found)
    strong = meta_game(matrix([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]], se=0.01), NOBODY)["nash"]
    assert strong[0] == {"share": 1.0, "low": 1.0, "high": 1.0}


def test_general_sum_errors_are_an_upper_bound():
    found = advantages([[None, cell(3.0, 0.2, 40)], [cell(1.0, 0.4, 30), None]]).of(0, 1)
    assert (found.mean, found.se, found.n) == (1.0, pytest.approx(0.3), 30)


def test_members_who_did_not_meet_are_left_out():
    assert complete(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)) == [0, 1]
    pay = matrix(ROCK, exact=True)
    pay[0][2] = pay[2][0] = None
    found = meta_game(pay, NOBODY)
    assert [one and one["share"] for one in found["nash"]] == [0.0, 1.0, None]
    assert (found["triples"], found["cycles"]) == (0, [])
    assert meta_game([[None]], NOBODY[:1])["nash"] == [None]


def test_lines_of_descent_begin_at_the_base():
    means = [[0, -1, -2], [1, 0, -1], [2, 1, 0]]
    members = [LineageMember("main", 20, "main"), LineageMember("", 0, "base"), LineageMember("main", 10, "main")]
    (line,) = meta_game(matrix(means, exact=True), members)["lines"]
    assert line["places"] == [1, 2, 0]
    assert [gain and gain["mean"] for gain in line["gains"]] == [None, 1.0, -2.0]
    assert meta_game(matrix(means, exact=True), NOBODY)["lines"] == []


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("run:runs/demo@40@1", LineageMember("run:runs/demo", 40, "run")),
        ("run:.@5", LineageMember("run:.", 5, "run")),
        ("run:runs/demo@best@1", LineageMember("")),
        ("kuhn/NashApprox@1", LineageMember("")),
    ],
)
def test_checkpoints_are_read_from_names(name, member):
    assert member_of(name) == member
