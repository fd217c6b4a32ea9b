"""Games drawn at random: whatever table of payoffs or pool of items somebody writes, the rules hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratagem.games import describe, make_game
from stratagem.games.auction import Auction
from stratagem.games.conformance import symmetry, verify
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn
from stratagem.games.matrix import MatrixGame
from stratagem.games.negotiation_v1 import Pie
from stratagem.games.negotiation_v2 import Division

FEW = settings(max_examples=4, deadline=None)
PAYOFFS = st.one_of(st.integers(-9, 9), st.floats(-1e3, 1e3, allow_nan=False, width=32))
LABEL = st.text(st.characters(codec="ascii", categories=["Lu", "Ll", "Nd"]), min_size=1, max_size=8)


@pytest.fixture(scope="module", autouse=True)
def few_tables():
    """Sample symmetry at fewer tables; tests/conformance/test_games.py has these games with all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symmetry, "SAMPLED", 100)
        yield


@st.composite
def matrix_games(draw):
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["any", "zero-sum", "common"]))
    table = []
    for _ in range(rows):
        first = draw(st.lists(PAYOFFS, min_size=columns, max_size=columns))
        second = [draw(PAYOFFS) if kind == "any" else -pay if kind == "zero-sum" else pay for pay in first]
        table.append(list(zip(first, second, strict=True)))
    return MatrixGame(
        payoffs=table,
        labels=tuple(draw(st.lists(LABEL, min_size=rows, max_size=rows, unique_by=str.casefold))),
        labels_second=tuple(draw(st.lists(LABEL, min_size=columns, max_size=columns, unique_by=str.casefold))),
        rounds=draw(st.integers(1, 6)),
        continuation=draw(st.sampled_from([1.0, 0.5, 0.0])),
        cooperative=draw(st.booleans()) and rows > 1 and columns > 1,
    )


@FEW
@given(matrix_games(), st.integers(0, 2**64 - 1))
def test_any_matrix_game_conforms(game, seed):
    report = verify(game, episodes=4, key=Key(seed))
    broken = {check.name for check in report.checks if check.outcome == "failed"}
    assert broken <= {"disguise"}, str(report)  # a drawn label may stand in the rules' own words
    assert make_game(describe(game)) == game


@FEW
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**64 - 1))
def test_any_division_conforms(rounds, most, seed):
    report = verify(Division(rounds=rounds, most=most), episodes=4, key=Key(seed))
    assert report.ok, str(report)


@FEW
@given(st.integers(1, 6), st.integers(2, 40), st.integers(0, 2**64 - 1))
def test_any_pie_conforms(rounds, pie, seed):
    report = verify(Pie(rounds=rounds, pie=pie), episodes=4, key=Key(seed))
    assert report.ok, str(report)


@FEW
@given(st.integers(1, 3), st.integers(2, 4), st.integers(0, 2**64 - 1))
def test_any_auction_conforms(rounds, seats, seed):
    report = verify(Auction(rounds=rounds, seats=seats), episodes=4, key=Key(seed))
    assert report.ok, str(report)


@FEW
@given(st.integers(1, 9), st.integers(0, 2**64 - 1))
def test_any_match_of_kuhn_conforms(hands, seed):
    report = verify(Kuhn(hands=hands), episodes=4, key=Key(seed))
    assert report.ok, str(report)
