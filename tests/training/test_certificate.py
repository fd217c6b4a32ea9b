"""The certificate of engines that answer by a copy of the learner's weights, and the faults that it must find."""

import re
from dataclasses import replace

import pytest
import torch

from stratagem.language.engines.base import Capabilities
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.adapters import adapter_names, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.training.certificate import ENGINE, NotCertified, certificate, certify
from stratagem.training.comparison import WrongReply
from stratagem.training.stage import TrainingSubject

LAYERS = ["q_proj", "down_proj"]
"""Layers of adapters; on all of them adapters would take most of the time to be made."""


def weights_of(lm, name):
    return adapter_parameters(lm, name) if name else list(lm.model.parameters())


class Copying(TransformersEngine):
    """An engine with weights of its own, which it copies from the learner's when they are published."""

    capabilities = Capabilities(masks=True, scores=True, copies=True)

    def __init__(self, learner):
        super().__init__(load("tiny"))
        self.learner = learner
        self.num_published = 0

    def publish(self, adapter, version):
        self.num_published += 1
        if adapter and adapter not in adapter_names(self.lm):
            add_adapter(self.lm, adapter, rank=4, alpha=8, targets=LAYERS)
        self.copy(adapter)
        super().publish(adapter, version)

    def copy(self, name):
        with torch.no_grad():
            for own, theirs in zip(weights_of(self.lm, name), weights_of(self.learner, name), strict=True):
                own.copy_(theirs)


class ServesTheBase(Copying):
    """An adapter that matches no module: its weights stay those of the base."""

    def copy(self, name):
        if not name:
            super().copy(name)


class ReadsTheBaseUnderAnAdapter(Copying):
    """Rows of the base in a mixed batch run under the last adapter."""

    def mixed(self, requests):
        names = [request.adapter for request in requests if request.adapter]
        return [replace(request, adapter=request.adapter or names[-1]) if names else request for request in requests]

    def submit(self, requests):
        return super().submit(self.mixed(requests))

    def score(self, requests):
        return super().score(self.mixed(requests))


class KeepsItsCache(Copying):
    """New weights are there, and the cache of the old ones is used."""

    def publish(self, adapter, version):
        forget, self.reader.forget = self.reader.forget, lambda name: None
        try:
            super().publish(adapter, version)
        finally:
            self.reader.forget = forget


class KeepsTheFirstWeights(Copying):
    """Weights that are published again are not read."""

    def copy(self, name):
        if self.num_published < 2:
            super().copy(name)


class OtherTokenizer(Copying):
    """A conversation has other tokens."""

    def begin(self, messages):
        prompt = super().begin(messages)
        return prompt._replace(tokens=(*prompt.tokens, 5))


class OtherModel(Copying):
    """The same tokens mean something else: two rows of the embedding are exchanged."""

    def copy(self, name):
        super().copy(name)
        with torch.no_grad():
            embedding = self.lm.model.get_input_embeddings().weight
            embedding[[5, 16]] = embedding[[16, 5]]


class IgnoresTemperature(Copying):
    """Log-probabilities are those before the temperature."""

    def score(self, requests):
        return super().score(
            [replace(request, sampling=replace(request.sampling, temperature=1.0)) for request in requests]
        )


class DrawsFromOtherSets(Copying):
    """Drawn tokens come with log-probabilities of another distribution."""

    def poll(self, tickets, *, wait=True):
        return [(ticket, self.changed(call)) for ticket, call in super().poll(tickets, wait=wait)]

    def changed(self, call):
        return replace(call, sampler_logprobs=tuple(2.0 * value for value in call.sampler_logprobs))


class Mute(Copying):
    """No request is answered."""

    def poll(self, tickets, *, wait=True):
        return []


@pytest.fixture
def learner():
    return load("tiny")


def subjects(kind, learner, names):
    """Subjects of an engine; the learner's adapters are new and change nothing yet."""
    for name in names:
        if name:
            add_adapter(learner, name, rank=4, alpha=8, targets=LAYERS)
    engine = kind(learner)
    for name in names:
        engine.publish(name, 0)
    engine.num_published = 0
    return [TrainingSubject(engine, learner, name, lambda name=name: engine.publish(name, 7)) for name in names]


@pytest.mark.parametrize("names", [("",), ("one",), ("one", "two")], ids=str)
def test_certificate_of_an_exact_copy_says_what_was_compared_and_restores_weights(learner, names):
    some = subjects(Copying, learner, names)
    before = [weight.clone() for subject in some for weight in subject.weights]
    state = torch.get_rng_state()
    sentence = certificate(some)
    nats = float(re.search("by at most ([0-9.e-]+) nats", sentence)[1])
    assert nats < 1e-4
    assert "limit 0.001" in sentence
    for name in names:
        assert f"the adapter {name} alone" in sentence if name else "the base alone" in sentence
    assert all(torch.equal(a, b) for a, b in zip(before, (w for s in some for w in s.weights), strict=True))
    assert torch.equal(state, torch.get_rng_state())
    engine = some[0].engine
    for name in names:
        assert engine.policy_id(name).version == 7
        for own, theirs in zip(weights_of(engine.lm, name), weights_of(learner, name), strict=True):
            assert torch.equal(own, theirs)


@pytest.mark.parametrize(
    ("kind", "names", "error", "sentence"),
    [
        (ServesTheBase, ("one", "two"), NotCertified, "in the adapter one alone, .* of the adapter one differ by"),
        (ReadsTheBaseUnderAnAdapter, ("one",), NotCertified, "in a batch of the base and all adapters, .* of the base"),
        (KeepsItsCache, ("",), NotCertified, "of the base differ by"),
        (KeepsItsCache, ("one",), NotCertified, "of the adapter one differ by"),
        (KeepsTheFirstWeights, ("one",), NotCertified, "in a batch after a change of weights, .* of the adapter one"),
        (OtherTokenizer, ("one",), WrongReply, "another tokenizer than the learner's tiny"),
        (OtherModel, ("",), NotCertified, "in the base alone"),
        (IgnoresTemperature, ("one",), NotCertified, "in the base alone"),
        (DrawsFromOtherSets, ("one",), NotCertified, "in the base alone"),
        (Mute, ("one",), WrongReply, "left 1 requests without an answer"),
    ],
)
def test_certificate_refuses_a_faulty_engine(learner, kind, names, error, sentence):
    with pytest.raises(error, match=sentence):
        certificate(subjects(kind, learner, names))


def test_certify_compares_an_engine_once(learner):
    some = subjects(Copying, learner, ("one",))
    certify(some)
    published = some[0].engine.num_published
    assert learner.reading[ENGINE].startswith("certified: ")
    certify(some)
    assert some[0].engine.num_published == published == 2


def test_certify_leaves_engines_with_the_learners_own_weights(learner):
    add_adapter(learner, "one", rank=4, alpha=8, targets=LAYERS)
    certify([TrainingSubject(TransformersEngine(learner), learner, "one", lambda: None)])
    assert ENGINE not in learner.reading
