"""Action for GitHub, run as a runner does: the card, the statuses, the baseline, and inputs that are no programs."""

import re
from xml.etree import ElementTree

import pytest
from actions import ACTION, CALL, ROOT, STEPS, act, is_chosen, shell

import stratagem as sg

__all__ = ["act", "shell"]
GAME = {"games": "kuhn", "decisions": "300", "install": "false"}
FLAW = "kuhn.exploitability.lower > 0.1"


def test_no_input_is_part_of_a_script():
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []
    passed = {found[1] for step in STEPS for found in CALL.findall(str([step.get("env"), step.get("with")]))}
    assert passed | {"install"} == ACTION["inputs"].keys()
    script = (ROOT / "integrations/action/audit.sh").read_text("utf-8")
    (audit,) = [step for step in STEPS if step.get("id") == "audit"]
    assert {*re.findall(r"\$\{?(AUDIT_\w+)", script)} == audit["env"].keys()
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in STEPS if "uses" in step)


def test_card_is_kept_also_where_the_job_fails():
    (keep,) = [step for step in STEPS if "uses" in step]
    assert keep["if"].startswith("always()")
    assert is_chosen(keep["if"], {"artifact": "audit"})
    assert not is_chosen(keep["if"], {"artifact": ""})


@pytest.mark.runs
def test_flaw_fails_the_job_with_a_summary(act):
    fail_if = f"\n  {FLAW}\n  kuhn.illegal > 0.5\n"
    status, summary, outputs, log = act(agent="TightValue", fail_if=fail_if, **GAME)
    assert (status, outputs["status"]) == (1, "1")
    assert r"- kuhn.exploitability.lower \> 0.1: **holds**" in summary
    assert r"- kuhn.illegal \> 0.5: **does not hold**" in summary
    assert "kuhn: an opponent who knows this agent's strategy gains 0.167" in summary
    assert "  - seat 0: Your card is J. You open this hand. PASS" in summary
    assert "python" not in log, "nothing is installed"
    suites = ElementTree.parse(act.work / outputs["junit"]).getroot()
    assert [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None] == [FLAW]
    assert sg.compare_audits(act.work / outputs["card"], act.work / outputs["folder"]).changes
    first, *lines = log.splitlines()
    token = re.fullmatch("::stop-commands::([0-9a-f]{32})", first)[1]
    assert lines.count(f"::{token}::") == 1


@pytest.mark.runs
def test_sound_agent_passes_and_is_compared_with_the_baseline(act):
    sg.audit("TightValue", games="kuhn", decisions=300, out=act.work / "before", progress=False)
    status, summary, outputs, _ = act(
        agent="NashApprox", fail_if=FLAW, baseline="before/card.json", out="the audit", **GAME
    )
    assert (status, outputs["folder"]) == (0, "the audit")
    assert "### Changes since the baseline" in summary
    assert "Changed: kuhn.exploitability" in summary
    (act.work / "not a card").mkdir()
    status, _, _, log = act(agent="NashApprox", baseline="not a card", out="the audit", **GAME)
    assert status == 2
    assert "There is no card of an audit in not a card" in log


@pytest.mark.runs
def test_name_in_a_baseline_is_no_markup_of_the_summary(act):
    sg.audit("TightValue", games="kuhn", decisions=300, out=act.work / "before", progress=False)
    card = act.work / "before/card.json"
    card.write_text(
        card.read_text("utf-8").replace('"kuhn/TightValue"', r'"x\n~~~\n<b>bold</b>\n```\n<i>"', 1), "utf-8"
    )
    status, summary, _, _ = act(agent="NashApprox", baseline="before/card.json", **GAME)
    assert status == 0
    lines = summary.partition("### Changes since the baseline\n\n")[2].rstrip("\n").splitlines()
    assert "    <b>bold</b>" in lines
    assert all(line.startswith("    ") for line in lines), "a block of code that no text can end"


@pytest.mark.runs
def test_endpoint_is_asked_within_the_budget(act, monkeypatch):
    monkeypatch.setenv("STRATAGEM_SERVE_KEY", "a-long-key-of-the-server")
    with sg.serve("NashApprox", "kuhn", port=0) as server:
        server_key = f"a-long-key-of-the-server@{server.url.split('/')[2]}"
        given = {"endpoint": server.url, "model": "NashApprox", "api_key": server_key, **GAME}
        status, summary, _, log = act(budget="20calls", **given)
        assert status == 4, log
        assert "The audit has no card: it ended with status 4" in summary
        assert "The budget of 20 calls is spent" in log
        status, _, _, rest = act(budget="400calls", **given)
    assert status == 0, rest
    assert "a-long-key" not in log + rest + summary


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Give an agent, or an endpoint and a model."),
        ({"agent": "a", "endpoint": "https://x/v1", "model": "m"}, "both are given"),
        ({"endpoint": "https://x/v1"}, "An endpoint needs the name of its model"),
        ({"agent": "a", "baseline": "no/card.json"}, "There is no baseline no/card.json: name the card or the folder"),
        ({"agent": "a", "out": "a\nstatus=0"}, "The folder of the audit has a line break in its name."),
    ],
)
def test_mistake_is_one_sentence(act, given, sentence):
    status, _, outputs, log = act(**given, install="false")
    assert (status, outputs) == (2, {})
    assert sentence in log
    assert len(log.splitlines()) == 1


def test_inputs_reach_the_command_as_they_are(act):
    """Stratagem prints its words here; a text in the place of any input is one of them, and no program."""
    (act.programs / "stratagem").write_text("#!/bin/sh\nprintf '<%s>\\n' \"$@\"\nexit 2\n")
    text = "$(touch hit) `touch hit`; touch hit #"
    names = ("agent", "games", "fail_if", "budget", "prices", "seed", "decisions", "out")
    for name in names:
        status, _, _, log = act(**{"agent": "NashApprox", **GAME, name: text})
        assert status == 2
        assert f"<{text}>" in log.splitlines(), name
    status, _, _, log = act(agent="--help", games=" kuhn \n\n leduc", decisions="", seed="", install="false")
    assert re.findall("<(.*)>", log) == [
        "audit",
        "--out",
        "audit",
        "--games",
        "kuhn",
        "--games",
        "leduc",
        "--",
        "--help",
    ]
    assert [*act.work.iterdir()] == []


def test_install_is_that_of_the_action(act):
    status, _, _, log = act()
    assert status == 2
    assert log.splitlines()[0] == f"python -m pip install --quiet {ROOT}[api]"
