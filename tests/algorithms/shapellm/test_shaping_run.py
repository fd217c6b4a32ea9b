"""Whole runs: two models that learn by different clocks, broken off within a trial, and bit-identical when resumed."""

import json

import pytest
import torch

from stratagem.algorithms.shapellm import algorithm as trial_module
from stratagem.algorithms.shapellm.algorithm import OUTCOME, ShapeLLMAlgorithm, bases_of
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.open import engine_for
from stratagem.language.models.run_models import read_run_models
from stratagem.players.language import language_player
from stratagem.playing.store import shards
from stratagem.training.loop import FINDINGS
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

ENTROPY = {"start": 0.1, "end": 0.0, "steps": 3}
RECIPE = ShapeLLMRecipe.read(
    {
        "game": "ipd-shapellm(labels=(C, D), rounds=3)",
        "trials": 4,
        "environments": 2,
        "episodes": 2,
        "checkpoint_every": 2,
        "record_every": 3,
        "final_evaluation": {"episodes": 3, "rounds": [2, 4]},
        "target_policies": [{"policy": "ipd-cooperative", "seat": 0}],
        "kl_sft": {"num_examples": 10, "epochs": 40, "batch_size": 10},
        "seats": {
            "shaper": {
                "learner": "shaper",
                "optimizer": {"learning_rate": 1e-3, "max_grad_norm": float("inf")},
                "ppo": {"entropy_coef": ENTROPY, "batches": {"batch_size": 6, "mini_batch_size": 3}},
            },
            "naive": {"learner": "naive", "optimizer": {"learning_rate": 1e-3, "max_grad_norm": float("inf")}},
        },
    }
)


SFT = RECIPE.sft_steps
TRIALS = [SFT + trial for trial in (1, 2, 3, 4)]
"""Global steps of the trials, which follow KL-SFT."""


class Broken(Exception):
    """Somebody pulled the plug."""


def begun(path, recipe=RECIPE):
    return RunFolder.create(path, recipe, recipe.seed, "a test")


