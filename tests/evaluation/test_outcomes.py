"""Failed requests are part of a figure: counted once for every face, and too many of them give status 1."""

import json
import re
import shlex
import sys

import pytest
from typer.main import get_command

import stratagem as sg
from stratagem.base.named_files import naming
from stratagem.base.settings import Settings
from stratagem.cli.main import app, main
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt
from stratagem.language.engines.outcomes import Outcomes, OutcomesByModel, count_outcomes, counting_outcomes
from stratagem.language.engines.remote.terms import change_terms
from stratagem.learn.monitor import TrainingWarning
from stratagem.measure.matchups import Evaluator
from stratagem.measure.suites import Suite, SuiteLine
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.sections.results import results
from stratagem.training.evaluation import Final
from stratagem.training.runs.folder import RunFolder

AGENT = """
import json, os, sys
path = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "count")
for line in sys.stdin:
    question = json.loads(line)
    if question["type"] == "hello":
        print(json.dumps({"id": question["id"], "type": "hello", "protocol": 1}), flush=True)
        continue
    asked = int(open(path).read()) if os.path.exists(path) else 0
    with open(path, "w") as file:
        file.write(str(asked + 1))
    if asked % int(sys.argv[1]) == 1:
        sys.exit(1)
    choices = question["choices"]
    print(json.dumps({"id": question["id"], "action": (choices.get("actions") or ["0"])[0]}), flush=True)
"""


