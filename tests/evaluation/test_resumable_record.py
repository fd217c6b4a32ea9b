"""Record of an evaluation that goes on: what is played again, what is written, and what is refused."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from stratagem.base.errors import BadRecord
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.resumable import PLAN, ResumableRecord, is_unanswered, was_in_vain
from stratagem.players.catalogue import make_player
from stratagem.playing.answers import FILE
from stratagem.playing.dispatch import Dispatcher
from stratagem.playing.match import Match
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes
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
