"""The certificate of the engines that workers open: every one is asked, and a wrong one is named."""

import errno
import os
import re
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count
from threading import Thread

import misbehaving
import pytest
from working import trained

from small_recipes import RECIPES
from stratagem.language.engines.catalogue import VLLMServer, engines
from stratagem.language.engines.open import open_engine
from stratagem.language.models.adapters import add_adapter
from stratagem.language.models.load import load
from stratagem.playing.workers import processes
from stratagem.playing.workers.copies import run_on_copies
from stratagem.playing.workers.plan import change_plan
from stratagem.playing.workers.processes import Processes
from stratagem.training.certificate import ENGINE, NotCertified, certify
from stratagem.training.stage import TrainingSubject

pytestmark = pytest.mark.runs

NAMES = ("red", "blue")


def subjects(spec=None):
    """Two policies of one engine, and a third whose weights are all of another model."""
    shared, whole = load("tiny"), load("tiny")
    for name in NAMES:
        add_adapter(shared, name, rank=2, alpha=4)
    engines = [open_engine(lm, *(() if spec is None else (spec,))) for lm in (shared, whole)]
    return [
        *(
            TrainingSubject(engines[0], shared, name, partial(engines[0].publish, name, 0), policy=name)
            for name in NAMES
        ),
        TrainingSubject(engines[1], whole, "", partial(engines[1].publish, "", 0), policy="green"),
    ]


def test_each_worker_does_the_work_once(two):
    pids = two.run_on_each(misbehaving.own_process, None)
    assert len({*pids, os.getpid()}) == 3
    assert sorted(two.run_on_each(misbehaving.own_process, None)) == sorted(pids)


def test_lost_worker_is_replaced_before_all_do_the_work(tmp_path):
    workers = Processes(2)
    try:
        pids = workers.run_on_each(misbehaving.end_once, tmp_path / "ended")
    finally:
        workers.close()
    assert (tmp_path / "ended").exists()
    assert len({*pids}) == 2


def test_worker_lost_while_the_other_waits_for_it_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("FILE_OF_THE_LOSS", str(tmp_path / "ended"))
    monkeypatch.setattr(processes, "Begin", misbehaving.LastProcessLost)
    workers, pids = Processes(2), []
    asking = Thread(target=lambda: pids.extend(workers.run_on_each(misbehaving.own_process, None)), daemon=True)
    asking.start()
    asking.join(60)
    assert len({*pids}) == 2, "it waits for the lost process"
    assert (tmp_path / "ended").exists()
    workers.close()


@pytest.mark.parametrize("on_each", [True, False])
def test_worker_lost_while_the_next_one_begins_is_replaced(monkeypatch, on_each):
    """Python closes its queue for the loss, and cannot give it to the next process."""
    begin_process, begun = ProcessPoolExecutor._spawn_process, count()

    def lose_the_first(pool):
        if next(begun) == 1:
            (first,) = pool._processes.values()
            first.kill()
            until = time.monotonic() + 5  # a later Python closes it afterwards
            while not pool._call_queue._reader.closed and time.monotonic() < until:
                time.sleep(0.01)
        begin_process(pool)

    monkeypatch.setattr(ProcessPoolExecutor, "_spawn_process", lose_the_first)
    with closing(Processes(2)) as workers:
        if on_each:
            assert len({*workers.run_on_each(misbehaving.own_process, None)}) == 2
        else:
            assert sorted(index for index, _ in workers.run(misbehaving.own_process, [None] * 2)) == [0, 1]
    assert next(begun) == 4


def test_no_worker_is_lost_in_the_middle_of_a_message(monkeypatch):
    """The rest of it would be waited for."""
    workers, results = Processes(1), []
    asking = Thread(
        target=lambda: results.extend(workers.run(misbehaving.end_in_long_message, ["a", "b"])), daemon=True
    )
    asking.start()
    asking.join(60)
    assert dict(results) == {0: "a" * 100_000, 1: "b" * 100_000}
    assert not [*workers.shared_folder.iterdir()]
    workers.close()


def test_system_that_begins_no_process_is_told(monkeypatch):
    def fail(pool):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(ProcessPoolExecutor, "_spawn_process", fail)
    with closing(Processes(2)) as workers, pytest.raises(BlockingIOError):
        workers.run_on_each(misbehaving.own_process, None)


def test_exact_copies_are_certified_and_have_the_learners_weights_afterwards(two):
    some = subjects()
    with change_plan(workers=two, num_threads=1):
        certify(some)
        for subject in some:
            assert re.match(r"certified, on each of 2 workers: \d+ log-", subject.lm.reading[ENGINE])
            names, add = [subject.adapter] * bool(subject.adapter), partial(misbehaving.add_weights, subject.adapter)
            outcomes = run_on_copies(subject.engine, names, add, is_base_trained=False)
            assert len({one.process for one in outcomes}) == 2
            assert [one.value for one in outcomes] == [add(subject.engine)] * 2


@pytest.mark.parametrize("wrong", [0, 1])
def test_wrong_engine_of_one_worker_is_named(two, tmp_path, wrong):
    """The engine of the first two policies is wrong in one worker, or that of the third."""
    exact = misbehaving.WrongInOneWorker(mark=__file__)
    some, mark = subjects(exact), tmp_path / "wrong"
    others = subjects(misbehaving.WrongInOneWorker(mark=str(mark), tester=os.getpid()))
    asked = [*some[:2], others[2]] if wrong else others
    policies = "green" if wrong else "red, blue"
    with change_plan(workers=two, num_threads=1), pytest.raises(NotCertified) as refused:
        certify(asked)
    assert re.fullmatch(
        rf"The engine of worker [12] of 2 \(process {mark.read_text()} on .*\) answers otherwise than the learner's "
        rf"tiny for {policies}: in the base alone, log-probabilities of the base differ by 0\.5 nats, and the limit is "
        r"0\.001; take the engine transformers, or correct the engine\.",
        str(refused.value),
    )


def test_workers_that_ask_one_server_are_certified(two, server_of_tiny):
    """Each loads its own versions of the adapters there."""
    some = subjects(VLLMServer(address=server_of_tiny))[:2]
    with change_plan(workers=two, num_threads=1):
        certify(some)
    assert some[0].lm.reading[ENGINE].startswith("certified, on each of 2 workers: ")


def test_refusal_in_a_worker_names_it(two):
    some = subjects(misbehaving.WrongInOneWorker(mark=__file__))[2:]
    some[0].lm.chat = lambda messages: (1, 2, 3)
    with (
        change_plan(workers=two, num_threads=1),
        pytest.raises(NotCertified, match=r"^On worker 1 of 2 \(process \d+ on .*\): The engine has another tokenizer"),
    ):
        certify(some)


def test_run_stops_before_it_plays_where_one_workers_engine_is_wrong(two, tmp_path, monkeypatch):
    monkeypatch.setitem(engines.table, "wrong", misbehaving.WrongInOneWorker)
    settings = {**RECIPES["grpo"], "engine": {"type": "wrong", "mark": str(tmp_path / "mark"), "tester": os.getpid()}}
    with change_plan(workers=two), pytest.raises(NotCertified, match=r"engine of worker [12] of 2 .* differ by 0\.5"):
        trained(tmp_path / "run", "grpo", **settings)
    assert not [*(tmp_path / "run").rglob("*.parquet")]
