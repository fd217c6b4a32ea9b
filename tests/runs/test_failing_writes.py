"""Work on a disk that fails at one call: one sentence and status 1, and equal bytes when it is begun again."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stratagem
from stratagem.algorithms.catalogue import ALGORITHMS

HERE = Path(__file__).parent
SHARES = {"eval": 16, "audit": 16, "reinforce": 60}
"""One call of so many fails, drawn by a key."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """The library of `failing_writes.c`."""
    if sys.platform != "linux" or (compiler := shutil.which("gcc") or shutil.which("cc")) is None:
        pytest.skip("the library that lets calls fail needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("shim") / "failing_writes.so"
    words = [compiler, "-O2", "-shared", "-fPIC", "-o", library, HERE / "failing_writes.c", "-ldl", "-lpthread"]
    subprocess.run(words, check=True)
    return library


def checked(kind, share, shim, folder):
    """Let calls of a kind of work fail, and return what was found."""
    words = [sys.executable, HERE / "failing_work.py", folder, shim, str(share), kind]
    places = [HERE, HERE.parent, Path(stratagem.__file__).parents[1]]
    own = {
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "LD_PRELOAD": str(shim),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(words, env=os.environ | own, capture_output=True, text=True, check=False, timeout=4 * 3600)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.runs
@pytest.mark.parametrize("kind", SHARES)
def test_a_failed_write_is_a_sentence_and_loses_nothing(kind, shim, tmp_path):
    found = checked(kind, SHARES[kind], shim, tmp_path)
    assert found["problems"] == []
    assert found["cases"] > 5
    assert found["parts"] > 5
    assert found["finished"] > 5
    assert found["calls"]["write"] > found["cases"], "writes were seen below Python"


@pytest.mark.runs
@pytest.mark.long
@pytest.mark.parametrize("kind", ["eval", "tournament", "audit", "sweep", *ALGORITHMS.names()])
def test_every_failed_write_is_a_sentence_and_loses_nothing(kind, shim, tmp_path):
    """Some minutes for play, and more than half an hour for training by an algorithm."""
    assert checked(kind, 1, shim, tmp_path)["problems"] == []
