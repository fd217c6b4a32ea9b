"""Ranks of torch's launcher: runs and gradients equal those of one process, and a lost rank ends all."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from on_ranks import resume
from rank_cases import ADAPTERS, LOSSES, STEPPED, WHOLE, gradient, settings_of
from working import trained

from run_results import end_of
from stratagem.algorithms.catalogue import algorithm_of
from stratagem.training.runs.checkpoint import checkpoint_folders
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE, read_metrics

pytestmark = pytest.mark.runs

SCRIPT = Path(__file__).parent / "on_ranks.py"
PROGRAM = "from stratagem.cli.main import main; main()"


def launch(size, *arguments):
    """Run the script of this folder on so many ranks by torchrun."""
    launcher = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone"]
    paths = [str(SCRIPT.parent), str(SCRIPT.parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [*launcher, f"--nproc-per-node={size}", str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def begun(folder):
    """A run of GRPO of all weights that has not started."""
    settings = {"algorithm": "grpo", "tables_per_shard": 3, "num_threads": 1, **STEPPED}
    recipe = algorithm_of(settings).recipe_type.read(settings)
    return RunFolder.create(folder, recipe, recipe.seed, "a test").path


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Folder of what two ranks have made."""
    folder = tmp_path_factory.mktemp("two")
    launch(2, folder)
    assert json.loads((folder / "ranks.json").read_text()) == 2
    return folder


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_sharded_weights_equal_those_of_one_process(shared, loss):
    wanted, report = gradient(loss)
    found = torch.load(shared / "gradients.pt")[loss]
    largest = max(float(weight.abs().max()) for weight in wanted)
    assert largest > 1e-3
    assert report.num_read > 300, "the batch has several packs"
    for one, other in zip(wanted, found, strict=True):
        assert (one - other).abs().max() <= 1e-6 * max(1.0, largest)


@pytest.mark.parametrize("name", ADAPTERS)
def test_runs_of_adapters_are_those_of_one_process_to_the_bit(shared, name, tmp_path):
    alone = trained(tmp_path / "alone", name, **settings_of(name, whole=False))
    found = {part.partition("/")[2]: result for part, result in end_of(shared / f"adapter-{name}").items()}
    assert found.keys() == alone.keys()
    assert [part for part in alone if found[part] != alone[part]] == []


def assert_printed_alike(run, other):
    """Compare all metrics of two runs to the digits that are printed: three decimals, or four digits."""
    found, wanted = read_metrics(RunFolder.open(run)), read_metrics(RunFolder.open(other))
    assert found.keys() == wanted.keys()
    for name, curve in wanted.items():
        assert found[name].steps == curve.steps
        assert found[name].values == pytest.approx(curve.values, rel=5e-5, abs=5e-5, nan_ok=True), name


@pytest.mark.parametrize("name", WHOLE)
def test_metrics_of_sharded_weights_are_those_of_one_process(shared, name, tmp_path):
    trained(tmp_path / "alone", name, **settings_of(name, whole=True))
    assert_printed_alike(shared / f"whole-{name}", tmp_path / "alone")
    assert len((tmp_path / "alone" / FILE).read_text().splitlines()) >= 2


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def ranks_below(pid):
    return [one for one in children_of(pid) if "spawn_main" in Path(f"/proc/{one}/cmdline").read_text()]


def ended(pids):
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Run on two devices, one of which was killed in the middle, and the seconds until all had ended."""
    run = begun(tmp_path_factory.mktemp("killed") / "run")
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, "train", str(run), "--resume", "--devices", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and len(checkpoint_folders(RunFolder(run))) < 2:
        time.sleep(0.02)
    ranks = ranks_below(process.pid)
    assert len(ranks) == 2, process.communicate()
    os.kill(max(ranks), signal.SIGKILL)
    start = time.perf_counter()
    _, said = process.communicate(timeout=60)
    return run, ranks, time.perf_counter() - start, said


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """The same run in one process, never stopped."""
    run = begun(tmp_path_factory.mktemp("whole") / "run")
    resume(run)
    return run


def test_a_lost_rank_ends_all_within_seconds(killed):
    _, ranks, seconds, said = killed
    assert seconds < 10.0
    assert ended(ranks)
    assert "ended by signal 9, and so the others were ended: the run can be resumed." in " ".join(said.split())


def test_a_run_of_two_devices_resumes_in_one_process(killed, whole_run, tmp_path):
    run = shutil.copytree(killed[0], tmp_path / "run")
    resume(run)
    assert_printed_alike(run, whole_run)


class Broken(Exception):
    """Somebody pulled the plug."""


def test_runs_of_one_process_and_of_two_devices_resume_on_three(killed, whole_run, tmp_path):
    from stratagem.algorithms.catalogue import bound, recipe_of

    alone, two = begun(tmp_path / "alone"), shutil.copytree(killed[0], tmp_path / "two")

    def stop(step, *_):
        if step == 4:
            raise Broken

    with pytest.raises(Broken):
        bound(recipe_of(RunFolder(alone)), RunFolder(alone)).train(stop)
    launch(3, tmp_path, alone, two)
    assert json.loads((tmp_path / "ranks.json").read_text()) == 3
    assert_printed_alike(alone, whole_run)
    assert_printed_alike(two, whole_run)
