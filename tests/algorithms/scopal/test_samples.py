"""Weights of samples: balance between games and between kinds, draws, and units that weigh too much."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from stratagem.algorithms.scopal.methods import METHODS, class_weights
from stratagem.algorithms.scopal.policy import Refinement, split
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.scopal.samples import ReplyFormat, Samples, SampleSettings, resample_weights, sample_weights
from stratagem.algorithms.scopal.steps import SCHEMA, Steps
from stratagem.games.key import Key
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.batch import columns_of
from stratagem.learn.example import Example
from stratagem.learn.losses.base import Outputs

PLAIN = SampleSettings(balance=False)


def settings_of(method, **options):
    return type(ScopalRecipe().stage(method))(**options)


def steps(counts, games=None, desirable=None):
    """A table with these counts and nothing else of interest."""
    size = len(counts)
    columns = {field.name: pa.nulls(size, field.type) for field in SCHEMA}
    columns["game"] = pa.array(games or ["nim"] * size)
    columns["count"] = pa.array(counts)
    columns["reward"] = pa.array([0.5] * size)
    columns["desirable"] = pa.array(desirable or [True] * size)
    return Steps(pa.table(columns, schema=SCHEMA), ())


def test_sample_weights_without_balance_are_counts():
    assert sample_weights(steps([3, 1, 4]), PLAIN).tolist() == [3, 1, 4]


def test_sample_weights_with_balance_have_equal_totals_by_game():
    weight = sample_weights(steps([6, 2, 1, 1], ["nim", "nim", "kuhn", "kuhn"]), SampleSettings())
    assert weight.tolist() == pytest.approx([3.75, 1.25, 2.5, 2.5])


def test_resampled_keeps_each_weight_on_average():
    weight = np.array([8.0, 4.0, 2.0, 1.0, 1.0])
    assert (
        resample_weights(weight, 0, np.random.default_rng(0)).tolist()
        == resample_weights(weight, 5, np.random.default_rng(0)).tolist()
    )
    every = np.array([resample_weights(weight, 4, np.random.default_rng(seed)) for seed in range(4000)])
    assert set(every.sum(axis=1)) == {4.0}
    assert every.mean(axis=0) == pytest.approx(4 * weight / weight.sum(), abs=0.05)


def test_split_divides_a_heavy_unit_into_equal_parts():
    weight = np.array([20.0, 1.0, 1.0, 8.0]) / 7.5
    units, parts = split(weight, 1.0)
    assert units.tolist() == [0, 0, 0, 1, 2, 3, 3]
    totals = np.bincount(units, weights=parts)
    assert totals / totals.sum() == pytest.approx(weight / weight.sum())
    assert parts.mean() == pytest.approx(1.0)
    assert parts.max() <= 1.0 / (weight.sum() / len(parts)) + 1e-9


def samples(count, said_by_a_model=True):
    """Replies of two tokens to two questions, with these counts; every other one is desirable, and the last illegal."""
    size = len(count)
    drawn_with = {"sampler_logprobs": (-0.5, -0.7)}
    kinds = np.arange(size) % 2 == 0
    return Samples(
        examples=[
            Example(tokens=(1, place % 2, 5, 6), loss_positions=(2, 3), columns=drawn_with if said_by_a_model else {})
            for place in range(size)
        ],
        weight=np.array(count, float) / np.mean(count),
        desirable=kinds,
        prompt=np.zeros(size, dtype=np.int64),
        columns={
            "count": np.array(count, float),
            "reward": kinds * 0.8,
            "spag": np.where(kinds, 0.3, -0.2),
            "won": np.array(count, float),
            "legal": np.array([1.0] * (size - 1) + [0.0]),
        },
    )


def test_class_weights_give_both_labels_one_total():
    """Of weights 3 and 1 the greater sum is brought down to the lesser."""
    assert class_weights(samples([3, 1])) == pytest.approx((1.0 / 3.0, 1.0))
    assert class_weights(samples([1, 4])) == pytest.approx((1.0, 1.0 / 4.0))


def test_cloning_of_won_games_and_imitation_leave_illegal_replies_out():
    for method in ("winning", "imitate"):
        training_set = METHODS[method].training_set(
            samples([3, 1, 1, 2]), settings_of(method), np.random.default_rng(0)
        )
        assert len(training_set.units) == 3


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"grpo"}))
def test_batch_may_mix_replies_of_models_and_others(method):
    own, others = samples([1, 1, 1, 1, 1]), samples([1, 1, 1, 1, 1], said_by_a_model=False)
    both = Samples(
        examples=[*own.examples, *others.examples],
        weight=np.ones(10),
        desirable=np.concatenate([own.desirable, others.desirable]),
        prompt=np.zeros(10, dtype=np.int64),
        columns={name: np.concatenate([own.columns[name], others.columns[name]]) for name in own.columns},
    )
    for batch in Refinement(method, both, settings_of(method, epochs=1), Key(0)).batches():
        assert len({frozenset(example.columns) for example in batch}) == 1


@pytest.mark.parametrize(("batch", "sizes"), [(1, {2, 3}), (2, {2, 3}), (4, {3, 4})])
def test_kto_batches_have_at_least_two_samples(batch, sizes):
    """The example that estimates the divergence is a reply to another sample's question."""
    refinement = Refinement("kto", samples([1] * 11), settings_of("kto", epochs=2, batch_size=batch), Key(0))
    made = [[example for example in one if not example.row["kl"]] for one in refinement.batches()]
    assert len(made) == refinement.num_steps
    assert {len(one) for one in made} == sizes
    assert sum(map(len, made)) == 22
    alone = Refinement("bc", samples([1] * 11), settings_of("bc", epochs=1, batch_size=1), Key(0))
    assert {len(one) for one in alone.batches()} == {1}


