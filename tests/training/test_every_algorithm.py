"""Every algorithm has the same metrics, findings, checkpoints, record, models, evaluation, progress and strictness."""

import json
from dataclasses import replace
from typing import Any

import pytest

import stratagem.language.engines.open as open_module
import stratagem.language.models.load as loading
from small_recipes import LEARNT, RECIPES
from stratagem.algorithms.catalogue import ALGORITHMS, algorithm_of, bound
from stratagem.base.errors import BadParameter, BadRecord
from stratagem.games.kuhn import Kuhn
from stratagem.language.models.run_models import read_run_models
from stratagem.learn.monitor import CheckFailed
from stratagem.playing.store import shards
from stratagem.show.reports.report import report_html
from stratagem.show.reports.run_data import RunData
from stratagem.training.runs.checkpoint import checkpoint_folders, latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

UPDATES = {
    "sepo": ("sft/", ""),
    "grpo": ("",),
    "reinforce": ("",),
    "league": ("main/", "exploiter/"),
    "scopal": ("bc/", "kto/"),
    "shapellm": ("shaper/", "naive/"),
    "kl_sft": ("kl_sft/",),
}
"""Prefixes of the metrics of the policies that each algorithm updates; a new one needs its own here."""
EVERY_UPDATE = ("loss", "grad_norm", "learning_rate", "entropy")
HUGE = {"learning_rate": 1e30}
SFT = {"num_examples": 40, "epochs": 4, "batch_size": 8, "optimizer": HUGE}


def recipe(name, **changes: Any):
    return algorithm_of({"algorithm": name}).recipe_type.read({"algorithm": name, **RECIPES[name], **changes})


def trained(name, path, progress, **changes: Any):
    found = recipe(name, **changes)
    run = RunFolder.create(path, found, found.seed, "a test")
    bound(found, run).train(progress)
    return run


@pytest.fixture(scope="module", params=ALGORITHMS.names())
def made(request, tmp_path_factory):
    """A finished run of an algorithm, and the steps that were reported while it ran."""
    name = request.param
    steps = []
    path = tmp_path_factory.mktemp(name) / "run"
    run = trained(name, path, lambda step, in_all, metrics: steps.append((step, in_all, dict(metrics))))
    return name, run, steps


def test_there_is_a_small_recipe_of_every_algorithm():
    assert set(RECIPES) == set(ALGORITHMS.names()) == set(UPDATES)


def test_every_update_logs_the_same_metrics(made):
    name, run, _ = made
    found = read_metrics(run)
    missing = [prefix + metric for prefix in UPDATES[name] for metric in EVERY_UPDATE if prefix + metric not in found]
    assert not missing


def test_every_step_is_reported_once_and_in_order(made):
    name, run, steps = made
    numbers = [step for step, _, _ in steps]
    assert numbers == list(range(1, max(numbers) + 1))
    assert {in_all for _, in_all, _ in steps} == {bound(recipe(name), run).num_steps}
    assert all(metrics for _, _, metrics in steps)
    assert bound(recipe(name), run).num_steps in (0, max(numbers))


def test_findings_checkpoints_and_models_are_there(made):
    _, run, steps = made
    assert isinstance(json.loads((run.path / "findings.json").read_text()), dict)
    assert latest(run).step == max(step for step, _, _ in steps)
    assert 1 <= len(checkpoint_folders(run)) <= 3
    labels = set(read_run_models(run.path).models)
    assert {label.partition("/")[0] for label in labels} >= {"base", "start"}


def test_a_refused_continuation_leaves_a_finished_run_finished(made):
    name, run, _ = made
    with pytest.raises(BadRecord, match="another recipe"):
        bound(recipe(name, seed=run.info().seed + 1), run).train()
    assert run.status().state == "finished"


def test_a_damaged_result_of_a_finished_run_is_told_and_made_anew(made):
    name, run, _ = made
    results = [run.path / file for file in ("evaluation.json", "outcome.json") if (run.path / file).is_file()]
    for path in results:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(BadRecord, match=f"{path.name} cannot be read as JSON: remove it, and `--resume`"):
            bound(recipe(name), run).train()
        path.unlink()
        bound(recipe(name), run).train()
        assert json.loads(path.read_text()).keys() == json.loads(whole).keys()
    assert len(results) == (name != "kl_sft")
    assert run.status().state == "finished"


SELDOM = {
    "scopal": {"checkpoint_every": 100, "kto": {**LEARNT, "epochs": 3}},
    "shapellm": {"checkpoint_every": 100},
    "kl_sft": {},
}
"""Settings without a checkpoint on the way; of the others, those without a validation there."""


