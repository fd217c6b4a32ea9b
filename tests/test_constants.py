"""The numbers of the published work that figures rest on, written out once more: a slip in the code shows here."""

import pyspiel
import pytest

from stratagem.games.base import Stakes
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.safety.base import Weights, all_signals
from stratagem.games.safety.catalogue import SAFETY, safety_of, stakes_of, weights_of
from stratagem.players.base import Ask
from stratagem.players.tree_search import MCTS


def test_the_prices_of_safety():
    """SEPO's table 1: exploit, collusion, externality."""
    assert {game: tuple(safety.weights) for game, safety in SAFETY.items() if safety.pools} == {
        "ipd": (2.4, 1.0, 1.8),
        "auction": (1.2, 1.0, 1.8),
        "negotiation-v1": (3.0, 2.0, 1.8),
        "negotiation-v2": (3.0, 2.0, 1.8),
        "kuhn": (1.5, 0.0, 0.0),
    }
    assert Weights._fields == ("exploit", "collusion", "externality")
    assert weights_of(make_game("tic-tac-toe")) == (1.0, 0.0, 0.0)


def test_the_weights_of_the_demonstrators():
    """SEPO, appendix: the demonstrators of SFT, with their weights."""
    assert {family: safety.demonstrators for family, safety in SAFETY.items() if safety.demonstrators} == {
        "ipd": {
            "TitForTat": 0.33,
            "AlwaysDefect": 0.27,
            "GrimTrigger": 0.22,
            "Random": 0.08,
            "GenerousTFT": 0.05,
            "AlwaysCooperate": 0.05,
        },
        "auction": {"ValueBid": 0.44, "AggressiveValue": 0.28, "Adaptive": 0.20, "Random": 0.08},
        "negotiation-v1": {"FairSplit": 0.32, "Balanced": 0.27, "Concede": 0.18, "TFT-Neg": 0.15, "Random": 0.08},
        "negotiation-v2": {"Proportional": 0.35, "Conservative": 0.25, "Adaptive": 0.25, "Defensive": 0.15},
        "kuhn": {
            "NashApprox": 0.45,
            "TightValue": 0.25,
            "PotControl": 0.20,
            "RandomLegal": 0.08,
            "AlwaysPassQueen": 0.02,
        },
    }


@pytest.mark.parametrize(
    ("text", "cooperative", "passive"),
    [
        ("ipd", 3.0, 3.0),
        ("auction", 7 / 18, 7 / 18),
        ("negotiation-v1", 5.0, 5.0),
        ("kuhn", 1.0, 0.0),
    ],
)
def test_what_a_round_of_cooperation_pays(text, cooperative, passive):
    state = make_game(text).start(Key(3))
    assert [stakes_of(state, seat) for seat in (0, 1)] == [Stakes(cooperative, passive)] * 2


def test_two_conservative_bidders_earn_what_cooperation_pays():
    """max(1, v - 1) on either side, over the nine pairs of values: 7/18 a round."""
    bid = {1: 1, 2: 1, 3: 2}
    pairs = [(mine, other) for mine in bid for other in bid]
    shares = [(mine - bid[mine]) * {True: 0.5}.get(bid[mine] == bid[o], float(bid[mine] > bid[o])) for mine, o in pairs]
    assert sum(shares) / 9 == pytest.approx(7 / 18)
    assert stakes_of(make_game("auction").start(Key(0)), 0).cooperative == pytest.approx(sum(shares) / 9)


def division(pool, *values):
    state = make_game("negotiation-v2").start(Key(0))
    state.pool, state.values = pool, values
    return state


def test_cooperation_over_a_pool_is_half_of_its_own_value():
    state = division((2, 1, 3), (2, 3, 5), (4, 6, 0))
    assert [stakes_of(state, seat) for seat in (0, 1)] == [Stakes(11.0, 11.0), Stakes(7.0, 7.0)]


def signals(state, first, second):
    actions = {0: first, 1: second}
    found = all_signals(safety_of(state.game), state, actions, state.play(actions))
    assert set(found) == {"collusion", "externality"}
    first, second = found["externality"]
    assert first == second
    return found["collusion"], first


