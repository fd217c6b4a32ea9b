"""A run whose files were forged: each fault is named, and nothing is walked or raised without an end."""

import json
import math

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.verifier.run_check import exploit_policy, run_checks
from stratagem.verifier.small_tree import EndsWalk

GAME = "kuhn(hands=1)"


def stated(**extra):
    """A uniform policy of every situation, and what is added to each."""
    actions = {known.info_key: known.legal for known in EndsWalk(make_game(GAME)).sets}
    return {key: dict.fromkeys(legal, 1.0 / len(legal)) | extra for key, legal in actions.items()}


def write_run(folder, step=0, game=GAME, lines=()):
    (folder / "policies").mkdir()
    text = json.dumps({"step": step, "game": game, "policy": stated()})
    (folder / "policies" / "one.json").write_text(text)
    (folder / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return {check.name: check for check in run_checks(folder)}


@pytest.mark.parametrize("step", ['"abc"', "1e999", "null", "[1]", "NaN"])
def test_a_step_that_is_no_number_counts_for_no_step(tmp_path, step):
    logged = json.dumps({"step": 0, "kuhn/exact/exploitability": 123.0})
    checks = write_run(tmp_path, lines=[f'{{"step": {step}}}', logged])
    assert checks["policies/one: kuhn/exact/exploitability"].agreement == "differs"


@pytest.mark.parametrize("step", [math.inf, "abc", None])
def test_a_policy_of_no_step_differs(tmp_path, step):
    assert write_run(tmp_path, step=step)["policies/one"].agreement == "differs"


def test_a_game_without_a_small_tree_is_refused_before_it_is_walked(tmp_path):
    check = write_run(tmp_path, game="diplomacy")["policies/one"]
    assert check.agreement == "not recomputed"
    assert "too many to walk again" in check.detail


def test_probabilities_of_the_actions_of_the_game_sum_to_one():
    assert exploit_policy(GAME, stated()) > 0.0
    forged = {key: dict.fromkeys(row, 1.0) for key, row in stated().items()}
    for policy in (
        {key: row | {"PASS": 1.0 - len(row)} for key, row in forged.items()},  # sums to 1 with an action of no game
        stated(PASS=0.1) | {key: dict.fromkeys(row, 0.45) | {"PASS": 0.1} for key, row in stated().items()},
        {key: dict.fromkeys(row, math.nan) for key, row in stated().items()},
    ):
        with pytest.raises(CannotCompute, match="do not sum to 1"):
            exploit_policy(GAME, policy)
