"""`stratagem audit` and `compare`: exit statuses, files and output."""

import json
import shutil
import signal

import pytest

from stratagem.cli.interrupts import TerminationRequest
from stratagem.language.engines.remote.budget import BudgetSpent
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.measure.audit.probes.matches import MatchesProbe

TEXT_FOR_NUMBER = json.dumps(
    {"card": 1, "agent": "a", "games": [], "decisions": 1, "seed": 0}
    | {"figures": [{"name": "kuhn.illegal", "group": "competence", "value": "abc"}]}
)
OF_KUHN = ("--games", "kuhn", "--decisions", "300")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("audits")


@pytest.fixture
def audited(run, folder):
    """Audit a passive player in Kuhn poker, in one folder for all tests."""
    return lambda *more: run("audit", "TightPassive", *OF_KUHN, "--out", folder / "passive", *more)


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("kuhn.exploitability.lower > 0.05", 1),
        ("kuhn.exploitability.lower > 0.9", 0),
        ("kuhn.safety < 0", 3),
        ("kuhn.words > 0", 3),
    ],
)
def test_a_condition_sets_the_status(audited, condition, status):
    found, printed, _ = audited("--fail-if", condition)
    assert found == status
    assert f"{condition}: " in printed


def test_the_folder_holds_the_card_in_four_forms(audited, folder):
    status, printed, _ = audited("--json")
    assert status == 0
    card = json.loads(printed)
    assert card["agent"] == "kuhn/TightPassive"
    stored = json.loads((folder / "passive" / "card.json").read_text())
    assert {**stored, "conditions": {}} == card
    assert {"card.html", "card.md", "junit.xml", "records"} <= {path.name for path in (folder / "passive").iterdir()}


