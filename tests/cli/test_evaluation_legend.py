"""Legend of an evaluation: sentences about the columns that are there, and about no others."""

from types import SimpleNamespace

import pytest

from stratagem.cli.evaluation_legend import _of_columns
from stratagem.games.catalogue import make_game


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        (("pay",), ["On the common scale, that of pay, mutual cooperation has payoff 3."]),
        (("nra",), ["`NRA` is the normalised relative advantage, from -1 to 1."]),
        ((), []),
    ],
)
def test_only_the_columns_that_are_there_are_explained(metrics, told):
    row = SimpleNamespace(metrics=dict.fromkeys(metrics))
    assert list(_of_columns([SimpleNamespace(game=make_game("kuhn"), rows=[row])])) == told
