"""Stages cover what texts share, each once, and only where that is worth a pass."""

import random
from itertools import combinations

import pytest

from stratagem.language.engines.plan import WORTH, stages


def every(found):
    """Stages with those above them, outermost first."""
    waiting = [(stage, ()) for stage in found]
    while waiting:
        stage, above = waiting.pop()
        yield stage, above
        waiting.extend((inner, (*above, stage)) for inner in stage.inside)


def random_texts(dice, number):
    """Texts that go on from one another at random places, and some that are beginnings of others."""
    texts = [tuple(dice.randrange(50) for _ in range(dice.randint(1, 60)))]
    while len(texts) < number:
        first = dice.choice(texts)
        cut = dice.randint(0, len(first))
        text = first[:cut] + tuple(dice.randrange(3) for _ in range(dice.choice([0, 1, 5, 40])))
        if text and text not in texts:
            texts.append(text)
    return texts


def shared(one, other):
    length = min(len(one), len(other))
    return next((n for n in range(length) if one[n] != other[n]), length)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_shared_is_staged_once_and_what_is_left_is_not_worth_it(seed):
    dice = random.Random(seed)
    texts = random_texts(dice, dice.randint(1, 25))
    dice.shuffle(texts)
    found = stages(texts, range(len(texts)), 0)
    for stage, above in every(found):
        assert above[-1].end if above else stage.start == 0
        assert stage.start == (above[-1].end if above else 0) < stage.end
        assert len({texts[number][: stage.end] for number in stage.texts}) == 1
        assert all(stage.end < len(texts[number]) for number in stage.texts)
        assert (len(stage.texts) - 1) * (stage.end - stage.start) >= WORTH
        assert all(set(stage.texts) <= set(outer.texts) for outer in above)
        assert not any(set(one.texts) & set(other.texts) for one, other in combinations(stage.inside, 2))
    for one, other in combinations(range(len(texts)), 2):
        most = min(shared(texts[one], texts[other]), len(texts[one]) - 1, len(texts[other]) - 1)
        both = max((s.end for s, _ in every(found) if one in s.texts and other in s.texts), default=0)
        assert most - both < WORTH


def test_a_stage_within_a_stage():
    head, left, right = (1,) * 30, (2,) * 30, (3,) * 30
    texts = [head + left + (n,) for n in range(4, 7)] + [head + right + (n,) for n in range(4, 7)]
    (stage,) = stages(texts, range(6), 0)
    assert (stage.start, stage.end, sorted(stage.texts)) == (0, 30, [0, 1, 2, 3, 4, 5])
    assert [(inner.start, inner.end, inner.texts) for inner in stage.inside] == [
        (30, 60, [0, 1, 2]),
        (30, 60, [3, 4, 5]),
    ]


def test_what_is_known_already_is_left_alone():
    texts = [(7,) * 40 + (n,) for n in range(3)]
    assert stages(texts, range(3), 40) == []
    assert [(stage.start, stage.end) for stage in stages(texts, range(3), 20)] == [(20, 40)]
    assert stages(texts, [1], 0) == stages(texts, [], 0) == []


def test_a_short_stretch_is_staged_where_many_share_it():
    texts = [(7, 8, 9, n) for n in range(40)]
    assert [(stage.end, len(stage.texts)) for stage in stages(texts, range(40), 0)] == [(3, 40)]
    assert stages(texts, range(WORTH // 3), 0) == []


def test_hundreds_of_beginnings_of_one_text():
    """So many that one call a stage would be too deep."""
    texts = [(5,) * length for length in range(1, 501)]
    found = [stage for stage, _ in every(stages(texts, range(500), 0))]
    assert max(stage.end for stage in found) > 450
