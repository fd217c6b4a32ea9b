"""Records on disk: what is read is what was written, and a kill leaves whole shards only."""

import random
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from fakes import Engine, Fake, asking, setups

import stratagem as sg
from stratagem.base.errors import BadRecord, StratagemError
from stratagem.games.base import ActionPart
from stratagem.games.catalogue import game_names, make_game
from stratagem.players.base import Move
from stratagem.playing.scheduler import play
from stratagem.playing.store import count_episodes, prepare, read_columns, read_episodes, record, shards, write_shard

MATRIX = "matrix(payoffs=[[(1, 2), (0, 0)], [(3, -1), (2, 2)]])"
GAMES = [MATRIX if name == "matrix" else name for name in game_names()]
GAMES += ["auction(seats=3)", "spiel:kuhn_poker(players=3)", "spiel:goofspiel(num_cards=3)"]


def clumsy(ask):
    """Raises, plays nothing and plays illegally, by turns of its dice."""
    number = ask.key.integer(4)
    if number == 0:
        raise RuntimeError("no idea \ud800")
    return Move([None, "FLY", ask.view.choices.first][number - 1], "free")


def episodes(game, count=6, turn=clumsy):
    seats = make_game(game).spec.seats
    return list(play(setups(game, [Fake(turn), *["random"] * (seats - 1)], count)))


@pytest.mark.parametrize("game", GAMES)
def test_what_is_read_is_what_was_written(game, tmp_path):
    count = 1 if game.startswith("diplomacy") else 4  # of hundreds of decisions each
    sane = play(setups(game, ["random"] * make_game(game).spec.seats, count, name="sane"))
    written = [*episodes(game, count + 2), *sane]
    assert list(record(written, tmp_path, every=100)) == written
    assert list(read_episodes(tmp_path)) == written


def test_every_field_is_kept(tmp_path):
    written = episodes("auction")
    parts = (ActionPart("A Paris", "void support", -1.5), ActionPart("F Brest", "move", 0.3))
    first = replace(written[0], parent="other", forked_at=3, probe_of="x", purpose="probe", finished=False, group="g")
    first.decisions[0].parts = parts
    first.decisions[1].keep = False
    assert any(None in row for row in first.signals["collusion"])
    assert any(row.how == "error" for episode in written for row in episode.decisions)
    written[0] = replace(first, key=2**64 - 1, chance=2**63, stakes=(first.stakes[0], None))
    write_shard(tmp_path, 0, written)
    assert list(read_episodes(tmp_path)) == written


def test_totals_alone_and_nothing_at_all(tmp_path):
    bare = list(play(setups("kuhn", ["random", "random"], 4), detail=False))
    write_shard(tmp_path, 3, bare)
    write_shard(tmp_path, 5, [])
    assert list(read_episodes(tmp_path)) == bare
    assert shards(tmp_path) == [3, 5]
    assert list(record([], tmp_path / "none")) == []
    assert shards(tmp_path / "none") == []


def test_shards_are_cut_by_size_and_added_to(tmp_path):
    written = episodes("kuhn", 20)
    list(record(written, tmp_path, every=50))
    before = shards(tmp_path)
    assert before == list(range(len(before)))
    assert len(before) > 3
    more = [replace(episode, id="more/" + episode.id) for episode in written]
    list(record(more, tmp_path))
    assert shards(tmp_path) == [*before, len(before)]
    assert list(read_episodes(tmp_path)) == written + more
    assert list(read_episodes(tmp_path, [len(before)])) == more


def test_what_was_passed_on_is_written_when_the_reader_stops_early(tmp_path):
    for number, _ in enumerate(record(episodes("kuhn", 10), tmp_path)):
        if number == 3:
            break
    assert len(list(read_episodes(tmp_path))) == 4


def test_what_was_passed_on_is_written_when_the_play_breaks_off(tmp_path):
    def breaking():
        yield from episodes("kuhn", 4)
        raise RuntimeError("the engine is gone")

    with pytest.raises(RuntimeError):
        list(record(breaking(), tmp_path))
    assert len(list(read_episodes(tmp_path))) == 4


def test_two_episodes_of_one_name_are_refused(tmp_path):
    with pytest.raises(BadRecord, match=r"called t/0\.0: give"):
        write_shard(tmp_path, 0, episodes("kuhn", 2) * 2)
    assert shards(tmp_path) == []