def test_refinement_with_max_steps_resumes_from_any_step():
    def batches(done=0, **settings):
        refinement = Refinement("bc", samples([1] * 11), settings_of("bc", batch_size=4, **settings), Key(0))
        return refinement.num_steps, [[one.tokens for one in batch] for batch in refinement.batches(done)]

    steps, whole = batches(epochs=3)
    assert (steps, len(whole)) == (6, 6)
    for most in (1, 5, 6):
        assert batches(max_steps=most) == (most, whole[:most])
        assert batches(1, max_steps=most)[1] == whole[1:most]


@pytest.mark.parametrize("method", ["bc", "grpo", "spag"])
def test_row_of_count_three_has_the_gradient_of_three_rows(method):
    """In one batch of all: the gradient at the logits of every reply."""
    once, thrice = samples([1, 1, 1, 1]), samples([3, 3, 1, 1])
    spread = samples([1] * 8)
    order = [0, 1, 0, 1, 0, 1, 2, 3]
    again = Samples(
        examples=[thrice.examples[place] for place in order],
        weight=np.ones(8),
        desirable=thrice.desirable[order],
        prompt=spread.prompt,
        columns={name: column[order] for name, column in once.columns.items()},
    )
    found = [gradients(method, given, rows) for given, rows in ((thrice, [0, 1, 2, 3]), (again, order))]
    for one, other in zip(*found, strict=True):
        assert one / found[0][0] == pytest.approx(other / found[1][0], rel=1e-5)


def test_joint_cross_entropy_is_a_mean_over_desirable_tokens():
    (batch,) = Refinement(
        "joint", samples([3, 1, 1, 1]), settings_of("joint", epochs=1, batch_size=99), Key(0)
    ).batches()
    for example in batch:
        cloned = bool(example.row["desirable"]) and not example.row["kl"]
        assert example.columns["weight"] == pytest.approx((example.row["weight"] if cloned else 0.0,) * 2)
        assert example.row["divisor"] == pytest.approx(2 * (3 + 1) / 1.5)


def gradients(method, given, rows):
    """The loss's gradient of each distinct sample's first token, over one batch of all."""
    (batch,) = Refinement(
        method, given, settings_of(method, epochs=1, batch_size=99, max_weight_ratio=99.0), Key(0)
    ).batches()
    batch = [example for example in batch if not example.row.get("kl")]
    training_set = METHODS[method].training_set(given, settings_of(method), np.random.default_rng(0))
    columns = columns_of(batch, torch.device("cpu"))
    said = torch.full((2 * len(batch),), -0.6, requires_grad=True)
    parts = torch.full((2 * len(batch),), -0.4)
    outputs = Outputs(policy_logprobs=said, reference_logprobs=parts, entropies=None, values=None, target_logprobs=None)
    training_set.loss(outputs, columns, training_set.loss.prepare(columns, outputs)).loss.backward()
    first = said.grad[::2].tolist()
    by_sample = {}
    for example, value in zip(batch, first, strict=True):
        key = (example.tokens, example.row.get("desirable"), tuple(example.columns.get("advantage", ())))
        key = (*key, example.row.get("advantage"))
        by_sample[key] = by_sample.get(key, 0.0) + value
    return [by_sample[key] for key in sorted(by_sample, key=repr) if by_sample[key]]


def test_reply_format_follows_the_mode():
    """Marks are for modes in which something is said before the action."""
    style = make_style("gtbench")
    assert ReplyFormat(style, "direct").text("BET") == ReplyFormat(style, "single").text("BET") == "BET"
    assert ReplyFormat(style, "free").text("BET") == "<BET>"
