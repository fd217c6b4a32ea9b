"""The page of a league and of a run of GRPO: their own sections, from whole runs and from broken ones."""

import json
import re
from importlib import resources

import pytest
from reading import Page

from stratagem.algorithms.grpo import GRPOAlgorithm, GRPORecipe
from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.show.reports.report import report_html
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

SMALL = {
    "games": ["kuhn(hands=1)"],
    "opponents": ["random"],
    "evaluate_every": 1,
    "validation_episodes": 2,
    "test_episodes": 2,
    "exact_budget": 40000,
    "adapter": {"rank": 2},
}
STEPS = {"iterations": 2, "groups_per_batch": 2, "group_size": 2, "optimizer": {"learning_rate": 1e-3}}


def trained(folder, recipe, trainer):
    run = RunFolder.create(folder, recipe, recipe.seed, "a test")
    trainer(recipe, run).train()
    return run


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    recipe = LeagueRecipe.read(
        {
            **SMALL,
            "league": {**STEPS, "snapshot_every": 1, "crossplay_games": 2},
        }
    )
    return trained(tmp_path_factory.mktemp("league") / "run", recipe, LeagueAlgorithm)


@pytest.fixture
def copied(league, tmp_path):
    """A table of one's own that may be broken."""

    def write(**changes):
        path = league.path / "league.json"
        before = path.read_text()
        path.write_text(json.dumps({**json.loads(before), **changes}))
        try:
            return Page(report_html(league))
        finally:
            path.write_text(before)

    return write


def test_the_frozen_pool_stands_on_top(league):
    page = Page(report_html(league))
    assert page.sections[:3] == ["pool", "results", "population"]
    pay, exact = page.traces_of("pool")
    assert pay["x"] == exact["x"] == [0, 1, 2]
    assert "The first learner against random." in page.texts["pool"]


def test_a_learner_that_meets_one_member_alone_is_a_lower_bound(tmp_path):
    learners = {"hunter": {"matchmaker": {"rule": "fixed", "opponent": "prey"}}}
    recipe = LeagueRecipe.read(
        {**SMALL, "learners": learners, "members": {"prey": "AlwaysBet"}, "league": {**STEPS, "crossplay_games": 2}}
    )
    run = trained(tmp_path / "run", recipe, LeagueAlgorithm)
    table_path, page = run.path / "league.json", Page(report_html(run))
    table = json.loads(table_path.read_text())
    names = [member["name"] for member in table["members"]]
    prey, hunter = names.index("prey"), names.index("hunter-000002")
    assert page.sections[:2] == ["pool", "best_response"]
    assert "a lower bound on the exploitability of that member" in page.texts["best_response"]
    bound, training = page.traces_of("best_response")
    assert bound["x"] == [2]
    assert bound["y"] == [table["payoff"][hunter][prey]]
    assert bound["error_y"]["array"] == [0.0], "an expectation has no error"
    assert training["x"] == [1, 2]
    gains, exact = (f"{value:.3f}".replace("-", "\u2212") for value in (bound["y"][0], table["exploitability"][prey]))
    assert f"hunter-000002 gains {gains} per round against prey. The exact" in page.texts["best_response"]
    assert f"exploitability of prey is {exact}, in the same unit." in page.texts["best_response"]
    assert bound["y"][0] <= table["exploitability"][prey] + 1e-9
    assert "exact exploitability of hunter" in page.texts["pool"]
    drawn = {**table, "errors": [[0.1] * len(names)] * len(names), "zero_sum": False}
    table_path.write_text(json.dumps(drawn))
    page, own = Page(report_html(run)), table["payoff"][prey][prey]
    (less, _), said = page.traces_of("best_response"), page.texts["best_response"]
    assert less["y"] == [pytest.approx(bound["y"][0] - own)]
    assert less["error_y"]["array"] == [pytest.approx(1.96 * 0.1 * 2**0.5, abs=1e-3)]
    assert "± 0.141 per round against prey, more than prey against itself." in said


def test_what_is_taken_from_another_learner_is_no_bound(tmp_path):
    """That one changes, so nothing is learnt of it."""
    learners = {
        "hunter": {"matchmaker": {"rule": "fixed", "opponent": "other"}},
        "other": {"matchmaker": {"rule": "self"}},
    }
    recipe = LeagueRecipe.read({**SMALL, "learners": learners, "league": {**STEPS, "crossplay_games": 2}})
    assert "best_response" not in Page(report_html(trained(tmp_path / "run", recipe, LeagueAlgorithm))).sections


def test_members_are_told_with_ratings_and_shares(league):
    page, table = Page(report_html(league)), json.loads((league.path / "league.json").read_text())
    rows, cross = page.tables_of("population")
    called = [{"base": "Base"}.get(member["name"], member["name"]) for member in table["members"]]
    assert [row[0] for row in rows[1:]] == called
    rated = {{"base": "Base"}.get(rating["name"], rating["name"]): rating for rating in table["elo"]}
    skilled = {{"base": "Base"}.get(skill["name"], skill["name"]): skill for skill in table["skill"]}
    for row, nash in zip(rows[1:], table["nash"], strict=True):
        assert row[2].startswith(f"{rated[row[0]]['elo']:.0f}")
        assert row[3] == f"{skilled[row[0]]['mu']:.1f} ± {skilled[row[0]]['sigma']:.1f}"
        assert row[4] == f"{nash:.1%}"
    assert len(cross) == len(rows)


