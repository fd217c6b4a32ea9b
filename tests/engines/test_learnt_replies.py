"""Replies under top-k and top-p are trained on over the kept sets that came with them, and refused without."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from numbered import FREE, Steps, asked
from plainly import all_logits, shares

from stratagem.base.errors import BadRecord
from stratagem.games.json_form import json_form
from stratagem.games.open_text import OpenText
from stratagem.language.decoding.pattern import PatternLine
from stratagem.language.engines.base import Call, PolicyId, Prompt, Sampling, Span
from stratagem.language.engines.kept_set import KeptSet
from stratagem.language.engines.open import open_engine
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import example_from_call
from stratagem.learn.learner import Learner
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy

CUT = (
    Sampling(1.3, top_k=20),
    Sampling(1.0, top_p=0.9),
    Sampling(0.8, 40, 0.95),
    Sampling(1.0, top_k=1),
    Sampling(1.2, min_p=0.05),
)
SET = (5, 9, 600, 601, 1400)


def replies(engine, sampling, number=6):
    """Replies of free tokens, of forced ones, and of a token from a set."""
    return [
        engine.answer([asked(engine, n, guide=Steps([FREE, FREE, [7, 8], frozenset(SET)]), sampling=sampling)])[0]
        for n in range(number)
    ]


@pytest.fixture(scope="module")
def learner():
    """A policy of an adapter that is the base at first."""
    lm = load("tiny")
    add_adapter(lm, "one", 4, 8.0, seed=1)
    optimizer = Optimizer(adapter_parameters(lm, "one"), OptimizerSettings(learning_rate=1e-3), 9)
    return Learner(Policy(lm), PolicyGradient(), optimizer, adapter="one")


@pytest.mark.parametrize("sampling", CUT)
def test_the_kept_set_is_the_support_of_the_sampling_distribution(small, sampling):
    for call in replies(small, sampling, 2):
        logits = all_logits(small.lm, (*call.prompt.tokens, *call.tokens))[len(call.prompt.tokens) - 1 :].numpy()
        assert call.allowed[2:4] == (None, None)
        for index, guided in ((0, None), (1, None), (4, SET)):
            chances = shares(logits[index], sampling, guided)
            assert call.allowed[index] == KeptSet.of(np.flatnonzero(chances), len(chances))


def test_the_ratio_of_trainer_to_sampler_is_1_over_the_kept_sets(learner):
    """Without the sets the same examples are off by the mass that was cut: the mistake that they guard against."""
    engine = open_engine(learner.policy.lm)
    examples = [example_from_call(call) for sampling in CUT for call in replies(engine, sampling)]
    sampled = torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]])
    over_sets = learner.outputs(examples).logprobs
    over_all = learner.outputs([replace(one, allowed=()) for one in examples]).logprobs
    assert ((over_sets - sampled).exp() - 1.0).abs().max() < 1e-5
    assert ((over_all - sampled).exp() - 1.0).abs().mean() > 0.1


def test_the_gradient_is_that_of_the_masked_softmax_by_hand(learner):
    """Plain torch: the whole forward pass, minus infinity outside the set, log-softmax, autograd."""
    lm, sampling = learner.policy.lm, Sampling(0.7, 30, 0.9)
    (call,) = replies(open_engine(lm), sampling, 1)
    (example,) = [example_from_call(call, advantage=1.0)]
    weights = learner.optimizer.weights
    with learner.adapter_active():
        (pack,) = learner.policy.packs([example])
        ours = learner.policy.outputs(pack, [example]).logprobs
        logits = lm.model(input_ids=torch.tensor([example.tokens])).logits[0] / sampling.temperature
        rows = []
        for position, kept in zip(example.loss_positions, example.allowed, strict=True):
            mask = torch.full_like(logits[0], float("-inf"))
            mask[list(kept)] = 0.0
            rows.append(torch.log_softmax(logits[position - 1] + mask, -1)[example.tokens[position]])
        plain = torch.stack(rows)
        given = torch.linspace(-1.0, 1.0, len(rows))
        found, expected = (torch.autograd.grad((one * given).sum(), weights) for one in (ours, plain))
    assert torch.allclose(ours, plain, atol=1e-5)
    assert max(grad.abs().max() for grad in expected) > 1e-3
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_tokens_of_almost_no_probability_are_trained_on_within_their_set(learner):
    logits = all_logits(learner.policy.lm, (5, 9, 70))[-1]
    few = sorted(logits.argsort()[:2].tolist())
    call = one_token(few[0], KeptSet.of(few, len(logits)))
    expected = torch.log_softmax(logits[few] / CUT[0].temperature, -1)[0].item()
    assert learner.outputs([example_from_call(call)]).logprobs.item() == pytest.approx(expected, abs=1e-5)


def one_token(token, allowed, sampling=CUT[0], kind="sampled"):
    """A reply of one token."""
    return Call(
        policy=PolicyId("tiny"),
        prompt=Prompt((), (5, 9, 70)),
        text="?",
        tokens=(token,),
        spans=(Span(kind, 0, 1),),
        sampler_logprobs=(-0.7,),
        allowed=(allowed,),
        sampling=sampling,
    )


@pytest.mark.parametrize("sampling", CUT[:2])
def test_replies_without_their_kept_sets_are_refused(sampling):
    """An older record has the guide's set or none, and a server tells a text alone."""
    for call in (one_token(4, None, sampling), one_token(4, (3, 4), sampling)):
        assert example_from_call(replace(call, sampling=Sampling(0.7))).temperature == 0.7
        with pytest.raises(BadRecord, match="tiny was drawn with top_k, top_p or min_p, and the sets of tokens"):
            example_from_call(call)
    told = Call(policy=PolicyId("api:x"), prompt=Prompt(()), text="?", sampling=sampling)
    with pytest.raises(BadRecord, match="api:x was drawn with top_k, top_p or min_p"):
        example_from_call(told)


