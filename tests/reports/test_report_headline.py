"""The headline: what a run was about, why its objective got worse, and which figure it was chosen by."""

import json

import pytest
from made_runs import LAST, begun, evaluated, keep_policy, whole, write
from reading import Page

from stratagem.algorithms.grpo import GRPORecipe
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.measure.statistics import Estimate
from stratagem.show.evaluation_file import PlayerFigures
from stratagem.show.reports.dominated import LEAST, find_flagged
from stratagem.show.reports.headline import Headline, Measure, headlines, is_won
from stratagem.show.reports.report import report_html
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.stages import TITLES
from stratagem.show.reports.verdict import explain_decrease, parts, verdict


def row(**means):
    return PlayerFigures.model_validate(
        {"player": "x", "metrics": {name: {"mean": mean, "se": 0.001, "n": 9} for name, mean in means.items()}}
    )


SAFE = row(payoff=0.075, pool_advantage=0.083, safety=0.075 - 1.5 * 0.083)


def test_the_part_that_moved_the_objective_down_is_named():
    worse = row(payoff=0.015, pool_advantage=0.080, safety=0.015 - 1.5 * 0.080)
    (said,) = explain_decrease("kuhn", SAFE, worse, {"sepo": {"exploitability_weight": 4.5}})
    assert said == (
        "Safety decreased by 0.055. The largest contribution is \u22120.060 by payoff, which fell from 0.075 to 0.015. "
        "The other terms contribute pool advantage +0.005. Safety is payoff \u2212 1.5 pool advantage. "
        "The recipe trains with pool advantage at 4.5."
    )
    exposed = row(payoff=0.075, pool_advantage=0.183, safety=0.075 - 1.5 * 0.183)
    (said,) = explain_decrease("kuhn", SAFE, exposed, {})
    assert (
        "is \u22120.150 by pool advantage, which rose from 0.083 to 0.183. The other terms contribute payoff 0.000."
        in said
    )
    assert "trains with" not in said


def test_an_objective_that_did_not_fall_is_not_explained():
    assert not list(explain_decrease("kuhn", SAFE, row(payoff=0.1, pool_advantage=0.083, safety=0.0), {}))
    assert not list(explain_decrease("gone", SAFE, row(payoff=0.0, pool_advantage=0.5, safety=-1.0), {})), (
        "no such game"
    )


def test_a_game_that_declares_no_weights_is_explained_with_weights_of_one():
    (said,) = explain_decrease("leduc", SAFE, row(payoff=0.0, pool_advantage=0.5, safety=-1.0), {})
    assert "Safety is payoff \u2212 1.0 pool advantage." in said


@pytest.mark.parametrize("game", ["kuhn", "ipd"])
def test_the_parts_add_up_to_the_change_of_the_objective(game):
    names = ("LooseAggressive", "NashApprox") if game == "kuhn" else ("TitForTat", "AlwaysDefect")
    first, last = (PlayerFigures.model_validate(one) for one in evaluated(game, names)["games"][0]["players"][:2])
    change = last.metrics["safety"].mean - first.metrics["safety"].mean
    assert sum(part.contribution for part in parts(game, first, last)) == pytest.approx(change)


def test_a_checkpoint_chosen_by_the_figure_that_is_shown_is_told_of_with_the_last(tmp_path):
    said = "was selected by this figure"
    by = {
        name: " ".join(verdict(RunData(whole(tmp_path / name, checkpoint_metric=name))))
        for name in ("exploitability", "safety")
    }
    assert f"SEPO (step 8) {said}" in by["exploitability"]
    assert "SEPO, last (step 20) was not selected and has" in by["exploitability"]
    assert said not in by["safety"]


@pytest.mark.parametrize(
    ("game", "won"),
    [("nim", True), ("connect-four", True), ("kuhn", False), ("leduc", False), ("ipd", False), ("gone", False)],
)
def test_only_games_that_are_won_or_lost_have_a_win_rate_in_the_headline(game, won):
    assert is_won(game) == won