@pytest.mark.parametrize("name", ALGORITHMS.names())
def test_a_run_stopped_at_a_checkpoint_of_the_clock_ends_the_same(name, tmp_path):
    seldom = SELDOM.get(name, {"evaluate_every": 100})
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    steps = []
    trained(name, whole, lambda step, *_: steps.append(step), **seldom, checkpoint_minutes=0.0)

    def stop(step, *_):
        if step == max(steps) - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(name, stopped, stop, **seldom, checkpoint_minutes=1e-9)
    run = RunFolder.open(stopped)
    assert latest(run).step == max(steps) - 1
    bound(recipe(name, **seldom, checkpoint_minutes=1e-9), run).train()
    ends = [latest(RunFolder.open(path)).folder for path in (whole, stopped)]
    weights = [{path.name: path.read_bytes() for path in end.rglob("*.safetensors")} for end in ends]
    assert weights[0] == weights[1]
    assert weights[0]
    assert (whole / "metrics.jsonl").read_bytes() == (stopped / "metrics.jsonl").read_bytes()


def test_it_is_told_how_models_were_read(made):
    _, run, _ = made
    reading = run.info().reading
    assert {component.rpartition("/")[2] for component in reading} == {"rollouts", "training"}
    assert all(sentence.startswith("with shared prefixes: it deviates by ") for sentence in reading.values())


def test_what_was_played_is_recorded_and_evaluated(made):
    name, run, steps = made
    if name != "kl_sft":
        assert shards(run.record)
        assert max(shards(run.record)) < max(step for step, _, _ in steps)
        assert (run.path / "evaluation.json").is_file() or (run.path / "outcome.json").is_file()


def test_other_programs_can_read_the_files(made):
    """JSON has no NaN, which most readers refuse."""
    paths = sorted(made[1].path.rglob("*.json"))
    assert {"run.json", "status.json", "models.json"} <= {path.name for path in paths}
    for path in paths:
        json.loads(path.read_text(), parse_constant=lambda word, path=path: pytest.fail(f"{word} in {path}"))


def test_a_report_can_be_made(made):
    _, run, _ = made
    assert "The checks found" in report_html(run)
    data = RunData(run)
    assert data.curves
    assert data.findings is not None
    assert not data.broken


@pytest.mark.parametrize("name", ["sepo", "grpo", "reinforce", "scopal"])
def test_two_games_of_one_name_are_refused_at_the_start(name, tmp_path):
    twice = recipe(name, games=["nim", "kuhn(hands=1)", "kuhn(hands=2)"])
    with pytest.raises(BadParameter, match="2 of the `games` are kuhn, and their figures would have one name"):
        bound(twice, RunFolder(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["sepo", "grpo", "reinforce", "league", "scopal"])
@pytest.mark.parametrize("unfit", ["kuhn's table", "kuhn/two"])
def test_a_game_whose_name_cannot_be_that_of_figures_is_refused_at_the_start(name, unfit, tmp_path, monkeypatch):
    monkeypatch.setattr(Kuhn, "spec", replace(Kuhn(hands=1).spec, name=unfit))
    with pytest.raises(BadParameter, match="cannot be trained in, since its figures are named by it: give its spec"):
        bound(recipe(name), RunFolder(tmp_path))
    assert not list(tmp_path.iterdir())


STRICT = {
    "sepo": {"sft": SFT},
    "grpo": {"sft": SFT},
    "reinforce": {"sft": SFT},
    "league": {"sft": SFT},
    "shapellm": {"target_policies": [{"policy": "ipd-cooperative"}], "kl_sft": {**SFT, "num_examples": 10}},
    "kl_sft": {"kl_sft": {**SFT, "num_examples": 10}},
}


@pytest.mark.parametrize("name", STRICT)
def test_a_strict_run_stops_in_sft_at_a_loss_that_is_no_number(name, tmp_path):
    found = recipe(name, **STRICT[name])
    run = RunFolder.create(tmp_path / "run", found, found.seed, "a test")
    steps = []
    with pytest.raises(CheckFailed, match="not_finite"):
        bound(found, run, strict=True).train(lambda step, in_all, metrics: steps.append(metrics))
    assert all(key.startswith(("sft/", "kl_sft/")) for metrics in steps for key in metrics)


@pytest.mark.parametrize("name", ["reinforce", pytest.param("league", marks=pytest.mark.long)])
def test_final_evaluation_holds_the_base_once(tmp_path, monkeypatch, name):
    """Base, start and checkpoints are adapters on the base that was trained on, so nothing is loaded again."""
    loaded = []
    whole = loading.load_weights
    monkeypatch.setattr(loading, "load_weights", lambda ref, *rest: loaded.append(str(ref)) or whole(ref, *rest))
    cached = open_module.local_engine
    monkeypatch.setattr(open_module, "local_engine", cached.__wrapped__)
    made = recipe(name)
    run = RunFolder.create(tmp_path / "run", made, made.seed, "a test")
    bound(made, run).train()
    assert loaded == ["tiny"]
    assert (run.path / "evaluation.json").is_file()
