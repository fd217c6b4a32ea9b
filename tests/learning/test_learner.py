"""A step of the learner: one pass for two, examples set aside, dropout, a following reference, and a value head."""

import dataclasses
import random
import re
from pathlib import Path

import pytest
import torch

from stratagem.algorithms.shapellm.language_seat import ValueHead
from stratagem.base.consent.table import allow
from stratagem.base.errors import BadParameter
from stratagem.base.settings import Settings
from stratagem.games.key import Key
from stratagem.language.models.adapters import adapter_names, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.dpo import DPO
from stratagem.learn.losses.kto import KTO
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.losses.ppo import PPO
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.reference import (
    REFERENCE,
    MovingAverage,
    MovingReference,
    ReferenceRule,
    ReferenceSettings,
)
from stratagem.training.runs.checkpoint import latest, save_checkpoint
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.weights import (
    combine_writers,
    restore_heads,
    restore_weights,
    writes_adapters,
    writes_heads,
)

SEPO = PolicyGradient(kl_estimator="one_sided", kl_coef=0.1, normalize_by="divisor")


LAYERS = ("q_proj", "down_proj")


def made(
    kind="tiny", *, loss=SEPO, dropout=0.0, rate=1e-2, head=False, average=None, budget=60, shake=0.05, layers=LAYERS
):
    """A learner whose adapter is some way from the base; one of all layers would take most of the time to be made."""
    lm = load(kind)
    add_adapter(lm, "one", 4, 8, layers, seed=1, dropout=dropout)
    torch.manual_seed(2)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "one"):
            weight += shake * torch.randn_like(weight)
    value_head = ValueHead(lm) if head else None
    weights = [*adapter_parameters(lm, "one"), *(value_head.parameters() if value_head else ())]
    optimizer = Optimizer(weights, OptimizerSettings(learning_rate=rate), 9)
    policy = Policy(lm, max_tokens_per_microbatch=budget)
    reference = average(lm) if average else None
    return Learner(policy, loss, optimizer, adapter="one", reference=reference, value_head=value_head, key=Key(5))


def batch(seed, number=7):
    rng = random.Random(seed)
    examples = []
    for _ in range(number):
        tokens = (5, 9, *(rng.randrange(40, 90) for _ in range(rng.randrange(3, 9))))
        taught = tuple(range(3, len(tokens)))
        columns = {name: tuple(rng.gauss(0.0, 1.0) for _ in taught) for name in ("advantage", "return", "old_value")}
        examples.append(Example(tokens=tokens, loss_positions=taught, columns=columns, row={"divisor": 7.0}))
    return examples


def trained(learner):
    return [weight.detach().clone() for weight in learner.optimizer.weights]


def alike(ones, others):
    return all(torch.equal(one, other) for one, other in zip(ones, others, strict=True))


def sober(report):
    """All that a report says, but for what stands in its examples."""
    return dataclasses.replace(report, examples=())


@pytest.mark.parametrize("loss", [SEPO, PPO(entropy_coef=0.01)])
@pytest.mark.parametrize("kind", ["tiny", "tiny-gemma", "tiny-qwen3.5"])
def test_one_pass_is_two_passes(kind, loss):
    once, twice = (made(kind, loss=loss, head=isinstance(loss, PPO)) for _ in range(2))
    for seed in range(2):
        known = twice.with_old_logprobs(batch(seed))
        ours, theirs = once.update_once(batch(seed)), twice.update(known)
        assert sober(ours) == sober(theirs)
        assert list(ours.examples) == list(theirs.examples) == known
        assert alike(trained(once), trained(twice))
    name = "ratio" if loss is SEPO else "policy/ratio"
    assert (ours.metrics[f"{name}_min"], ours.metrics[f"{name}_max"]) == (1.0, 1.0)


class Boundless(PolicyGradient):
    """A loss that is not finite, with a finite gradient."""

    def __call__(self, outputs, columns, totals):
        found = super().__call__(outputs, columns, totals)
        return dataclasses.replace(found, loss=found.loss + float("inf"))


