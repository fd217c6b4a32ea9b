"""The engine on the page about adding one, as a package of its own: found by its entry point, and trained with."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import read_metrics

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "add-an-engine.md").read_text("utf-8")
(ENGINE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ENTRIES, RECIPE = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
OURS = RECIPE.replace('type = "one_by_one", max_tokens = 512', "rows = 5")
PROGRAM = "from stratagem.cli.main import main; main()"
LOGGED = """
class Logged(OneByOneEngine):
    def __init__(self, *args):
        print("opened")
        super().__init__(*args)

    def publish(self, adapter, version):
        print("published", adapter, version)
        super().publish(adapter, version)

OneByOneEngine = Logged
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package as an installer leaves it."""
    target = tmp_path_factory.mktemp("site")
    info = target / "one_by_one-1.dist-info"
    info.mkdir()
    (target / "one_by_one.py").write_text(ENGINE + LOGGED)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: one-by-one\nVersion: 1\n")
    ((name, value),) = tomllib.loads(ENTRIES)["project"]["entry-points"]["stratagem.engines"].items()
    (info / "entry_points.txt").write_text(f"[stratagem.engines]\n{name} = {value}\ntorn = one_by_one:NOTHING\n")
    return target


@pytest.fixture
def train(site, tmp_path):
    """Train by a recipe in a process that has the package."""

    def run(recipe, *options):
        (tmp_path / "recipe.toml").write_text(recipe)
        command = [sys.executable, "-c", PROGRAM, "train", "recipe.toml", *options]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", site)))}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    return run


def play_metrics(folder):
    """Metrics of play and of validation, which depend on tokens alone."""
    metrics = read_metrics(RunFolder.open(folder))
    return {name: metrics[name].values for name in metrics if name.startswith("kuhn/")}


def test_an_engine_of_another_package_trains_as_ours_does(train, tmp_path):
    theirs, ours = train(RECIPE, "--out", "theirs"), train(OURS, "--out", "ours")
    assert theirs.returncode == ours.returncode == 0, theirs.stderr + ours.stderr
    assert "published policy 2" in theirs.stdout
    assert theirs.stdout.count("opened") == 1, "the engine of the policy plays the final evaluation, too"
    assert "published" not in ours.stdout
    config = tomllib.loads((tmp_path / "theirs" / "config.toml").read_text("utf-8"))
    assert config["engine"] == {"type": "one_by_one", "max_tokens": 512}
    found, expected = play_metrics(tmp_path / "theirs"), play_metrics(tmp_path / "ours")
    assert "kuhn/validation/pay" in found
    assert found.keys() == expected.keys()
    for name, values in found.items():
        assert values == pytest.approx(expected[name], abs=1e-4), name


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        ('"one_by_one(rows=3)"', "The engine one_by_one cannot be made so: it has no option rows"),
        ('"torn"', "The engine torn of the package one-by-one is broken"),
        ('"one_by_two"', "did you mean one_by_one"),
    ],
)
def test_a_wrong_engine_is_one_sentence(train, engine, sentence):
    done = train(re.sub("engine = .*", f"engine = {engine}", RECIPE), "--dry-run")
    assert done.returncode == 2
    assert sentence.lower() in " ".join(done.stderr.split()).lower()
