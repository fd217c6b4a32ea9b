"""A real learner under monitor: silent where all is well, and heard where a part of it does not work."""

import math
import warnings
from dataclasses import replace

import pytest
import torch

from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.gradient_signal import measure_signals
from stratagem.learn.head import decoder_of
from stratagem.learn.learner import Learner
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.monitor import CheckFailed, TrainingMonitor, TrainingWarning, run_probes
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.reference import MovingAverage, MovingReference

EXAMPLE = Example(
    tokens=(5, 9, 40, 7, 30), loss_positions=(2, 3, 4), columns={"advantage": (1.0, -1.0, 0.5)}, row={"half": 0.0}
)

LAYERS = ["q_proj", "down_proj"]
"""Layers of adapters; on all of them each would take longer to be made than a step."""


@pytest.fixture
def lm():
    made = load("tiny")
    add_adapter(made, "one", 4, 8, LAYERS, seed=1)
    return made


def learner(lm, *, trained=None, policy=None, adapter="one", rate=1e-3, **options):
    weights = adapter_parameters(lm, "one") if trained is None else trained
    optimizer = Optimizer(weights, OptimizerSettings(learning_rate=rate), 99)
    loss = options.pop("loss", PolicyGradient(kl_estimator="one_sided", kl_coef=0.1))
    return Learner(policy or Policy(lm), loss, optimizer, adapter=adapter, **options)


def told(one, examples=(EXAMPLE,), count=5, measure=False, skip=()):
    """The checks that find something over a few real steps; what is so by design is not among them."""
    monitor = TrainingMonitor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        for _ in range(count):
            if measure:
                monitor.signal_to_noise.add(measure_signals(one, examples))
            monitor.check_steps(one, [one.update_once(examples)], skip=skip)
    assert monitor.findings().pop("inert_clip").level == "note"
    return monitor.findings().keys() - {"inert_clip"}


def test_a_learner_whose_adapter_is_at_work_is_sound(lm):
    assert told(learner(lm)) == set()


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        (PolicyGradient(kl_estimator="one_sided", kl_coef=0.1), {"idle_adapter", "idle_reference"}),
        (PolicyGradient(), {"idle_adapter"}),
    ],
)
def test_an_adapter_that_is_never_applied_is_noticed(lm, loss, found):
    """The base is trained in its stead: the two say the same, whatever is learnt."""
    weights = [weight for name, weight in lm.model.named_parameters() if "lora_" not in name]
    for weight in weights:
        weight.requires_grad_(True)
    assert told(learner(lm, trained=weights, loss=loss)) == found


class MaskedByToken(Policy):
    """A policy with the fault that the probe is there for: what looks like padding is not read."""

    def hidden_states(self, pack, nodes):
        rows = [pack.tokens[branch.start : branch.end] for branch in pack.branches]
        states = []
        for row in rows:
            ids = torch.tensor([row])
            mask = (ids != self.lm.tokenizer.pad_token_id).long()
            states.append(decoder_of(self.lm)(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state[0])
        return torch.cat(states)[list(nodes)]


@pytest.mark.parametrize("kind", ["tiny", "tiny-qwen", "tiny-gemma", "tiny-qwen3.5"])
def test_padding_that_is_masked_by_what_it_is_is_noticed(kind):
    lm = load(kind)
    add_adapter(lm, "one", 4, 8, LAYERS, seed=1)
    assert run_probes(learner(lm), [EXAMPLE])["padding"] < 1e-5
    faulty = learner(lm, policy=MaskedByToken(lm, share=False))
    assert told(faulty, count=1) == {"padding"}


def test_an_average_that_follows_is_sound_and_penalises_divergence(lm):
    one = learner(lm, reference=MovingReference(lm, "one", MovingAverage(0.5)))
    assert told(one) == set()
    report = one.update_once([EXAMPLE])
    assert report.reference_gap > 0.0
    assert report.reference_moved > 0.0


def test_a_reference_that_is_the_policy_itself_is_noticed(lm):
    assert told(learner(lm, reference=MovingReference(lm, "one", MovingAverage(0.0)))) == {"idle_reference"}
    assert told(learner(lm, reference="one")) == {"idle_reference"}


def test_an_average_that_does_not_move_is_noticed(lm):
    assert told(learner(lm, reference=MovingReference(lm, "one", MovingAverage(1.0)))) == {"still_reference"}


def test_a_policy_that_collapses_is_noticed(lm):
    """Rewarded for one token whatever comes, it soon says nothing else."""
    only = Example(tokens=(5, 9, 30), loss_positions=(2,), allowed=((30, 31, 32),), columns={"advantage": (1.0,)})
    one = learner(lm, rate=3e-2, loss=PolicyGradient())
    assert told(one, [only], count=12) == {"collapse"}
    with active(lm, "one"):
        assert one.outputs([only]).logprobs.exp().item() > 0.95


def test_what_is_meant_is_not_told(lm):
    """A policy that imitates a deterministic teacher becomes deterministic by design."""
    only = Example(tokens=(5, 9, 30), loss_positions=(2,), allowed=((30, 31, 32),), columns={"advantage": (1.0,)})
    assert told(learner(lm, rate=3e-2, loss=PolicyGradient()), [only], count=12, skip=("collapse",)) == set()


def test_a_term_that_is_the_same_for_all_is_noticed(lm):
    shared = EXAMPLE.with_columns(**{"term/payoff": (1.0, -1.0, 0.5), "term/exploit": (0.0, 0.0, 0.0)})
    assert "silent_term" in told(learner(lm), [shared], measure=True)


def test_what_the_sampler_said_is_compared_with_what_the_one_pass_found(lm):
    one = learner(lm, rate=1e-2)
    sampled = one.outputs([EXAMPLE]).logprobs
    right = EXAMPLE.with_columns(sampler_logprobs=sampled.tolist())
    wrong = EXAMPLE.with_columns(sampler_logprobs=(sampled - 0.1).tolist())
    assert told(one, [wrong], count=1) == {"mismatch"}
    assert told(learner(lm), [right], count=1) == {"mismatch"}, "the weights have moved"
    again = EXAMPLE.with_columns(sampler_logprobs=one.outputs([EXAMPLE]).logprobs.tolist())
    assert told(one, [again], count=1) == set()


def test_every_step_on_a_batch_is_looked_at_in_its_place(lm):
    """The first of two begins at a ratio of 1, as it must; what is counted of the batch counts once."""
    one, monitor = learner(lm, rate=5e-3), TrainingMonitor(strict=True)
    for _ in range(4):
        known = one.with_old_logprobs([EXAMPLE])
        monitor.check_steps(
            one, [one.update(known), one.update(known)], counts={"advantages": 3, "advantages_clipped": 1}
        )
    assert monitor.findings() == {}
    assert monitor.state()["clipped_advantages"] == [4, 12]
    first = replace(one.update(known), loss=math.nan)
    with pytest.raises(CheckFailed, match="The loss is nan"):
        monitor.check_steps(one, [first, one.update(known)])