def curves(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that never stopped."""
    run = begun(tmp_path_factory.mktemp("whole") / "run")
    ShapeLLMAlgorithm(RECIPE, run).train()
    return run


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """One that was broken off in the second episode of a trial after its checkpoint, and again before any."""
    run = begun(tmp_path_factory.mktemp("resumed") / "run")
    real = trial_module.play_setups
    for breaks_at in (2, 6):
        calls = iter(range(100))

        def broken(setups, calls=calls, breaks_at=breaks_at):
            if next(calls) == breaks_at:
                raise Broken
            return real(setups)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trial_module, "play_setups", broken)
            trainer = ShapeLLMAlgorithm(RECIPE, run)
            with pytest.raises(Broken):
                trainer.train()
    assert latest(run).step == SFT + 2
    ShapeLLMAlgorithm(RECIPE, run).train()
    return run


def test_unknown_adapter_target_of_a_seat_is_refused_before_kl_sft(tmp_path):
    data = RECIPE.model_dump()
    data["seats"]["naive"]["adapter"]["targets"] = ("proj",)
    recipe = ShapeLLMRecipe.read(data)
    with pytest.raises(UnknownName, match="'proj': did you mean v_proj"):
        ShapeLLMAlgorithm(recipe, begun(tmp_path / "run", recipe)).stages()[0]()


def test_every_trial_has_metrics(whole):
    found = curves(whole)
    for name in (
        "shaper/payoff",
        "naive/payoff",
        "shaper/null",
        "visited/C-D",
        "shaper/kl",
        "naive/entropy",
        "naive/score",
    ):
        assert found[name][0] == TRIALS
    assert found["naive/first/start"][0] == [SFT, *TRIALS]
    assert found["shaper/first/start"][0] == TRIALS, "told of counts, it is measured where it played"
    assert sum(found[f"visited/{name}"][1][0] for name in ("C-C", "C-D", "D-C", "D-D", "null")) == pytest.approx(1.0)


def test_both_seats_are_updated_at_their_intervals(whole):
    """Twelve transitions a trial are two batches of two steps for the shaper, and two of one step for the other."""
    state = latest(whole).state()["stage"]["seats"]
    silent = sum(curves(whole)["shaper/null"][1]) + sum(curves(whole)["naive/null"][1])
    assert silent < 1.0, "the start is legal enough for this count"
    assert state["shaper"]["proximal"]["learnt"] == 4
    assert state["naive"]["proximal"]["learnt"] == 8
    assert state["naive"]["policy"]["optimizer"]["taken"] == 8
    assert 12 <= state["shaper"]["policy"]["optimizer"]["taken"] <= 16
    first = curves(whole)["naive/first/start"][1]
    assert first[0] != first[-1]


def test_trials_start_from_the_target_policies(whole):
    begun_with = [values[0] for name, (_, values) in curves(whole).items() if name.startswith("naive/first")]
    assert all(share > 0.6 for share in begun_with)


def test_run_resumed_within_a_trial_equals_an_uninterrupted_one(whole, resumed):
    assert curves(resumed) == curves(whole)
    one, other = latest(whole).state()["stage"], latest(resumed).state()["stage"]
    for seat in ("shaper", "naive"):
        pairs = zip(
            one["seats"][seat]["policy"]["optimizer"]["adam"]["state"].values(),
            other["seats"][seat]["policy"]["optimizer"]["adam"]["state"].values(),
            strict=True,
        )
        for first, second in pairs:
            assert torch.equal(first["exp_avg"], second["exp_avg"])
    assert (resumed.path / OUTCOME).read_text() == (whole.path / OUTCOME).read_text()


def test_every_third_trial_the_first_and_the_last_are_recorded(whole, resumed):
    first, _, third, last = TRIALS
    assert [step + 1 for step in shards(whole.record)] == [first, third, last]  # a shard has its step counted from 0
    assert set(shards(resumed.record)) == set(shards(whole.record))


def test_final_evaluation_has_a_row_for_each_length(whole):
    told = json.loads((whole.path / OUTCOME).read_text())
    assert told["seats"] == ["shaper", "naive"]
    assert [(row["rounds"], row["games"]) for row in told["rows"]] == [(2, 3), (4, 3)]
    assert all(0.0 <= row["figures"]["shaper/payoff"] <= 4.0 for row in told["rows"])


def test_monitor_checks_every_seat(whole):
    found = json.loads((whole.path / FINDINGS).read_text())
    assert not [name for name, one in found.items() if one["level"] == "fault" and "idle" in name]


def test_models_of_all_seats_can_play(whole):
    models = read_run_models(whole.path).models
    steps = [f"{step}/{seat}" for step in (SFT + 2, SFT + 4) for seat in ("shaper", "naive")]
    assert set(models) == {
        *steps,
        *(f"{stage}/{seat}" for stage in ("base", "start", "last") for seat in ("shaper", "naive")),
    }
    game = make_game("ipd-shapellm(labels=(C, D), rounds=3)")
    player = language_player(f"run:{whole.path}@last/naive")
    assert (player.mode, player.style) == ("single", "shapellm-state")
    assert language_player(f"run:{whole.path}@last/shaper").style == "shapellm-occurrence"
    said = player.policy(game.start(Key(0)).view(1))["C"]
    assert said == pytest.approx(curves(whole)["naive/first/start"][1][-1], abs=1e-5)
    assert engine_for(f"run:{whole.path}@last/naive").adapter


@pytest.mark.long
def test_seats_on_two_bases_train_and_resume(tmp_path, whole):
    """A shaper on tiny against a naive learner on tiny-qwen; then who was learnt stands still against a table."""
    seats = {
        "shaper": {"learner": "shaper", "mode": "direct"},
        "naive": {"learner": "naive", "mode": "direct", "model": "tiny-qwen"},
    }
    changes = {"trials": 2, "checkpoint_every": 1, "record_every": 1, "target_policies": [], "seats": seats}
    recipe = ShapeLLMRecipe.read({**RECIPE.model_dump(), **changes, "final_evaluation": {"episodes": 2}})
    run = begun(tmp_path / "two", recipe)

    def plug(step, steps, seen):
        if step == 1:
            raise Broken

    with pytest.raises(Broken):
        ShapeLLMAlgorithm(recipe, run).train(plug)
    ShapeLLMAlgorithm(recipe, run).train()
    other = begun(tmp_path / "again", recipe)
    ShapeLLMAlgorithm(recipe, other).train()
    assert curves(run) == curves(other)
    models = read_run_models(run.path).models
    assert (models["start/shaper"].model, models["start/naive"].model) == ("tiny", "tiny-qwen")

    frozen = {"learner": "frozen", "model": f"run:{whole.path}@last/shaper", "style": "shapellm-occurrence"}
    seats = {"still": {**frozen, "memory": "trial"}, "table": {"learner": "tabular"}}
    recipe = ShapeLLMRecipe.read(
        {**RECIPE.model_dump(), **changes, "trials": 1, "seats": seats, "final_evaluation": {"episodes": 2}}
    )
    last = begun(tmp_path / "still", recipe)
    ShapeLLMAlgorithm(recipe, last).train()
    assert curves(last)["table/payoff"][0] == [1]
    assert list(json.loads((last.path / OUTCOME).read_text())["interest"]) == ["table"]


def test_model_with_an_adapter_is_rejected_as_a_base(tmp_path, whole):
    """Neither of who learns nor of who stands still on the recipe's own: what it learnt would be left out."""
    learnt = f"run:{whole.path}@last/naive"
    table = {"learner": "tabular"}
    on_it = {"seats": {"naive": {"learner": "naive", "model": learnt}, "table": table}}
    for changes in (on_it, {"model": learnt, "seats": {"still": {"learner": "frozen"}, "table": table}}):
        recipe = ShapeLLMRecipe.read({**RECIPE.model_dump(), "target_policies": [], **changes})
        with pytest.raises(BadParameter, match=r"is a model with an adapter, .*: name such a base, as run:PATH@start"):
            ShapeLLMAlgorithm(recipe, RunFolder(tmp_path / "run"))


def test_frozen_seat_with_its_own_model_has_no_kl_sft(tmp_path):
    """Both name tiny; only the learner begins with the policy that the start trains."""
    seats = {"naive": {"learner": "naive"}, "still": {"learner": "frozen", "model": "tiny"}}
    changes = {"trials": 1, "episodes": 1, "seats": seats, "final_evaluation": {"episodes": 1}}
    recipe = ShapeLLMRecipe.read({**RECIPE.model_dump(), **changes})
    run = begun(tmp_path / "run", recipe)
    ShapeLLMAlgorithm(recipe, run).train()
    said = language_player("tiny", mode="single", style="shapellm-state").policy(
        make_game(recipe.game).start(Key(0)).view(1)
    )
    assert curves(run)["still/first/start"][1][0] == pytest.approx(said["C"])
    assert curves(run)["naive/first/start"][1][0] > 0.6


def test_start_model_is_saved_after_kl_sft(tmp_path):
    seats = {"naive": {"learner": "naive"}, "table": {"learner": "tabular"}}
    changes = {
        "model": "tiny+dtype=bf16",
        "trials": 1,
        "episodes": 1,
        "seats": seats,
        "final_evaluation": {"episodes": 1},
    }
    recipe = ShapeLLMRecipe.read({**RECIPE.model_dump(), **changes, "kl_sft": {"num_examples": 5, "epochs": 1}})
    run = begun(tmp_path / "run", recipe)
    trainer = ShapeLLMAlgorithm(recipe, run)
    trainer.train()
    assert [base.lm.dtype for base in bases_of(recipe, run).values()] == ["bf16"]
    assert {model.model for model in read_run_models(run.path).models.values()} == {
        "tiny+dtype=bf16",
        "dir:base/0/model+dtype=bf16",
    }