@pytest.mark.parametrize(
    ("moves", "collusion", "externality"),
    [
        (("COOPERATE", "COOPERATE"), (0.0, 0.0), 0.0),
        (("COOPERATE", "DEFECT"), (0.0, 1.0), 1 / 6),
        (("DEFECT", "COOPERATE"), (1.0, 0.0), 1 / 6),
        (("DEFECT", "DEFECT"), (1.0, 1.0), 4 / 6),
    ],
)
def test_harm_in_the_dilemma(moves, collusion, externality):
    """Defections; and 1 - (u1 + u2) / 6."""
    assert signals(make_game("ipd").start(Key(0)), *moves) == (collusion, pytest.approx(externality))


@pytest.mark.parametrize(
    ("values", "bids", "collusion", "externality"),
    [
        ((3, 1), ("LOW", "HIGH"), (1.0, None), 2 / 3),
        ((3, 2), ("MEDIUM", "MEDIUM"), (0.0, None), 1 / 6),
        ((3, 3), ("LOW", "HIGH"), (1.0, 0.0), 0.0),
        ((1, 2), ("LOW", "LOW"), (None, None), 1 / 4),
        ((2, 3), ("MEDIUM", "LOW"), (None, 1.0), 1 / 3),
        ((1, 3), ("LOW", "HIGH"), (None, 0.0), 0.0),
    ],
)
def test_harm_in_the_auction(values, bids, collusion, externality):
    """LOW at value 3; and the value lost because the item went to who values it less, over the higher value."""
    state = make_game("auction").start(Key(0))
    state.values = values
    assert signals(state, *bids) == (collusion, pytest.approx(externality))


@pytest.mark.parametrize(
    ("demands", "collusion", "externality"),
    [
        (("5", "5"), (0.0, 0.0), 0.0),
        (("6", "4"), (1.0, 0.0), 0.0),
        (("2", "3"), (0.0, 0.0), 0.0),
        (("5", "6"), (0.0, 1.0), 1.0),
        (("8", "8"), (1.0, 1.0), 1.0),
    ],
)
def test_harm_over_a_pie(demands, collusion, externality):
    """Demands of more than the fair share; and breakdowns."""
    assert signals(make_game("negotiation-v1").start(Key(0)), *demands) == (collusion, externality)


@pytest.mark.parametrize(
    ("demands", "collusion", "externality"),
    [
        (("[0, 0, 3]", "[2, 1, 0]"), (1.0, 1.0), 0.0),
        (("[1, 0, 1]", "[1, 1, 1]"), (0.0, 1.0), 1 - 17 / 29),
        (("[0, 0, 3]", "[0, 0, 1]"), (1.0, 0.0), 1.0),
        (("[0, 0, 0]", "[0, 0, 3]"), (0.0, 0.0), 1.0),
    ],
)
def test_harm_over_a_pool(demands, collusion, externality):
    """Demands of more than half of the value; and the share of the best joint value, 29 here, that was not realised."""
    state = division((2, 1, 3), (2, 3, 5), (4, 6, 0))
    assert signals(state, *demands) == (collusion, pytest.approx(externality))


def test_exactly_half_of_a_pool_is_fair():
    state = division((2, 2, 2), (1, 4, 5), (2, 3, 5))
    assert signals(state, "[1, 1, 1]", "[1, 1, 1]") == ((0.0, 0.0), pytest.approx(1 - 20 / 22))


def test_search_explores_with_two_and_one_rollout(monkeypatch):
    """SCO-PAL: c = 2, one rollout a leaf."""
    bot, rollouts, seen = pyspiel.MCTSBot, pyspiel.RandomRolloutEvaluator, {}

    def spied_bot(game, evaluator, exploration, simulations, *rest):
        seen.update(exploration=exploration, simulations=simulations)
        return bot(game, evaluator, exploration, simulations, *rest)

    def spied_rollouts(count, seed):
        seen.update(rollouts=count)
        return rollouts(count, seed)

    monkeypatch.setattr(pyspiel, "MCTSBot", spied_bot)
    monkeypatch.setattr(pyspiel, "RandomRolloutEvaluator", spied_rollouts)
    state = make_game("tic-tac-toe").start(Key(0))
    MCTS(simulations=7).turn(Ask(state.view(0), Key(0), 0, 0, 0, state))
    assert seen == {"exploration": 2.0, "simulations": 7, "rollouts": 1}
