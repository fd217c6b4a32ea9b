"""Target policies: the prompts of a seat, and the target distribution after each."""

import math

import pytest

from stratagem.algorithms.kl_sft.target_policies import (
    INITIAL_POLICIES,
    LabelScorer,
    TargetPolicy,
    make_examples,
    measured_policy,
    teacher_probabilities,
)
from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.engines.open import engine_of
from stratagem.learn.losses.kl_targets import target_entropy

BOTH = ("shapellm-state", "shapellm-occurrence")


def last_line(one):
    return one.messages[-1][1]


def counts(one):
    """The four counts that a prompt tells of; none where it has none."""
    line = next((line for line in last_line(one).split("\n") if line.startswith("How often")), "")
    return [int(part.split()[1]) for part in line.rpartition(":")[2].rstrip(".").split(",")] if line else []


def test_a_style_without_counts_has_five_prompts():
    prompts = list(TargetPolicy(policy="ipd-75").prompts(20, Key(1)))
    assert [one.state for one in prompts] == [0, 1, 2, 3, 4] * 4
    assert len({one.messages for one in prompts}) == 5
    played = [next((line for line in last_line(one).split("\n") if "Last round" in line), "") for one in prompts[:5]]
    pairs = [("H", "H"), ("H", "K"), ("K", "H"), ("K", "K")]
    assert played == ["", *(f"Last round you played {mine}, they played {theirs}." for mine, theirs in pairs)]


def test_counts_are_those_of_a_trial():
    prompts = list(
        TargetPolicy(policy="ipd-75", seat=0, styles=("shapellm-occurrence",)).prompts(1000, Key(1), episodes=3)
    )
    assert {sum(counts(one)) for one in prompts if one.state == 0} == {0}
    totals = {sum(counts(one)) for one in prompts if one.state}
    assert (min(totals), max(totals), len(totals)) == (0, 3 * 20 - 2, 3 * 20 - 1)
    long = [counts(one) for one in prompts if sum(counts(one)) >= 40]
    sums = [sum(column) / len(long) for column in zip(*long, strict=True)]
    assert max(sums) - min(sums) < 2.0
    assert len({tuple(row) for row in long}) > 50


def test_prompts_follow_from_the_key_and_are_shared_out_by_style():
    aim = TargetPolicy(policy="imp-50", styles=BOTH)
    first, again, other = ([one.messages for one in aim.prompts(50, Key(seed))] for seed in (1, 1, 2))
    assert first == again != other
    assert [any("How often" in text for _, text in some) for some in first[:25]] == [False] * 25
    assert sum("How often" in some[-1][1] for some in first[25:]) > 15


def test_an_example_wants_the_table_s_probabilities_of_the_labels():
    engine, table = engine_of("tiny"), INITIAL_POLICIES["ipd-25"]
    aim = TargetPolicy(policy="ipd-25")
    prompts = list(aim.prompts(5, Key(1)))
    for example, one in zip(make_examples(engine, aim, 5, Key(1)), prompts, strict=True):
        (target,), (place,) = example.targets, example.loss_positions
        told = {engine.vocabulary.decode([token]): share for token, share in target.items()}
        assert told == pytest.approx({"I": table.first[one.state], "X": 1.0 - table.first[one.state]})
        assert example.tokens[:place] == engine.begin(one.messages).tokens
        assert (place, example.tokens[place] in target) == (len(example.tokens) - 1, True)
        assert example.columns["target_entropy"] == (target_entropy(target),)


def test_another_model_is_copied_in_its_own_tokens():
    aim = TargetPolicy(teacher="tiny-qwen", game="ipd-shapellm(labels=('H', 'K'))", styles=BOTH)
    prompts = list(aim.prompts(20, Key(3)))
    teacher = LabelScorer.of(engine_of("tiny-qwen"))
    shares = teacher_probabilities("tiny-qwen", prompts)
    for share, (first, second) in zip(shares, teacher.logprobs(prompts), strict=True):
        assert share == pytest.approx(math.exp(first) / (math.exp(first) + math.exp(second)))
    assert len({round(share, 4) for share in shares}) > 5
    examples = make_examples(engine_of("tiny"), aim, 20, Key(3))
    for share, example in zip(shares, examples, strict=True):
        assert example.targets[0][example.tokens[-1]] == pytest.approx(share)
    assert measured_policy(engine_of("tiny-qwen"), aim).share == pytest.approx(shares[:5])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "either a `policy` or a `teacher`"),
        ({"policy": "ipd-75", "teacher": "tiny"}, "either a `policy` or a `teacher`"),
        ({"policy": "ipd-60"}, "there are ipd-75"),
        ({"teacher": "tiny"}, "name one, such as ipd-shapellm"),
    ],
)
def test_an_aim_that_cannot_be_is_refused(data, said):
    with pytest.raises(BadParameter, match=said) as caught:
        TargetPolicy.read(data)
    assert "\n" not in str(caught.value)


def test_a_game_that_is_no_repeated_game_of_two_actions_is_refused():
    with pytest.raises(BadParameter, match="matrix games of two actions"):
        make_examples(engine_of("tiny"), TargetPolicy(policy="ipd-75", game="kuhn"), 5, Key(0))
