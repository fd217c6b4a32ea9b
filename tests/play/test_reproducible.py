"""The same seeds give the same transcripts: in any order, with any number of open tables, in any process."""

import subprocess
import sys

import pytest
from fakes import Engine, asking, setups

from stratagem.games.catalogue import make_game
from stratagem.playing.scheduler import play
from stratagem.playing.store import read_episodes

GAMES = ["ipd", "auction(seats=3)", "negotiation-v2", "kuhn", "tic-tac-toe", "pig", "spiel:kuhn_poker(players=3)"]
WORKER = """
import sys
from fakes import Engine, asking, setups
from pathlib import Path
from stratagem.playing.scheduler import play
from stratagem.playing.store import record
game, start, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
mine = setups(game, [asking(2), "random"], 12, seed=5)[start::2]
for episode in record(play(mine, Engine(), live=3), folder, every=20):
    pass
"""


def players(game):
    return [asking(2), *["random"] * (make_game(game).spec.seats - 1)]


def transcripts(game, arrange=lambda listed: listed, **options):
    episodes = list(play(arrange(setups(game, players(game), 12, seed=5)), Engine(), **options))
    by_id = {episode.id: episode for episode in episodes}
    assert len(by_id) == len(episodes)
    return by_id


@pytest.mark.parametrize("game", GAMES)
def test_order_and_open_tables_change_nothing(game):
    first = transcripts(game)
    assert transcripts(game) == first
    assert transcripts(game, lambda listed: listed[::-1]) == first
    assert transcripts(game, live=1) == first
    assert transcripts(game, live=5) == first
    assert len({str(episode.decisions) for episode in first.values()}) > 1


def test_another_seed_plays_other_games():
    first, other = (list(play(setups("kuhn", ["random", "random"], 12, seed=seed))) for seed in (1, 2))
    assert [e.payoffs for e in first] != [e.payoffs for e in other]


@pytest.mark.runs
@pytest.mark.parametrize("game", ["kuhn", "tic-tac-toe"])
def test_two_processes_play_what_one_plays(game, tmp_path, request):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, game, str(start), str(tmp_path / str(start))], cwd=request.path.parent
        )
        for start in (0, 1)
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    union = {e.id: e for start in (0, 1) for e in read_episodes(tmp_path / str(start))}
    assert union == transcripts(game)
