"""The table of credit by order: means over seeds, and each arm less the control in the seeds that both have."""

import diplomacy_table
import pytest

from stratagem.games.base import ActionPart
from stratagem.playing.records import Decision, Episode


def run(seed, pay, void=0.25):
    after = {"payoff": pay, "first": 0.2, "centres": 4.0, "effective": 0.7}
    return {
        "seed": seed,
        "before": {**after, "payoff": 0.1},
        "after": after,
        "holds": 0.1,
        "supports": 0.2,
        "void": void,
    }


RUNS = {
    "none": [run(0, 0.10), run(1, 0.12), run(2, 0.14)],
    "plus": [run(0, 0.15), run(1, 0.16), run(2, 0.20)],
    "times": [run(2, 0.10, void=None)],
}


def test_a_row_has_means_over_seeds():
    none, plus, times = diplomacy_table.rows(RUNS)
    assert none[:3] == ["none", "3", ".100 [0.100, 0.100]"]
    assert plus[3].startswith(".170 [")
    assert times == ["times", "1", ".100", ".100", ".200", "4.000", ".700", ".100", ".200", diplomacy_table.DASH]


def test_two_seeds_are_listed_and_have_no_interval():
    (row,) = diplomacy_table.rows({"none": [run(0, 0.10), run(1, 0.12)]})
    assert row[:4] == ["none", "2", ".100, .100", ".100, .120"]


def test_arms_are_compared_in_the_seeds_that_they_share():
    plus, times = diplomacy_table.tests(RUNS)
    assert plus[:2] == ["plus less none", "3"]
    assert plus[2].startswith(".050 [")
    assert plus[3:] == [".250", ".500"], "three seeds cannot show less, and the family has two comparisons"
    assert times == ["times less none", "1", "-.040", diplomacy_table.DASH, diplomacy_table.DASH]


def test_the_figures_are_those_of_the_last_policy_and_not_of_the_best(monkeypatch):
    class Run:
        seed = 3

        def read(self, name):
            pay = {"run:.@base": 0.1, "run:.@25": 0.3, "run:.@100": 0.2, "random": 0.0}
            players = [
                {"player": player, "metrics": {name: {"mean": mean} for name in diplomacy_table.FIGURES}}
                for player, mean in pay.items()
            ]
            return {"evaluation": {"games": [{"players": players}]}}

        def provenance(self):
            return {}

    monkeypatch.setattr(diplomacy_table, "shares", lambda _: {})
    found = diplomacy_table.figures(Run())
    assert (found["before"]["payoff"], found["after"]["payoff"]) == (0.1, 0.2)


@pytest.fixture
def played(monkeypatch):
    """Return a function that sets the kinds of orders of rollouts, the earliest first."""

    class Folder:
        def config_data(self):
            return {"grpo": {"groups_per_batch": 1, "group_size": 2}}

    class Run:
        path, folder = diplomacy_table.Path(), Folder()

    def share(*sheets):
        found = [
            Episode(
                str(number), "diplomacy", 1, ("a",), (0,), key=0, chance=0, purpose=purpose,
                decisions=[judged(kinds)],
            )
            for number, (purpose, kinds) in enumerate(sheets)
        ]  # fmt: skip
        monkeypatch.setattr(diplomacy_table, "read_episodes", lambda *_, **__: iter(found))
        return diplomacy_table.shares(Run())

    return share


def judged(kinds):
    parts = tuple(ActionPart(f"A{number}", kind, 0.0) for number, kind in enumerate(kinds))
    action = "\n".join(["A PAR S A BUR"] * len(kinds))
    at = {"round": 0, "turn": 0, "clock": 0, "seat": 0, "slot": 0, "attempt": 0, "state_key": "", "info_key": ""}
    return Decision(**at, action=action, how="free", parts=parts)


def test_shares_are_of_the_orders_and_of_the_supports_in_recent_rollouts(played):
    early, late = ("train", ["void support"] * 4), ("train", ["void support", "support", "hold", "cut support"])
    wanted = pytest.approx({"holds": 1 / 4, "supports": 3 / 4, "void": 1 / 3})
    assert played(*[late] * 10) == wanted
    assert played(*[early] * 7, *[late] * 10) == wanted, "five iterations of two rollouts are recent"
    assert played(("evaluate", ["void support"]), *[late] * 3) == wanted, "training alone counts"
    assert played(("train", ["hold"])) == {"holds": 1.0, "supports": 0.0, "void": None}
    assert played() == {"holds": None, "supports": None, "void": None}
