"""Record of an evaluation that goes on: what is played again, what is written, and what is refused."""

import builtins
from dataclasses import replace
from types import SimpleNamespace

import pytest

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.measure import resumable
from stratagem.measure.resumable import PLAN, ResumableRecord, is_unanswered, was_in_vain
from stratagem.players.catalogue import make_player
from stratagem.playing.answers import FILE
from stratagem.playing.dispatch import Dispatcher
from stratagem.playing.match import Match
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, shards
from stratagem.playing.workers.plan import change_plan

SETTINGS = {"command": "eval"}


def setups(*names, key=3):
    game = make_game("kuhn(hands=1)")
    match = Match(game, [make_player(name, game) for name in names or ("random", "NashApprox")])
    return list(rotate_seats(match, 4, Key(key), name="deal"))[:4]


def session(folder, tables, *, resume=False):
    """Play in a session of its own, and return the ids of the episodes that were played now."""
    record, played = ResumableRecord(folder, SETTINGS, resume=resume), []
    record.watch = lambda episode: played.append(episode.id)
    try:
        found = record.play(tables, Dispatcher())
    finally:
        record.close()
    assert list(found) == [setup.id for setup in tables]
    return played


def test_finished_episodes_are_read_and_not_played_again(tmp_path):
    tables = setups()
    with change_plan(tables_per_shard=1):
        assert session(tmp_path, tables[:3]) == [setup.id for setup in tables[:3]]
        assert session(tmp_path, tables, resume=True) == [tables[3].id]
    assert sorted(episode.id for episode in read_episodes(tmp_path)) == sorted(setup.id for setup in tables)


def test_shard_that_is_played_again_is_written_without_its_finished_episodes(tmp_path):
    tables = setups()
    with change_plan(tables_per_shard=4):
        session(tmp_path, tables[:3])
        assert session(tmp_path, tables, resume=True) == [tables[3].id]
    assert sorted(episode.id for episode in read_episodes(tmp_path)) == sorted(setup.id for setup in tables)


@pytest.mark.parametrize("other", [setups("random", "AlwaysBet"), setups(key=4)], ids=["players", "seed"])
def test_episodes_of_other_players_or_another_seed_are_refused(tmp_path, other):
    session(tmp_path, setups())
    with pytest.raises(BadRecord, match=r"holds the episode .* of other players, another version or another seed"):
        session(tmp_path, other, resume=True)


def test_episodes_of_another_version_of_the_game_are_refused(tmp_path):
    record, tables = ResumableRecord(), setups()
    record.play(tables, Dispatcher())
    record.finished = {name: replace(one, game_version=one.game_version + 1) for name, one in record.finished.items()}
    with pytest.raises(BadRecord, match="another version"):
        record.play(tables, Dispatcher())


def test_resume_with_other_settings_is_refused(tmp_path):
    session(tmp_path, setups())
    with pytest.raises(BadRecord, match=r"was begun with other settings: command \(eval, and now audit\)"):
        ResumableRecord(tmp_path, {"command": "audit"}, resume=True)


def test_resume_of_fewer_tables_returns_their_episodes_alone(tmp_path):
    tables = setups()
    session(tmp_path, tables)
    assert session(tmp_path, tables[1:3], resume=True) == []


def test_record_with_paid_replies_and_no_episodes_is_not_begun_anew(tmp_path):
    (tmp_path / PLAN).write_text("{}")
    (tmp_path / FILE).write_text("{}\n")
    with pytest.raises(StratagemError, match="already holds recorded episodes"):
        ResumableRecord(tmp_path, SETTINGS)


@pytest.fixture
def playing(monkeypatch):
    """Function that has the next play do steps: episodes that end, and functions that are called between them."""

    def play(*steps):
        def steps_of_play(tables, queue, is_finished):
            for step in steps:
                if callable(step):
                    step(queue)
                else:
                    yield step

        monkeypatch.setattr(resumable, "play_shards", steps_of_play)

    return play


@pytest.fixture
def clock(monkeypatch):
    """Seconds on the clock, in a list."""
    now = [0.0]
    monkeypatch.setattr(resumable.time, "monotonic", lambda: now[0])
    return now


def test_episodes_without_a_reply_of_a_failing_server_are_forgotten(tmp_path, playing, monkeypatch):
    """They are played again; those with all replies are written, and kept."""
    tables = setups()
    episodes = list(ResumableRecord().play(tables, Dispatcher()).values())
    names = [episode.id for episode in episodes]
    monkeypatch.setattr(resumable, "has_failed", lambda episode: episode.id == names[1])

    def fail(queue):
        raise ServerFailed("The server gave no reply.")

    playing(*episodes[:3], fail)
    record, clean = ResumableRecord(tmp_path, SETTINGS), []
    record.watch = lambda episode: clean.append([one.id for one in record.clean])
    with pytest.raises(ServerFailed):
        record.play(tables, Dispatcher())
    record.close()
    assert clean == [names[:1], names[:1], [names[0], names[2]]]
    assert list(record.finished) == [names[0], names[2]]
    assert [episode.id for episode in read_episodes(tmp_path)] == [names[0], names[2]]


