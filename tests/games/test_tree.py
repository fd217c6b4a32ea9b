"""Game trees: sizes from the literature, perfect recall, payoffs along the way, budgets and bad games."""

import tracemalloc
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyspiel
import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games import Flat, Game, GameSpec, RoundResult, State, View, positions, tree_sets, tree_walk
from stratagem.games.auction.rules import Auction, AuctionState
from stratagem.games.base import pending
from stratagem.games.catalogue import make_game
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.key import Key
from stratagem.games.positions import SharedPositions, StatePositions, positions_of
from stratagem.games.spiel.tree_game import set_names, spiel_game
from stratagem.games.tree import CHANCE, TERMINAL
from stratagem.games.tree_size import estimated_size
from stratagem.games.tree_walk import walk


@pytest.mark.parametrize(
    ("text", "nodes", "sets"),
    [
        ("kuhn(hands=1)", 55, 12),  # 1 root, 6 deals of 9 nodes; 12 information sets (Kuhn 1950)
        ("kuhn-spiel", 58 - 3, 12),  # OpenSpiel deals the cards one by one, in 58 nodes
        ("leduc", 9457 - 6, 936),  # OpenSpiel's 9,457 histories less six with one card dealt
        ("auction(rounds=1)", 118, 6),  # 1 root, 9 deals of 1 + 3 + 9 nodes
        ("ipd(rounds=2)", 1 + 2 + 4 * (1 + 2 + 4), 10),
    ],
)
def test_size_of_known_trees(text, nodes, sets):
    tree = walk(make_game(text))
    assert (len(tree), len(tree.information_sets)) == (nodes, sets)


@pytest.mark.parametrize("text", ["kuhn(hands=2)", "leduc", "auction(rounds=2)", "public-goods(rounds=2)"])
def test_columns_fit_each_other(text):
    tree = walk(make_game(text))
    for node in range(len(tree)):
        children = tree.children(node)
        assert all(tree.parent[child] == node for child in children)
        assert (len(children) == 0) == (tree.mover[node] == TERMINAL)
        if tree.mover[node] == CHANCE:
            assert tree.probability[children.start : children.stop].sum() == pytest.approx(1.0)
        elif children:
            known = tree.information_sets[tree.information_set[node]]
            assert (known.seat, len(known.actions)) == (tree.mover[node], len(children))
    even = np.repeat(1.0 / np.diff(tree.slots), np.diff(tree.slots))
    assert tree.reach(even)[tree.mover == TERMINAL].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["kuhn(hands=2)", "leduc", "auction(rounds=2)"])
def test_every_seat_has_perfect_recall(text):
    """All nodes of an information set have the same own past."""
    tree = walk(make_game(text))
    own = [(None,) * tree.game.spec.seats]
    for node in range(1, len(tree)):
        parent = tree.parent[node]
        past, mover = own[parent], tree.mover[parent]
        if mover >= 0:
            past = (*past[:mover], (tree.information_set[parent], tree.choice[node]), *past[mover + 1 :])
        own.append(past)
    for node, number in enumerate(tree.information_set):
        if number >= 0:
            known = tree.information_sets[number]
            assert own[node][known.seat] == known.before


def test_rounds_and_payoffs_on_the_way_are_summed():
    tree = walk(make_game("ipd(rounds=2)"))
    ends = tree.mover == TERMINAL
    assert set(tree.rounds[ends]) == {2}
    assert sorted(tree.returns[ends][:, 0]) == sorted(a + b for a in (3, 0, 5, 1) for b in (3, 0, 5, 1))


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "spiel:kuhn_poker(players=3)", "auction(rounds=1)"])
def test_openspiel_has_the_same_tree(text):
    """Random play earns the same, and each information set has its name and its actions."""
    tree = walk(make_game(text))
    game, names = spiel_game(tree), set(set_names(tree))
    even = np.repeat(1.0 / np.diff(tree.slots), np.diff(tree.slots))
    policy = pyspiel.UniformRandomPolicy(game)
    found = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
    assert tree.expected_returns(even)[0] == pytest.approx(found)
    pending, met = [game.new_initial_state()], set()
    while pending:
        node = pending.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            met.add(node.information_state_string())
            assert node.legal_actions() == list(range(len(node.legal_actions())))
        pending.extend(node.child(action) for action in node.legal_actions())
    assert met == names


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "leduc", "auction(rounds=2)", "public-goods(rounds=2)"])
def test_estimated_size_is_near_the_size(text):
    game = make_game(text)
    estimates = [estimated_size(game, Key(seed)) for seed in range(10)]
    assert sum(estimates) / 10 == pytest.approx(len(walk(game)), rel=0.25)


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "leduc", "auction(rounds=2)"])
def test_estimated_size_without_leaves_is_near_the_number_of_decisions(text):
    game = make_game(text)
    estimates = [estimated_size(game, Key(seed), leaves=False) for seed in range(10)]
    decisions = sum(mover not in (CHANCE, TERMINAL) for mover in walk(game).mover)
    assert sum(estimates) / 10 == pytest.approx(decisions, rel=0.25)