def test_the_base_has_one_name_and_one_figure_in_every_table(league, copied):
    page = Page(report_html(league))
    results, members = page.tables_of("results")[0], page.tables_of("population")[0]
    alone = {row[0]: row[results[0].index("exploitability \u2193")] for row in results[1:]}
    among = {row[0]: row[-1] for row in members[1:]}
    assert alone["Base"] == among["Base"]
    assert "Base" in copied(cycles=[["base", "b", "c"]]).texts["population"].partition("beats b")[0][-8:]
    with (league.path / "metrics.jsonl").open() as file:
        lines = file.read()
    try:
        (league.path / "metrics.jsonl").write_text('{"step": 1, "sft/loss": 1.0}\n{"step": 2, "loss": 1.0}\n')
        rows = Page(report_html(league)).tables_of("population")[0]
        assert rows[1][0] == "SFT", "its members begin with the result of SFT"
    finally:
        (league.path / "metrics.jsonl").write_text(lines)


def test_the_chosen_checkpoint_is_the_same_in_every_table(league):
    page, models = Page(report_html(league)), json.loads((league.path / "models.json").read_text())["models"]
    (step,) = [int(label.partition("/")[0]) for label, one in models.items() if "/" in label and one == models["best"]
               and label[0].isdecimal()]  # fmt: skip
    chosen = [row for row in page.tables_of("population")[0] if row[1] == "main, chosen"]
    assert [row[0] for row in chosen] == [f"main-{step:06d}"]
    assert any(row[0] == f"League (step {step})" for row in page.tables_of("results")[0])


def test_the_way_of_a_learner_stands_beside_its_average(league, copied):
    page, table = Page(report_html(league)), json.loads((league.path / "league.json").read_text())
    own, average = page.traces_of("population")
    assert own["x"] == average["x"] == [1, 2]
    assert average["y"] == [one["average"] for one in table["over_time"]["main"]]
    assert colour_of(own["role"]) != colour_of(average["role"])
    said = "Its exact exploitability is"
    assert f"{said} {table['nash_exploitability']:.3f}." in page.texts["population"]
    assert said not in copied(nash_exploitability=None).texts["population"]


def colour_of(role):
    """Return the shape or colour of a role on the page."""
    style = resources.files("stratagem.reports").joinpath("plot.css").read_text()
    return re.search(rf"--{role}: (#\w+);", style)[1]


def test_what_moves_inside_is_warned_of(league):
    page = Page(report_html(league))
    assert "do not measure progress" in page.texts["matchmaking"]
    assert {trace["name"] for trace in page.traces_of("matchmaking")} == {"main"}


def test_cycles_and_what_was_forgotten_are_sentences(copied):
    said = copied(cycles=[["a", "b", "c"]] * 30, forgotten=[["late", "early", "<b>bot</b>"]]).texts["population"]
    assert "a beats b, b beats c, and c beats a." in said
    assert "late loses to <b>bot</b>, which early beat." in said
    assert "There are 10 more cycles and forgotten wins." in said
    assert "No significant cycle of three" in copied(cycles=[], forgotten=[], deals=2).texts["population"]
    once = copied(cycles=[], forgotten=[], deals=1).texts["population"]
    assert "Each pair met in one deal, so no cycle and no forgotten win can be significant." in once


def test_who_was_set_aside_is_named(copied):
    assert "main-000001 is disabled: It is gone." in copied(aside={"main-000001": "It is gone."}).texts["population"]


def test_copies_and_outsiders_stand_where_more_than_two_sit(copied, league):
    assert "Collusion of copies" not in Page(report_html(league)).texts["population"]
    table = json.loads((league.path / "league.json").read_text())
    alliance = [None, *[0.25] * (len(table["members"]) - 1)]
    size, told = len(alliance), [None, *[0.1] * (len(alliance) - 1)]
    errors = [[0.3] * size] * size
    rows = copied(seats=3, alliance=alliance, alliance_errors=told, errors=errors).tables_of("population")[1]
    assert [row[3] for row in rows[1:]] == ["–", *["0.25 ± 0.10"] * (size - 1)]
    others = [table["payoff"][row][1] for row in range(len(alliance)) if row != 1]
    mean = f"{sum(others) / len(others):.3f}".replace("-", "\u2212")
    assert rows[2][1] == f"{mean} ± 0.300", "at most that of one, as all outsiders play the same deals"
    assert rows[2][2].endswith("± 0.300")
    without = copied(seats=3, errors=errors).tables_of("population")[1]
    assert without == [row[:3] for row in rows]
    known = copied(seats=3, errors=errors, outsiders=[{"mean": 0.5, "se": 0.2, "n": 9}] * size)
    assert known.tables_of("population")[1][2][1] == "0.500 ± 0.200"
    assert copied(seats=3, errors=[]).tables_of("population")[1][2][1] == mean, "nothing is known of its error"


@pytest.mark.parametrize("changes", [{"payoff": 3}, {"members": [{"role": "x"}]}, {"elo": "none"}])
def test_a_broken_table_leaves_the_rest(copied, changes):
    page = copied(**changes)
    assert page.sections[:3] == ["pool", "results", "population"]
    assert not page.tables_of("population")


def test_short_columns_are_gaps(copied):
    rows = copied(nash=[], alpha_rank=[], elo=[], exploitability=[]).tables_of("population")[0]
    assert all(row[2] == "–" for row in rows[1:])


def test_a_run_of_grpo_has_a_table_of_every_stage(tmp_path):
    recipe = GRPORecipe.read({**SMALL, "grpo": {**STEPS, "signal_every": 0}})
    page = Page(report_html(trained(tmp_path / "run", recipe, GRPOAlgorithm)))
    assert page.sections[0] == "results"
    rows = page.tables_of("results")[0]
    assert rows[1][0] == "Base"
    assert any(row[0].startswith("GRPO") for row in rows)
    (null,) = (row for row in rows if row[0] == "null")
    assert null[rows[0].index("win rate \u2191")] == "0.500"
    assert "exploitability \u2193" in rows[0]
