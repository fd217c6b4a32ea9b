"""The tiny model is given target policies: as near as they are asked for, and hardly a word beside them."""

import math
import tomllib
from pathlib import Path

import pytest

from stages import take_steps
from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe, kl_sft, target_examples
from stratagem.algorithms.kl_sft.target_policies import INITIAL_POLICIES, measured_policy
from stratagem.games.key import Key
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.adapters import adapter_names
from stratagem.language.models.load import load
from stratagem.training.artifacts import Artifacts
from stratagem.training.runs.folder import RunFolder

STARTS = Path(__file__).parents[2] / "recipes" / "shapellm" / "start"
FIVE = {"num_examples": 5, "batch_size": 5, "epochs": 150}


def taught(path, **settings):
    """The model after KL-SFT on the first policy of the paper's opponents, the losses, and the policy that it has."""
    recipe = KLSFTRecipe.read({"target_policies": [{"policy": "ipd-75"}], "kl_sft": {**FIVE, **settings}})
    stage = kl_sft(recipe, Artifacts(RunFolder.create(path / "run", recipe, 0, "a test"), recipe.model))
    losses, lm = [step["kl_sft/loss"] for step in take_steps(stage)], stage.policy.lm
    return lm, losses, measured_policy(TransformersEngine(lm), recipe.target_policies[0])


@pytest.mark.long
def test_tiny_reaches_the_printed_probabilities(tmp_path):
    """Every day an adapter goes towards them, in fewer steps."""
    lm, losses, reading = taught(tmp_path)
    assert reading.share == pytest.approx(INITIAL_POLICIES["ipd-75"].first, abs=0.02)
    assert reading.first == pytest.approx(INITIAL_POLICIES["ipd-75"].first, abs=0.02)
    assert min(reading.legal) > 0.99
    assert losses[-1] < 0.01 < 1.0 < losses[0]
    assert not any(weight.requires_grad for weight in lm.model.parameters())


def divergence_from(reading):
    """From the table to what is said of both labels among all tokens, the loss."""
    terms = zip(INITIAL_POLICIES["ipd-75"].first, reading.first, reading.second, strict=True)
    return sum(p * math.log(p / a) + (1 - p) * math.log((1 - p) / b) for p, a, b in terms) / 5


@pytest.mark.runs
def test_an_adapter_learns_too_and_becomes_part_of_the_base(tmp_path):
    lm, losses, reading = taught(tmp_path, epochs=40, adapter={"rank": 4}, optimizer={"learning_rate": 3e-3})
    assert adapter_names(lm) == []
    assert losses[-1] < 0.3 * losses[0]
    assert divergence_from(reading) == pytest.approx(losses[-1], abs=0.05)


@pytest.mark.parametrize("path", sorted(STARTS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_recipes_are_of_their_games_and_name_every_start(path):
    recipe = KLSFTRecipe.read(tomllib.loads(path.read_text("utf-8")))
    told = {aim.policy for aim in recipe.target_policies}
    game = "ipd-shapellm" if path.stem == "ipd" else path.stem
    # a start in kind takes the place of another one, after the same prompts
    named = {name for name, one in INITIAL_POLICIES.items() if one.game == game and "reciprocal" not in name}
    assert told >= named
    small = recipe.model_copy(update={"kl_sft": recipe.kl_sft.model_copy(update={"num_examples": 10})})
    examples = target_examples(TransformersEngine(load(recipe.model)), small, Key(0))
    assert len(examples) == 10 * len(recipe.target_policies)
    wanted = {}
    for example in examples:
        wanted.setdefault(example.tokens[: example.loss_positions[0]], set()).add(
            tuple(sorted(example.targets[0].items()))
        )
    assert all(len(targets) == 1 for targets in wanted.values()), "no prompt has two targets"


def test_every_start_has_a_recipe():
    recipes = [KLSFTRecipe.read(tomllib.loads(path.read_text("utf-8"))) for path in STARTS.glob("*.toml")]
    told = {aim.policy for recipe in recipes for aim in recipe.target_policies}
    folders = (STARTS.parent / "games", STARTS.parents[1] / "papers" / "shapellm")
    games = [path for folder in folders for path in folder.glob("*.toml")]
    data = [tomllib.loads(path.read_text("utf-8")) for path in games]
    played = {aim["policy"] for one in data for aim in one.get("target_policies", ()) if "policy" in aim}
    assert {*told, *played, "icg-reciprocal"} == set(INITIAL_POLICIES), "the last is in experiments/shapellm_recipes.py"