def test_a_run_with_sampled_figures_only_is_told_by_them(tmp_path):
    run = begun(tmp_path / "run", algorithm="grpo")
    named = "ipd/validation/payoff", "checkpoint_metric"
    lines = [
        {"step": step, "ipd/validation/pool_advantage": 0.5 - step / 10, **dict.fromkeys(named, step)}
        for step in (0, 2, 4)
    ]
    (run.path / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (found,) = headlines(RunData(run))
    assert found.stages == ("Base", "GRPO (step 4)")
    assert {one.name: one.figures[-1].mean for one in found.measures} == {
        "pool_advantage": pytest.approx(0.1),
        "payoff": 4,
    }


@pytest.mark.parametrize(
    ("algorithm", "recipe"), [("sepo", SEPORecipe), ("grpo", GRPORecipe), ("league", LeagueRecipe)]
)
def test_a_stage_is_called_as_the_trainer_calls_it(algorithm, recipe):
    assert TITLES[algorithm] == recipe.title


def test_dominated_actions_are_flagged_before_and_after(tmp_path):
    run = whole(tmp_path / "run")
    found = {(one.situation, one.action): one for one in find_flagged(RunData(run))}
    fold = found["K, second, facing a bet", "FOLD"]
    assert (fold.by, fold.strict, fold.before, fold.now) == ("CALL", True, pytest.approx(0.5), pytest.approx(0.3))
    assert not any(situation.startswith("Q") for situation, _ in found), "no action of a queen is dominated"
    page = Page(report_html(run))
    (rows,) = page.tables_of("dominated")
    assert rows[0] == [
        "information set",
        "dominated action",
        "dominance",
        "SFT",
        "SEPO (step 8)",
        "SEPO, last (step 20)",
    ]
    assert ["K, second, facing a bet", "FOLD, by CALL", "strict", "0.500", "0.300", "0.000"] in rows
    assert ["K, second, after a pass", "PASS, by BET", "weak", "0.500", "0.300", "0.000"] in rows
    assert "The policy plays dominated actions:" in page.texts[""]
    assert "(30\u00a0%, 50\u00a0% before)" in page.texts[""]


def test_a_policy_without_dominated_actions_is_praised(tmp_path):
    run = begun(tmp_path / "run")
    keep_policy(run, LAST)
    assert f"No dominated action has a probability of {LEAST:.0%}" in Page(report_html(run)).texts["dominated"]


@pytest.mark.runs
def test_a_policy_without_a_situation_of_which_something_is_known_has_no_such_section(tmp_path):
    run = begun(tmp_path / "run", game="ipd")
    write(run, "policies/ipd-0.json", {"step": 0, "game": "ipd", "policy": {"": {"COOPERATE": 0.75, "DEFECT": 0.25}}})
    assert "dominated" not in Page(report_html(run)).sections


def test_vertical_axes_hold_zero_and_shares_go_to_one(tmp_path):
    page = Page(report_html(whole(tmp_path / "run")))
    axes = [data["layout"]["yaxis"] for inside, data in page.data if inside in ("curves", "signals")]
    assert axes
    for axis in axes:
        low, high = axis.get("range", (0.0, 0.0))
        assert axis.get("rangemode") == "tozero" or low <= 0.0 <= high, axis


def test_the_rate_of_illegal_replies_is_drawn_as_a_share_where_it_is_all_that_is_known_of_a_game(tmp_path):
    """With one point at 0 an axis of its own went from -1 to 1."""
    run = begun(tmp_path / "run", algorithm="scopal")
    (run.path / "metrics.jsonl").write_text('{"step": 1, "nim/illegal_rate": 0.0}\n')
    page = Page(report_html(run))
    (drawn,) = [data for inside, data in page.data if inside == "curves"]
    assert drawn["layout"]["yaxis"]["range"] == [-0.02, 1.02]
    assert "Illegal replies" in page.texts["curves"]


def test_stages_of_several_policies_are_apart():
    stages = ("A: Base", "A: GRPO (step 2)", "A: GRPO, last (step 3)", "B: Base", "B: GRPO (step 2)")
    measure = Measure("payoff", tuple(Estimate(mean=float(number)) for number in range(5)))
    first, second = Headline("kuhn", stages, 4, (measure,)).by_policy()
    assert (first.stages, first.chosen) == (stages[:3], 1)
    assert (second.stages, second.chosen) == (stages[3:], 1)
    assert [figure.mean for figure in second.measures[0].figures] == [3.0, 4.0]
    (whole,) = first.by_policy()
    assert whole == first
