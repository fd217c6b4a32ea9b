"""Rollouts of DumbBots in compiled code against rollouts one by one: the same returns from the same keys."""

import numpy as np
import pytest

from fast_boards import placed, switched
from stratagem.games import Key, make_game
from stratagem.games.diplomacy.fast.array_board import first_board
from stratagem.games.diplomacy.fast.cells import CLOCK, OVER, OWNER, POWER, UNIT
from stratagem.games.diplomacy.fast.chart import names
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player
from stratagem.players.diplomacy.fast.rollouts import share_of
from stratagem.players.rollouts import Rollouts

SEARCHES = [
    "search(dumbbot, dumbbot-tuned, num_chance_draws=2, horizon_phases=5)",
    "search(dumbbot, num_chance_draws=3, opponents=[dumbbot, dumbbot-greedy], rollout_player=dumbbot-tuned)",
    "search(dumbbot-tuned, num_chance_draws=2, horizon_phases=2, opponents=dumbbot-greedy)",
]


def both_ways(game, name, seed, turns):
    """Yield the returns of a sheet by compiled code and one by one, at the turns of a game of DumbBots."""
    search, bot, state = make_player(name, game), make_player("dumbbot", game), game.start(Key(seed))
    for turn in range(turns[-1] + 1):
        if state.over:
            return
        asks = {seat: Ask(state.view(seat), Key(seed), seat, turn, 0, state) for seat in state.to_act}
        moves = {seat: bot.turn(ask).action for seat, ask in asks.items()}
        seat = state.to_act[seed % len(state.to_act)]
        if turn in turns and moves[seat] is not None:
            rollouts = Rollouts(search, asks[seat].view)
            rollouts.meet(asks[seat])
            assert search.simulated[0].plays_on(rollouts.batch()) is not None
            yield rollouts.returns(moves[seat]), rollouts.one_by_one(moves[seat])
        state.play(moves)


def test_compiled_rollouts_are_those_one_by_one(monkeypatch):
    switched(monkeypatch, True)
    found = list(both_ways(make_game("diplomacy(until=1901, judged=False)"), SEARCHES[1], 2, (0, 1)))
    assert len(found) == 2
    assert all(fast == slow for fast, slow in found)
    assert len({value for fast, _ in found for value in fast}) > 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", SEARCHES)
def test_compiled_rollouts_are_those_one_by_one_in_whole_games(monkeypatch, name, seed):
    """Movement, retreats and adjustments, to a horizon and to the end."""
    switched(monkeypatch, True)
    found = list(both_ways(make_game("diplomacy(until=1903, judged=False)"), name, seed, range(20)))
    assert len(found) > 5
    assert all(fast == slow for fast, slow in found)


@pytest.mark.parametrize(
    ("game", "name"),
    [
        ("diplomacy(until=1901)", "search(dumbbot, opponents=dumbbot-ported-dipnet)"),
        ("diplomacy(until=1901)", "search(dumbbot, opponents=[dumbbot, random])"),
        ("diplomacy(until=1901)", "search(dumbbot, opponents=dumbbot-press)"),
        ("diplomacy(until=1901, only=[FRANCE, ITALY])", "search(dumbbot)"),
    ],
)
def test_other_rollouts_are_played_one_by_one(monkeypatch, game, name):
    switched(monkeypatch, True)
    game = make_game(game)
    state = game.start(Key(0))
    rollouts = Rollouts(make_player(name, game), state.view(0))
    rollouts.meet(Ask(state.view(0), Key(0), 0, 0, 0, state))
    assert rollouts.search.simulated[0].plays_on(rollouts.batch()) is None


@pytest.mark.parametrize(("coasts", "spain"), [("named", True), ("package", False)])
def test_compiled_rollouts_read_supports_by_the_rule_of_coasts(monkeypatch, coasts, spain):
    """Case 6.B.9 of the adjudicator test cases: a fleet of Italy enters Spain if the support of France is void."""
    switched(monkeypatch, True)
    game = make_game(f"diplomacy(until=1905, judged=False, coasts={coasts})")
    france, italy = (game.powers.index(power) for power in ("FRANCE", "ITALY"))
    position = placed({"FRANCE": ["F MAO", "F POR"], "ITALY": ["F LYO", "F WES"]})
    state = game.load({**game.start(Key(0)).dump(), "position": position, "to_act": [france, italy]}, Key(0))
    french, italian = "F MAO - SPA/SC\nF POR S F MAO - SPA/NC", "F LYO S F WES - SPA/SC\nF WES - SPA/SC"
    search = make_player("search(dumbbot, num_chance_draws=1, horizon_phases=1)", game)
    for seat, own, other in ((france, french, {italy: italian}), (italy, italian, {france: french})):
        rollouts = Rollouts(search, state.view(seat))
        rollouts.meet(Ask(state.view(seat), Key(0), seat, 0, 0, state))
        rollouts.worlds = [world._replace(moves=other) for world in rollouts.worlds]
        compiled = search.simulated[0].plays_on(rollouts.batch())
        assert compiled(own) == rollouts.one_by_one(own)
        squares = {power: len(state.board.centers(power)) ** 2 for power in game.powers}
        squares["FRANCE"], squares["ITALY"] = 4**2, (3 + spain) ** 2
        assert compiled(own) == pytest.approx([squares[game.powers[seat]] / sum(squares.values())])


def test_share_of_a_board_counts_units_before_the_end_and_solos():
    """18 centres and more than the others win alone: all at the count, and by the units before it."""
    board, centers = first_board().cells.copy(), np.flatnonzero(first_board().cells[OWNER] >= -1)
    assert share_of(board, 0, ended=True) == pytest.approx(9 / (6 * 9 + 16))
    board[OWNER, centers[:18]], board[OWNER, centers[18:]] = 2, 0
    board[CLOCK, OVER] = 1
    assert (share_of(board, 2, ended=True), share_of(board, 0, ended=True)) == (1.0, 0.0)
    board[CLOCK, OVER] = 0
    board[[UNIT, POWER]] = -1
    assert share_of(board, 2, ended=False) == 1.0
    lost = int(centers[0])
    board[UNIT, lost], board[POWER, lost] = names().node["A PAR"], 5
    assert share_of(board, 2, ended=False) == pytest.approx(17**2 / (17**2 + 16**2 + 1))
