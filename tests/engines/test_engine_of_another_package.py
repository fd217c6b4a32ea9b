"""The engine on the page about adding one, as a package of its own: found by its entry point, and trained with."""

import re
import tomllib
from pathlib import Path

import pytest

from forks import forked_command
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "add-an-engine.md").read_text("utf-8")
(ENGINE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ENTRIES, RECIPE = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
OURS = RECIPE.replace('type = "one_by_one", max_tokens = 512', "rows = 5")
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
    target = tmp_path_factory.mktemp("packages") / "site"
    info = target / "one_by_one-1.dist-info"
    info.mkdir(parents=True)
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
        return forked_command("train", "recipe.toml", *options, work=tmp_path, scratch=site.parent)

    return run


def play_metrics(folder):
    """Metrics of play and of validation, which depend on tokens alone."""
    metrics = read_metrics(RunFolder.open(folder))
    return {name: metrics[name].values for name in metrics if name.startswith("kuhn/")}


def test_an_engine_of_another_package_trains_as_ours_does(train, tmp_path):
    (status, theirs), (own_status, ours) = train(RECIPE, "--out", "theirs"), train(OURS, "--out", "ours")
    assert status == own_status == 0, theirs + ours
    assert "published policy 2" in theirs
    assert theirs.count("opened") == 1, "the engine of the policy plays the final evaluation, too"
    assert "published" not in ours
    config = tomllib.loads((tmp_path / "theirs" / "config.toml").read_text("utf-8"))
    assert config["engine"] == {"type": "one_by_one", "max_tokens": 512}
    found, expected = play_metrics(tmp_path / "theirs"), play_metrics(tmp_path / "ours")
    assert "kuhn/validation/payoff" in found
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
    status, printed = train(re.sub("engine = .*", f"engine = {engine}", RECIPE), "--dry-run")
    assert status == 2
    assert sentence.lower() in " ".join(printed.split()).lower()
