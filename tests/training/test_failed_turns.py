"""Turns at which a player fails while others are trained: found, counted, warned of once, and fatal to a strict run."""

import json
import warnings

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.base.consent.table import allow
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learn.monitor import CheckFailed, TrainingWarning
from stratagem.players.base import Scripted
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.training.loop import report_failed_turns
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

KUHN = make_game("kuhn(hands=1)")


class Divides(Scripted):
    """A player whose code fails."""

    def strategy(self, view):
        return 1 / 0


def episodes(opponent, number=4):
    return list(
        play(rotate_seats(Match(KUHN, [make_player("random", KUHN), opponent]), number, Key(0), name="failing"))
    )


@pytest.mark.parametrize("made", [False, True], ids=["as rows", "as decisions"])
def test_each_failed_turn_is_found_with_its_message(made):
    played = episodes(Divides())
    wanted = [(row.seat, row.said) for one in episodes(Divides()) for row in one.decisions if row.how == "error"]
    assert len(wanted) >= 4
    if made:
        assert all(one.decisions for one in played)
    assert [turn for one in played for turn in one.failed_turns()] == wanted
    assert {said for _, said in wanted} == {"ZeroDivisionError: division by zero"}
    assert not any(one.failed_turns() for one in episodes(make_player("NashApprox", KUHN)))


def test_the_first_is_warned_of_and_later_steps_are_counted():
    findings = {}
    with pytest.warns(TrainingWarning, match=r"Divides failed in \d+ turns of a step.*ZeroDivisionError"):
        assert report_failed_turns(episodes(Divides()), 3, findings) == {"checks/failed_turn": 1.0}
    first = dict(findings["failed_turn"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report_failed_turns(episodes(Divides()), 4, findings)
        assert report_failed_turns(episodes(make_player("random", KUHN)), 5, findings) == {}
    assert (first["level"], first["count"], first["step"]) == ("fault", 1, 3)
    assert findings["failed_turn"] == {**first, "count": 2}


def test_a_strict_run_stops():
    with pytest.raises(CheckFailed, match="failed_turn"):
        report_failed_turns(episodes(Divides()), 0, {}, strict=True)


FAILS = """
from stratagem.players.base import Scripted

class Fails(Scripted):
    def strategy(self, view):
        return 1 / 0
"""


@pytest.mark.runs
@pytest.mark.parametrize("name", ["grpo", "league"])
def test_failed_turns_of_a_validation_are_found(tmp_path, name):
    (tmp_path / "own.py").write_text(FAILS)
    allow(str(tmp_path / "own.py"))
    settings = {"algorithm": name, **RECIPES[name], "opponents": [f"{tmp_path}/own.py:Fails"]}
    recipe = algorithm_of(settings).recipe_type.read(settings)
    run = RunFolder.create(tmp_path / "run", recipe, 0, "a test")
    with pytest.warns(TrainingWarning, match=r"own.py:Fails failed in \d+ turns of a step.*ZeroDivisionError"):
        bound(recipe, run).train()
    found = json.loads((run.path / "findings.json").read_text())["failed_turn"]
    assert (found["level"], found["step"]) == ("fault", 0)
    curve = read_metrics(run)["checks/failed_turn"]
    assert (curve.steps[0], found["count"]) == (0, len(curve.steps))


@pytest.mark.runs
def test_an_opponent_that_fails_in_the_final_evaluation_alone_is_told_of(tmp_path):
    (tmp_path / "own.py").write_text(FAILS)
    allow(str(tmp_path / "own.py"))
    final = {"episodes": 2, "opponents": ["random", f"{tmp_path}/own.py:Fails"]}
    settings = {"algorithm": "scopal", **RECIPES["scopal"], "final_evaluation": final}
    recipe = algorithm_of(settings).recipe_type.read(settings)
    run = RunFolder.create(tmp_path / "run", recipe, 0, "a test")
    said = r"In the final evaluation in kuhn\(hands=1\) a turn of .*own.py:Fails failed: ZeroDivisionError: division"
    with pytest.warns(TrainingWarning, match=said):
        bound(recipe, run).train()
