"""A disk that is full while a checkpoint is written costs one sentence, and what was there stays."""

import json
import subprocess
import sys
from itertools import product

import pytest

from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

LIMITS = (0, 3000, 20_000)
KINDS = ("adapters", "model", "state")
CASES = list(product(KINDS, LIMITS))
WRITER = """
import json, os, resource, signal, sys
from pathlib import Path
import torch
from stratagem.base.errors import StratagemError
from stratagem.language.models.adapters import add_adapter
from stratagem.language.models.load import load
from stratagem.training.runs.checkpoint import save_checkpoint
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.weights import writes_adapters, writes_model
from stratagem.base.settings import Settings

folder, cases = Path(sys.argv[1]), json.loads(sys.argv[2])


def write_until_full(what, limit):
    run = RunFolder.create(folder / f"{what}-{limit}", Settings(), 0, "a test")
    lm = load("tiny")
    if what == "adapters":
        add_adapter(lm, "policy", 8, 8.0)
    write = {"adapters": writes_adapters, "model": writes_model, "state": lambda lm: None}[what](lm)
    save_checkpoint(run, 1, {"moments": torch.zeros(10)})
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        save_checkpoint(run, 2, {"moments": torch.zeros(100_000)}, write=write)
    except StratagemError as error:
        return str(error)


torch.set_num_threads(1)
add_adapter(load("tiny"), "policy", 8, 8.0)  # reads in all that each fork needs
for case in cases:
    reads, writes = os.pipe()  # a pipe is no file that a limit holds for
    if not os.fork():
        os.write(writes, json.dumps(write_until_full(*case)).encode())
        os._exit(0)
    os.close(writes)
    os.wait()
    print(os.read(reads, 4096).decode() or "null", flush=True)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of the runs, and by case what was said; each wrote in a fork of one process."""
    folder = tmp_path_factory.mktemp("full")
    arguments = [sys.executable, "-c", WRITER, folder, json.dumps(CASES)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder, dict(zip(CASES, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("what", KINDS)
def test_a_full_disk_is_one_sentence_and_the_checkpoint_before_stays(what, limit, written):
    folder, said = written
    assert "cannot be written: File too large." in (said[what, limit] or "")
    run = RunFolder.open(folder / f"{what}-{limit}")
    assert latest(run).step == 1
    assert [path.name for path in run.checkpoints.iterdir()] == ["step-000001"]