def test_a_figure_that_was_not_measured_has_a_reason(run, tmp_path, monkeypatch):
    """The function knows the cards of the game alone, as that of the tutorial."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mute.py").write_text(
        "def act(question):\n    question['facts']['card']\n    return question['choices']['actions'][0]\n"
    )
    status, printed, _ = run("audit", "mute.py:act", "--games", "kuhn", "--decisions", 600)
    text = " ".join(printed.split())
    assert status == 0
    assert "kuhn.rules: not measured. It gave no reply to 2 such questions: The agent mute.py:act raised" in text
    assert "kuhn.words: not measured." in text


def test_the_exploiting_strategy_is_printed(audited):
    _, printed, _ = audited()
    assert "To exploit it in kuhn:" in printed
    assert "Your card is J." in printed


def test_a_dry_run_asks_nothing(run, tmp_path):
    status, printed, _ = run("audit", "random", "--dry-run", "--json", "--decisions", "5000")
    plan = json.loads(printed)
    assert status == 0
    assert {step["game"] for step in plan["steps"]} == {"kuhn", "ipd(rounds=3)", "icg(rounds=3)", "tic-tac-toe"}
    assert sum(step["decisions"] for step in plan["steps"]) <= 5000
    assert all(bool(step["decisions"]) != bool(step["why_not"]) for step in plan["steps"])


@pytest.mark.parametrize("speed", ["0", "inf"])
def test_a_speed_is_above_0(run, speed):
    status, _, said = run("audit", "random", "--dry-run", "--calls-per-second", speed)
    assert (status, said) == (2, f"A speed is a number above 0: --calls-per-second {float(speed)} is none.")


def test_a_speed_is_for_a_dry_run(run):
    status, printed, said = run("audit", "random", "--calls-per-second", "5")
    assert (status, printed) == (2, "")
    assert said == "Leave out what has an effect with --dry-run alone: --calls-per-second."


def test_a_dry_run_tells_the_largest_cost_of_a_model_behind_a_server(run, tmp_path):
    """The price of a million tokens is 1 for prompts and 2 for replies of at most 256 tokens; nothing is sent."""
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "usd"\n[m]\nprompt = 1.0\nreply = 2.0\n')
    options = ("--games", "kuhn", "--decisions", "1000", "--dry-run", "--prices", prices, "--json")
    status, printed, _ = run("audit", "api:m@http://127.0.0.1:9/v1", *options)
    planned = json.loads(printed)
    cost = planned["at_most"]
    assert status == 0
    assert cost["reply_tokens"] == 256 * cost["calls"]
    assert cost["calls"] == sum(step["decisions"] for step in planned["steps"]) + 18  # 5 deals show the best response
    assert cost["money"] == pytest.approx((cost["prompt_tokens"] + 2 * cost["reply_tokens"]) / 1e6)
    assert cost["action_money"] == pytest.approx((cost["prompt_tokens"] + 2 * cost["action_tokens"]) / 1e6, abs=1e-5)
    assert 2 * cost["calls"] < cost["action_tokens"] <= 3 * cost["calls"]  # BET, PASS, CALL and FOLD
    printed = " ".join(run("audit", "api:m@http://127.0.0.1:9/v1", *options[:-1])[1].split())
    alone = f"If a reply is an action alone: {cost['action_tokens']:,} reply tokens, {cost['action_money']:.2f} usd."
    assert alone in printed


def test_the_folder_of_an_unfinished_audit_is_no_lost_card(audited, run, folder, tmp_path):
    audited()
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    shutil.copy(folder / "passive" / "evaluation.json", unfinished)
    for command in (("compare", folder / "passive", unfinished), ("leaderboard", folder / "passive", unfinished)):
        status, _, said = run(*command)
        assert status == 2
        assert said == f"The audit in {unfinished} is not finished: the command that began it goes on with it."
    (unfinished / "evaluation.json").write_text('{"command": "eval"}')
    assert "There is no card of an audit in" in run("compare", folder / "passive", unfinished)[2]


def test_two_audits_are_compared(audited, run, folder):
    audited()
    status, printed, _ = run("compare", folder / "passive", folder / "passive" / "card.json")
    assert status == 0
    assert "No figure changed beyond its limits." in printed
    nothing = folder / "nothing"
    for lost in (nothing, nothing / "card.json"):
        status, _, said = run("compare", folder / "passive", lost)
        assert status == 2
        assert said == f"There is no audit at {lost}: stratagem audit PLAYER --out {nothing} makes one."


def test_a_card_that_is_none_is_refused(run, tmp_path):
    for text in ("", "[]", '{"card": 1}', '{"card": 99}', '{"card": 1, "figures": [1]}', TEXT_FOR_NUMBER):
        (tmp_path / "card.json").write_text(text)
        status, _, said = run("compare", tmp_path, tmp_path)
        assert (status, "card" in said) == (2, True)


def test_a_server_that_fails_is_no_condition_that_holds(run, monkeypatch):
    def fail(*_, **__):
        raise ServerFailed("12 of 71 requests failed.")

    monkeypatch.setattr("stratagem.api.audits.run_audit", fail)
    status, _, said = run("audit", "random", "--fail-if", "kuhn.illegal > 0.5")
    assert (status, "12 of 71" in said) == (3, True)


AFTER = {
    None: "Nothing was kept: with --out FOLDER it can continue after an interruption.",
    "mine": "The same command goes on with the audit in mine.",
}


@pytest.mark.parametrize("out", AFTER)
@pytest.mark.parametrize(
    ("stop", "status", "says"),
    [
        (BudgetSpent("The budget of 5 calls is spent."), 4, "The budget of 5 calls is spent."),
        (ServerFailed("12 of 71 requests failed."), 3, "12 of 71 requests failed."),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (TerminationRequest(), 143, "Interrupted."),
    ],
)
def test_a_stopped_audit_says_how_to_continue(run, monkeypatch, out, stop, status, says):
    def stopped(*_, **__):
        raise type(stop)(*stop.args[:1])

    monkeypatch.setattr("stratagem.api.audits.run_audit", stopped)
    found, printed, said = run("audit", "random", *(("--out", out) if out else ()))
    assert (found, printed, said) == (status, "", f"{says} {AFTER[out]}")


def test_a_signal_stops_an_audit_that_continues(run, monkeypatch, tmp_path):
    """The first step is measured; the second begins with the signal."""
    measure, measured = MatchesProbe.measure, []

    def terminated(probe, task):
        measured.append(probe)
        signal.raise_signal(signal.SIGTERM)
        return measure(probe, task)

    monkeypatch.setattr(MatchesProbe, "measure", terminated)
    status, _, said = run("audit", "TightPassive", *OF_KUHN, "--out", tmp_path / "audit")
    assert (status, len(measured), "goes on with the audit in" in said) == (143, 1, True)
    monkeypatch.setattr(MatchesProbe, "measure", measure)
    assert run("audit", "TightPassive", *OF_KUHN, "--out", tmp_path / "audit")[0] == 0