def test_a_shard_that_is_replaced_never_mixes_two_games(tmp_path, monkeypatch):
    write_shard(tmp_path, 0, episodes("kuhn", 4))
    writes = []

    def killed_at_the_second(table, path, **options):
        writes.append(path)
        if len(writes) == 2:
            raise KeyboardInterrupt
        real(table, path, **options)

    real = pq.write_table
    monkeypatch.setattr("stratagem.playing.store.pq.write_table", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        write_shard(tmp_path, 0, episodes("ipd", 4))
    assert shards(tmp_path) == []
    monkeypatch.undo()
    write_shard(tmp_path, 0, episodes("ipd", 4))
    assert list(read_episodes(tmp_path)) == episodes("ipd", 4)


WRITER = """
import sys
from fakes import endless
from pathlib import Path
from stratagem.playing.scheduler import play
from stratagem.playing.store import record
folder = Path(sys.argv[1])
print("ready", flush=True)
for _ in record(play(endless(sys.argv[2])), folder, every=60):
    pass
"""


@pytest.mark.runs
def test_a_kill_at_any_moment_leaves_whole_shards_and_going_on_adds_to_them(tmp_path, request):
    chance, before, known = random.Random(1), [], []
    for kill in range(6):
        command = [sys.executable, "-c", WRITER, str(tmp_path), f"run{kill}"]
        writer = subprocess.Popen(command, cwd=request.path.parent, stdout=subprocess.PIPE, text=True)
        assert writer.stdout.readline() == "ready\n"
        while kill % 2 and writer.poll() is None and shards(tmp_path) == known:
            time.sleep(0.005)  # however slow the machine, some have written
        time.sleep(0.02 + 0.1 * chance.random())
        writer.send_signal(signal.SIGKILL)
        writer.wait(30)
        writer.stdout.close()
        after = list(read_episodes(tmp_path)) if shards(tmp_path) else []
        assert after[: len(before)] == before
        assert all(len(e.decisions) == sum(e.num_decisions) > 0 for e in after)
        known = shards(tmp_path)
        assert known == list(range(len(known)))
        before = after
    assert len({episode.id.split("/")[0] for episode in before}) >= 3
    list(record(play(setups("kuhn(hands=1)", ["random", "random"], 2, name="end")), tmp_path))
    assert len(list(read_episodes(tmp_path))) == len(before) + 2


def spoiled(tmp_path, spoil, table="decisions"):
    write_shard(tmp_path, 0, episodes("kuhn", 4))
    path = tmp_path / table / "000000.parquet"
    spoil(path)
    with pytest.raises(BadRecord) as caught:
        list(read_episodes(tmp_path))
    said = str(caught.value)
    assert str(path) in said
    assert "\n" not in said
    return said


def with_schema(change):
    def spoil(path):
        pq.write_table(change(pq.read_table(path)), path)

    return spoil


@pytest.mark.parametrize("table", ["decisions", "episodes"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_torn_file_is_one_sentence(tmp_path, table, share):
    def tear(path):
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])

    sentence = spoiled(tmp_path, tear, table)
    assert "cannot be read" in sentence
    assert not sentence.endswith("..")


def test_a_missing_file_is_one_sentence(tmp_path):
    assert "cannot be read" in spoiled(tmp_path, lambda path: path.unlink())


@pytest.mark.parametrize("version", [b"0", b"99"])
def test_another_schema_version_is_one_sentence(tmp_path, version):
    change = with_schema(lambda t: t.replace_schema_metadata({b"stratagem_schema_version": version}))
    assert f"schema version {version.decode()}, and this program reads version" in spoiled(tmp_path, change)


def test_in_a_record_of_version_3_turns_are_the_clock(tmp_path):
    written = episodes("kuhn", 4)
    write_shard(tmp_path, 0, written)

    def spoil(table):
        older = table.replace_schema_metadata({b"stratagem_schema_version": b"3"})
        return older.drop_columns(["clock"])

    with_schema(spoil)(tmp_path / "decisions" / "000000.parquet")
    read = [row for episode in read_episodes(tmp_path) for row in episode.decisions]
    assert [row.clock for row in read] == [row.turn for row in read]
    assert [row.turn for row in read] == [row.turn for episode in written for row in episode.decisions]


def test_advantages_are_stored_and_a_record_of_version_7_has_none(tmp_path):
    written = episodes("kuhn", 2)
    written[0].decisions[1].advantage = -0.5
    write_shard(tmp_path, 0, written)
    expected = [row.advantage for episode in written for row in episode.decisions]
    assert [row.advantage for episode in read_episodes(tmp_path) for row in episode.decisions] == expected
    path = tmp_path / "decisions" / "000000.parquet"
    with_schema(lambda t: t.drop_columns(["advantage"]).replace_schema_metadata({b"stratagem_schema_version": b"7"}))(
        path
    )
    assert {row.advantage for episode in read_episodes(tmp_path) for row in episode.decisions} == {None}
    assert read_columns(tmp_path, "decisions", 0, ("turn", "advantage"))["advantage"].null_count == len(expected)


def test_a_file_of_somebody_else_is_one_sentence(tmp_path):
    assert "schema version none" in spoiled(tmp_path, with_schema(lambda t: t.replace_schema_metadata(None)))


@pytest.mark.parametrize(("table", "column"), [("decisions", "info_key"), ("episodes", "stakes")])
def test_a_missing_column_is_one_sentence(tmp_path, table, column):
    said = spoiled(tmp_path, with_schema(lambda t: t.drop_columns([column])), table)
    assert f"has no column {column}" in said


def test_an_empty_folder_is_one_sentence(tmp_path):
    with pytest.raises(BadRecord, match="There are no recorded episodes in"):
        list(read_episodes(tmp_path / "nowhere"))


def test_any_parquet_reader_opens_the_records(tmp_path):
    written = episodes("kuhn", 20)
    list(record(written, tmp_path, every=50))
    table = ds.dataset(tmp_path / "decisions", format="parquet").to_table()
    rows = [row for episode in written for row in episode.decisions]
    assert table.num_rows == len(rows)
    assert table.column("action").to_pylist() == [row.action for row in rows]
    assert table.schema.field("payoff").type == pa.float64()
    paid = table.group_by("episode").aggregate([("payoff", "sum")])
    assert paid.num_rows == 20
    whole = ds.dataset(tmp_path / "episodes", format="parquet").to_table(columns=["id", "payoffs"])
    assert whole.column("payoffs").to_pylist() == [episode.payoffs for episode in written]


MEMORY = """
import sys
sys.path.append("..")
from peak import peak
from fakes import endless
from itertools import islice
from pathlib import Path
from stratagem.playing.scheduler import play
from stratagem.playing.store import record
for count in (2_000, 20_000):
    for _ in record(play(islice(endless("m"), count)), Path(sys.argv[1]) / str(count), every=2_000):
        pass
    print(peak())
"""


@pytest.mark.runs
def test_memory_does_not_grow_with_the_number_of_tables(tmp_path, request):
    command = [sys.executable, "-c", MEMORY, str(tmp_path)]
    done = subprocess.run(command, cwd=request.path.parent, capture_output=True, check=True)
    few, many = map(int, done.stdout.split())
    assert many - few < 6_000  # kilobytes


def test_requests_and_replies_leave_the_same_record(tmp_path):
    written = list(record(play(setups("ipd", [asking(), asking()], 4), Engine()), tmp_path))
    assert list(read_episodes(tmp_path)) == written
    assert {row.how for episode in written for row in episode.decisions} == {"free"}


@pytest.mark.parametrize("place", ["file", "file/below", "/dev/null/nowhere"])
def test_a_folder_that_cannot_be_made_is_refused_in_a_sentence(place, tmp_path):
    (tmp_path / "file").write_text("kept")
    for attempt in (prepare, lambda folder: write_shard(folder, 0, [])):
        with pytest.raises(StratagemError, match="cannot be written") as said:
            attempt(tmp_path / place)
        assert str(tmp_path / place) in str(said.value)
        assert str(said.value).count("\n") == 0
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(("table", "counted"), [("README.md", 8), ("episodes", 4), ("calls", 4)])
def test_what_does_not_fit_on_the_disk_leaves_no_part_of_a_file(table, counted, tmp_path):
    """A limit of the size of files stands for a full disk; the card is written last, and calls are written first."""
    played = episodes("kuhn", 4)
    write_shard(tmp_path, 0, played)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    most = max(len(content) for path, content in before.items() if table in str(path)) - 1
    allowed, largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, largest))
    try:
        with pytest.raises(StratagemError, match=f"{table}.* cannot be written: File too large"):
            write_shard(tmp_path, 1, played)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, largest))
    assert not list(tmp_path.rglob("*.partial"))
    assert {path: path.read_bytes() for path in before} == before
    assert count_episodes(tmp_path) == counted