def test_step_with_an_infinite_loss_and_a_finite_gradient_changes_no_weight():
    learner = made(loss=Boundless())
    before = trained(learner)
    report = learner.update_once(batch(1))
    assert (report.loss, report.grad_norm > 0.0) == (float("inf"), True)
    assert alike(trained(learner), before)


def test_one_pass_reads_each_example_once(monkeypatch):
    learner, passes = made(loss=PolicyGradient()), []
    outputs = learner.policy.outputs
    monkeypatch.setattr(learner.policy, "outputs", lambda pack, *rest: passes.append(pack) or outputs(pack, *rest))
    learner.update_once(batch(1))
    assert sorted(number for pack in passes for number in pack.examples) == list(range(7))


def test_a_second_update_on_a_batch_has_a_ratio_of_its_own():
    learner = made()
    known = learner.with_old_logprobs(batch(1))
    first, second = learner.update(known), learner.update(known)
    assert first.metrics["ratio_max"] == 1.0 < second.metrics["ratio_max"]
    assert list(second.examples) == known


def labelled():
    """A batch of which some examples are set aside, and how each is flagged."""
    flags = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    rows = [{"desirable": float(number % 2), "kl": flag} for number, flag in enumerate(flags)]
    return [dataclasses.replace(one, row=row, columns={}) for one, row in zip(batch(1), rows, strict=True)]


ROOMY, TIGHT = 200, 10
"""Budgets within which all of that batch is read at once, and one example after the other."""
WHOLE = [0.0] * 4 + [1.0] * 3
WHAT_IS_READ = {ROOMY: (WHOLE, WHOLE), TIGHT: ([0.0] * 4, [0.0] * 4 + [1.0] * 6)}
"""With gradient and without: by the reference all; by the policy all together, or what is set aside in advance."""


@pytest.mark.parametrize("budget", [ROOMY, TIGHT])
def test_what_a_loss_must_see_first_is_read_once_where_it_fits(monkeypatch, budget):
    learner = made(loss=KTO(kto_beta=0.3), budget=budget)
    read = {True: [], False: []}
    outputs = learner.policy.outputs

    def noted(pack, examples, *rest, **options):
        read[torch.is_grad_enabled()] += [examples[number].row["kl"] for number in pack.examples]
        return outputs(pack, examples, *rest, **options)

    monkeypatch.setattr(learner.policy, "outputs", noted)
    report = learner.update_once(labelled())
    assert (sorted(read[True]), sorted(read[False])) == WHAT_IS_READ[budget]
    assert report.grad_norm > 0.0
    assert report.num_examples == 7