def test_a_tree_beyond_the_budget_is_refused():
    with pytest.raises(
        CannotCompute, match=r"The tree of connect-four has about \de\+\d\d nodes, beyond the budget of"
    ):
        walk(make_game("connect-four"))
    with pytest.raises(
        CannotCompute,
        match=r"beyond the budget of 9,000: raise the `effort` of the method exact .*, or make the game smaller",
    ):
        walk(make_game("leduc"), budget=9_000)


def test_progress_is_reported(monkeypatch):
    seen = []
    monkeypatch.setattr(tree_walk, "NODES_BETWEEN_REPORTS", 500)
    walk(make_game("kuhn(hands=2)"), progress=seen.append)
    assert [nodes // 500 for nodes in seen] == [1, 2, 3]


def test_digest_follows_the_payoffs():
    """Two games of one shape, with equal names of seats and actions, do not play alike."""
    one, other, again = (
        walk(make_game(f"matrix(payoffs=[[(3, 3), (0, 5)], [(5, 0), ({last}, 1)]], rounds=1)")) for last in (1, 2, 1)
    )
    assert one.parent.tolist() == other.parent.tolist()
    assert one.digest == again.digest != other.digest


class HiddenCountState(State):
    """Seat 1 moves twice or once, as a hidden draw says, and then seat 0, which sees nothing of that."""

    __slots__ = ("left", "said")
    state_fields = ("left", "said")

    def begin(self):
        self.left, self.said = 2 - self.chance.at("count").integer(2), ()
        self.to_act = (1,)

    def view(self, seat):
        return View(self.game, seat, (seat, self.said if seat else ()))

    def play(self, actions):
        ((seat, action),) = actions.items()
        self.said = (*self.said, action)
        if seat == 0:
            self.end()
            return RoundResult((float(action == self.said[0]), 0.0))
        self.left -= 1
        self.to_act = (1,) if self.left else (0,)
        return pending(2)


@dataclass(frozen=True)
class HiddenCount(Game):
    state = HiddenCountState

    @property
    def spec(self):
        return GameSpec(
            name="hidden-count",
            family="hidden-count",
            summary="A hidden number of moves.",
            simultaneous=False,
            utility="general-sum",
            rounds=1,
            bounds=(0.0, 1.0),
            chance=True,
            private_information=True,
            symmetric=False,
            on_illegal="default",
        )

    def choices(self, facts):
        return Flat(("left", "right"))

    def rules(self, seat):
        return "Say left or right."

    def situation(self, facts):
        return "Your turn."


def first_nodes(tree):
    """Return the first node of each information set, found without the walk."""
    numbers, nodes = np.unique(tree.information_set, return_index=True)
    return nodes[numbers >= 0].tolist()


@pytest.mark.parametrize("game", [HiddenCount(), *map(make_game, ("leduc", "ipd(rounds=3)", "auction(rounds=2)"))])
def test_sets_are_numbered_by_breadth(game):
    nodes = first_nodes(walk(game))
    assert nodes == sorted(nodes)
    assert walk(game).information_sets.columns.node.tolist() == nodes


def test_a_set_is_shown_at_its_first_node_though_a_deeper_one_is_met_before():
    tree = walk(HiddenCount())
    ((number, known),) = ((number, one) for number, one in enumerate(tree.information_sets) if one.seat == 0)
    nodes = np.flatnonzero(tree.information_set == number)
    assert (np.searchsorted(tree.depths, nodes, side="right") - 1).tolist() == [2, 2, 3, 3, 3, 3]
    assert (known.turn, known.state.said, known.before) == (1, ("left",), None)


@pytest.mark.parametrize(
    "text", ["kuhn(hands=2)", "leduc", "ipd(rounds=3)", "spiel:goofspiel(num_cards=3,imp_info=true)"]
)
def test_views_are_made_again_by_replay(monkeypatch, text):
    """Each view is that of the seat to move at the first node of its set, though few are kept at a time."""
    monkeypatch.setattr(tree_sets, "SETS_AT_ONCE", 3)
    monkeypatch.setattr(tree_sets, "MOST_GROUPS", 2)
    game = make_game(text)
    tree = walk(game)
    for number in (*range(len(tree.information_sets)), 0, -1):
        known = tree.information_sets[number]
        assert known.state.view(known.seat).facts == known.view.facts
        assert tuple(known.view.choices) == known.actions
        assert known.seat in known.state.to_act
        if known.before is not None:
            earlier = tree.information_sets[known.before[0]]
            assert earlier.seat == known.seat
    keys = {(known.seat, known.before, known.view.info_key) for known in tree.information_sets}
    assert len(keys) == len(tree.information_sets)
    with pytest.raises(IndexError, match="and no number"):
        tree.information_sets[len(tree.information_sets)]


def test_a_tree_takes_few_bytes_a_node():
    """A node takes 49 bytes in columns, and what its walk needs beside them stays below two times as much."""
    game = make_game("spiel:liars_dice(dice_sides=4)")
    walk(game)  # modules and menus are made once
    tracemalloc.start()
    try:
        tree = walk(game)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(tree) == 1 + 16 * (2**9 - 1)
    assert peak < 150 * len(tree)


def test_seats_that_choose_together_choose_in_one_turn():
    sets = walk(make_game("ipd(rounds=3)")).information_sets
    assert [known.turn for known in sets] == [known.state.round for known in sets]


def test_a_node_of_openspiel_counts_the_draws_before_it():
    """The next draw of a state that goes on by a key of its own is that of play."""
    game = make_game("leduc")
    for known in walk(game).information_sets[::100]:
        assert known.state.draws == game.load(known.state.dump(), Key(0)).draws > 0


def test_a_draw_of_openspiel_may_be_uneven():
    """A new tile of 2048 is a 2 nine times out of ten, else a 4; the game begins with two of them."""
    game = make_game("spiel:2048")
    drawn, known = (
        [chance for chance, _ in each.start()[0]] for each in (game.positions(), StatePositions(game, None))
    )
    assert drawn == pytest.approx(known)
    assert max(drawn) == pytest.approx(0.9 / 16 * 0.9 / 15)
    assert min(drawn) == pytest.approx(0.1 / 16 * 0.1 / 15)


COLUMNS = ("parent", "mover", "information_set", "choice", "probability", "returns", "rounds")
TWO_ROUNDS = """
name = "Match"
rounds = 2
turns = {turns}
forget = {forget}
items = [{{ name = "card", values = ["J", "Q", "K"] }}]
steps = [{{ do = "ante" }}, {{ do = "deal" }}, {{ do = "bet" }}, {{ do = "showdown" }}]
"""


@pytest.mark.parametrize("one_round", [False, True])
@pytest.mark.parametrize(
    "game",
    [
        make_game("ipd(rounds=3)"),
        make_game("ipd(rounds=3, continuation=.5)"),
        make_game("auction(rounds=2)"),
        make_game("kuhn(hands=2)"),
        WrittenGame(text=TWO_ROUNDS.format(turns="false", forget="false")),
        WrittenGame(text=TWO_ROUNDS.format(turns="true", forget="true")),
    ],
    ids=lambda game: str(getattr(game, "name", game.spec.name)),
)
def test_a_walk_by_situations_is_the_walk_of_states(monkeypatch, game, one_round):
    """Also where only few outcomes are kept at a time."""
    assert type(positions_of(game, None)) is SharedPositions
    walked = partial(walk_by, monkeypatch=monkeypatch, game=game, budget=20_000, one_round=one_round)
    plain = walked(StatePositions)
    for most, from_first in ((10_000, False), (10_000, True), (3, False)):
        monkeypatch.setattr(positions, "MOST_KEPT", most)
        assert_equal_walks(walked(partial(SharedPositions, from_first=from_first)), plain)


def walk_by(make, monkeypatch, game, **options):
    """Return a tree, its digest and what its sets show, which are made when they are asked for, by some positions."""
    for module in (tree_walk, tree_sets):
        monkeypatch.setattr(module, "positions_of", make)
    tree = walk(game, **options)
    return tree, tree.digest, [(known.view.facts, known.state.dump()) for known in tree.information_sets]


def assert_equal_walks(walked, plain):
    assert all(np.array_equal(*(getattr(one[0], name) for one in (walked, plain))) for name in COLUMNS)
    assert walked[1:] == plain[1:]


def test_a_situation_is_played_once():
    """The same values and bids are met again after every history: 9 pairs of values and 9 of bids in the last round."""
    played = []

    class Counted(AuctionState):
        __slots__ = ()
        record_fields = ("past",)

        def play(self, actions):
            played.append((self.round, self.values, *actions.values()))
            return super().play(actions)

    @dataclass(frozen=True, kw_only=True)
    class Game(Auction):
        state = Counted

    walk(Game(rounds=2))
    last = [one for one in played if one[0] == 1]
    assert len({*last}) == 81
    assert len(last) <= 2 * 81 + 100  # those before the first one is met again, and of the estimate of the size


def test_a_position_that_is_never_met_again_is_played_as_any_other(monkeypatch):
    monkeypatch.setattr(positions, "SharedSituation", None)  # none can be made
    assert len(walk(make_game("kuhn(hands=1)"))) == 55


@dataclass(frozen=True, kw_only=True)
class Skips(Auction):
    """Auction whose records start again in every round, with None."""

    class State(AuctionState):
        __slots__ = ()
        record_fields = ("past",)

        def view(self, seat):
            return View(self.game, seat, (seat, self.round, self.values[seat], self.past[seat]))

        def play(self, actions):
            result = super().play(actions)
            self.past = tuple((None, bid) for bid in actions.values())
            return result

    state = State

    def info_key(self, facts):
        return repr(facts)


@dataclass(frozen=True, kw_only=True)
class Starts(Skips):
    """Game whose `start` makes a state of another class, which reads what its base only adds to."""

    class Reading(AuctionState):
        __slots__ = ()

        def play(self, actions):
            return super().play(actions)._replace(payoffs=(float(len(self.past[0])), 0.0))

    def start(self, chance):
        state = self.Reading(self, chance)
        state.begin()
        return state


@pytest.mark.parametrize("kind", [Skips, Starts])
def test_records_may_begin_with_none_and_states_be_of_another_class(monkeypatch, kind):
    makes = (partial(SharedPositions, from_first=True), StatePositions)
    assert_equal_walks(*(walk_by(make, monkeypatch, kind(rounds=2)) for make in makes))


def test_a_subclass_does_not_inherit_records():
    """It may read what its base only adds to."""

    class Remembering(AuctionState):
        __slots__ = ()

    @dataclass(frozen=True, kw_only=True)
    class Game(Auction):
        state = Remembering

    assert type(positions_of(Game(), None)) is StatePositions


def test_a_walk_ends_at_its_budget_whatever_the_estimate_says(monkeypatch):
    """By few episodes a game may seem far smaller than it is."""
    asked, met = [], []

    def small(game, key, num_samples=100, *, one_round=False):
        asked.append(num_samples)
        return 20.0

    monkeypatch.setattr(tree_walk, "estimated_size", small)
    monkeypatch.setattr(tree_walk, "NODES_BETWEEN_REPORTS", 1)
    with pytest.raises(CannotCompute, match="The tree of leduc has too many nodes, beyond the budget of 1,000"):
        walk(make_game("leduc"), 1000, met.append)
    assert asked == [10], "20 nodes are far below 1,000"
    assert 900 < met[-1] <= 1000
    with pytest.raises(CannotCompute, match="has open text"):
        walk(make_game("talk(kuhn, limit=20)"), 1000)
    with pytest.raises(CannotCompute, match="too many nodes, beyond the budget of 999"):
        walk(make_game("leduc"), 999)
    assert asked[-2:] == [10, 100], "but not far below 999"
