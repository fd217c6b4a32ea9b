"""Figures of a record: the players in the order of the evaluation, the first of which all others are compared with."""

import pytest

import stratagem as sg
from stratagem.measure.recorded import figures_of_record, reading_of
from stratagem.playing.store import read_episodes


@pytest.mark.parametrize(
    ("players", "order"),
    [(["random", "mcts:2", "mcts:3"], ["random", "mcts:2", "mcts:3"]), (["mcts:2", "mcts:3"], ["mcts:2", "mcts:3"])],
)
def test_the_first_player_of_a_record_is_that_of_its_evaluation(tmp_path, players, order):
    played = sg.evaluate("kuhn(hands=1)", players, opponents=["mcts:4"], episodes=12, record=tmp_path, progress=False)
    (game,), (before,) = figures_of_record(read_episodes(tmp_path), reading_of(tmp_path)), played.results
    rows = [row.player for row in game.rows]
    assert rows == [row.player for row in before.rows]
    assert rows[: len(order)] == order
    for name, difference in before.differences.items():
        assert game.differences[name].estimate == difference.estimate