def test_what_fits_is_learnt_from_as_what_does_not():
    roomy, tight = (made(loss=KTO(kto_beta=0.3), budget=budget, layers=None) for budget in (ROOMY, TIGHT))
    for _ in range(3):
        ours, theirs = roomy.update_once(labelled()), tight.update_once(labelled())
        for name in ("loss", "grad_norm", "entropy", "reference_gap"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-4)
        assert ours.metrics == pytest.approx(theirs.metrics, rel=1e-4, abs=1e-6)
        assert ours.examples == theirs.examples
    assert ours.metrics["kl"] > 0.0, "a divergence that the step depends on"
    for one, other in zip(trained(roomy), trained(tight), strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_dropout_acts_in_the_step_and_resumes_to_the_bit():
    learner, again, other = made(dropout=0.3), made(dropout=0.3), made(dropout=0.3)
    other.key = Key(6)
    plain = made()
    examples = batch(1)
    assert alike([learner.outputs(examples).logprobs], [plain.outputs(examples).logprobs])
    reports = [one.update_once(examples) for one in (learner, again, other, plain)]
    assert sober(reports[0]) == sober(reports[1])
    assert reports[0].loss not in (reports[2].loss, reports[3].loss)
    assert reports[0].metrics["ratio_max"] > 1.0, "what was said before the step knows no dropout"
    assert reports[0].examples[0].columns["old_logprobs"] == reports[3].examples[0].columns["old_logprobs"]
    torch.manual_seed(99)
    resumed = made(dropout=0.3)
    resumed.optimizer.restore(again.optimizer.state())
    with torch.no_grad():
        for weight, now in zip(resumed.optimizer.weights, trained(again), strict=True):
            weight.copy_(now)
    assert sober(resumed.update_once(batch(2))) == sober(learner.update_once(batch(2)))
    assert alike(trained(resumed), trained(learner))


def test_every_step_drops_others():
    learner = made(dropout=0.3, rate=1e-12)
    first, second = (learner.update_once(batch(1)).metrics["ratio_max"] for _ in range(2))
    assert abs(first - second) > 1e-3


def test_a_reference_may_follow_the_policy():
    every = ReferenceSettings(type="ema", ema_decay=0.75, update_every=2)
    learner = made(average=lambda lm: every.make(lm, "one"))
    lm = learner.policy.lm
    assert adapter_names(lm) == ["one", f"one-{REFERENCE}"]
    start = [weight.detach().clone() for weight in adapter_parameters(lm, f"one-{REFERENCE}")]
    assert alike(start, trained(learner))
    first = learner.update_once(batch(1))
    assert (first.reference_gap, first.reference_moved) == (0.0, None)
    assert alike(adapter_parameters(lm, f"one-{REFERENCE}"), start)
    second = learner.update_once(batch(2))
    assert second.reference_gap > 0.0
    assert second.reference_moved > 0.0
    for was, policy, now in zip(start, trained(learner), adapter_parameters(lm, f"one-{REFERENCE}"), strict=True):
        torch.testing.assert_close(now, 0.75 * was + 0.25 * policy)


RENEWED = str(Path(__file__).parents[2] / "examples" / "references.py") + ":Renewed(steps=2)"


def test_a_reference_of_a_file_follows_by_its_own_rule():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "how-to" / "change-the-optimizer.md").read_text("utf-8")
    assert f"```python\n{(root / 'examples' / 'references.py').read_text('utf-8')}```\n" in page
    allow(RENEWED.rpartition(":")[0])
    settings = ReferenceSettings(type=RENEWED)
    learner = made(average=lambda lm: settings.make(lm, "one"))
    moving, start = learner.moving_reference, trained(learner)
    assert learner.update_once(batch(1)).reference_moved is None
    assert alike(adapter_parameters(learner.policy.lm, moving.name), start)
    second = learner.update_once(batch(2))
    assert second.reference_moved > 0.0 < second.reference_gap
    assert alike(adapter_parameters(learner.policy.lm, moving.name), trained(learner))
    third, fourth = learner.update_once(batch(3)), learner.update_once(batch(4))
    assert third.reference_gap is None, "it is a new copy, and no fault"
    assert fourth.reference_gap > 0.0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"type": "emma"}, "there is no reference called 'emma': did you mean ema"),
        ({"type": f"{RENEWED[:-9]}(every=3)"}, "it has no option every; its options are steps"),
        ({"type": RENEWED, "update_every": 3}, "`update_every` is of a moving average"),
        ({"type": RENEWED, "dtype": "bf16"}, "`dtype` and `device` are of a copy of all weights"),
    ],
)
def test_a_mistake_in_a_reference_is_one_sentence(settings, sentence):
    allow(RENEWED.rpartition(":")[0])
    with pytest.raises(BadParameter, match=re.escape(sentence)):
        ReferenceSettings.read(settings)


def test_the_base_is_the_reference_by_default():
    learner = made(average=lambda lm: ReferenceSettings().make(lm, "one"))
    assert learner.reference is None
    examples = batch(1)
    apart = (learner.outputs(examples).logprobs - learner.outputs(examples, adapter=None).logprobs).abs().max().item()
    assert learner.update_once(examples).reference_gap == pytest.approx(apart, abs=1e-5)


