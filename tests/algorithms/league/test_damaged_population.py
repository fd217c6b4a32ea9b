"""A population that is damaged on disk: what is lost is named, and the league goes on without it."""

import json
import shutil

import pytest
from safetensors.torch import load_file, save_file
from short_league import broken_off, figures, population

from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.base.errors import StratagemError
from stratagem.language.models.run_models import read_run_models
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that was broken off after its fourth step, which tests copy."""
    return broken_off(tmp_path_factory.mktemp("league") / "stopped", at=4)


def copy_of(stopped, path):
    recipe, run = stopped
    shutil.copytree(run.path, path, symlinks=True)
    return recipe, RunFolder.open(path)


def spoil_nothing_left(folder):
    shutil.rmtree(folder)


def spoil_torn(folder):
    path = folder / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:100])


def spoil_numbers(folder):
    weights = load_file(folder / "adapter_model.safetensors")
    next(iter(weights.values()))[0, 0] = float("nan")
    save_file(weights, folder / "adapter_model.safetensors", metadata={"format": "pt"})


def spoil_other_base(folder):
    (folder / "base.json").write_text('{"name": "other", "fingerprint": "0"}')


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_nothing_left, "is not there"),
        pytest.param(spoil_torn, "is torn", marks=pytest.mark.long),
        pytest.param(spoil_numbers, "are not finite", marks=pytest.mark.long),
        pytest.param(spoil_other_base, "was trained on other (0)", marks=pytest.mark.long),
    ],
)
def test_a_member_that_is_lost_is_named_and_the_league_goes_on(stopped, tmp_path, spoil, said):
    """The best one, too, and as whom others would have met it; every day the one that is gone altogether."""
    recipe, run = copy_of(stopped, tmp_path / "run")
    best = read_run_models(run.path).models["best"].adapter
    spoil(run.path / best)
    LeagueAlgorithm(recipe, RunFolder.open(run.path)).train()
    name = best.rpartition("/")[2]
    assert set(population(run)["aside"]) == {name}
    assert said in population(run)["aside"][name]
    assert name not in [member["name"] for member in population(run)["members"]]
    assert run.status().state == "finished"
    assert set(json.loads((run.path / "league.json").read_text())["aside"]) == {name}
    assert read_run_models(run.path).models["best"].adapter != best


def test_a_row_of_the_population_that_is_half_written_is_named_and_the_league_goes_on(stopped, tmp_path):
    """People may edit the file of a checkpoint: one row is torn, a learner's is gone, and a new bot has come."""
    recipe, run = copy_of(stopped, tmp_path / "run")
    path = latest(run).folder / "population.json"
    data = json.loads(path.read_text())
    rows = {row["name"]: row for row in data["members"]}
    del rows["main-000002"]["adapter"], rows["searcher"]
    path.write_text(json.dumps({**data, "members": [*rows.values(), {"name": "x", "role": "bot", "player": "random"}]}))
    step = latest(run).step
    LeagueAlgorithm(recipe, RunFolder.open(run.path)).train()
    assert min(curve[0][-1] for name, curve in figures(run).items() if name.endswith("/points")) == 5
    assert step == 4
    now = population(run)
    assert now["aside"] == {"main-000002": "It is half-written: a checkpoint needs `adapter`."}
    names = [member["name"] for member in now["members"]]
    assert {"x", "searcher", "searcher-000005"} <= set(names)
    assert "x" in [member["name"] for member in json.loads((run.path / "league.json").read_text())["members"]]


def test_a_population_that_is_no_json_is_told_of_in_a_sentence(stopped, tmp_path):
    recipe, run = copy_of(stopped, tmp_path / "run")
    path = latest(run).folder / "population.json"
    path.write_text(path.read_text()[:200])
    with pytest.raises(StratagemError, match=r"cannot be read: .*Mend it, or remove .* the checkpoint before"):
        LeagueAlgorithm(recipe, RunFolder.open(run.path)).train()
