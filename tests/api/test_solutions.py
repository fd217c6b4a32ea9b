"""`solve` finds equilibria of small games, says how near they are, and claims none where there is no promise."""

import json

import pytest

import stratagem as sg
from stratagem.api.solutions import NEAR


def test_a_solution_says_how_near_it_is_and_when_it_was_near():
    found = sg.solve("leduc", method="dcfr", until=NEAR, progress=False)
    assert 0.0 < float(found) <= NEAR
    assert found.is_equilibrium
    falls = [point.exploitability for point in found.points]
    assert falls[-1] < 0.01 * falls[0]
    assert all(later.seconds >= earlier.seconds for earlier, later in zip(found.points, found.points[1:], strict=False))
    assert found.seconds_to_near == found.points[-1].seconds
    assert (found.nodes, found.information_sets) == (9451, 936)
    assert found.points[-1].nash_conv == pytest.approx(2.0 * float(found))


def test_the_policy_of_a_solution_has_its_exploitability():
    found = sg.solve("kuhn", iterations=60, progress=False)
    measured = sg.exploitability("kuhn", "cfr:60")
    assert float(measured) == pytest.approx(float(found), abs=1e-9)
    assert found.points[-1].iterations == 60
    assert found.policy["K:B"] == pytest.approx({"FOLD": 0.0, "CALL": 1.0}, abs=0.05)
    assert any(line == "As a player: cfr:60." for line in found.remarks())
    named = sg.solve("kuhn", iterations=40, method="dcfr", progress=False)
    assert float(sg.exploitability("kuhn", "cfr:40:dcfr")) == pytest.approx(float(named), abs=1e-9)


def test_no_equilibrium_is_claimed_of_other_games():
    for game in ("ipd(rounds=2)", "spiel:kuhn_poker(players=3)"):
        found = sg.solve(game, iterations=5, progress=False)
        assert not found.is_equilibrium
        said = " ".join(found.remarks())
        assert "No equilibrium is claimed" in said
        assert "As a player" not in said


def test_keys_that_name_several_sets_give_no_policy_and_no_player(monkeypatch, tmp_path):
    monkeypatch.setattr("stratagem.api.solutions.has_distinct_keys", lambda tree: False)
    found = sg.solve("kuhn", iterations=3, progress=False)
    assert found.policy is None
    assert not any("As a player" in line for line in found.remarks())
    found.save(tmp_path / "kuhn.json")
    assert "policy" not in json.loads((tmp_path / "kuhn.json").read_text("utf-8"))


def test_a_solution_is_saved_with_its_policy(tmp_path):
    found = sg.solve("kuhn", iterations=3, out=tmp_path / "kuhn.json", progress=False)
    with pytest.raises(sg.StratagemError, match="is there already: name another file"):
        sg.solve("kuhn", iterations=3, out=tmp_path / "kuhn.json", progress=False)
    stored = json.loads((tmp_path / "kuhn.json").read_text("utf-8"))
    assert stored["policy"] == found.policy
    assert stored["points"] == found.rows()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"game": "leduc", "method": "fp"}, r"methods cfr\+, dcfr, cfr, not 'fp'"),
        ({"game": "leduc", "iterations": 0}, "iterations"),
        ({"game": "leduc", "until": -1.0}, "above 0"),
        ({"game": "connect-four"}, "beyond the budget"),
    ],
)
def test_a_mistake_is_one_sentence(options, said):
    with pytest.raises(sg.StratagemError, match=said):
        sg.solve(**options)
