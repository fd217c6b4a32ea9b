"""A run that is broken off anywhere and resumed ends with the same figures and weights as one that never stopped."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from short_sepo import RECIPE

from stratagem.algorithms.sepo.algorithm import OpponentEpisodes, SEPOAlgorithm, SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe, read_recipe
from stratagem.base.errors import StratagemError
from stratagem.games.base import Stakes
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.language.models.run_models import read_run_models
from stratagem.learn.monitor import CheckFailed, TrainingWarning
from stratagem.players.catalogue import make_player
from stratagem.playing.store import read_episodes
from stratagem.show.reports.report import report_html
from stratagem.training.collector import RolloutBatch, merge
from stratagem.training.online import policy_of
from stratagem.training.recipe_file import over
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

RECIPES = Path(__file__).parents[2] / "recipes"
WARM, ALL = 3, 7
"""Steps of the SFT, and of the whole run."""


class Broken(Exception):
    """Somebody pulled the plug."""


def begun(path):
    return RunFolder.create(path, RECIPE, RECIPE.seed, "a test")


def figures(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}


def evaluation(run):
    """The bytes of the final evaluation, but for the milliseconds that replies took."""
    return re.sub(rb'"ms": [^,\n]*', b"", (run.path / "evaluation.json").read_bytes())


def weights(run):
    return latest(run).state()["stage"]["policy"]["optimizer"]["adam"]["state"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    run = begun(tmp_path_factory.mktemp("whole") / "run")
    SEPOAlgorithm(RECIPE, run).train()
    return run


def test_a_run_learns_and_keeps_what_it_did(whole):
    curves = figures(whole)
    warm = curves["sft/loss"]
    assert warm[0] == [1, 2, 3]
    assert warm[1][-1] < warm[1][0]
    assert curves["kuhn/exact/exploitability"][0] == [3, 4, 5, 6, 7]
    assert curves["checkpoint_metric"][1] == [-figure for figure in curves["kuhn/exact/exploitability"][1]]
    assert whole.status().state == "finished"
    episodes = list(read_episodes(whole.record))
    assert len(episodes) == 4 * (3 + 2) * 4
    assert all(row.calls for e in episodes for row in e.decisions if e.slots[row.seat] == 0)


def test_the_best_checkpoint_is_the_best_in_validation_and_is_kept(whole):
    steps, scores = figures(whole)["checkpoint_metric"]
    best = max(range(1, len(steps)), key=scores.__getitem__)
    assert latest(whole).best == (steps[best],)
    models = read_run_models(whole.path).models
    assert models["best"] == models[str(steps[best])]
    assert models["last"] == models[str(ALL)]
    assert models["start"].model == "dir:base/model"
    assert models["base"].model == "tiny"


def test_the_final_evaluation_has_a_row_for_every_stage(whole):
    table = json.loads((whole.path / "evaluation.json").read_text())
    labels = list(table["rows"].values())
    assert labels[:2] == ["Base", "SFT"]
    assert labels[2].startswith("SEPO (step ")
    assert all(re.fullmatch(r"run:\.@(base|start|\d+)", name) for name in table["rows"])
    players = [row["player"] for row in table["evaluation"]["games"][0]["players"]]
    assert players == [*table["rows"], "random"]


def test_what_the_policy_does_is_kept_at_every_validation(whole):
    files = sorted((whole.path / "policies").iterdir())
    assert [path.name for path in files] == [f"kuhn-{step:06d}.json" for step in range(WARM, ALL + 1)]
    table = json.loads(files[-1].read_text())
    assert len(table["policy"]) == 12
    assert all(sum(mix.values()) == pytest.approx(1.0) for mix in table["policy"].values())


def test_every_term_of_the_reward_is_measured(whole):
    curves = figures(whole)
    assert curves["signal/payoff/noise"][0] == [4, 6]
    assert all(noise > 0.0 for noise in curves["signal/payoff/noise"][1])
    assert json.loads((whole.path / "findings.json").read_text())["inert_clip"]["level"] == "note"


@pytest.mark.parametrize("broken_at", [2, 6])
def test_broken_off_and_resumed_it_ends_the_same(whole, tmp_path, broken_at):
    run = begun(tmp_path / "of another name, (1)")

    def plug(step, steps, seen):
        assert steps == ALL
        if step == broken_at:
            raise Broken

    with pytest.raises(Broken):
        SEPOAlgorithm(RECIPE, run).train(plug)
    assert run.status().state == "failed"
    SEPOAlgorithm(RECIPE, RunFolder.open(run.path)).train()
    assert figures(run) == figures(whole)
    mine, theirs = weights(run), weights(whole)
    assert mine.keys() == theirs.keys()
    for number, moments in theirs.items():
        assert all(torch.equal(mine[number][name], value) for name, value in moments.items())
    for name in ("findings.json", "models.json"):
        assert (run.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert evaluation(run) == evaluation(whole)


def test_a_run_is_not_begun_twice(whole):
    with pytest.raises(StratagemError, match="resume it"):
        begun(whole.path)


def test_a_moved_run_has_the_same_report(whole, tmp_path):
    moved = shutil.copytree(whole.path, tmp_path / "elsewhere" / "moved here")
    page = report_html(whole)
    assert report_html(RunFolder.open(moved)) == page.replace(f"<h1>{whole.name} ", "<h1>moved here ").replace(
        f"<title>{whole.name}:", "<title>moved here:"
    )
    assert "SEPO (step " in page
    assert str(whole.path) not in page


VARIANTS = {
    "two games, an adapter for the SFT, dropout, a reference that follows, the paper's credit": {
        "games": ["kuhn(hands=1)", "ipd(rounds=2)"],
        "checkpoint_metric": "safety",
        "adapter": {"rank": 2, "dropout": 0.1},
        "sft": {"adapter": {"rank": 2, "lora_alpha": 4, "dropout": 0.1}},
        "reference": {"type": "ema", "ema_decay": 0.5},
        "sepo": {"penalty_credit": "rollout"},
    },
    "all weights against a copy of the start, after SFT, top-p": {
        "train": "all",
        "top_p": 0.9,
        "reference": {"type": "copy", "device": "cpu"},
    },
}


LONG = pytest.mark.long
SMALL = {
    "validation_episodes": 1,
    "test_episodes": 1,
    "evaluate_every": 1,
    "sepo": {
        "iterations": 2,
        "group_size": 2,
        "groups_per_batch": 1,
        "signal_every": 1,
        "optimizer": {"learning_rate": 1e-3},
    },
    "sft": {"num_examples": 40, "epochs": 1, "batch_size": 16, "optimizer": {"learning_rate": 1e-3}},
    "games": ["kuhn(hands=2)"],
}


def whole_and_stopped(folder, recipe, at):
    """A whole run, and its folder as a kill in one of its steps would leave it."""
    whole = RunFolder.create(folder / "whole", recipe, recipe.seed, "a test")

    def copied(step, steps, seen):
        if step == at:
            shutil.copytree(whole.path, folder / "stopped")

    SEPOAlgorithm(recipe, whole).train(copied)
    return whole, RunFolder.open(folder / "stopped")


@pytest.mark.parametrize("name", [name if "dropout" in name else pytest.param(name, marks=LONG) for name in VARIANTS])
def test_every_way_to_train_resumes_to_the_bit(tmp_path, name):
    recipe = SEPORecipe.read(over(SMALL, VARIANTS[name]))
    whole, broken = whole_and_stopped(tmp_path, recipe, recipe.sft_steps + 1)
    SEPOAlgorithm(recipe, broken).train()
    assert figures(broken) == figures(whole)
    assert latest(broken).best == latest(whole).best


def test_a_best_response_that_is_not_due_again_outlives_a_stop(tmp_path):
    rate = {"learning_rate": 0.1}  # so that a best response to the next policy would be another one
    sepo = {
        "penalty_source": "best_response",
        "best_response_every": 3,
        "iterations": 3,
        "groups_per_batch": 8,
        "optimizer": rate,
    }
    changes = {"sepo": sepo, "games": ["kuhn(hands=1)"]}
    recipe = SEPORecipe.read({name: part for name, part in over(SMALL, changes).items() if name != "sft"})
    whole, broken = whole_and_stopped(tmp_path, recipe, 2)
    SEPOAlgorithm(recipe, broken).train()
    assert figures(broken) == figures(whole)


@dataclass(frozen=True)
class Paid:
    """As much as is known of an episode in which the agent had this payoff in every round."""

    rounds: tuple[tuple[float, ...], ...]
    stakes: tuple[Stakes, ...] = (Stakes(cooperative=1.0, passive=0.0), Stakes(cooperative=1.0, passive=0.0))

    def seat_of(self, slot):
        """Slots sit in order."""
        return slot


@pytest.mark.parametrize(("source", "penalised"), [("pool", False), ("best_response", True)])
def test_only_an_adversary_of_the_pool_may_gain_nothing(source, penalised):
    recipe = SEPORecipe.read({"games": ["kuhn(hands=1)"], "sepo": {"penalty_source": source}})
    sepo = SEPOCollector(recipe.sepo, make_game("kuhn(hands=1)"), make_player("random", make_game("kuhn")), Key(0))
    lucky = OpponentEpisodes("exploit", "worst", [], [Paid(((2.0, -2.0),)), Paid(((1.0, -1.0),))])
    unlucky = OpponentEpisodes("exploit", "other", [], [Paid(((-2.0, 2.0),))])
    assert [sepo.is_active(lucky), sepo.is_active(unlucky)] == [penalised, True]
    assert sepo.inactive_terms([lucky]) == (set() if penalised else {"exploit"})
    assert sepo.inactive_terms([lucky, unlucky]) == set()


def test_an_inactive_term_is_not_taken_for_one_that_is_shared():
    terms, quiet = frozenset({"payoff", "exploit"}), frozenset({"exploit"})
    one, other = (RolloutBatch([], {}, [], {}, terms, inactive) for inactive in (quiet, frozenset()))
    assert merge([one]).inactive == quiet
    assert merge([one, other]).inactive == set()


def test_a_policy_that_always_does_the_same_is_told_of_though_it_has_no_gradient(tmp_path):
    small = {
        "group_size": 2,
        "groups_per_batch": 1,
        "iterations": 1,
        "penalty_credit": "none",
        "externality_weight": 0.0,
    }
    certain = {
        "games": ["negotiation-v1(rounds=2)"],
        "temperature": 1e-9,
        "validation_episodes": 1,
        "test_episodes": 1,
        "sepo": small,
    }
    recipe = SEPORecipe.read(certain)
    run = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    with pytest.warns(TrainingWarning, match="have no reward variance"):
        SEPOAlgorithm(recipe, run).train()
    assert figures(run)["grad_norm"][1] == [0.0]
    assert json.loads((run.path / "findings.json").read_text())["alike"]["count"] == 1
    with pytest.raises(CheckFailed, match="All advantages of 16 examples are 0"):
        SEPOAlgorithm(recipe, RunFolder.create(tmp_path / "strict", recipe, 0, "a test"), strict=True).train()


def test_several_games_make_one_step_and_share_its_divisor():
    recipe = SEPORecipe.read(
        {"games": ["kuhn(hands=2)", "ipd(rounds=2)"], "sepo": {"group_size": 2, "groups_per_batch": 1}},
    )
    trained = policy_of(recipe, load("tiny"))
    parts = [SEPOCollector(recipe.sepo, make_game(text), trained.player, Key(0)).collect(0) for text in recipe.games]
    whole = merge(parts)
    assert len(whole.examples) == sum(len(part.examples) for part in parts)
    assert {example.row["divisor"] for example in whole.examples} == {float(len(whole.examples))}
    terms = {name for name in whole.examples[0].columns if name.startswith("term/")}
    assert {"term/payoff", "term/exploit", "term/collusion", "term/externality"} >= terms > {"term/payoff"}
    for example in whole.examples:
        assert terms <= set(example.columns)
    assert {name for name in terms for example in whole.examples if example.columns[name][0]} > {"term/payoff"}


def test_a_shared_penalty_brings_exactly_nothing():
    settings = {"group_size": 2, "groups_per_batch": 1, "penalty_credit": "shared"}
    recipe = SEPORecipe.read({"games": ["ipd(rounds=2)"], "sepo": settings})
    collected = SEPOCollector(
        recipe.sepo, make_game("ipd(rounds=2)"), policy_of(recipe, load("tiny")).player, Key(0)
    ).collect(0)
    assert collected.examples
    for example in collected.examples:
        assert set(example.columns["term/exploit"]) == {0.0}
        assert set(example.columns["term/collusion"]) == {0.0}


@pytest.mark.parametrize(
    ("recipe", "model"),
    [("multi gemma", "tiny-gemma"), ("kuhn qwen", "tiny-qwen3.5")],
)
@pytest.mark.long
def test_a_recipe_for_one_gpu_works_with_a_small_model_of_the_same_kind(tmp_path, recipe, model):
    small = {
        "games": '["kuhn(hands=1)"]' if recipe == "kuhn qwen" else '["ipd(rounds=1)", "negotiation-v1(rounds=1)"]',
        "model": f"{model}+dtype=bf16",
        "max_new_tokens": "12",
        "validation_episodes": "1",
        "test_episodes": "1",
        "sft.num_examples": "20",
        "sft.epochs": "1",
        "sepo.iterations": "1",
        "sepo.group_size": "2",
    }
    game, large = recipe.split()
    made = read_recipe([RECIPES / "sepo" / f"{game}.toml", RECIPES / "models" / f"{large}.toml"], small)
    run = RunFolder.create(tmp_path / "run", made, made.seed, "a test")
    SEPOAlgorithm(made, run).train()
    table = json.loads((run.path / "evaluation.json").read_text())
    assert list(table["rows"].values()) == ["Base", "SFT", "SEPO (step 1)"]
    assert run.status().state == "finished"
