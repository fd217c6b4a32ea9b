"""A disk that is full while a checkpoint is written costs one sentence, and what was there stays."""

import json
import subprocess
import sys

import pytest

from stratagem.runs.checkpoint import latest
from stratagem.runs.folder import RunFolder

WRITER = """
import json, resource, signal, sys
from pathlib import Path
import torch
from stratagem.errors import StratagemError
from stratagem.models.adapters import add_adapter
from stratagem.models.load import load
from stratagem.runs.checkpoint import save_checkpoint
from stratagem.runs.folder import RunFolder
from stratagem.runs.weights import writes_adapters, writes_model
from stratagem.settings import Settings

path, what, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
run = RunFolder.create(path, Settings(), 0, "a test")
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
    print(json.dumps(str(error)))
"""


@pytest.mark.parametrize("limit", [0, 3000, 20_000])
@pytest.mark.parametrize("what", ["adapters", "model", "state"])
def test_a_full_disk_is_one_sentence_and_the_checkpoint_before_stays(what, limit, tmp_path):
    arguments = [sys.executable, "-c", WRITER, tmp_path / "run", what, str(limit)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert "cannot be written: File too large." in said
    run = RunFolder.open(tmp_path / "run")
    assert latest(run).step == 1
    assert [path.name for path in run.checkpoints.iterdir()] == ["step-000001"]
