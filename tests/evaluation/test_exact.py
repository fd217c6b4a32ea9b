"""Exact exploitability against theory and against OpenSpiel."""

import pyspiel
import pytest

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame
from stratagem.measure.best_response import BUDGET, best_response
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics import METRICS, Sample
from stratagem.players.base import Traits
from stratagem.players.catalogue import make_player
from stratagem.players.tabular import TablePlayer


def figures(text, name, budget=BUDGET):
    game = make_game(text)
    return exact(game, make_player(name, game), budget)


@pytest.mark.parametrize(("text", "wanted"), [("kuhn", 0.458333), ("leduc", 2.373611)])
def test_uniform_play(text, wanted):
    assert figures(text, "random").exploitability == pytest.approx(wanted, abs=1e-6)


@pytest.mark.long
def test_uniform_play_in_liars_dice():
    assert figures("liars-dice", "random").exploitability == pytest.approx(0.780744, abs=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.25, 1 / 3])
def test_kuhns_equilibria_cannot_be_exploited(alpha):
    found = figures("kuhn", f"NashApprox(alpha={alpha!r})")
    assert found.exploitability == pytest.approx(0.0, abs=1e-12)
    assert found.worst_advantage == pytest.approx(0.0, abs=1e-12)
    assert found.values == pytest.approx((-1 / 18, 1 / 18))


def test_a_player_that_loses_to_nobody_in_the_pool_can_be_exploited():
    """AlwaysPassQueen: its pool figure is small, the best response is not."""
    assert figures("kuhn", "AlwaysPassQueen").exploitability > 0.05


@pytest.mark.parametrize(
    ("name", "worst", "pool"),
    [
        ("TitForTat", 0.625, (0.625, 0.0, 0.3125)),
        ("AlwaysCooperate", 5.0, (5.0, 2.5, 3.75)),
        ("AlwaysDefect", 0.0, (0.0, 0.0, 0.0)),
        ("GrimTrigger", 0.625, (0.625, 0.0, 0.3125)),
    ],
)
def test_the_iterated_dilemma(name, worst, pool):
    game = make_game("ipd")
    agent = make_player(name, game)
    assert exact(game, agent).worst_advantage == pytest.approx(worst)
    matchups = [
        Evaluator(episodes=2).matchup(game, agent, make_player(o, game), ("exploit",))
        for o in ("AlwaysDefect", "AlternateDefect")
    ]
    measured = [METRICS["pool_advantage"].measure(Sample(game, (matchup,))) for matchup in matchups]
    assert [m.mean for m in measured] == pytest.approx(pool[:2])
    both = METRICS["pool_advantage"].measure(Sample(game, tuple(matchups)))
    assert (both.mean, both.exact) == (pytest.approx(pool[2]), True)


@pytest.mark.parametrize("text", ["nim", "tic-tac-toe"])
def test_perfect_play_cannot_be_exploited(text):
    found = figures(text, "perfect")
    assert found.exploitability == pytest.approx(0.0, abs=1e-12)
    assert found.values == pytest.approx({"nim": (-1.0, 1.0), "tic-tac-toe": (0.0, 0.0)}[text])


def test_matching_pennies():
    assert figures("imp", "random").nash_conv == pytest.approx(0.0, abs=1e-12)
    assert figures("imp", "first-legal").best_responses == pytest.approx((1.0, 1.0))
    assert figures("imp", "first-legal").gains == pytest.approx((0.0, 2.0))


def spiel_table(twin, player):
    """The player's policy by OpenSpiel's own information states."""
    table, nodes = {}, [twin.spiel.new_initial_state()]
    while nodes:
        node = nodes.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            mix = player.policy(twin.view(node))
            row = [(action, mix.get(twin.action(node, action), 0.0)) for action in node.legal_actions()]
            table[node.information_state_string()] = row
        nodes.extend(node.child(action) for action in node.legal_actions())
    return table


def random_table(game, seed):
    """A mixture that looks like chance, at every situation of a small game."""
    twin, rows = game.twin(), {}
    nodes = [twin.spiel.new_initial_state()]
    while nodes:
        node = nodes.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            view = twin.view(node)
            key = Key(seed).at(view.info_key)
            weights = [0.05 + key.at(a).unit() for a in view.choices]
            rows[view.info_key] = {a: w / sum(weights) for a, w in zip(view.choices, weights, strict=True)}
        nodes.extend(node.child(action) for action in node.legal_actions())
    return TablePlayer(rows)


SMALL = [
    "spiel:nim(pile_sizes=1;2;2)",
    "spiel:nim(pile_sizes=2;3,is_misere=false)",
    "spiel:matrix_pd",
    "spiel:matrix_rps",
    "spiel:matrix_sh",
    "spiel:oshi_zumo(coins=3,size=1,horizon=3)",
    "kuhn(hands=1)",
    "spiel:goofspiel(num_cards=3)",
]