@pytest.fixture
def dies(tmp_path, monkeypatch):
    """The command of an agent that ends at the second question and every so many after it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "agent.py").write_text(AGENT)
    with naming():
        yield lambda every: f"cmd:{shlex.quote(sys.executable)} -S {tmp_path / 'agent.py'} {every}"


def ended(capsys, *words):
    """The status of a command, and what it printed and complained of."""
    with pytest.raises(SystemExit) as end:
        main([*words])
    printed = capsys.readouterr()
    return end.value.code, printed.out, printed.err


def spaced(text):
    return " ".join(text.split())


def commands():
    """All commands by name."""
    return get_command(app).commands


def call(finish):
    return Call(policy=PolicyId("m"), prompt=Prompt(()), text="", finish=finish)


@pytest.mark.parametrize(
    ("failed", "requests", "share", "expected"),
    [
        (2, 8, 0.02, True),
        (1, 8, 0.02, False),
        (1, 8, 0.0, True),
        (0, 8, 0.0, False),
        (2, 100, 0.02, False),
        (3, 100, 0.02, True),
        (2, 8, 0.25, False),
    ],
)
def test_too_many_failures_are_a_share_of_which_one_is_always_allowed(failed, requests, share, expected):
    assert Outcomes(requests=requests, failed=failed).exceeds(share) == expected


def test_refusals_and_filters_are_data_and_counted_apart():
    with counting_outcomes() as outer:
        count_outcomes([call("timeout")])
        with counting_outcomes() as inner:
            count_outcomes(map(call, ("done", "refusal", "filter", "exit", "length")))
    assert inner.models == {"m": Outcomes(requests=5, failed=1, refused=1, filtered=1)}
    assert outer.models == {"m": Outcomes(requests=6, failed=2, refused=1, filtered=1)}
    assert OutcomesByModel({"m": Outcomes(requests=4, refused=4)}).too_many(0.0) == ""
    assert inner.to_json()["m"]["refused_share"] == 0.2
    count_outcomes([call("timeout")])
    assert outer.models["m"].requests == 6, "what comes later is counted by nobody"


def test_an_evaluation_with_failures_prints_and_writes_its_figures_and_ends_with_status_1(dies, tmp_path, capsys):
    words = ["eval", "kuhn(hands=1)", "--player", dies(4), "--opponents", "random", "--episodes", "4", "--no-chance"]
    status, printed, complaint = ended(capsys, *words, "--max-failures", "1", "--out", "figures.json")
    told = spaced(complaint)
    assert status == 1
    assert re.search(r"gave no reply to (\d+) of (\d+) requests: `?--max-failed 0.02`? allows a smaller share", told)
    assert "without a reply (" in spaced(printed)
    assert "kuhn(hands=1)" in printed
    ((_, found),) = json.loads((tmp_path / "figures.json").read_text())["requests"].items()
    assert found["failed"] >= 2
    assert found["failed_share"] == found["failed"] / found["requests"]
    assert (found["refused"], found["filtered"]) == (0, 0)
    assert ended(capsys, *words, "--max-failures", "1", "--max-failed", "0.9")[0] == 0


def test_failures_of_an_earlier_session_count_after_a_resume_and_in_the_figures_of_a_record(dies, capsys):
    words = ["eval", "kuhn(hands=1)", "--player", dies(4), "--opponents", "random", "--episodes", "4", "--no-chance"]
    words += ["--max-failures", "1", "--record", "record"]
    first = json.loads(ended(capsys, *words, "--json")[1])["requests"]
    status, printed, _ = ended(capsys, *words, "--resume", "--json")
    assert (status, json.loads(printed)["requests"]) == (1, first)
    status, printed, _ = ended(capsys, "eval", "--from", "record", "--json")
    assert (status, json.loads(printed)["requests"]) == (1, first)


@pytest.mark.runs
def test_a_tournament_an_audit_and_measures_of_talk_count_failures_too(dies, capsys):
    agent = dies(4)
    commands = {
        "tournament": ["kuhn(hands=1)", "--players", agent, "random", "--episodes", "4"],
        "audit": [agent, "--games", "kuhn(hands=1)", "--decisions", "200"],
        "talk": ["talk(kuhn(hands=1))", "random", agent, "--episodes", "2"],
        "collusion": ["talk(public-goods(rounds=1))", "random", agent, "random", "--deals", "2"],
    }
    for name, words in commands.items():
        with sg.servers(max_failures=1.0):
            status, printed, complaint = ended(capsys, name, *words, "--json")
        assert status == (3 if name == "audit" else 1), (name, complaint)
        data = json.loads(printed)
        requests = data["requests"] if isinstance(data, dict) else data[0]["requests"]
        assert sum(row["failed"] for row in requests.values()) >= 2, name
        assert "allows a smaller share" in spaced(complaint), name


def test_a_python_result_has_the_counts_and_says_where_failures_are_too_many(dies):
    agent = dies(4)
    with sg.servers(max_failures=1.0):
        result = sg.evaluate("kuhn(hands=1)", agent, opponents=["random"], episodes=4, chance=False, progress=False)
        assert result.outcomes.models[agent].failed >= 2
        assert any("`max_failed=0.02` allows a smaller share" in remark for remark in result.remarks())
    with sg.servers(max_failures=1.0, max_failed=0.9):
        assert not any("allows a smaller share" in remark for remark in result.remarks())
    with pytest.raises(sg.StratagemError, match="max_failed"):
        sg.servers(max_failed=2)


def test_a_final_evaluation_of_training_counts_failures_and_its_report_shows_them(dies, tmp_path):
    agent = dies(4)
    sg.allow(agent)
    suite = Suite("s", "A suite.", (SuiteLine("kuhn(hands=1)", {"opponents": (agent,)}),), ("payoff",), 4)
    run = RunFolder.create(tmp_path / "run", Settings(), seed=1, command="a test")
    with run.at_work(), change_terms(max_failures=1.0), pytest.warns(TrainingWarning, match="exited with status 1"):
        Final(suite, Evaluator(4, Key(0)), seed=0).write(run, {})
    ((_, found),) = json.loads((run.path / "evaluation.json").read_text())["requests"].items()
    assert found["failed"] >= 1
    assert f"{found['failed']} without a reply" in results(RunData(run)).body


def test_every_command_with_figures_takes_the_limit():
    options = {
        name: {flag for one in command.loaded.params for flag in one.opts} for name, command in commands().items()
    }
    limited = {name for name, flags in options.items() if "--max-failed" in flags}
    assert {name for name, flags in options.items() if "--max-failures" in flags} <= limited
    assert limited >= {"eval", "audit", "tournament", "talk", "collusion", "train", "sweep"}
