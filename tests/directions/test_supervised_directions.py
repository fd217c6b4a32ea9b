"""One step of supervised stages: imitation of a teacher, target policies, and the base of a run."""

import pytest
from two_actions import DILEMMA, OPTIMIZER, defects

from stages import take_steps
from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe, kl_sft
from stratagem.algorithms.kl_sft.target_policies import measured_policy
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.games.catalogue import make_game
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.load import load
from stratagem.training.artifacts import Artifacts
from stratagem.training.online import decoding_settings
from stratagem.training.policy import model_player
from stratagem.training.runs.folder import RunFolder
from stratagem.training.supervised import sft

pytestmark = pytest.mark.runs

ADAPTERS = {"all weights": {}, "an adapter": {"adapter": {"rank": 4}}}
ONE_STEP = {"epochs": 1, "optimizer": OPTIMIZER}


@pytest.mark.parametrize("how", ADAPTERS)
@pytest.mark.parametrize(("teacher", "sign"), [("AlwaysDefect", 1.0), ("AlwaysCooperate", -1.0)])
def test_sft_raises_the_probability_of_the_teachers_action(tmp_path, teacher, sign, how):
    warm = {"teacher": teacher, "num_examples": 4, "batch_size": 4, **ONE_STEP, **ADAPTERS[how]}
    recipe = SEPORecipe.read({"games": [DILEMMA], "sft": warm})
    run = RunFolder.create(tmp_path / "run", recipe, 0, "a test")
    game = make_game(DILEMMA)
    take_steps(sft(recipe, run, [game]))
    models = ("tiny", f"dir:{run.path}/base/model")
    before, after = (
        defects(model_player(decoding_settings(recipe), TransformersEngine(load(model))), game) for model in models
    )
    assert sign * (after - before) > 1e-4


@pytest.mark.parametrize("how", ADAPTERS)
def test_kl_sft_goes_towards_the_table(how, tmp_path):
    """In every state: the table of the paper's first opponent likes the first label, that of its third the second."""
    for policy in ("ipd-75", "ipd-25"):
        recipe = KLSFTRecipe.read(
            {
                "target_policies": [{"policy": policy}],
                "kl_sft": {"num_examples": 5, "batch_size": 5, **ONE_STEP, **ADAPTERS[how]},
            }
        )
        stage, aim = kl_sft(recipe, Artifacts(RunFolder(tmp_path / policy), recipe.model)), recipe.target_policies[0]
        before = measured_policy(stage.policy.engine, aim)
        take_steps(stage)
        after = measured_policy(TransformersEngine(stage.policy.lm), aim)
        assert distance(aim, after) < distance(aim, before)
        assert min(new - old for new, old in zip(after.legal, before.legal, strict=True)) > 0.0


def distance(aim, reading):
    """Compute the mean distance of the first label's probability from the table's."""
    return sum(abs(p - q) for p, q in zip(aim.table.first, reading.share, strict=True)) / 5
