"""Shards and their processes without a process: what is played again, what ends the work, and what is reset."""

import multiprocessing
import os
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from operator import neg

import pytest
from working import setups

from stratagem.api.serving import workers_of
from stratagem.base.errors import BadParameter
from stratagem.base.file_modules import handed_files
from stratagem.language.engines.caches import register
from stratagem.players.base import Traits
from stratagem.players.uniform import Random
from stratagem.playing.workers import processes, shards
from stratagem.playing.workers.base import InProcess
from stratagem.playing.workers.copies import play_shard
from stratagem.playing.workers.plan import WorkersPlan, change_plan, current, working
from stratagem.playing.workers.processes import Begin, Processes, WorkersLost
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


class Elsewhere(InProcess):
    """Other workers, whose works are listed, and which are closed once."""

    separate = True

    def __init__(self):
        self.works, self.closed = [], 0

    def run(self, work, items):
        self.works += [(work, len(items))]
        return super().run(work, items)

    def close(self):
        self.closed += 1


def test_separate_workers_play_every_shard():
    wanted = setups("kuhn(hands=1)", ["random", "random"], 5)
    here = play_setups(wanted)
    with change_plan(workers=Elsewhere(), tables_per_shard=2):
        assert list(play_shards(wanted)) == here
        assert current().workers.works == [(play_shard, 3)]


def test_work_in_this_process_sends_nothing():
    """A player that cannot be sent can play here."""

    class Inner(Random):
        """A class that no other process can import."""

    assert len(play_setups(setups("kuhn(hands=1)", [Inner(), "random"], 2))) == 2


def test_two_episodes_of_one_name_are_refused():
    wanted = setups("kuhn(hands=1)", ["random", "random"], 2)
    with pytest.raises(BadParameter, match="Two episodes are called"):
        play_setups([*wanted, wanted[0]])


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


def test_finished_tables_that_would_differ_are_not_played_again():
    """Each play of them may be paid for."""
    wanted = setups("nim", [Unrepeatable(), "random"], 3)
    played = [episode.id for episode in play_shards(wanted, is_finished=lambda setup: setup.id == wanted[1].id)]
    assert sorted(played) == sorted(setup.id for setup in wanted if setup is not wanted[1])


@pytest.fixture
def pools(monkeypatch):
    """The pools that were begun; their work is done here, and after each result the processes are lost."""
    begun = []

    class Pool:
        def __init__(self, number, context, initializer):
            self.number, self.initializer = number, initializer
            begun.append(self)

        def shutdown(self, *, cancel_futures):
            """Nothing runs."""

    def lose_after_one(pool, work, left):
        first = min(left)
        yield first, work(left[first])
        raise BrokenProcessPool

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(processes, "play_round", lose_after_one)
    return begun


def test_only_losses_in_a_row_end_the_work(pools):
    with closing(Processes(1)) as workers:
        assert dict(workers.run(neg, range(6))) == {number: -number for number in range(6)}
    assert len(pools) == 6


def test_three_losses_in_a_row_end_the_work(pools, monkeypatch):
    def lose(pool, work, left):
        raise BrokenProcessPool
        yield

    monkeypatch.setattr(processes, "play_round", lose)
    with closing(Processes(1)) as workers, pytest.raises(WorkersLost, match="3 worker processes ended in a row"):
        list(workers.run(neg, range(6)))
    assert len(pools) == 3


def test_workers_that_are_ended_begin_no_processes(pools, monkeypatch):
    workers = Processes(1)

    def end(pool, work, left):
        workers.close()
        raise BrokenProcessPool
        yield

    monkeypatch.setattr(processes, "play_round", end)
    with pytest.raises(WorkersLost, match="were ended while they had work"):
        list(workers.run(neg, range(6)))
    assert len(pools) == 1


@dataclass
class Files:
    """Files that were named."""

    names: set[str]

    def covers(self, other):
        return other.names <= self.names


def test_processes_begin_anew_when_a_further_file_is_named(pools, monkeypatch):
    def finish(pool, work, left):
        yield from [(index, work(item)) for index, item in left.items()]

    monkeypatch.setattr(processes, "play_round", finish)
    named = Files({"one.py"})
    monkeypatch.setattr(processes, "handed_files", lambda: named)
    with closing(Processes(1)) as workers:
        for _ in range(2):
            list(workers.run(neg, [1]))
        assert len(pools) == 1
        named.names.add("two.py")
        list(workers.run(neg, [1]))
        assert [pool.initializer.given.names for pool in pools] == [{"one.py"}, {"one.py", "two.py"}]


@pytest.fixture
def loaded(monkeypatch):
    """The files that were loaded and the threads that were set where a worker process begins; it is this one."""
    seen = {"files": [], "threads": []}
    monkeypatch.setattr(processes, "load_again", seen["files"].append)
    monkeypatch.setattr(processes, "use_threads", seen["threads"].append)
    monkeypatch.setattr(processes.signal, "signal", lambda *_: None)
    monkeypatch.setattr(Begin, "_watch", lambda _: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    return seen


def test_processes_take_the_devices_in_turn(loaded, monkeypatch):
    given, numbers, devices = handed_files(), multiprocessing.get_context("spawn").Value("i", 0), []
    for _ in range(3):
        Begin(None, 3, given, ("2", "5"), numbers)()
        devices.append(os.environ["CUDA_VISIBLE_DEVICES"])
    assert devices == ["2", "5", "2"]
    assert loaded == {"files": [given] * 3, "threads": [3] * 3}


@pytest.mark.parametrize(("named", "devices"), [("", ()), ("3,1", ("3", "1"))])
def test_processes_share_the_devices_that_this_one_may_use(pools, monkeypatch, named, devices):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    with closing(Processes(2)) as workers:
        list(workers.run(neg, [1]))
    assert [pool.initializer.devices for pool in pools] == [devices]


def test_files_for_workers_are_gone_when_they_end(tmp_path):
    (tmp_path / "weights").write_text("1")
    workers = Processes(1)
    parcels = [workers.put(tmp_path) for _ in "ab"]
    assert len({parcel.folder for parcel in parcels}) == 2
    workers.close()
    assert not any(parcel.folder.exists() for parcel in parcels)


@pytest.mark.parametrize(("threads", "number", "each"), [("8", 4, 2), ("1", 4, 1), ("3,9", 1, 3)])
def test_workers_share_the_threads_of_this_process(monkeypatch, threads, number, each):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr(processes, "Processes", lambda *given: given)
    assert workers_of(number) == (number, each)
    with closing(Processes(number)) as workers:
        assert WorkersPlan(workers=workers).threads_per_worker == each
        assert WorkersPlan(workers=workers, num_threads=7).threads_per_worker == 7


def test_plans_are_nested():
    usual = current()
    with change_plan(tables_per_shard=5), change_plan(num_threads=3):
        assert (current().tables_per_shard, current().num_threads) == (5, 3)
    assert current() == usual


def test_workers_are_closed_after_an_error():
    workers = Elsewhere()
    with pytest.raises(ZeroDivisionError), working(workers):
        list(current().workers.run((1).__floordiv__, [1, 0]))
    assert workers.works
    assert workers.closed == 1