def prefers(loss, examples, *, dtype="fp32"):
    """A learner of all weights against a copy of them, and its policy's log-ratios before and after three steps."""
    lm, options = load("tiny"), {"type": "copy", "dtype": dtype, "device": "cpu"}
    lm.model.requires_grad_(True)
    reference = Policy(load("tiny", **ReferenceSettings(**options).options(lm)))
    optimizer = Optimizer(list(lm.model.parameters()), OptimizerSettings(learning_rate=1e-4), 9)
    learner = Learner(Policy(lm), loss, optimizer, adapter=None, reference=reference)
    start = learner.outputs(examples).logprobs
    reports = [learner.update_once(examples) for _ in range(3)]
    after = learner.outputs(examples).logprobs
    assert torch.equal(learner.reference_outputs(examples), start) or dtype != "fp32"
    pieces = torch.split(after - start, [len(one.loss_positions) for one in examples])
    return reports, [piece.sum().item() for piece in pieces]


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_all_weights_move_towards_the_desirable_against_a_copy_that_stays(dtype):
    examples = labelled()
    reports, moved = prefers(KTO(kto_beta=0.3), examples, dtype=dtype)
    rows = [(one.row, change) for one, change in zip(examples, moved, strict=True) if not one.row["kl"]]
    assert all((change > 0.0) == bool(row["desirable"]) for row, change in rows)
    assert (reports[0].reference_gap == 0.0) == (dtype == "fp32")
    assert reports[0].reference_gap < 0.2 * reports[-1].reference_gap


def test_all_weights_move_towards_the_chosen_of_a_pair():
    chosen, rejected = batch(3, 2)
    pair = [
        dataclasses.replace(one, columns={}, row={"chosen": liked}, pair=0)
        for one, liked in ((chosen, 1.0), (rejected, 0.0))
    ]
    reports, (up, down) = prefers(DPO(dpo_beta=0.1), pair)
    assert reports[0].loss == pytest.approx(0.693147, abs=1e-5)
    assert reports[-1].loss < reports[0].loss
    assert up > down


def test_a_value_head_knows_nothing_at_first_and_learns():
    learner = made(loss=PPO(value_coef=1.0, clip_range_value=None), head=True)
    examples = [
        dataclasses.replace(one, columns=one.columns | {"return": (2.0,) * len(one.loss_positions)}) for one in batch(1)
    ]
    assert learner.outputs(examples).values.tolist() == [0.0] * sum(len(one.loss_positions) for one in examples)
    errors = [learner.update_once(examples).metrics["value/squared_error"] for _ in range(5)]
    assert errors[0] == pytest.approx(4.0)
    assert errors[-1] < 0.8 * errors[0]


def test_a_value_head_takes_no_random_numbers():
    lm, before = load("tiny"), torch.random.get_rng_state()
    ValueHead(lm)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("options", "said"), [({"update_every": 0}, "update_every"), ({"ema_decay": 5.0}, "ema_decay")]
)
def test_a_moving_average_refuses_what_it_cannot_follow(options, said):
    with pytest.raises(BadParameter, match=said):
        MovingAverage(**options)


def test_a_decay_outside_its_range_is_refused_when_it_is_used():
    class Doubling(ReferenceRule):
        def decay_after(self, steps_taken):
            return 2.0

    learner = made(average=lambda lm: MovingReference(lm, "one", Doubling()))
    with pytest.raises(BadParameter, match=r"decay from 0 to 1, and its rule gave 2\.0 after step 1"):
        learner.update_once(batch(1))


def test_a_broken_off_run_with_a_value_head_and_a_following_reference_ends_the_same(tmp_path):
    run = RunFolder.create(tmp_path / "run", Settings(), 1, "x")
    options = {
        "loss": PPO(),
        "head": True,
        "dropout": 0.1,
        "average": lambda lm: MovingReference(lm, "one", MovingAverage(0.5)),
    }
    whole, broken = made(**options), made(**options)
    for learner in (whole, broken):
        learner.update_once(batch(1))
    write = combine_writers(writes_adapters(broken.policy.lm), writes_heads({"seat-0": broken.value_head}))
    save_checkpoint(run, 1, {"optimizer": broken.optimizer.state()}, write=write)
    resumed, start = made(**options, shake=0.2), latest(run)
    resumed.optimizer.restore(start.state()["optimizer"])
    restore_weights(resumed.policy.lm, start.folder)
    restore_heads({"seat-0": resumed.value_head}, start.folder)
    for seed in (2, 3):
        assert sober(resumed.update_once(batch(seed))) == sober(whole.update_once(batch(seed)))
    assert alike(trained(resumed), trained(whole))
    assert resumed.value_head.weight.abs().max() > 0.0
    references = [adapter_parameters(one.policy.lm, REFERENCE) for one in (resumed, whole)]
    assert alike(*references)
