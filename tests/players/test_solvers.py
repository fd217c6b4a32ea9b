"""Solutions at the table: CFR+ against exact exploitability, perfect play against known values."""

import pyspiel
import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn
from stratagem.games.solver import solve
from stratagem.games.spiel import SPIEL_GAMES, spiel
from stratagem.players import equilibrium
from stratagem.players.base import Ask, Player, is_probability
from stratagem.players.catalogue import make_player
from stratagem.players.equilibrium import average_policy, cache_path
from stratagem.players.solvers import CFR, Perfect, cfr


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    average_policy.cache_clear()
    yield tmp_path
    average_policy.cache_clear()


def engine_policy(game, player):
    """The player's policy in the engine's terms, asked view by view."""
    twin, rows = game.twin(), {}
    stack = [twin.spiel.new_initial_state()]
    while stack:
        node = stack.pop()
        if node.current_player() >= 0 and (name := node.information_state_string()) not in rows:
            mix = player.policy(twin.view(node))
            assert is_probability(mix)
            rows[name] = [(action, mix[twin.action(node, action)]) for action in node.legal_actions()]
        stack.extend(node.child(action) for action in node.legal_actions())
    return pyspiel.TabularPolicy(rows)


def exploitability(game, player):
    return pyspiel.exploitability(game.twin().spiel, engine_policy(game, player))


@pytest.mark.runs
def test_leduc_is_nearly_solved():
    game = SPIEL_GAMES["leduc"]()
    few, many = exploitability(game, CFR(iterations=5)), exploitability(game, CFR(iterations=150))
    assert many < 0.05 < few


@pytest.mark.parametrize("game", [SPIEL_GAMES["kuhn-spiel"](), Kuhn()], ids=["engine", "ours"])
def test_kuhn_is_solved_in_both_tellings(game):
    player = CFR(iterations=2000)
    assert exploitability(game, player) < 1e-3
    policy = engine_policy(game, player)
    values = pyspiel.expected_returns(game.twin().spiel.new_initial_state(), policy, -1, True)
    assert values[0] == pytest.approx(-1 / 18, abs=1e-3)


def test_a_match_is_played_by_the_table_of_one_hand():
    state = Kuhn(hands=4).start(Key(3))
    player, count = CFR(iterations=200), 0
    while not state.over:
        seat = state.to_act[0]
        move = player.turn(Ask(state.view(seat), Key(count), seat, 0, 0, state))
        state.play({seat: move.action})
        count += 1
    assert count >= 8


def test_simultaneous_games_are_solved_in_turns():
    game = spiel("goofspiel(num_cards=3)")
    assert exploitability(game, CFR(iterations=100)) < 0.02


def test_the_table_is_kept_and_used_again(cache, monkeypatch):
    game = SPIEL_GAMES["kuhn-spiel"]()
    first = average_policy(game, 50)
    path = cache_path(game, 50)
    assert [file.name for file in cache.iterdir()] == [path.name]
    assert "kuhn-spiel" in path.name
    average_policy.cache_clear()
    monkeypatch.setattr(equilibrium, "solve_tree", lambda *_: pytest.fail("solved again"))
    assert average_policy(game, 50) == first


@pytest.mark.parametrize("content", ["{", "[]", '{"solves": "another", "table": {}}'])
def test_a_table_that_cannot_be_trusted_is_solved_again(content):
    game = SPIEL_GAMES["kuhn-spiel"]()
    first = average_policy(game, 20)
    cache_path(game, 20).write_text(content)
    average_policy.cache_clear()
    assert average_policy(game, 20) == first


def test_games_without_an_equilibrium_to_find_are_refused():
    large = "beyond the budget"
    for name, says in (("bargaining", "constant-sum"), ("pig", large), ("connect-four", large)):
        with pytest.raises(CannotCompute, match=says):
            CFR(iterations=1).policy(SPIEL_GAMES[name]().start(Key(0)).view(0))


def valued(node):
    """Value for the first player under perfect play, by the whole tree."""
    if node.is_terminal():
        return node.returns()[0]
    values = [valued(node.child(action)) for action in node.legal_actions()]
    return max(values) if node.current_player() == 0 else min(values)


def test_superko_of_go_keeps_equal_boards_of_different_pasts_apart():
    game = spiel("go(board_size=2,max_game_length=8,komi=0.5)")
    root = game.start(Key(0)).node
    assert solve(game).value(root, 0) == valued(root)
    assert not game.spec.markov
    assert SPIEL_GAMES["tic-tac-toe"]().spec.markov


def test_cfr_is_named_by_its_iterations():
    assert cfr("30") == CFR(iterations=30)
    assert cfr("30").name == "cfr:30"
    assert isinstance(cfr("30"), Player)
    with pytest.raises(BadParameter, match="cfr:100"):
        cfr("many")