@pytest.mark.parametrize("allowed", [KeptSet.of((3, 5, 900), 1583), (3, 5)])
def test_a_token_outside_its_set_is_an_error_of_the_engine(allowed):
    sampling = CUT[0] if isinstance(allowed, KeptSet) else Sampling()
    assert example_from_call(one_token(5, allowed, sampling)).allowed == (allowed,)
    with pytest.raises(BadRecord, match="token 4 at index 0, which is outside the set"):
        example_from_call(one_token(4, allowed, sampling))


def test_the_most_likely_token_needs_no_set():
    assert example_from_call(one_token(4, None, Sampling(0.0, 3, 0.5), "argmax")).loss_positions == ()


def test_of_a_constrained_message_only_the_free_tokens_are_trained_on(learner):
    """Fixed texts of a schema are forced; fields and the characters of a string are drawn from recorded sets."""
    engine = open_engine(learner.policy.lm)
    schema = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "string", "maxLength": 30}}}
    line = PatternLine(OpenText(("SILENT",), 0, (), (json_form(schema),)), engine.vocabulary)
    calls = [engine.answer([asked(engine, n, guide=line.start(), sampling=Sampling())])[0] for n in range(3)]
    examples = [example_from_call(call) for call in calls]
    forced = [call.tokens[i] for call in calls for s in call.spans if s.kind == "forced" for i in range(s.start, s.end)]
    assert '"a":' in engine.vocabulary.decode(forced)
    for call, example in zip(calls, examples, strict=True):
        trained = [place - len(call.prompt.tokens) for place in example.loss_positions]
        assert all(any(s.kind == "sampled" and s.start <= i < s.end for s in call.spans) for i in trained)
    assert any(isinstance(some, KeptSet) for one in examples for some in one.allowed)
    sampled = torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]])
    assert ((learner.outputs(examples).logprobs - sampled).exp() - 1.0).abs().max() < 1e-5
