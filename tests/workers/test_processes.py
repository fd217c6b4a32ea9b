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
from stratagem.cli.console import _print_warning
from stratagem.errors import BadParameter, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.play.scheduler import play
from stratagem.workers.base import InProcess
from stratagem.workers.plan import Plan, changed, current, working
from stratagem.workers.processes import Processes, WorkersLost
from stratagem.workers.shards import play_shards, played, shards_of

pytestmark = pytest.mark.runs


def test_shards_follow_from_the_size_alone():
    assert [list(shard) for shard in shards_of(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize("size", [1, 4, 100])
def test_played_in_shards_equals_one_scheduler(size):
    wanted = setups("kuhn", ["random", "NashApprox"])
    together = {episode.id: episode for episode in play(wanted)}
    with changed(tables_per_shard=size):
        assert played(reversed(wanted)) == [together[setup.id] for setup in reversed(wanted)]


@pytest.mark.long
@pytest.mark.parametrize("name", RECIPES)
def test_a_run_by_processes_equals_one_in_process(two, tmp_path, name):
    alone = trained(tmp_path / "alone", name)
    with changed(workers=two):
        assert trained(tmp_path / "work", name) == alone
    assert any(part.endswith(".safetensors") for part in alone)


@pytest.mark.long
def test_all_weights_under_training_are_carried(two, tmp_path):
    settings = {"train": "all", "sepo": {**RECIPES["sepo"]["sepo"], "loss": {"type": "policy_gradient"}}}
    alone = trained(tmp_path / "alone", "sepo", **settings)
    with changed(workers=two):
        assert trained(tmp_path / "work", "sepo", **settings) == alone


@pytest.mark.parametrize("text", ["diplomacy(until=1901)", "leduc", "ipd(rounds=3)"])
def test_episodes_of_forked_states_are_carried(two, text):
    begun = setups(text, ["random"] * make_game(text).spec.seats, 1)
    state = begun[0].begin()
    forked = [replace(setup, state=state, turns=2) for setup in begun]
    alone = played(forked)
    with changed(workers=two, tables_per_shard=1):
        assert played(forked) == alone


def test_results_come_by_index(two):
    assert dict(two.run(neg, range(5))) == {number: -number for number in range(5)}


def test_warnings_of_workers_are_printed_as_here(monkeypatch):
    for hook, wanted in ((_print_warning, "stratagem.cli.console"), (lambda *words: None, "warnings")):
        monkeypatch.setattr(warnings, "showwarning", hook)
        with closing(Processes(1)) as one:
            assert dict(one.run(warned_by, [None])) == {0: wanted}


def test_a_player_that_cannot_be_sent_is_refused(two):
    class Inner(Fatal):
        """A class that no other process can import."""

    wanted = setups("kuhn", [Inner("none", 0), "random"])
    with changed(workers=two), pytest.raises(CannotCompute, match=r"cannot be sent to a worker.*leave `workers=` out"):
        list(play_shards(wanted))


def test_a_mistake_in_a_worker_is_the_same_error(two):
    with pytest.raises(BadParameter, match="cannot be 0"):
        list(two.run(_mistaken, [0]))


def _mistaken(number):
    raise BadParameter(f"It cannot be {number}.")


def test_a_lost_process_is_replaced_and_its_shard_is_played_again(tmp_path):
    wanted = setups("kuhn", [Fatal(tmp_path / "deaths", 1), "random"])
    with working(Processes(2)), changed(tables_per_shard=2):
        episodes = played(wanted)
    assert (tmp_path / "deaths").read_text() == "died\n"
    assert episodes == played(wanted)


def test_processes_that_are_always_lost_end_the_work(tmp_path):
    wanted = setups("kuhn", [Fatal(tmp_path / "deaths", 100), "random"], 2)
    with working(Processes(1)), pytest.raises(WorkersLost, match="3 worker processes ended in a row"):
        played(wanted)


def test_workers_end_with_the_process_that_began_them():
    workers = Processes(1)
    (_, pid), *_ = workers.run(_own_pid, [None])
    os.kill(pid, 0)
    workers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _own_pid(_):
    return os.getpid()


def test_an_interrupt_does_not_reach_the_workers(two):
    (_, pid), *_ = two.run(_own_pid, [None])
    os.kill(pid, signal.SIGINT)
    assert [result for _, result in two.run(neg, [1])] == [-1]


def test_the_plan_is_what_was_chosen_last():
    assert isinstance(current().workers, InProcess)
    with changed(tables_per_shard=5):
        assert current().tables_per_shard == 5
    with pytest.raises(BadParameter, match="A shard has at least one table, not 0"):
        Plan(workers=InProcess(), tables_per_shard=0)
    with pytest.raises(BadParameter, match="at least one process, not 0"):
        Processes(0)
