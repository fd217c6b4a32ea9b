"""Shards and their processes without a process: what is played again, what ends the work, and what is reset."""

from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from operator import neg

import pytest
from working import setups

from stratagem.language.engines.caches import register
from stratagem.players.base import Traits
from stratagem.players.uniform import Random
from stratagem.playing.workers import processes, shards
from stratagem.playing.workers.plan import change_plan
from stratagem.playing.workers.processes import Processes, WorkersLost
from stratagem.playing.workers.shards import play_setups, play_shards


def test_shard_of_which_a_part_is_finished_is_played_whole():
    """Its log-probabilities may depend on all tables of the shard."""
    wanted = setups("kuhn(hands=1)", ["random", "random"])
    finished = {wanted[0].id, *(setup.id for setup in wanted[3:])}
    with change_plan(tables_per_shard=3):
        played = {episode.id for episode in play_shards(wanted, is_finished=lambda setup: setup.id in finished)}
    assert played == {setup.id for setup in wanted[:3]}


def test_every_table_is_in_a_shard_and_its_episode_in_its_place(monkeypatch):
    """Episodes of processes come in any order."""
    monkeypatch.setattr(shards, "play_shards", lambda asked: reversed(list(play_shards(asked))))
    wanted = setups("kuhn(hands=1)", ["random", "random"], 5)
    with change_plan(tables_per_shard=2):
        assert [episode.id for episode in play_setups(wanted)] == [setup.id for setup in wanted]


class Cache:
    """An engine that counts how often its cache was reset."""

    resets = 0

    def reset_cache(self):
        self.resets += 1


def test_caches_are_empty_before_each_shard_and_after_the_last():
    """Later results would otherwise depend on where the shards were played."""
    register(engine := Cache())
    with change_plan(tables_per_shard=1):
        list(play_shards(setups("kuhn(hands=1)", ["random", "random"], 2)))
    assert engine.resets == 3


class Unrepeatable(Random):
    """A player of which no second play is the same."""

    traits = Traits(stochastic=True, repeats=False)


def test_tables_of_one_player_that_does_not_repeat_itself_are_played_together(monkeypatch):
    wanted = setups("kuhn(hands=1)", ["random", "random"], 2) + setups("nim", [Unrepeatable(), "random"], 1)
    monkeypatch.setattr(shards, "played_alone", lambda *_: pytest.fail("a shard was played alone"))
    assert len(list(play_shards(wanted))) == 4


@pytest.fixture
def pools(monkeypatch):
    """The pools that were begun; their work is done here, and after each result the processes are lost."""
    begun = []

    class Pool:
        def __init__(self, number, context, initializer):
            begun.append(self)

        def shutdown(self, *, cancel_futures):
            """Nothing runs."""

    def lose_after_one(pool, work, left):
        first = min(left)
        yield first, work(left[first])
        raise BrokenProcessPool

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(processes, "_round", lose_after_one)
    return begun


def test_only_losses_in_a_row_end_the_work(pools):
    with closing(Processes(1)) as workers:
        assert dict(workers.run(neg, range(6))) == {number: -number for number in range(6)}
    assert len(pools) == 6


def test_three_losses_in_a_row_end_the_work(pools, monkeypatch):
    def lose(pool, work, left):
        raise BrokenProcessPool
        yield

    monkeypatch.setattr(processes, "_round", lose)
    with closing(Processes(1)) as workers, pytest.raises(WorkersLost, match="3 worker processes ended in a row"):
        list(workers.run(neg, range(6)))
    assert len(pools) == 3


@dataclass(frozen=True)
class Files:
    """Files that were named."""

    names: frozenset[str]

    def covers(self, other):
        return other.names <= self.names


def test_processes_begin_anew_when_a_further_file_is_named(pools, monkeypatch):
    def finish(pool, work, left):
        yield from [(index, work(item)) for index, item in left.items()]

    monkeypatch.setattr(processes, "_round", finish)
    named = {"one.py"}
    monkeypatch.setattr(processes, "handed_files", lambda: Files(frozenset(named)))
    with closing(Processes(1)) as workers:
        for _ in range(2):
            list(workers.run(neg, [1]))
        assert len(pools) == 1
        named.add("two.py")
        list(workers.run(neg, [1]))
        assert len(pools) == 2
