"""Training sets of the refinement methods: what is selected, how it is weighed, and what a batch holds."""

from dataclasses import replace

import numpy as np
import pytest
from test_samples import samples, settings_of

from stratagem.algorithms.scopal.methods import METHODS
from stratagem.algorithms.scopal.policy import Refinement
from stratagem.games.key import Key


def training_set_of(method, given, seed=0):
    return METHODS[method].training_set(given, settings_of(method), np.random.default_rng(seed))


def with_columns(given, **columns):
    return replace(given, columns={**given.columns, **{name: np.array(column) for name, column in columns.items()}})


def test_winning_replies_weigh_as_often_as_they_won():
    """Of four replies of one kind one won, of two of another both; what never won and what is illegal is left out."""
    given = with_columns(samples([4, 2, 2, 1]), won=[1.0, 2.0, 0.0, 1.0])
    training_set = training_set_of("winning", given)
    assert [unit.tolist() for unit in training_set.units] == [[0], [1]]
    assert training_set.weight == pytest.approx([2 / 3, 4 / 3])


def test_kto_weighs_both_labels_alike():
    """Desirable replies have the weights 3 and 1, the other 2: half as much a reply of theirs."""
    loss = training_set_of("kto", samples([3, 1, 3])).loss
    assert (loss.desirable_weight, loss.undesirable_weight) == pytest.approx((1 / 6, 1.0))


def test_pairs_are_of_one_prompt_and_weigh_as_the_desirable_reply():
    """Two questions: one with undesirable replies of the counts 9 and 1, one with a single one."""
    given = replace(samples([1, 9, 3, 1, 5, 1]), prompt=np.array([0, 0, 1, 0, 2, 1]))
    found = [training_set_of("dpo", given, seed) for seed in range(200)]
    pairs = [[unit.tolist() for unit in training_set.units] for training_set in found]
    assert all(one[1] == [2, 5] and len(one) == 2 for one in pairs), "question 2 has no undesirable reply"
    assert np.mean([one[0] == [0, 1] for one in pairs]) == pytest.approx(0.9, abs=0.07)
    assert found[0].weight == pytest.approx([0.5, 1.5])


def test_grpo_advantages_are_standardised_within_a_prompt():
    """Rewards 1, 1, 1 and 0 have the mean .75 and the deviation .433; equal rewards are left out."""
    given = replace(samples([2, 5, 3, 1]), prompt=np.array([0, 0, 1, 1]))
    training_set = training_set_of("grpo", with_columns(given, reward=[1.0, 1.0, 1.0, 0.0]))
    batch = training_set.batch([0, 1], training_set.weight)
    assert [example.tokens for example in batch] == [example.tokens for example in given.examples[2:]]
    assert [example.columns["advantage"][0] for example in batch] == pytest.approx(
        [0.25 / 0.4330127, -0.75 / 0.4330127]
    )
    assert [example.columns["weight"][0] for example in batch] == pytest.approx([1.5, 0.5])
    assert {example.columns["old_logprobs"] for example in batch} == {(-0.5, -0.7)}


def test_epochs_are_shuffled_anew():
    every = samples([1] * 24)
    named = [replace(example, tokens=(number, 1, 5, 6)) for number, example in enumerate(every.examples)]
    refinement = Refinement(
        "imitate", replace(every, examples=named), settings_of("imitate", epochs=2, batch_size=23), Key(0)
    )
    first, second = ([example.tokens[0] for example in batch] for batch in refinement.batches())
    assert sorted(first) == sorted(second)
    assert first != second
