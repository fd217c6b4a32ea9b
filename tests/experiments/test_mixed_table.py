"""The table of games between seven different players, against figures that are known by hand."""

import mixed_table
import pytest

from stratagem.playing.records import Episode


def game(group, names, payoffs, centres):
    signals = {"centers": [(0.0,) * 3, tuple(count / mixed_table.CENTRES for count in centres)]}
    seats = tuple(range(len(names)))
    return Episode(
        f"{group}.0", "diplomacy", 1, names, seats, key=0, chance=0, group=group, payoffs=payoffs, signals=signals
    )


GAMES = [
    game("one", ("a@1", "b(n=2)@1", "c@2"), [0.5, 0.3, 0.2], (12, 12, 10)),
    game("one", ("b(n=2)@1", "c@2", "a@1"), [0.4, 0.2, 0.4], (14, 6, 14)),
    game("two", ("a@1", "b(n=2)@1", "c@2"), [0.7, 0.1, 0.2], (20, 4, 10)),
]


def test_figures_are_means_over_deals_of_whoever_sits_at_a_seat():
    found = mixed_table.figures([row for one in GAMES for row in mixed_table.seated(one)])
    assert list(found) == ["a", "b(n=2)", "c"], "the best player first"
    assert found["a"]["share"].mean == pytest.approx((0.45 + 0.7) / 2)
    assert found["a"]["share"].n == 2, "games of a deal are one observation"
    assert found["a"]["share"].se == pytest.approx(0.125)
    assert found["b(n=2)"]["centres"].mean == pytest.approx((13 + 4) / 2)
    assert [own["first"].mean for own in found.values()] == [1.0, 0.5, 0.0]
    assert "| `b(n=2)` | 0.225 [" in mixed_table.table(found)
