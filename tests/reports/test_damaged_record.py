"""A report says which files of the record are cut or missing, also where it shows none of their episodes."""

import pytest

import stratagem as sg
from stratagem.base.settings import Settings
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import write_shard
from stratagem.training.runs.folder import RunFolder


class Empty(Settings):
    """A recipe without settings."""


@pytest.fixture
def run(tmp_path):
    """A run with three shards, of which the page shows the first and the last."""
    found = RunFolder.create(tmp_path / "run", Empty(), seed=1, command="a test")
    with found.at_work():
        game = Kuhn()
        for number in range(3):
            match = Match(game, [make_player("random", game), make_player("random", game)])
            write_shard(found.record, number, list(play(rotate_seats(match, 2, Key(number), name=str(number)))))
    return found


@pytest.mark.parametrize("table", ["episodes", "decisions", "calls", "timings", "prompts"])
def test_a_report_names_a_cut_file_of_the_record(run, table):
    assert sg.report(run.path).remarks() == []
    path = run.record / table / "000001.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    result = sg.report(run.path)
    (remark,) = result.remarks()
    assert remark.startswith(f"{path} cannot be read")
    assert result.to_json()["damage"] == [remark]
    page = result.path.read_text()
    assert f"{table}/000001.parquet cannot be read" in page


def test_a_report_names_a_missing_file_of_the_record(run):
    (run.record / "decisions" / "000001.parquet").unlink()
    (remark,) = sg.report(run.path).remarks()
    assert "decisions/000001.parquet cannot be read" in remark