def result(game, players, seed):
    state, count, totals = game.start(Key(seed)), 0, [0.0, 0.0]
    while not state.over:
        seat, key = state.to_act[0], Key(seed).at(count)
        view = state.view(seat)
        action = (
            players[seat].turn(Ask(view, key, seat, 0, 0, state)).action if players[seat] else view.choices.sample(key)
        )
        totals = [had + paid for had, paid in zip(totals, state.play({seat: action}).payoffs, strict=True)]
        count += 1
    return totals


def test_the_known_values():
    for name, value in (("tic-tac-toe", 0.0), ("nim", -1.0)):
        game = SPIEL_GAMES[name]()
        assert solve(game).value(game.start(Key(0)), 0) == value
        assert solve(game).value(game.start(Key(0)), 1) == -value
    normal = spiel("nim(is_misere=False)")
    assert solve(normal).value(normal.start(Key(0)), 0) == -1.0


def test_nim_values_agree_with_bouton():
    """Misere: the mover loses where the nim-sum is zero, except that single objects turn it round."""
    game = SPIEL_GAMES["nim"]()
    for seed in range(40):
        state, count = game.start(Key(seed)), 0
        while not state.over:
            piles = [int(pile) for pile in str(state.node).split(": ")[1].split()]
            total = piles[0] ^ piles[1] ^ piles[2] ^ piles[3]
            wins = total != 0 if max(piles) > 1 else total == 0
            assert solve(game).value(state, state.to_act[0]) == (1.0 if wins else -1.0)
            state.play({state.to_act[0]: state.view(state.to_act[0]).choices.sample(Key(seed).at(count))})
            count += 1


def test_perfect_nim_wins_every_game_that_can_be_won():
    game = SPIEL_GAMES["nim"]()
    assert all(result(game, (None, Perfect()), seed)[1] == 1.0 for seed in range(50))
    assert all(result(game, (Perfect(), Perfect()), seed) == [-1.0, 1.0] for seed in range(10))


def test_perfect_tic_tac_toe_never_loses():
    game = SPIEL_GAMES["tic-tac-toe"]()
    lines = [((Perfect(), None), 0), ((None, Perfect()), 1)]
    for seed in range(200):
        players, seat = lines[seed % 2]
        assert result(game, players, seed)[seat] >= 0.0
    assert result(game, (Perfect(), Perfect()), 1) == [0.0, 0.0]


def test_perfect_play_mixes_over_everything_that_loses_nothing():
    view = SPIEL_GAMES["tic-tac-toe"]().start(Key(0)).view(0)
    assert Perfect().policy(view) == {square: pytest.approx(1 / 9) for square in view.choices}


def test_regrets_are_in_wins():
    game = SPIEL_GAMES["tic-tac-toe"]()
    state = game.start(Key(0))
    for move in ("A1", "B2", "B1"):
        state.play({state.to_act[0]: move})
    values, regrets = solve(game).action_values(state), solve(game).regrets(state)
    assert regrets == {square: 0.0 if square == "C1" else 0.5 for square in ("C1", "A2", "C2", "A3", "B3", "C3")}
    assert values["C1"] == 0.0
    assert values["C3"] == -1.0


def test_chance_is_averaged():
    """With 1 point to win, a roll of 2 to 6 wins in the end and a 1 passes the die: p = 5/6 + 1/6 (1 - p)."""
    game = spiel("pig(winscore=2,horizon=400)")
    win = (1 + solve(game).value(game.start(Key(0)), 0)) / 2
    assert win == pytest.approx(6 / 7, abs=1e-6)


def test_what_is_too_large_or_hidden_is_refused():
    with pytest.raises(CannotCompute, match="more than 2,000 positions"):
        Perfect(budget=2000).policy(SPIEL_GAMES["connect-four"]().start(Key(0)).view(0))
    with pytest.raises(CannotCompute, match="perfect information"):
        solve(SPIEL_GAMES["leduc"]())
    with pytest.raises(CannotCompute, match="perfect information"):
        Perfect().policy(Kuhn().start(Key(0)).view(0))


@pytest.mark.parametrize("name", ["connect-four", "pig"])
def test_cfr_refuses_before_play_what_it_cannot_solve(name):
    with pytest.raises((CannotCompute, BadParameter), match="beyond the budget"):
        make_player("cfr:2", make_game(name))


def test_cfr_admits_what_it_can_solve_without_solving_it(monkeypatch):
    monkeypatch.setattr(equilibrium, "solve_tree", lambda *_: pytest.fail("solved before play"))
    assert [make_player("cfr:1000", make_game(name)).name for name in ("kuhn", "leduc")] == ["cfr:1000"] * 2


@pytest.mark.parametrize("place", ["a file", "/dev/null/nowhere"])
def test_a_cache_that_cannot_be_written_costs_nothing_but_time(place, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / place))
    game = make_game("kuhn-spiel")
    assert is_probability(make_player("cfr:5", game).policy(game.start(Key(0)).view(0)))


def test_half_a_table_is_never_left(cache, monkeypatch):
    monkeypatch.setattr(equilibrium.json, "dump", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
    assert average_policy(make_game("kuhn-spiel"), 3)
    assert list(cache.iterdir()) == []
