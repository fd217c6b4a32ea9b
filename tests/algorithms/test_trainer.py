"""A run that is broken off anywhere and resumed ends with the same figures and weights as one that never stopped."""

import pytest
import torch

from stratagem.algorithms.recipe import Recipe, read_recipe
from stratagem.algorithms.trainer import Trainer
from stratagem.errors import BadParameter, StratagemError
from stratagem.play.store import read_episodes
from stratagem.runs.checkpoint import latest
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import read_metrics

RECIPE = Recipe.read(
    {
        "game": "kuhn(hands=2)",
        "evaluate_every": 1,
        "warm_start": {"examples": 120, "epochs": 1, "batch": 32, "optimiser": {"rate": 1e-3}},
        "sepo": {"iterations": 3, "rollouts": 2, "groups": 2, "optimiser": {"rate": 1e-3}},
    }
)


class Broken(Exception):
    """Somebody pulled the plug."""


def begun(path):
    return RunFolder.create(path, RECIPE, RECIPE.seed, "a test")


def figures(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}


def weights(run):
    return latest(run).state()["optimiser"]["adam"]["state"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    run = begun(tmp_path_factory.mktemp("whole") / "run")
    Trainer(RECIPE, run).train()
    return run


def test_a_run_learns_and_keeps_what_it_did(whole):
    curves = figures(whole)
    warm = curves["sft/loss"]
    assert warm[0] == [1, 2, 3]
    assert warm[1][-1] < warm[1][0]
    assert curves["exact/exploitability"][0] == [3, 4, 5, 6]
    assert whole.status().state == "finished"
    episodes = list(read_episodes(whole.record))
    assert len(episodes) == 3 * (3 + 2) * 2 * 2
    assert all(row.calls for e in episodes for row in e.decisions if e.slots[row.seat] == 0)


@pytest.mark.parametrize("broken_at", [2, 4, 6])
def test_broken_off_and_resumed_it_ends_the_same(whole, tmp_path, broken_at):
    run = begun(tmp_path / "run")

    def plug(step, steps, seen):
        if step == broken_at:
            raise Broken

    with pytest.raises(Broken):
        Trainer(RECIPE, run, plug).train()
    assert run.status().state == "failed"
    Trainer(RECIPE, RunFolder.open(run.path)).train()
    assert figures(run) == figures(whole)
    mine, theirs = weights(run), weights(whole)
    assert mine.keys() == theirs.keys()
    for number, moments in theirs.items():
        assert all(torch.equal(mine[number][name], value) for name, value in moments.items())


def test_a_recipe_is_read_with_changes_and_mistakes_are_one_sentence(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('game = "kuhn"\n[sepo]\niterations = 7\n', encoding="utf-8")
    made = read_recipe(path, {"sepo.alpha": "3", "model": "tiny-qwen", "sepo.optimiser.rate": "1e-4"})
    assert (made.sepo.iterations, made.sepo.alpha, made.model, made.sepo.optimiser.rate) == (7, 3.0, "tiny-qwen", 1e-4)
    for changes, said in (
        ({"sepo.alfa": "3"}, "There is no setting sepo.alfa"),
        ({"sepo.rollouts": "1"}, "sepo.rollouts"),
        ({"game.name": "x"}, "no table"),
        ({"mode": "loud"}, "the modes are"),
    ):
        with pytest.raises(BadParameter, match=said) as caught:
            read_recipe(path, changes)
        assert "\n" not in str(caught.value)
    with pytest.raises(BadParameter, match="cannot be read"):
        read_recipe(tmp_path / "none.toml")


def test_a_run_is_not_begun_twice(whole):
    with pytest.raises(StratagemError, match="resume it"):
        begun(whole.path)
