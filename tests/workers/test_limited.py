"""A process with one piece of work: its messages, its end, and its limits."""

import os
import time
from pathlib import Path
from threading import Thread

import pytest
from limited_work import answer, break_off, fill, read_consent, refuse, sleep

from stratagem.base.file_modules import handed_files
from stratagem.base.garbage import resident_memory
from stratagem.playing.workers.limited import LimitedProcess, ProcessLimits, WorkEnded

ROOMY = ProcessLimits(memory=1 << 33, seconds=60.0)


def test_messages_go_both_ways_and_the_result_is_last():
    process = LimitedProcess(answer, 1, ROOMY)
    for number in (4, 5, 0):
        process.send(number)
    assert list(process.messages()) == [8, 10, 10]


def test_long_messages_of_several_threads_come_whole():
    long = 1 << 8 * 40_000  # a message of more than 16 KiB is written in two parts
    process = LimitedProcess(answer, 0, ROOMY)
    threads = [Thread(target=process.send, args=(long,)) for _ in range(24)]
    for thread in threads:
        thread.start()
    told = process.messages()
    assert all(next(told) == 2 * long for _ in threads)
    process.send(0)
    assert next(told) == len(threads) * long


def test_work_of_a_page_allows_no_further_file():
    """Nobody is at a terminal to be asked."""
    assert not handed_files().consent.strict
    assert list(LimitedProcess(read_consent, None, ROOMY).messages()) == [True]


@pytest.mark.parametrize(
    ("work", "item", "limits", "sentence"),
    [
        (refuse, None, ROOMY, "This is no way to do it."),
        (break_off, None, ROOMY, "Its process ended with status 7 before there was a result."),
        (sleep, None, ROOMY._replace(seconds=0.3), "which is its limit of time"),
        (fill, 150 << 20, ROOMY._replace(memory=120 << 20), "its limit is 120 MiB"),
    ],
)
def test_work_without_a_result_ends_with_one_sentence(work, item, limits, sentence):
    with pytest.raises(WorkEnded, match=sentence):
        list(LimitedProcess(work, item, limits).messages())


@pytest.mark.linux
def test_kill_ends_the_work_and_what_it_started():
    process = LimitedProcess(sleep, None, ROOMY)
    messages = process.messages()
    inner = next(messages)
    assert is_running(inner)
    begun = time.monotonic()
    process.kill()
    with pytest.raises(WorkEnded, match="It was cancelled"):
        next(messages)
    assert time.monotonic() - begun < 30.0, "the work sleeps for a minute"
    assert ends(inner)


def ends(process, seconds=2.0):
    """Return whether a killed process is gone soon: the system takes a moment to end it."""
    until = time.monotonic() + seconds
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_running(process)


def is_running(process):
    """Return whether a process is there and no zombie."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_memory_is_that_of_the_process():
    assert 10 << 20 < resident_memory(os.getpid()) < 1 << 33
    assert resident_memory(2**22 + 1) == 0
