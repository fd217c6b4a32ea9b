"""The check of initial policies: who begins far from the target policies of a recipe is warned of."""

import math
import warnings
from types import SimpleNamespace

import pytest
from test_shaping_run import RECIPE

from stratagem.algorithms.kl_sft.target_policies import TargetPolicy
from stratagem.algorithms.shapellm.algorithm import TrialStage
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seats import LIMIT, distant, policy_after_prompts
from stratagem.language.decoding.spelling import Unspellable
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.load import load
from stratagem.learn.monitor import TrainingWarning
from stratagem.measure.labels import LabelReading, divergence
from stratagem.training.runs.folder import RunFolder

COOPERATIVE = TargetPolicy(policy="ipd-cooperative", seat=0)
UNTRAINED = {"epochs": 0}


def begun(tmp_path, **changes):
    """Begin the trials of a recipe whose base was not trained; return the warnings."""
    recipe = ShapeLLMRecipe.read({**RECIPE.model_dump(), "kl_sft": UNTRAINED, **changes})
    stage = TrialStage(recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        stage.begin(0)
        stage.begin(1)
    return [str(one.message) for one in seen if issubclass(one.category, TrainingWarning)]


def test_an_untrained_base_is_warned_of_once(tmp_path):
    (sentence,) = begun(tmp_path)
    assert sentence.startswith("tiny begins at seat 0 with the probabilities 0.")
    assert "of C, and the target policy ipd-cooperative has 0.85, 0.85, 0.85, 0.85, 0.85: " in sentence
    assert sentence.endswith("by experiments/label_scan.py.")


@pytest.mark.parametrize(
    "changes",
    [{"target_policies": []}, {"game": "ipd-shapellm(labels=(A, B), rounds=3)"}],
    ids=["no target", "other labels"],
)
def test_nothing_is_said_where_there_is_no_target_for_these_labels(tmp_path, changes):
    assert begun(tmp_path, **changes) == []


def test_the_limit_is_between_the_examples_that_it_names():
    for target, inside, outside in ((0.25, 0.39, 0.41), (0.75, 0.61, 0.59)):
        near, far = (LabelReading((q,) * 5, (1.0 - q,) * 5) for q in (inside, outside))
        assert divergence((target,) * 5, near) < LIMIT < divergence((target,) * 5, far)


def test_an_engine_that_tells_no_probabilities_is_not_asked():
    mute = SimpleNamespace(capabilities=SimpleNamespace(scores=False))
    assert list(distant(mute, "tiny", [COOPERATIVE])) == []


def test_a_teacher_or_labels_of_several_tokens_are_not_compared(monkeypatch):
    engine = TransformersEngine(load("tiny"))
    teacher = TargetPolicy(teacher="tiny", game="ipd-shapellm", seat=0)
    assert list(distant(engine, "tiny", [teacher])) == []
    assert len(list(distant(engine, "tiny", [COOPERATIVE]))) == 1

    def refuse(*_):
        raise Unspellable("T is two tokens.")

    monkeypatch.setattr("stratagem.algorithms.shapellm.seats.policy_after_prompts", refuse)
    assert list(distant(engine, "tiny", [COOPERATIVE])) == []


def test_null_actions_are_warned_of_where_replies_are_any_token(tmp_path, monkeypatch):
    """The labels have the shares of the target policy, and half of the probability."""
    half = LabelReading((0.85 / 2,) * 5, (0.15 / 2,) * 5)
    monkeypatch.setattr("stratagem.algorithms.shapellm.seats.policy_after_prompts", lambda *_: half)
    (sentence,) = begun(tmp_path / "single")
    assert "tiny begins at seat 0 with a probability of 0.50 of a reply that is neither C nor D" in sentence
    seats = {name: {**seat, "mode": "direct"} for name, seat in RECIPE.model_dump()["seats"].items()}
    assert begun(tmp_path / "direct", seats=seats) == []


def test_null_actions_are_the_mean_over_the_states(monkeypatch):
    """One state without null actions does not make up for the others."""
    legal = (1.0, 0.9, 0.9, 0.9, 0.9)
    reading = LabelReading(tuple(0.85 * some for some in legal), tuple(0.15 * some for some in legal))
    monkeypatch.setattr("stratagem.algorithms.shapellm.seats.policy_after_prompts", lambda *_: reading)
    engine = SimpleNamespace(capabilities=SimpleNamespace(scores=True))
    (sentence,) = distant(engine, "tiny", [COOPERATIVE])
    assert "a probability of 0.08 of a reply that is neither" in sentence


def test_a_policy_after_prompts_is_the_mean_of_each_state(monkeypatch):
    def logprobs(prompts):
        return [(math.log(0.1 * (prompt.state + 1)), math.log(0.05)) for prompt in prompts]

    scorer = SimpleNamespace(of=lambda engine: SimpleNamespace(logprobs=logprobs))
    monkeypatch.setattr("stratagem.algorithms.shapellm.seats.LabelScorer", scorer)
    found = policy_after_prompts(None, COOPERATIVE)
    assert found.first == pytest.approx((0.1, 0.2, 0.3, 0.4, 0.5))
    assert found.second == pytest.approx((0.05,) * 5)


@pytest.mark.parametrize(("legal", "sentences"), [(0.94, 1), (0.96, 0)])
def test_the_limit_of_null_actions_is_a_twentieth(monkeypatch, legal, sentences):
    reading = LabelReading((0.85 * legal,) * 5, (0.15 * legal,) * 5)
    monkeypatch.setattr("stratagem.algorithms.shapellm.seats.policy_after_prompts", lambda *_: reading)
    engine = SimpleNamespace(capabilities=SimpleNamespace(scores=True))
    assert len(list(distant(engine, "tiny", [COOPERATIVE]))) == sentences