def test_episodes_without_a_reply_are_written_once_the_play_is_over(tmp_path, playing, monkeypatch):
    tables = setups()
    episodes = list(ResumableRecord().play(tables, Dispatcher()).values())
    monkeypatch.setattr(resumable, "has_failed", lambda episode: episode is episodes[1])
    playing(*episodes)
    record = ResumableRecord(tmp_path, SETTINGS)
    assert list(record.play(tables, Dispatcher()).values()) == episodes
    record.close()
    assert [episode.id for episode in read_episodes(tmp_path)] == [episodes[n].id for n in (0, 2, 3, 1)]


def test_finished_episodes_are_written_after_some_seconds_and_before_a_wait(tmp_path, playing, clock):
    tables, written = setups(), []
    episodes = list(ResumableRecord().play(tables, Dispatcher()).values())

    def look(_=None):
        written.append(len(shards(tmp_path)))

    queue = SimpleNamespace(submit=None, cancel=None, poll=lambda: look() or [])

    def pause(seconds):
        return lambda queue: clock.__setitem__(0, clock[0] + seconds)

    playing(episodes[0], look, pause(60.0), episodes[1], look, pause(1.0), episodes[2], look, lambda q: q.poll())
    record = ResumableRecord(tmp_path, SETTINGS)
    record.finished[episodes[3].id] = episodes[3]
    record.play(tables, queue)
    record.close()
    assert written == [0, 1, 1, 2], "at once none, after a minute the first two, and the third before the wait"
    assert len(shards(tmp_path)) == 2, "a flush without new episodes writes nothing"


@pytest.mark.parametrize(("seconds", "early", "late"), [(0.001, 0.1, 0.3), (0.025, 0.9, 1.1), (60.0, 4.9, 5.1)])
def test_pause_before_a_wait_grows_with_the_time_of_a_writing(
    tmp_path, playing, clock, monkeypatch, seconds, early, late
):
    """Small files of a local model's replies would take a tenth of an audit; a kill loses some seconds at most."""
    tables, written, seen = setups(), [], []
    first, second, *_ = episodes = list(ResumableRecord().play(tables, Dispatcher()).values())

    def write_slowly(folder, number, some):
        written.append(len(some))
        clock[0] += seconds

    def wait(pause):
        def step(queue):
            clock[0] += pause
            queue.poll()
            seen.append(len(written))

        return step

    monkeypatch.setattr("stratagem.playing.store.write_shard", write_slowly)
    playing(first, wait(0.3), second, wait(early), wait(late - early))
    record = ResumableRecord(tmp_path, SETTINGS)
    record.finished |= {episode.id: episode for episode in episodes[2:]}
    record.play(tables, SimpleNamespace(submit=None, cancel=None, poll=list))
    record.close()
    assert seen == [1, 1, 2]


def test_pause_before_a_wait_leaves_out_the_time_of_the_first_import(tmp_path, playing, clock, monkeypatch):
    tables, usual = setups(), builtins.__import__
    first, *others = ResumableRecord().play(tables, Dispatcher()).values()
    playing(first)
    record = ResumableRecord(tmp_path, SETTINGS)
    record.finished |= {episode.id: episode for episode in others}

    def import_slowly(name, *rest):
        clock[0] += 3.0 * (name == "stratagem.playing.store")
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_slowly)
    monkeypatch.setattr("stratagem.playing.store.write_shard", lambda *_: None)
    record.play(tables, SimpleNamespace(submit=None, cancel=None, poll=list))
    assert record.pause < 0.5
    record.close()


def test_outcomes_of_an_earlier_session_are_counted_once(tmp_path, monkeypatch):
    tables, counted = setups(), []
    session(tmp_path, tables)
    monkeypatch.setattr(resumable, "count_outcomes", lambda calls: counted.append(len(list(calls))))
    record = ResumableRecord(tmp_path, SETTINGS, resume=True)
    for name, episode in record.finished.items():
        record.finished[name] = replace(episode, decisions=[SimpleNamespace(calls=["a call"])])
    for _ in range(2):
        record.play(tables, Dispatcher())
    record.close()
    assert counted == [4, 0]


@pytest.mark.parametrize(("answers", "in_vain"), [(None, True), ("", True), ("{}\n", False)])
def test_evaluation_without_episodes_was_in_vain_unless_a_reply_was_paid_for(tmp_path, answers, in_vain):
    (tmp_path / PLAN).write_text("{}")
    if answers is not None:
        (tmp_path / FILE).write_text(answers)
    assert was_in_vain(tmp_path) == in_vain


@pytest.mark.parametrize(
    ("how", "failed", "unanswered"),
    [("error", [True], True), ("free", [True, False], False), ("error", [False], False), ("error", [], False)],
)
def test_decision_is_unanswered_where_its_last_call_failed(how, failed, unanswered):
    """A player that breaks off by itself is no server without an answer, and a retry may have had one."""
    row = SimpleNamespace(how=how, calls=[SimpleNamespace(failed=one) for one in failed])
    assert is_unanswered(row) == unanswered
