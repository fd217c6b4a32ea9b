"""The page of runs names every file that a run leaves and every metric that it writes; the guide's recipe is one."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm
from stratagem.algorithms.sepo.recipe import SEPORecipe, read_recipe
from stratagem.base.errors import BadParameter
from stratagem.language.models.run_models import read_run_models
from stratagem.learn.checks import CHECKS
from stratagem.measure.figures.training import TRAINING
from stratagem.show.reports.report import write_report
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "stratagem"
sys.path.insert(0, str(ROOT / "docs"))
runs, training, learning = (import_module(f"chapters.{name}") for name in ("runs", "training", "learning"))
RECIPE = {
    "games": ["kuhn(hands=1)", "ipd(rounds=1)"],
    "evaluate_every": 1,
    "validation_episodes": 2,
    "test_episodes": 2,
    "sft": {"num_examples": 20, "epochs": 1, "batch_size": 16},
    "sepo": {
        "iterations": 2,
        "group_size": 2,
        "groups_per_batch": 1,
        "signal_every": 1,
        "optimizer": {"learning_rate": 1e-3},
    },
}
CAPITALS = {
    "NUMBER": r"\d+",
    "METRIC": r"[^/]+",
    "TABLE": r"[a-z]+",
    "SHARE": "no_variance|clipped|double_negative",
    "CHECK": "|".join([*CHECKS, "failed_turn"]),
}


def pattern(name):
    """A name of the page as an expression: words in capitals stand for names."""
    words = re.split(r"([A-Z]{4,})", name)
    return re.compile("".join(f"(?:{CAPITALS.get(w, '.+')})" if w.isupper() else re.escape(w) for w in words))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    recipe = SEPORecipe.read(RECIPE)
    made = RunFolder.create(tmp_path_factory.mktemp("runs") / "made", recipe, recipe.seed, "a test")
    SEPOAlgorithm(recipe, made).train()
    write_report(made)
    SEPOAlgorithm(recipe, made).train()  # a resume, which sets aside
    return made


def test_every_metric_of_a_run_is_in_the_catalogue(run):
    known = [pattern(figure.key) for figure in TRAINING]
    written = {name.removeprefix("sft/") for name in read_metrics(run)}
    assert {name for name in written if not any(one.fullmatch(name) for one in known)} == set()
    of_loss = {"loss/ratio", "loss/approx_kl", "loss/clip_fraction", "loss/entropy", "loss/kl", "loss/nll"}
    assert {"checkpoint_metric", "loss", "grad_norm", "learning_rate", "entropy", *of_loss} <= written


def test_every_metric_of_the_catalogue_is_written_by_some_code():
    """Of a name in capitals and of a part of a loss the rest of the name is looked for."""
    sources = [path.read_text(encoding="utf-8") for path in SRC.rglob("*.py") if path.parent.name != "figures"]
    texts = {text for source in sources for text in re.findall(r"\w+", source)}
    parts = {part for figure in TRAINING for part in re.split(r"[/*]", figure.key) if not re.fullmatch("[A-Z]*", part)}
    unwritten = {part for part in parts - texts if part.rpartition("_")[0] not in texts}  # `ratio_{end}` is made
    assert unwritten == set()


def test_every_file_is_on_the_page_and_all_but_six_are_written(run):
    lying = [str(path.relative_to(run.path)) for path in run.path.rglob("*")]
    known = {name: pattern(name) for name in runs.FILES}
    tops = [re.compile(f"({one.pattern})(/.*)?") for one in known.values()]
    parents = {str(parent) for name in lying for parent in Path(name).parents}
    assert [name for name in lying if name not in parents and not any(one.fullmatch(name) for one in tops)] == []
    unwritten = {name for name, one in known.items() if not any(one.fullmatch(path) for path in lying)}
    assert unwritten == {
        "checkpoints/step-NUMBER/model",
        "checkpoints/step-NUMBER/optimizer",
        "checkpoints/step-NUMBER/adapters/reference",
        "files/NAME.py",
        "files/demonstrations.jsonl",
        "trackers.json",
    }


def test_every_label_is_on_the_page(run):
    labels = {"NUMBER" if label.isdecimal() else label for label in read_run_models(run.path).models}
    assert labels == set(runs.LABELS)


def test_every_check_is_provoked():
    assert learning.PROVOKED.keys() == CHECKS.keys()
    assert all(CHECKS[name].find(seen) for name, seen in learning.PROVOKED.items())


def test_the_recipe_of_the_guide_is_one(tmp_path):
    page = (ROOT / "docs/how-to/train-by-a-recipe.md").read_text("utf-8")
    (text, *_) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)  # the first; the second is a part
    path = tmp_path / "mine.toml"
    here = text.replace('"../models/', f'"{ROOT}/recipes/models/').replace(
        '"ipd.toml', f'"{ROOT}/recipes/sepo/ipd.toml'
    )
    path.write_text(here)
    recipe = read_recipe(path)
    assert (recipe.games, recipe.sepo.exploitability_weight, recipe.sepo.iterations) == (("ipd(rounds=4)",), 5.0, 20)
    with pytest.raises(BadParameter, match=r"sepo\.loss"):
        read_recipe(path, {"train": "all"})


def test_types_are_told_in_plain_words():
    assert training.kind(int) == "whole number"
    assert training.kind(tuple[str, ...]) == "list of texts"
    assert training.kind(float | None) == "number"
