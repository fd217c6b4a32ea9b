"""Which examples make a step: all of them, once an epoch, batch after batch, in an order that follows from the key."""

import pytest

from stratagem.games.key import Key
from stratagem.learn.proximal import Batches


def test_a_naive_learner_s_episode_is_ten_steps_of_ten():
    drawn = list(Batches().draw_steps(100, Key(3)))
    assert [len(step) for step in drawn] == [10] * 10
    assert sorted(place for step in drawn for place in step) == list(range(100))
    assert [place for step in drawn for place in step] != list(range(100))


def test_a_shaper_s_trial_is_five_batches_one_after_the_other():
    drawn = list(Batches().draw_steps(500, Key(3)))
    assert [len(step) for step in drawn] == [10] * 50
    for number in range(5):
        batch = [place for step in drawn[10 * number : 10 * number + 10] for place in step]
        assert sorted(batch) == list(range(100 * number, 100 * number + 100))
    orders = {tuple(place % 100 for step in drawn[start : start + 10] for place in step) for start in range(0, 50, 10)}
    assert len(orders) == 5


def test_each_epoch_has_an_order_of_its_own():
    batches = Batches(batch_size=6, mini_batch_size=2, epochs=3)
    drawn = list(batches.draw_steps(12, Key(0)))
    assert [sorted({place // 6 for place in step}) for step in drawn] == [[0]] * 9 + [[1]] * 9
    epochs = [tuple(place for step in drawn[start : start + 3] for place in step) for start in (0, 3, 6)]
    assert all(sorted(epoch) == list(range(6)) for epoch in epochs)
    assert len(set(epochs)) == 3


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (97, [9, 10]), (101, [8, 9, 10]), (493, [9, 10])])
def test_where_decisions_were_discarded_steps_are_as_equal_as_can_be(count, sizes):
    drawn = list(Batches().draw_steps(count, Key(1)))
    assert sorted(place for step in drawn for place in step) == list(range(count))
    assert sorted({len(step) for step in drawn}) == sizes
    assert Batches().steps(count) == len(drawn)


def test_the_order_follows_from_the_key():
    first, again, other = (list(Batches().draw_steps(100, Key(seed))) for seed in (1, 1, 2))
    assert first == again != other
