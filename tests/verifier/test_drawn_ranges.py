"""Two honest drawings of the audit's permutation tests agree, also where two statistics nearly tie."""

import pytest

from stratagem.games.key import Key
from stratagem.measure.sampled.permutation import find_change, follow
from stratagem.verifier.drawn_tests import agrees, change_test, sequence_test

ONE_ODD = [[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]]
TWO_ODD = [[3, 3, 1, 3, 3, 3], [3] * 11, [3, 3, 3, 0, 3, 3], [3] * 5]
THREE_ODD = [[0] * 5 + [1] + [0] * 3, [0, 0, 0, 2, 0], [0] * 15 + [2] + [0] * 4, [0] * 8 + [1] + [0] * 11]
MIXED = [[0, 1, 0, 1, 1, 0, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1], [1, 0, 1, 1, 1, 1, 1, 0]]
ALTERNATING = [[0, 1] * 10]
TURNED = [[0] * 10 + [1] * 10]


@pytest.mark.parametrize("replies", [ONE_ODD, TWO_ODD, THREE_ODD, MIXED, ALTERNATING, TURNED])
@pytest.mark.parametrize(("audited", "verified"), [(follow, sequence_test), (find_change, change_test)])
def test_every_drawing_of_an_honest_test_is_in_the_range_of_every_other(replies, audited, verified):
    told = [audited(replies, Key(seed)) for seed in range(8)]
    ranges = [verified(replies) for _ in range(8)]
    assert all(agrees(one.p, known["p"]) and agrees(one.value, known["value"]) for one in told for known in ranges)


@pytest.mark.parametrize(
    ("replies", "verified", "forged"),
    [(ALTERNATING, sequence_test, 0.05), (TURNED, change_test, 0.05), (MIXED, change_test, 0.001)],
)
def test_another_p_is_out_of_the_range(replies, verified, forged):
    assert not agrees(forged, verified(replies)["p"])