def test_a_prepared_folder_holds_nothing_yet(tmp_path):
    prepare(tmp_path / "deep" / "down")
    assert shards(tmp_path / "deep" / "down") == []
    prepare(tmp_path / "deep" / "down")


@pytest.mark.parametrize("column", [None, "slots", "payoffs", "num_decisions", "num_illegal", "rounds"])
def test_episode_of_other_seats_than_its_players_is_refused(tmp_path, column):
    """Of a random record, with one value of one column changed: only sound ones are read."""
    draw = random.Random(str(column))
    games = episodes("auction(seats=3)", 3) + episodes("kuhn", 4)
    for number in range(12 if column else 1):
        played = [replace(one, id=f"{place}", decisions=[], rounds=[*one.rounds]) for place, one in enumerate(games)]
        owner = draw.choice(played)
        seats, sound = len(owner.players), column is None
        if column == "slots":
            owner.slots = tuple(draw.randrange(-1, seats + 1) for _ in range(draw.randrange(seats - 1, seats + 2)))
            sound = sorted(owner.slots) == list(range(seats))
        elif column == "rounds":
            size = draw.randrange(seats + 2)
            owner.rounds[draw.randrange(len(owner.rounds))] = (0.0,) * size
            sound = size == seats
        elif column:
            size = draw.randrange(seats + 2)
            setattr(owner, column, [0] * size)
            sound = size == seats
        write_shard(tmp_path / str(number), 0, played)
        if sound:
            assert list(read_episodes(tmp_path / str(number))) == played
        else:
            with pytest.raises(BadRecord, match=r"of the same seats|pay every seat"):
                list(read_episodes(tmp_path / str(number)))


def test_episodes_without_decisions_have_all_else_and_are_counted_by_the_ends_of_files(tmp_path):
    written = sg.play("kuhn(hands=1)", "random", episodes=7, record=tmp_path, progress=False).episodes
    light = list(read_episodes(tmp_path, decisions=False))
    assert light == [replace(episode, decisions=[]) for episode in written]
    assert count_episodes(tmp_path) == 7
