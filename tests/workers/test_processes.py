"""Work in processes: the same bytes as in one, whatever is lost on the way."""

import os
import signal
import warnings
from contextlib import closing
from dataclasses import replace
from operator import neg

import pytest
from misbehaving import Fatal
from working import setups, trained, warned_by

from small_recipes import RECIPES
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.cli.console import print_warning
from stratagem.games.catalogue import make_game
from stratagem.playing.scheduler import play
from stratagem.playing.workers.base import InProcess
from stratagem.playing.workers.plan import WorkersPlan, change_plan, current, working
from stratagem.playing.workers.processes import Processes, WorkersLost
from stratagem.playing.workers.shards import play_setups, play_shards, shards_of

pytestmark = pytest.mark.runs


def test_shards_follow_from_the_size_alone():
    assert [list(shard) for shard in shards_of(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize("size", [1, 4, 100])
def test_played_in_shards_equals_one_scheduler(size):
    wanted = setups("kuhn", ["random", "NashApprox"])
    together = {episode.id: episode for episode in play(wanted)}
    with change_plan(tables_per_shard=size):
        assert play_setups(reversed(wanted)) == [together[setup.id] for setup in reversed(wanted)]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name != "reinforce")) for name in RECIPES]
)
def test_a_run_by_processes_equals_one_in_process(two, tmp_path, name):
    alone = trained(tmp_path / "alone", name)
    with change_plan(workers=two):
        assert trained(tmp_path / "work", name) == alone
    assert any(part.endswith(".safetensors") for part in alone)


class Killing(InProcess):
    """Other workers, of which one is killed before their second work."""

    separate = True

    def __init__(self, inner):
        self.inner, self.pids, self.works = inner, [], 0

    def put(self, folder):
        return self.inner.put(folder)

    def run(self, work, items):
        self.works += 1
        if self.works == 2:
            self.pids = [pid for _, pid in self.inner.run(_own_pid, [None])]
            os.kill(self.pids[0], signal.SIGKILL)
        return self.inner.run(work, items)


def test_a_run_whose_worker_is_killed_equals_one_in_process(tmp_path):
    """The short form of `test_twenty_kills_leave_equal_results`."""
    alone = trained(tmp_path / "alone", "reinforce")
    with closing(Processes(2)) as inner:
        workers = Killing(inner)
        with change_plan(workers=workers):
            assert trained(tmp_path / "work", "reinforce") == alone
    assert len(workers.pids) == 1
    assert workers.works > 2


@pytest.mark.long
def test_all_weights_under_training_are_carried(two, tmp_path):
    settings = {"train": "all", "sepo": {**RECIPES["sepo"]["sepo"], "loss": {"type": "policy_gradient"}}}
    alone = trained(tmp_path / "alone", "sepo", **settings)
    with change_plan(workers=two):
        assert trained(tmp_path / "work", "sepo", **settings) == alone


@pytest.mark.parametrize("text", ["diplomacy(until=1901)", "leduc", "ipd(rounds=3)"])
def test_episodes_of_forked_states_are_carried(two, text):
    begun = setups(text, ["random"] * make_game(text).spec.seats, 1)
    state = begun[0].begin()
    forked = [replace(setup, state=state, turns=2) for setup in begun]
    alone = play_setups(forked)
    with change_plan(workers=two, tables_per_shard=1):
        assert play_setups(forked) == alone


def test_results_come_by_index(two):
    assert dict(two.run(neg, range(5))) == {number: -number for number in range(5)}


def test_warnings_of_workers_are_printed_as_here(monkeypatch):
    for hook, wanted in ((print_warning, "stratagem.cli.console"), (lambda *words: None, "warnings")):
        monkeypatch.setattr(warnings, "showwarning", hook)
        with closing(Processes(1)) as one:
            assert dict(one.run(warned_by, [None])) == {0: wanted}


def test_a_player_that_cannot_be_sent_is_refused(two):
    class Inner(Fatal):
        """A class that no other process can import."""

    wanted = setups("kuhn", [Inner("none", 0), "random"])
    with (
        change_plan(workers=two),
        pytest.raises(CannotCompute, match=r"cannot be sent to a worker.*leave `workers=` out"),
    ):
        list(play_shards(wanted))


def test_a_mistake_in_a_worker_is_the_same_error(two):
    with pytest.raises(BadParameter, match="cannot be 0"):
        list(two.run(_mistaken, [0]))


def _mistaken(number):
    raise BadParameter(f"It cannot be {number}.")


def test_a_lost_process_is_replaced_and_its_shard_is_played_again(tmp_path):
    wanted = setups("kuhn", [Fatal(tmp_path / "deaths", 1), "random"])
    with working(Processes(2)), change_plan(tables_per_shard=2):
        episodes = play_setups(wanted)
    assert (tmp_path / "deaths").read_text() == "died\n"
    assert episodes == play_setups(wanted)


def test_processes_that_are_always_lost_end_the_work(tmp_path):
    wanted = setups("kuhn", [Fatal(tmp_path / "deaths", 100), "random"], 2)
    with working(Processes(1)), pytest.raises(WorkersLost, match="3 worker processes ended in a row"):
        play_setups(wanted)


def test_workers_end_with_the_process_that_began_them():
    workers = Processes(1)
    (_, pid), *_ = workers.run(_own_pid, [None])
    os.kill(pid, 0)
    workers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _own_pid(_):
    return os.getpid()


def test_an_interrupt_does_not_reach_the_workers():
    """A lost process would be replaced, so it must be the same one that answers.

    Tests in the background ignore ^C, and so would their workers.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with closing(Processes(1)) as one:
            (_, pid), *_ = one.run(_own_pid, [None])
            os.kill(pid, signal.SIGINT)
            assert list(one.run(_own_pid, [None])) == [(0, pid)]
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_plan_is_what_was_chosen_last():
    assert isinstance(current().workers, InProcess)
    with change_plan(tables_per_shard=5):
        assert current().tables_per_shard == 5
    with pytest.raises(BadParameter, match="A shard has at least one table, not 0"):
        WorkersPlan(workers=InProcess(), tables_per_shard=0)
    with pytest.raises(BadParameter, match="at least one process, not 0"):
        Processes(0)
