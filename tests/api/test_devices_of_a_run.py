"""Devices that are asked for: those that are not there, and what does not go together, are refused."""

import pytest

import stratagem as sg
from stratagem.api import devices
from stratagem.base.errors import StratagemError
from stratagem.playing.workers import ranks


@pytest.fixture
def launched(monkeypatch):
    """The variables of torch's launcher in the second of four processes."""
    for name, value in {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_more_devices_than_there_are_are_refused(monkeypatch):
    monkeypatch.setattr(devices, "visible_devices", lambda: ("0", "1"))
    with pytest.raises(StratagemError, match="`devices` cannot be 3: this machine has 2 GPUs"):
        sg.train("sepo/kuhn-tiny", devices=3)
    monkeypatch.setattr(devices, "visible_devices", lambda: ())
    with pytest.raises(StratagemError, match=r"`devices` cannot be 1000: this machine has no GPU, and \d+ cores"):
        sg.train("sepo/kuhn-tiny", devices=1000)


def test_devices_and_workers_do_not_go_together(monkeypatch):
    monkeypatch.setattr(devices, "visible_devices", lambda: ("0", "1"))
    with pytest.raises(StratagemError, match="Devices share play and learning already"):
        sg.train("sepo/kuhn-tiny", devices=2, workers=2)


def test_a_budget_is_not_divided(monkeypatch):
    monkeypatch.setattr(devices, "visible_devices", lambda: ("0", "1"))
    with sg.servers(budget="10calls"), pytest.raises(StratagemError, match="torchrun --nproc-per-node 2"):
        sg.train("sepo/kuhn-tiny", devices=2)


def test_ranks_of_several_machines_are_refused(launched):
    launched.setenv("LOCAL_WORLD_SIZE", "2")
    with pytest.raises(StratagemError, match="several machines is not supported"):
        ranks.find_place()


def test_the_place_is_that_of_the_launcher(launched):
    assert ranks.find_place() == (1, 4, 1)
    launched.setenv("WORLD_SIZE", "1")
    assert ranks.find_place() is None


def test_a_rank_without_a_gpu_of_its_own_is_refused(launched):
    launched.setattr(ranks, "visible_devices", lambda: ("0",))
    with pytest.raises(StratagemError, match="This machine has 1 GPUs, and 4 devices are asked for"):
        ranks.join(ranks.find_place())


def test_dry_run_divides_what_is_sharded():
    alone, four = (
        sg.dry_run(
            ["papers/scopal/self-play", "papers/scopal/qwen2", "papers/scopal/all-weights"],
            devices=number,
            device_memory=80.0,
        )
        for number in (None, 4)
    )
    (before,), (after,) = (run.to_json()["estimate"]["memory"].values() for run in (alone, four))
    assert after["optimizer"] == pytest.approx(before["optimizer"] / 4, rel=1e-6)
    assert after["play_copy"] == before["weights"]
    assert after["total"] < 80 * 2**30 < before["total"]
    assert "each of 4 devices" in four.tables()[0].title
