"""Conformance of every loss: microbatches add up, values stay finite, and it reads the columns that it declares."""

import math
import random

import pytest
import torch
from loss_batches import EXTRAS, batch, cut, leaves, part

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.learn.losses.base import Columns, Outputs, combine_outputs
from stratagem.learn.losses.catalogue import LOSSES, read_loss
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.losses.kl_targets import KLTargets
from stratagem.learn.losses.kto import KTO
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.losses.total import LossTerm, Sum

MORE = {
    "weighted": CrossEntropy(weighted=True),
    "weighted, per example": CrossEntropy(weighted=True, normalize_by="example"),
    "per divisor": KLTargets(normalize_by="divisor"),
    "everything": PolicyGradient(kl_estimator="k2", kl_coef=0.3, entropy_coef=0.1, normalize_by="example"),
    "k1": PolicyGradient(kl_estimator="k1", kl_coef=0.3, normalize_by="divisor", entropy_coef=0.2),
    "joint": Sum((LossTerm("bc", 0.5, CrossEntropy(weighted=True)), LossTerm("kto", 1.0, KTO()))),
    "unclipped value": read_loss("value(clip_range=None, normalize_by=example)").value,
    "clipped spag": read_loss("spag(clip_range=0.2, ratio=token)").value,
    "smooth dpo": read_loss("dpo(label_smoothing=0.1)").value,
}
ALL = {**{name: make() for name, make in LOSSES.items()}, **MORE}
every_loss = pytest.mark.parametrize("loss", ALL.values(), ids=ALL)


def prepared(loss, outputs, columns):
    return loss.prepare(columns, outputs if loss.needs_outputs else None)


def whole(loss, outputs, columns):
    """The output of a batch in one piece, and the gradients of what learns."""
    own, learning = leaves(outputs)
    output = loss(own, columns, prepared(loss, outputs, columns))
    return output, torch.autograd.grad(output.loss, learning, allow_unused=True)


def close(one, other):
    return all(
        (a is None and b is None) or torch.allclose(a, b, rtol=0, atol=1e-6) for a, b in zip(one, other, strict=True)
    )


@every_loss
@pytest.mark.parametrize("seed", range(5))
def test_pieces_add_up_to_the_whole(loss, seed):
    outputs, columns = batch(loss, seed)
    expected, gradients = whole(loss, outputs, columns)
    own, learning = leaves(outputs)
    totals = prepared(loss, outputs, columns)
    cuts = cut(random.Random(seed), columns)
    pieces = [loss(*part(own, columns, examples), totals) for examples in cuts]
    found = torch.autograd.grad(sum(piece.loss for piece in pieces), learning, allow_unused=True)
    assert len(pieces) > 1
    assert close(found, gradients)
    assert any(gradient is not None and gradient.abs().max() > 1e-3 for gradient in gradients)
    together = combine_outputs(pieces)
    assert together.loss.item() == pytest.approx(expected.loss.item(), abs=1e-9)
    assert together.means() == pytest.approx(expected.means(), rel=1e-4, abs=1e-5)
    assert together.ranges == expected.ranges


@every_loss
def test_a_loss_runs_on_what_it_declares_and_on_nothing_less(loss):
    outputs, columns = batch(loss, 1)
    whole(loss, outputs, columns)
    for name in loss.extras:
        less = Outputs(**{n: getattr(outputs, n) for n in ("policy_logprobs", *EXTRAS) if n != name})
        with pytest.raises(KeyError, match=name):
            whole(loss, less, columns)
    for kind in ("tokens", "rows"):
        for name in getattr(columns, kind):
            kept = {n: column for n, column in getattr(columns, kind).items() if n != name}
            less = Columns(**{**vars(columns), kind: kept})
            with pytest.raises(KeyError, match=name):
                whole(loss, outputs, less)


@every_loss
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("far", [30.0, 1000.0])
def test_extreme_ratios_leave_loss_and_gradients_finite(loss, sign, far):
    outputs, columns = batch(loss, 2)
    said = outputs.policy_logprobs.float() - (far if sign < 0 else 0.0)
    shifted = {name: getattr(outputs, name) for name in EXTRAS}
    if shifted["reference_logprobs"] is not None:
        shifted["reference_logprobs"] = said - sign * far
    if "old_logprobs" in columns.tokens:
        columns.tokens["old_logprobs"][:] = said - sign * far
    output, gradients = whole(loss, Outputs(policy_logprobs=said, **shifted), columns)
    assert math.isfinite(output.loss.item())
    assert all(gradient is None or gradient.isfinite().all() for gradient in gradients)
    assert all(math.isfinite(mean) for mean in output.means().values())
    assert all(math.isfinite(end) for ends in output.ranges.values() for end in ends)


@every_loss
def test_an_example_without_taught_tokens_changes_nothing_but_the_count(loss):
    outputs, columns = batch(loss, 3)
    first = columns.example > 1
    outputs = Outputs(**{n: v[first] for n in ("policy_logprobs", *EXTRAS) if (v := getattr(outputs, n)) is not None})
    tokens = {name: column[first] for name, column in columns.tokens.items()}
    columns = Columns(**{**vars(columns), "example": columns.example[first], "tokens": tokens})
    output, gradients = whole(loss, outputs, columns)
    assert math.isfinite(output.loss.item())
    assert all(gradient is None or gradient.isfinite().all() for gradient in gradients)


@every_loss
def test_what_is_looked_at_carries_no_gradient_and_the_reference_none(loss):
    outputs, columns = batch(loss, 4)
    own, _ = leaves(outputs)
    if own.reference_logprobs is not None:
        own.reference_logprobs.requires_grad_(False)
    output = loss(own, columns, prepared(loss, outputs, columns))
    assert output.loss.requires_grad
    assert all(type(number) is float for pair in output.metrics.values() for number in pair)


def test_names_are_those_of_the_files():
    files = {"cross_entropy", "kl_targets", "policy_gradient", "value", "ppo", "kto", "dpo", "spag"}
    assert files < set(read_loss.registry.names())
    assert {type(read_loss(name).value).__module__.rpartition(".")[2] for name in files} == files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sepoo", "did you mean sepo"),
        ("grpo(kl_coef=-1)", "`kl_coef` must be a number of at least 0"),
        ("policy_gradient(kl_coef=0.1)", "needs a `kl_estimator`"),
        ("policy_gradient(kl_estimator=k4)", "'k4'"),
        ("cross_entropy(normalize_by=word)", "token"),
        ("dpo(label_smoothing=0.6)", "from 0 to 0.5"),
        ("ppo(clip_range=2)", "`clip_range` must be a number from 0 to 1"),
        ("ppo(normalize_by=word)", "token"),
        ("spag(ratio=word)", "reply"),
        ("value(clip_range=-1)", "at least 0"),
        ("kto(betta=1)", "its options are kto_beta"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(text, said):
    with pytest.raises(StratagemError, match=said) as refused:
        read_loss(text)
    assert str(refused.value).endswith((".", "?"))


def test_kto_without_mismatched_replies_and_dpo_without_whole_pairs_are_refused():
    outputs, columns = batch(ALL["kto"], 0)
    columns.rows["kl"][:] = 0.0
    with pytest.raises(BadParameter, match="mismatched"):
        ALL["kto"].prepare(columns, outputs)
    _, columns = batch(ALL["dpo"], 0)
    with pytest.raises(BadParameter, match="pair"):
        ALL["dpo"].prepare(Columns(**{**vars(columns), "pairs": None}))
    columns.rows["chosen"][1] = 1.0
    with pytest.raises(BadParameter, match="pairs of two"):
        ALL["dpo"].prepare(columns)
