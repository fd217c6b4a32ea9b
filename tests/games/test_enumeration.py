"""Enumerated chance: probabilities of draws by weights, sums of starts and moves, and weights that are refused."""

from dataclasses import dataclass

import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.enumeration import joint_actions, outcomes, starts, successors, walk_positions
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn, KuhnState
from stratagem.games.tree import CHANCE
from stratagem.games.tree_walk import walk
from stratagem.measure.expectation import expected_payoffs
from stratagem.players.catalogue import make_player

DEALS = ("KJ", "KQ", "QJ", "JQ")
"""The last deal is drawn by two numbers."""


class WeighedState(KuhnState):
    """Hands that a stranger deals by weights which do not sum to 1."""

    __slots__ = ()

    def begin(self):
        self.line, self.to_act = "", (self.round % 2,)
        self.cards = DEALS[min(self.chance.at("deal", self.round).choose(self.game.weights), 3)]


@dataclass(frozen=True, kw_only=True)
class Weighed(Kuhn):
    state = WeighedState
    weights: tuple[float, ...] = (1, 2, 3, 2, 1)


def deals(branches):
    return [(state.cards, probability) for probability, state, *_ in branches]


def test_weights_of_a_draw_are_divided_by_their_sum():
    """Without their sum, 9, every exact figure would be nine times as large."""
    found = deals(starts(Weighed(hands=1)))
    assert [cards for cards, _ in found] == ["KJ", "KQ", "QJ", "JQ", "JQ"]
    assert [p for _, p in found] == pytest.approx([1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9], rel=1e-12)


def test_draws_within_a_move_are_divided_by_their_sum():
    """The move that ends the first hand deals the second."""
    _, state = next(starts(Weighed(hands=2)))
    for moves, probabilities in (("PASS", [1.0]), ("PASS", [1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9])):
        branches = list(outcomes(state, {state.to_act[0]: moves}))
        assert [branch[0] for branch in branches] == pytest.approx(probabilities, rel=1e-12)
        state = branches[0][1]


def test_starts_that_are_one_situation_add_up():
    """Both draws of JQ are one situation. Who passes always wins 1 with the higher card: 6 of 9, against 3 of 9."""
    game = Weighed(hands=1)
    found = expected_payoffs(game, [make_player("first-legal", game) for _ in range(2)])
    assert found.rounds == pytest.approx(1.0, abs=1e-12)
    assert found.payoff(0) == pytest.approx((6 - 3) / 9, abs=1e-12)


@pytest.mark.parametrize("weights", [(-1, 2, 3), (0, 0, 0), (1, float("nan"), 1), (1, float("inf"))], ids=str)
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(BadParameter, match=r"draws at deal/0 by the weights .*finite numbers of at least 0"):
        list(starts(Weighed(hands=1, weights=weights)))


@pytest.mark.parametrize("text", ["kuhn(hands=2)", "leduc", "auction(rounds=1)"])
def test_children_of_chance_in_a_tree_sum_to_one(text):
    tree = walk(make_game(text))
    sums = [
        tree.probability[list(tree.children(node))].sum() for node in range(len(tree)) if tree.mover[node] == CHANCE
    ]
    assert sums == pytest.approx([1.0] * len(sums), abs=1e-12)


def test_draws_without_weights_cannot_be_enumerated():
    class Generated(KuhnState):
        __slots__ = ()

        def begin(self):
            super().begin()
            self.chance.rng().random()

    @dataclass(frozen=True, kw_only=True)
    class Game(Kuhn):
        state = Generated

    assert Game(hands=1).start(Key(0)).cards
    with pytest.raises(CannotCompute, match="draws with 'rng': use `integer` or `choose`"):
        list(starts(Game(hands=1)))


class DrawingState(KuhnState):
    """Hands that are dealt where a state is made, and so at every fork."""

    __slots__ = ()

    def __init__(self, game, chance):
        super().__init__(game, chance)
        self.cards = DEALS[chance.at("early").integer(3)]


class HastyState(KuhnState):
    """Hands whose first seat is named where a state is made."""

    __slots__ = ()

    def __init__(self, game, chance):
        super().__init__(game, chance)
        self.to_act = (0,)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (DrawingState, r"draws chance in `__init__`, which runs at every fork, too: draw in `begin` or `play`\.$"),
        (HastyState, r"sets `to_act` in `__init__`, where `begin` then lets all seats act: set it in `begin`\.$"),
    ],
)
def test_work_of_begin_in_the_constructor_is_one_sentence(kind, sentence):
    @dataclass(frozen=True, kw_only=True)
    class Early(Kuhn):
        state = kind

    with pytest.raises(BadParameter, match=sentence):
        list(outcomes(Early(hands=1).start(Key(0)), {0: "PASS"}))


def test_positions_are_walked_by_breadth_and_those_of_one_key_count_as_one():
    paths = {"": "ab", "a": "ba", "b": "a", "ab": "", "aa": "a", "ba": "", "aaa": ""}
    follow = lambda path: [path + step for step in paths[path]]  # noqa: E731
    tree = [(0, ""), (1, "a"), (1, "b"), (2, "ab"), (2, "aa"), (2, "ba"), (3, "aaa")]
    assert list(walk_positions([""], follow)) == tree
    merged = list(walk_positions([""], follow, key=lambda path: "".join(sorted(path))))
    assert merged == [(0, ""), (1, "a"), (1, "b"), (2, "ab"), (2, "aa"), (3, "aaa")]


def test_a_position_is_followed_after_all_that_are_as_deep():
    followed = []
    walked = walk_positions([0, 1, 2], lambda number: followed.append(number) or [number + 10])
    assert [next(walked) for _ in range(3)] == [(0, 0), (0, 1), (0, 2)]
    assert followed == []
    assert next(walked) == (1, 10)
    assert followed == [0]


def test_successors_are_those_of_every_joint_action_and_draw():
    state = make_game("ipd(rounds=1)").start(Key(0))
    pairs = [(one, other) for one in ("COOPERATE", "DEFECT") for other in ("COOPERATE", "DEFECT")]
    assert [tuple(actions.values()) for actions in joint_actions(state)] == pairs
    reached = [after for after, _ in successors(state)]
    assert [result.payoffs for _, result in successors(state)] == [(3, 3), (0, 5), (5, 0), (1, 1)]
    assert all(after.over and not list(joint_actions(after)) for after in reached)
    (_, hand), *_ = starts(make_game("kuhn(hands=2)"))
    passed = next(after for after, _ in successors(hand))
    assert len(list(successors(passed))) == 6 + 1, "the next deals after two passes, and a bet"
