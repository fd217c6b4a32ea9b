"""A mixture as one table: it earns what a draw a game earns; averages of fictitious play are as OpenSpiel has them."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability, fictitious_play

from stratagem.evaluation.exact import of_table, policy_table
from stratagem.evaluation.mixture import mixed
from stratagem.games import make_game
from stratagem.players.catalogue import make_player
from stratagem.players.tabular import TablePlayer


def drawn_tables(twin, rng, count):
    """Tables of any play, some of it never done."""
    rows = policy_table(twin, make_player("random", twin.game))
    for _ in range(count):
        table = {}
        for key, row in rows.items():
            weights = rng.random(len(row)) * (rng.random(len(row)) < 0.7)
            weights = weights if weights.sum() > 0.0 else np.ones(len(row))
            table[key] = [(action, p) for (action, _), p in zip(row, weights / weights.sum(), strict=True)]
        yield table


def returns(twin, *tables):
    policies = [pyspiel.TabularPolicy(table) for table in tables]
    return pyspiel.expected_returns(twin.spiel.new_initial_state(), policies, -1, True)


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "leduc"])
def test_it_earns_what_a_draw_a_game_earns(text):
    twin, rng = make_game(text).twin(), np.random.default_rng(4)
    *tables, other = drawn_tables(twin, rng, 4)
    shares = [0.2, 0.5, 0.3]
    whole = mixed(twin, tables, [2.0, 5.0, 3.0])
    assert all(sum(p for _, p in row) == pytest.approx(1.0) for row in whole.values())
    for seats in (lambda mine: (mine, other), lambda mine: (other, mine)):
        apart = sum(share * np.array(returns(twin, *seats(t))) for share, t in zip(shares, tables, strict=True))
        assert returns(twin, *seats(whole)) == pytest.approx(apart.tolist())


def test_the_draw_is_for_the_whole_game():
    """Half never bets and half always does: whoever has passed is of the first half, and folds as that one does."""
    game = make_game("kuhn(hands=1)")
    answers = {card + more: _words(more) for card in "JQK" for more in (":", ":P", ":B", ":PB")}
    never, ever = (TablePlayer({key: {words[n]: 1.0} for key, words in answers.items()}) for n in (0, 1))
    found = mixed(game.twin(), [policy_table(game.twin(), player) for player in (never, ever)], [1.0, 1.0])
    assert {tuple(p for _, p in row) for key, row in found.items() if key.endswith("pb")} == {(1.0, 0.0)}
    assert {tuple(p for _, p in row) for key, row in found.items() if len(key) < 3} == {(0.5, 0.5)}


def _words(more):
    return ("FOLD", "CALL") if more.endswith("B") else ("PASS", "BET")


def test_the_mean_of_best_responses_is_what_fictitious_play_has():
    spiel, twin = pyspiel.load_game("kuhn_poker"), make_game("kuhn(hands=1)").twin()
    solver = fictitious_play.XFPSolver(spiel, save_oracles=True)
    for _ in range(8):
        solver.iteration()
    rounds = list(zip(*solver._oracles, strict=True))
    tables = [{**_rows(spiel, one, 0), **_rows(spiel, other, 1)} for one, other in rounds]
    average = of_table(twin, mixed(twin, tables, [1.0] * len(tables))).exploitability
    assert average == pytest.approx(exploitability.exploitability(spiel, solver.average_policy()))
    assert average < of_table(twin, tables[-1]).exploitability


def _rows(spiel, policy, seat):
    """Return the values of a function of states at a seat's information states."""
    found, pending = {}, [spiel.new_initial_state()]
    while pending:
        node = pending.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node() and node.current_player() == seat:
            said = dict(policy(node))
            found[node.information_state_string()] = [
                (action, said.get(action, 0.0)) for action in node.legal_actions()
            ]
        pending.extend(node.child(action) for action in node.legal_actions())
    return found