@pytest.mark.parametrize("text", SMALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_agreement_with_openspiel(text, seed):
    game = make_game(text)
    player, twin = random_table(game, seed), game.twin()
    found = exact(game, player)
    root = twin.spiel.new_initial_state()
    policy = pyspiel.TabularPolicy(spiel_table(twin, player))
    assert found.values == pytest.approx(pyspiel.expected_returns(root, policy, -1, True))
    table = policy.policy_table()
    if game.spec.utility in ("zero-sum", "constant-sum"):
        best = [pyspiel.TabularBestResponse(twin.spiel, seat, table).value_from_state(root) for seat in (0, 1)]
        assert found.best_responses == pytest.approx(best)
        assert found.nash_conv == pytest.approx(pyspiel.nash_conv(twin.spiel, policy))
    assert found.nash_conv > 0.0


@pytest.mark.parametrize("name", ["matrix_pd", "matrix_rps", "matrix_sh", "matrix_bos"])
def test_one_matrix_as_ours_and_as_openspiels(name):
    spiel = pyspiel.load_matrix_game(name)
    rows, columns = range(spiel.num_rows()), range(spiel.num_cols())
    payoffs = [[(spiel.row_utility(r, c), spiel.col_utility(r, c)) for c in columns] for r in rows]
    ours = MatrixGame(payoffs=payoffs, rounds=1, labels=[str(r) for r in rows])
    theirs = make_game(f"spiel:{name}")
    for make in (lambda game: make_player("random", game), lambda game: make_player("first-legal", game)):
        mine, other = exact(ours, make(ours)), exact(theirs, make(theirs))
        assert mine.values == pytest.approx(other.values)
        assert mine.best_responses == pytest.approx(other.best_responses)
        assert mine.worst_advantage == pytest.approx(other.worst_advantage)


def test_a_long_match_is_computed_where_situations_are_few_and_refused_where_they_are_many():
    assert figures("ipd(rounds=200)", "TitForTat").worst_advantage == pytest.approx(5 / 200)
    game = make_game("ipd(rounds=200)")
    with pytest.raises(CannotCompute, match="too large"):
        best_response(game, make_player("GrimTrigger", game), 0, budget=2_000)


@pytest.mark.parametrize("name", ["random", "Truthful", "Adaptive"])
def test_induction_over_information_states_agrees_with_the_tree(name):
    """Two rounds of hidden values: two algorithms that share nothing but the rules."""
    game = make_game("auction(rounds=2)")
    player = make_player(name, game)
    tree, induced = exact(game, player), [best_response(game, player, seat) for seat in (0, 1)]
    assert [found.payoff / 2 for found in induced] == pytest.approx(tree.best_responses)
    assert sum(found.advantage for found in induced) / 4 == pytest.approx(tree.worst_advantage)


def test_a_long_auction_against_a_player_without_memory_is_exact():
    """Rounds do not depend on each other, so six of them have the figures of one."""
    long, short = (figures(text, "Truthful") for text in ("auction", "auction(rounds=1)"))
    assert long.gains == pytest.approx(short.gains)
    assert long.gains == pytest.approx((2 / 9, 2 / 9))
    assert figures("auction", "Conservative").gains == pytest.approx((0.0, 0.0))


def test_three_bidders_have_a_gain_each():
    """Bids at value earn nothing. Against two such, a value of 3 earns 7/27 by MEDIUM, and 2 earns 1/27 by LOW."""
    found = figures("auction(seats=3,rounds=1)", "Truthful")
    assert found.values == pytest.approx((0.0, 0.0, 0.0))
    assert found.gains == pytest.approx(((7 / 27 + 1 / 27) / 3,) * 3)
    assert (found.nash_conv, found.exploitability) == (pytest.approx(8 / 27), pytest.approx(8 / 81))


def test_an_uncertain_end_is_averaged_over():
    """Tit for tat loses 5 once, in matches of two rounds on average."""
    found = figures("ipd(rounds=60, continuation=0.5)", "TitForTat")
    assert found.worst_advantage == pytest.approx(5 / 2)
    assert found.values == pytest.approx((3.0, 3.0))


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        ("tic-tac-toe", "mcts:10", "cannot state its probabilities"),
        ("auction", "FictitiousPlay", "has about 4e\\+11 nodes, beyond the budget of 2,000,000"),
        ("bargaining", "random", "has about .* nodes, beyond the budget"),
        ("spiel:catch", "random", "one seat"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_a_sentence(text, name, sentence):
    with pytest.raises(CannotCompute, match=sentence) as caught:
        figures(text, name)
    assert "\n" not in str(caught.value)


def test_a_game_without_an_estimate_is_refused_where_the_budget_ends():
    with pytest.raises(CannotCompute, match="too large") as caught:
        figures("connect-four", "random", budget=2_000)
    assert "\n" not in str(caught.value)


class Broken:
    name, traits = "broken", Traits()

    def __init__(self, error):
        self.error = error

    def policy(self, view):
        raise self.error


@pytest.mark.parametrize("text", ["ipd", "kuhn"])
@pytest.mark.parametrize("error", [ValueError("no odds"), BadRecord("The table says nothing."), SystemExit("I am off")])
def test_a_player_that_raises_cannot_be_measured(text, error):
    with pytest.raises(CannotCompute, match=str(error)):
        exact(make_game(text), Broken(error))


def test_figures_as_data():
    found = figures("kuhn", "random").to_json()
    assert found["nash_conv"] == pytest.approx(2 * found["exploitability"])
    assert {"values", "best_responses", "worst_advantage", "unit"} <= set(found)
