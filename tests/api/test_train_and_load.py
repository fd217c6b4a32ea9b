"""`train` makes a run, `load_run` opens it, and its player can be measured."""

import json
import shutil
from pathlib import Path

import pytest

import stratagem as sg
from stratagem.playing.workers.base import InProcess
from stratagem.playing.workers.plan import working

RECIPE = """
algorithm = "grpo"
games = ["kuhn(hands=1)"]
evaluate_every = 1
validation_episodes = 1
test_episodes = 1
exact_budget = 40000
[adapter]
rank = 1
[grpo]
iterations = 3
groups_per_batch = 1
group_size = 2
signal_every = 0
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    (folder / "r.toml").write_text(RECIPE)
    changes = {"grpo.iterations": 1, "seed": "4"}
    return sg.train(folder / "r.toml", changes=changes, out=folder / "run", progress=False)


class Unreachable(InProcess):
    """Workers of a cluster that is not there."""

    @property
    def num_workers(self):
        raise sg.StratagemError("There is no cluster.")


def test_train_looks_for_the_workers_before_it_makes_the_folder(tmp_path):
    (tmp_path / "r.toml").write_text(f"num_threads = 1\n{RECIPE}")
    with working(Unreachable()), pytest.raises(sg.StratagemError, match="There is no cluster"):
        sg.train(tmp_path / "r.toml", out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_train_makes_a_run_that_load_run_opens(run):
    opened = sg.load_run(str(run.path))
    assert (opened.state, opened.to_json()) == ("finished", run.to_json())
    assert (run.to_json()["seed"], run.to_json()["step"]) == (4, 1)
    assert repr(opened) == repr(run)
    assert f"{run.path}: finished" in repr(run)
    assert {row["metric"] for row in run.rows()} == set(run.curves)
    assert run.player == f"run:{run.path}"
    assert sg.load_run(run) is run


def test_a_run_says_which_checkpoint_a_step_after_sft_is(run):
    demo = sg.load_run(Path(sg.__file__).parent / "demo" / "kuhn-demo")
    assert run.remarks() == []
    (remark,) = demo.remarks()
    assert remark.endswith(f"step 60 is {demo.player}@560.")


def test_a_league_with_sft_has_no_such_remark(tmp_path):
    """Its checkpoints are named by the steps after SFT and the learner."""
    copy = shutil.copytree(Path(sg.__file__).parent / "demo" / "kuhn-demo", tmp_path / "league")
    data = json.loads((copy / "models.json").read_text())
    data["models"]["60/main"] = data["models"].pop("560")
    (copy / "models.json").write_text(json.dumps(data))
    assert sg.load_run(copy).remarks() == []


def test_a_run_stands_for_its_player(run):
    named = sg.play("kuhn(hands=1)", [run.player, "random"], episodes=4, seed=3)
    assert sg.play("kuhn(hands=1)", [run, "random"], episodes=4, seed=3).to_json() == named.to_json()
    assert float(sg.exploitability("kuhn(hands=1)", run)) == float(sg.exploitability("kuhn(hands=1)", run.player))


def test_the_folder_of_a_run_lists_that_run(run):
    (row,) = sg.list_runs(run.path).rows()
    assert row == next(row for row in sg.list_runs(run.path.parent).rows() if row["run"] == run.path.name)


def test_a_run_is_plotted_and_saved(run, tmp_path):
    name = "kuhn/exact/exploitability"
    assert list(run.plot(name).data[0].y) == run.curves[name].values
    with pytest.raises(sg.StratagemError, match="There is no metric of this run called 'loss/'"):
        run.plot("loss/")
    assert json.loads(run.save(tmp_path / "run.json").read_text())["figures"].keys() == run.to_json()["figures"].keys()


def test_a_run_is_resumed_as_an_object_and_only_with_its_own_settings(run):
    assert sg.train(run, resume=True, progress=False).to_json()["step"] == 1
    for given, options in [(run, {"changes": {"seed": 1}}), (run, {"out": "runs/x"}), ([run, run], {})]:
        with pytest.raises(sg.StratagemError, match="A run continues with its own"):
            sg.train(given, resume=True, **options)
    with pytest.raises(sg.StratagemError, match="continues a started run"):
        sg.train(run.path / "config.toml", force=True)


def test_a_recipe_may_be_an_object(run, tmp_path):
    from stratagem.api.trainings import read_recipe

    recipe = read_recipe(run.path / "config.toml")
    assert read_recipe(recipe) is recipe
    with pytest.raises(sg.StratagemError, match="exists already"):
        sg.train(recipe, out=run.path)
    with pytest.raises(sg.StratagemError, match="leave the changes out"):
        read_recipe(recipe, {"seed": 1})
