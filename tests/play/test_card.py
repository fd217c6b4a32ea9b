"""The dataset card of a record: `datasets` finds the tables by it, with their rows and types."""

from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from talking import talks

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.card import FILE, ROWS, card, column_notes
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.schemas import EARLIER_TYPES, SCHEMAS
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, write_shard

TALKED = list(play(islice(talks("a"), 3)))


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Load a table of a folder by its card, as a list of rows."""
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()

    def load(folder, name):
        return datasets.load_dataset(str(folder), name, split="train", cache_dir=str(tmp_path / "cache")).to_list()

    yield load
    datasets.enable_progress_bars()


def silent():
    """Episodes of scripted players, with signals."""
    game = make_game("ipd(rounds=2)")
    players = [make_player(name, game) for name in ("TitForTat", "AlwaysDefect")]
    return list(play(islice(rotate_seats(Match(game, players), 9, Key(0), name="b"), 2)))


def test_every_table_is_loaded_by_its_name(tmp_path, rows):
    record = tmp_path / "record"
    write_shard(record, 0, silent())
    with pytest.raises(ValueError, match="no data"):
        rows(record, "calls")
    write_shard(record, 1, TALKED)
    for name in ROWS:
        found = rows(record, name)
        assert found == pq.read_table(record / name).to_pylist()
        assert list(found[0]) == SCHEMAS[name].names
    (first, *_) = rows(record, "episodes")
    assert [signal["name"] for signal in first["signals"]] == ["collusion", "externality"]
    assert rows(record, None) == rows(record, "decisions"), "the first that a reader wants"


def test_the_rows_are_those_of_the_folder_as_it_is(tmp_path, rows):
    """`datasets` caches by the name of the folder and by its card."""
    for place in ("one", "two"):
        write_shard(tmp_path / place / "record", 0, TALKED if place == "two" else silent())
        assert (
            rows(tmp_path / place / "record", "decisions")
            == pq.read_table(tmp_path / place / "record" / "decisions").to_pylist()
        )


def test_a_card_of_somebody_else_stays(tmp_path):
    (tmp_path / FILE).write_text("mine")
    write_shard(tmp_path, 0, TALKED)
    assert (tmp_path / FILE).read_text() == "mine"


def test_the_card_tells_every_column():
    _, metadata, text = card("0" * 32).split("---\n")
    configs = yaml.safe_load(metadata)["configs"]
    assert [config["config_name"] for config in configs] == list(ROWS)
    assert configs[0]["data_files"] == "episodes/*.parquet"
    for name, schema in SCHEMAS.items():
        part = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for field in schema:
            assert f"| `{field.name}` | `{field.type}` | {column_notes()[name][field.name]} |" in part


def test_signals_of_version_6_are_read_as_they_were(tmp_path):
    written = silent()
    write_shard(tmp_path, 0, written)
    path = tmp_path / "episodes" / "000000.parquet"
    table = pq.read_table(path)
    pairs = [[(one["name"], one["rounds"]) for one in row] for row in table["signals"].to_pylist()]
    column = pa.array(pairs, EARLIER_TYPES["episodes"]["signals"])
    older = table.set_column(table.schema.names.index("signals"), "signals", column)
    pq.write_table(older.replace_schema_metadata({b"stratagem_schema_version": b"6"}), path)
    assert list(read_episodes(tmp_path)) == written
    assert written[0].signals
