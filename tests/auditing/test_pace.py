"""Time of an audit: from what its own steps took, or as stated; and what is long."""

import json
import re

import pytest
from flawed import Equilibrium

import stratagem as sg
from stratagem.base.errors import BadRecord
from stratagem.measure.audit.pace import FILE, Pace, decisions_of, in_words, read_pace, warnings_of
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.run import run_audit


def test_a_pace_counts_the_agents_own_decisions_and_none_twice(tmp_path):
    out, lines = tmp_path / "audit", []
    plan = plan_audit(Equilibrium(), ["kuhn"], 300)
    card = run_audit(plan, out, progress=lambda done, total, text: lines.append(text))
    pace = read_pace(out)
    assert pace.decisions == card.cost.decisions
    assert pace.seconds > 0.0
    assert [" left" in line for line in lines] == [False, *[True] * (len(lines) - 1)]
    run_audit(plan_audit(Equilibrium(), ["kuhn"], 300), out)
    assert read_pace(out) == pace


def test_nothing_measured_is_no_pace(tmp_path):
    assert read_pace(None).per_second is None
    assert read_pace(tmp_path).per_second is None
    assert Pace(10, 4.0).per_second == 2.5


@pytest.mark.parametrize("text", ["", "[]", json.dumps({"decisions": -1, "seconds": 2}), '{"decisions": "7"}'])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(BadRecord, match="no pace of an audit"):
        read_pace(tmp_path)


def test_long_games_are_named_before_they_are_played():
    assert warnings_of(plan_audit("random", ["kuhn"], 300)) == []
    (line,) = warnings_of(plan_audit("random", ["ipd(rounds=100)"], 4000))
    assert line.startswith("ipd(rounds=100) is long: an episode has about 200 decisions of 2 seats, and 800 decisions")
    (many,) = warnings_of(plan_audit("random", ["kuhn"], 200_000))
    assert many.startswith("This audit asks for 130,018 decisions")


@pytest.mark.parametrize(("seconds", "words"), [(5, "5 s"), (600, "10 min"), (9000, "2.5 h")])
def test_times_are_written_in_words(seconds, words):
    assert in_words(seconds) == words


def test_progress_counts_decisions_calls_and_money(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_PRICE", "1/2")
    shown = []
    plan = plan_audit("tiny", ["kuhn(hands=1)"], 60)
    card = run_audit(plan, tmp_path / "audit", progress=lambda *one: shown.append(one))
    done, totals, texts = zip(*shown, strict=True)
    assert list(done) == sorted(done)
    assert (done[0], {*totals}) == (0, {sum(step.decisions for step in plan.steps if not step.why_not)})
    assert done[-1] > 0.5 * totals[0]
    last = re.fullmatch(r"kuhn\(hands=1\): \w+, (\d+) calls, price (0\.\d{4}), about \d+ s left", texts[-1])
    assert (int(last[1]), float(last[2])) == (card.cost.calls, pytest.approx(card.cost.money, abs=1e-4))


class Stopping(Equilibrium):
    """The equilibrium, until somebody interrupts it."""

    asked = 0

    def turn(self, ask):
        type(self).asked += 1
        if type(self).asked == 200:
            raise KeyboardInterrupt
        return super().turn(ask)


def test_an_interrupted_audit_knows_its_pace_and_what_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(Stopping, "asked", 0)
    out = tmp_path / "audit"
    before = sg.plan_audit(Stopping(), games="kuhn", decisions=900, out=out)
    assert (before.recorded, before.seconds) == (0, None)
    with pytest.raises(KeyboardInterrupt):
        sg.audit(Stopping(), games="kuhn", decisions=900, out=out, progress=False)
    planned = sg.plan_audit(Stopping(), games="kuhn", decisions=900, out=out)
    assert 0 < planned.recorded <= 200
    left = sum(step.most for step in planned.plan.steps) - planned.recorded
    assert planned.seconds == pytest.approx(left / read_pace(out).per_second)
    said = " ".join(planned.remarks())
    assert f"{planned.recorded} of {left + planned.recorded} decisions are recorded" in said
    assert "Time for the rest: " in said
    assert "unknown" not in said


def test_a_finished_audit_has_no_rest_and_another_audit_nothing_recorded(tmp_path):
    out = tmp_path / "audit"
    sg.audit("random", games="kuhn", decisions=400, out=out, progress=False)
    planned = sg.plan_audit("random", games="kuhn", decisions=400, out=out)
    assert planned.recorded == sum(step.most for step in planned.plan.steps if not step.why_not)
    assert planned.seconds == 0.0
    for other in ({"seed": 3}, {"decisions": 300}, {"player": "AlwaysBet"}):
        asked = {"player": "random", "games": "kuhn", "decisions": 400} | other
        assert sg.plan_audit(asked.pop("player"), **asked, out=out).recorded == 0
    (out / "card.json").unlink()
    last = next(step for step in reversed(planned.plan.steps) if not step.why_not)
    before = sg.plan_audit("random", games="kuhn", decisions=400, out=out).recorded
    assert planned.recorded - last.decisions <= before <= planned.recorded


def test_a_step_that_goes_on_writes_its_pace(tmp_path, monkeypatch):
    monkeypatch.setattr("stratagem.measure.audit.pace.KEPT_AFTER", 0.0)
    out, seen = tmp_path / "audit", []
    run_audit(plan_audit(Equilibrium(), ["kuhn"], 300), out, progress=lambda *_: seen.append(read_pace(out).decisions))
    assert seen[0] == 0
    assert 0 < seen[3] < seen[-1]


def test_the_bar_of_a_baseline_names_it():
    texts = []
    plan = plan_audit(Equilibrium(), ["kuhn"], 300, against=Equilibrium())
    run_audit(plan, progress=lambda done, total, text: texts.append(text))
    named = [text.startswith("baseline, kuhn: ") for text in texts]
    assert named == sorted(named)
    assert any(named)
    assert not all(named)


@pytest.mark.parametrize(
    ("agent", "decisions"), [("AlwaysBet", 300), ("noise(AlwaysBet, p=0.2)", 300), ("noise(AlwaysBet, p=0.2)", 900)]
)
def test_an_audit_asks_for_no_more_than_its_plan_tells(agent, decisions):
    planned = sg.plan_audit(agent, games="kuhn(hands=1)", decisions=decisions)
    asked = sg.audit(agent, games="kuhn(hands=1)", decisions=decisions, progress=False).card.cost.decisions
    most = decisions_of(planned.plan)
    assert asked <= most
    further = most - sum(step.decisions for step in planned.plan.steps)
    assert f"At most {most:,} decisions, if games take as many as in random play: {further} of" in " ".join(
        planned.remarks()
    )
