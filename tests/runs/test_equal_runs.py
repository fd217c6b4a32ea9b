"""Two runs of one recipe have the same bytes in all files but those that the page of runs names."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of
from stratagem.training.runs.config_file import settings_toml

pytestmark = pytest.mark.runs
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "runs.md"


def trained(folder, hashes, model):
    """Train the small recipe in a folder, under a seed of Python's hashes; its recipe names the model as given."""
    folder.mkdir(parents=True)
    data = {"algorithm": "sepo", **RECIPES["sepo"], "model": model}
    (folder / "small.toml").write_text(settings_toml(algorithm_of(data).recipe_type.read(data)))
    command = [sys.executable, "-m", "stratagem", "train", "small.toml", "--out", str(folder / "run")]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONHASHSEED": str(hashes)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "run"


def digests(run):
    """The output of the command on the page, which leaves out the files that hold clocks."""
    section = PAGE.read_text().partition("## Compare two runs")[2]
    command = re.search(r"```bash\ncd runs/NAME\n(.*?)```", section, re.DOTALL)[1]
    lines = subprocess.run(["sh", "-c", command], cwd=run, capture_output=True, text=True, check=True).stdout
    return {name: digest for digest, name in map(str.split, lines.splitlines())}


def test_two_equal_runs_have_equal_digests(tmp_path):
    one, other = (
        digests(trained(tmp_path / name, hashes, "tiny")) for name, hashes in (("one", 1), ("deeper/other", 2))
    )
    assert one == other
    names = {name.partition("/")[2] for name in one}
    promised = {"config.toml", "metrics.jsonl", "models.json", "evaluation.json", "newest.json", "findings.json"}
    assert promised | {"record/README.md", "base/manifest.json"} <= names
    for part in ("adapter_config.json", "adapter_model.safetensors", "checkpoint.json", "manifest.json", "state.json"):
        assert any(name.startswith("checkpoints/") and name.endswith(f"/{part}") for name in names), part
    for table in ("episodes", "decisions", "calls", "prompts"):
        assert any(name.startswith(f"record/{table}/") for name in names), table
    assert not any("timings" in name for name in names)
