"""The zoo is built from finished runs, and its figures are compared with its cards."""

import json
import sys
from pathlib import Path

import pytest

from stratagem.language.models.run_models import read_run_models

sys.path.insert(0, str(Path(__file__).parents[1] / "zoo"))
import zoo

FIGURE = {"mean": 0.5, "se": 0.1, "exact": False}
EXACT = {"mean": 0.5, "se": 0.0, "exact": True}


@pytest.fixture
def run(tmp_path):
    trained = {"model": "dir:base/model", "adapter": "checkpoints/step-7/adapters/policy"}
    older = {"model": "dir:base/model", "adapter": "checkpoints/step-3/adapters/policy"}
    models = {
        "base": {"model": "tiny"},
        "start": {"model": "dir:base/model"},
        "best": trained,
        "last": trained,
        "3": older,
        "7": trained,
    }
    folder = tmp_path / "run"
    for part in ("base/model", "checkpoints/step-3/adapters/policy", "checkpoints/step-7/adapters/policy"):
        (folder / part).mkdir(parents=True)
        (folder / part / "weights").write_text(part)
    (folder / "models.json").write_text(json.dumps({"version": 1, "models": models}))
    (folder / "config.toml").write_text("seed = 0\n")
    return folder


def test_a_model_takes_from_its_run_what_it_names_and_no_more(run, tmp_path):
    zoo.copy(run, tmp_path / "kept")
    kept = {path.relative_to(tmp_path / "kept").as_posix() for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert kept == {"models.json", "config.toml", "base/model/weights", "checkpoints/step-7/adapters/policy/weights"}
    assert set(read_run_models(tmp_path / "kept").models) == {"start", "best", "last", "7"}


def test_a_seat_of_a_run_with_several_learners_is_copied_without_the_others(run, tmp_path):
    told = json.loads((run / "models.json").read_text("utf-8"))
    seats = {f"{label}/{seat}": model for label, model in told["models"].items() for seat in ("shaper", "naive")}
    own = {**seats, "start/naive": {"model": "dir:elsewhere"}}
    del own["best/shaper"]
    (run / "models.json").write_text(json.dumps({**told, "models": own}))
    zoo.copy(run, tmp_path / "kept", "shaper")
    models = read_run_models(tmp_path / "kept").models
    assert set(models) == {"start", "best", "last", "7"}
    assert models["best"] == models["last"]


def test_a_changed_file_changes_the_digests(run, tmp_path):
    zoo.copy(run, tmp_path / "kept")
    before = zoo.digests(tmp_path / "kept")
    (tmp_path / "kept" / "base/model/weights").write_text("other")
    after = zoo.digests(tmp_path / "kept")
    assert {name for name in before if before[name] != after[name]} == {"base/model/weights"}


@pytest.mark.parametrize(
    ("told", "found", "differs"),
    [
        (EXACT, EXACT, False),
        (EXACT, {**EXACT, "mean": 0.501}, True),
        (FIGURE, {**FIGURE, "mean": 0.9}, False),
        (FIGURE, {**FIGURE, "mean": 1.0}, True),
        (FIGURE, {**EXACT, "mean": 0.8}, False),
    ],
)
def test_a_figure_may_differ_by_its_sampling_error_alone(told, found, differs):
    card = {"figures": {"best": {"payoff": told}}}
    assert bool(list(zoo.differences(card, {"payoff": found}, "best"))) is differs


def test_every_model_names_its_run_its_game_and_its_page():
    root = Path(__file__).parents[1]
    for name, about in zoo.tomllib.loads((root / "zoo" / "models.toml").read_text("utf-8")).items():
        assert about.keys() - {"seat"} == {"run", "game", "page", "what"}, name
        assert (root / "docs" / "results" / f"{about['page']}.md").exists()
