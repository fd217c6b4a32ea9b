"""Plugin of pytest: the agent of a function, what fails it and in which words, and the records that are used again."""

import json
import os
import re
import subprocess
import sys

import pytest

import stratagem as sg
from pytest_plugin import declare_plugin, run_pytest

CAUTIOUS = """
def act(question):
    facts, actions = question["facts"], question["choices"]["actions"]
    if not facts:
        return actions[0]
    if "CALL" in actions:
        return "CALL" if facts["card"] == "K" else "FOLD"
    return "BET" if facts["card"] == "K" else "PASS"
"""
LIGHT = {"", ".api", ".base", ".base.moved", ".base.renamed", ".base.renamed.modules", ".base.renamed.names"}
"""Modules that `import stratagem` loads."""


@pytest.fixture
def run(tmp_path):
    """Function that writes a file of tests and runs it."""
    folder = tmp_path / "tests"
    folder.mkdir()

    def run(source="", *words, **files):
        for name, text in {"test_bots": source, **files}.items():
            if text:
                (folder / f"{name}.py").write_text(f"import pytest\n{text}", "utf-8")
        return run_pytest(folder, *words)

    run.folder = folder
    return run


def outcomes(printed):
    """Return the numbers of the last line by word."""
    last = printed.strip().splitlines()[-1]
    return {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", last)}


def message(printed, test):
    """Return the lines under the title of a failed test."""
    lines = printed.splitlines()
    begin = next(place for place, line in enumerate(lines) if re.fullmatch(f"_+ {re.escape(test)} _+", line)) + 1
    end = next(place for place in range(begin, len(lines)) if re.match(r"___|===|---", lines[place]))
    return lines[begin:end]


def test_pytest_loads_the_plugin_alone(tmp_path):
    """The plugin is found by its entry point, warns of nothing, and no other module of ours is imported with it."""
    (tmp_path / "conftest.py").write_text(
        "import sys\ndef pytest_sessionfinish():\n    print('LOADED', *sorted(sys.modules))\n", "utf-8"
    )
    program = (
        f"import sys; sys.path.insert(0, {str(declare_plugin(tmp_path / 'site'))!r}); import pytest; pytest.main()"
    )
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if "LOADED" in line]
    ours = {name.removeprefix("stratagem") for name in line.split() if name.partition(".")[0] == "stratagem"}
    assert ours == {*LIGHT, ".testing", ".testing.plugin"}
    assert {"numpy", "pydantic", "pyarrow", "scipy", "rich"} & {*line.split()} == set()
    assert "arning" not in done.stdout.replace(line, "") + done.stderr


def test_card_of_an_exploitable_agent_is_the_message(run):
    status, printed = run(
        CAUTIOUS
        + """
        @pytest.mark.exploitability("kuhn", below=0.1, decisions=300)
        def test_is_the_agent(question):
            return act(question)

        @pytest.mark.exploitability("kuhn", below=0.1, decisions=300)
        def test_returns_a_name():
            return "TightValue"
        """.replace("\n        ", "\n")
    )
    assert status == 1
    assert outcomes(printed)["failed"] == 2
    lines = message(printed, "test_is_the_agent")
    assert len(lines) == 10
    assert lines[0] == "kuhn.exploitability.lower > 0.1: holds"
    assert lines[1].startswith("kuhn: an opponent who knows this agent's strategy gains 0.250 (")
    assert lines[3] == "  seat 0: Your card is J. You open this hand. BET"
    assert (run.folder / lines[-1].removeprefix("The card: ")).is_file()
    assert message(printed, "test_returns_a_name")[1].startswith("kuhn: an opponent who knows this agent's strategy")
    assert "Traceback" not in printed
    assert "test_bots.py:" not in printed.partition("short test summary")[0]


@pytest.mark.runs
def test_lower_limit_fails_what_is_shown_and_upper_what_is_not(run):
    _, printed = run("""
@pytest.fixture
def sound():
    return "NashApprox"

@pytest.mark.parametrize("half", [5])
class TestLimits:
    @pytest.mark.exploitability(below=0.05, decisions=300)
    def test_not_shown_to_be_above(self, sound, half):
        return lambda question: question["choices"]["actions"][0]

    @pytest.mark.exploitability(below=2, decisions=300)
    @pytest.mark.exploitability(below=2, limit="upper", decisions=300)
    def test_shown_to_be_below(self, sound, half):
        return sound

    @pytest.mark.exploitability("leduc", below=2, limit="upper", decisions=100)
    def test_cannot_be_judged(self, sound, half):
        return lambda question: question["choices"]["actions"][0]

    @pytest.mark.exploitability(fail_if="kuhn.illegal > 0.5", decisions=220)
    def test_condition_of_another_figure(self, question, sound, half):
        return sound
""")
    assert outcomes(printed) == {"failed": 3, "passed": 1}
    assert message(printed, "TestLimits.test_not_shown_to_be_above[5]")[0].endswith("lower > 0.05: holds")
    assert "upper > 2: inconclusive. leduc.exploitability was not measured." in printed
    assert message(printed, "TestLimits.test_condition_of_another_figure[5]")[0] == "kuhn.illegal > 0.5: holds"


MISTAKES = [
    ("below=0.1", "pass", "test_0 returned None: it should return a player, its name or a function, or have a"),
    ("", "return 'random'", "The mark needs `below=` or `fail_if=`: without a condition it can fail no test."),
    ("blow=0.1", "return 'random'", "The settings of an audit are game, below, limit, fail_if, decisions, seed,"),
    ("below='x'", "return 'random'", "`below` is a number, not 'x'."),
    ("below=1, limit='middle'", "return 'random'", "`limit` is lower or upper, not 'middle'."),
    ("fail_if='kuhn.x > 1'", "return 'random'", "There is no figure of this audit called 'kuhn.x':"),
    ("below=1", "return 'Nobody'", "There is no player of kuhn called 'Nobody'"),
    ("below=1, engine='none'", "return 'random'", "There is no engine called 'none'"),
    ("below=1, version=3", "return 'random'", "`version` is a text, not 3."),
]


def test_mistake_is_one_sentence(run):
    source = "".join(
        f"@pytest.mark.exploitability({mark})\ndef test_{number}():\n    {body}\n"
        for number, (mark, body, _) in enumerate(MISTAKES)
    )
    _, printed = run(source)
    assert outcomes(printed) == {"failed": len(MISTAKES)}
    for number, (*_, sentence) in enumerate(MISTAKES):
        (line,) = message(printed, f"test_{number}")
        assert line.startswith(sentence)


def test_fixture_returns_the_card_or_fails(run):
    _, printed = run("""
def test_card(audit):
    card = audit("TightValue", decisions=300)
    assert [figure.name for figure in card.alarms] == ["kuhn.exploitability"]
    assert card.folder.is_dir()

def test_games(audit):
    card = audit("random", ["kuhn", "ipd(rounds=1)"], below=9, decisions=600)
    assert [*card.outcomes] == ["kuhn.exploitability.lower > 9", "ipd(rounds=1).exploitability.lower > 9"]

def test_condition(audit):
    audit("TightValue", "kuhn", below=0.1, decisions=300)
""")
    assert outcomes(printed) == {"failed": 1, "passed": 2}
    assert message(printed, "test_condition")[0] == "kuhn.exploitability.lower > 0.1: holds"


LOGGED = """
@pytest.mark.exploitability("kuhn", below=9, decisions=220{version})
def test_bot(question):
    with open("calls.txt", "a") as file:
        print("call", file=file)
    return question["choices"]["actions"][{index}]
"""


@pytest.mark.runs
def test_agent_that_may_have_changed_is_asked_again(run):
    calls = run.folder / "calls.txt"

    def count(version, index=0):
        calls.write_text("")
        status, printed = run(LOGGED.format(version=version, index=index))
        assert status == 0, printed
        return len(calls.read_text().splitlines()), printed

    number, printed = count("")
    assert number > 50
    assert "test_bots.py::test_bot: the agent is asked again in each session, since `open` in test_bot may" in printed
    assert count("")[0] == number
    first, printed = count(", version='1'")
    assert first == number
    assert "asked again" not in printed
    assert count(", version='1'")[0] == 0
    assert count(", version='2'")[0] == number
    assert count(", version='1'", index=-1)[0] > 50, "the source counts beside the version"


@pytest.mark.runs
def test_record_is_that_of_the_code_of_a_function(run):
    test = """
from helper import act

# {comment}
@pytest.mark.exploitability("kuhn", below={below}, decisions=220)
def test_bot(question):
    return act(question)
"""

    def count(index=0, below=9, comment="", *words):
        helper = f"INDEX = {index}\n\ndef act(question):\n    return question['choices']['actions'][INDEX]\n"
        status, printed = run(test.format(below=below, comment=comment), *words, helper=helper)
        assert status == 0, printed
        return len([*(run.folder / ".pytest_cache/d/stratagem").glob("*/card.json")])

    assert count() == 1
    assert count(below=8, comment="another limit") == 1
    (record,) = run.folder.glob(".pytest_cache/d/stratagem/*/evaluation.json")
    record.write_text("torn")
    assert count() == 1, "a damaged record is asked for again"
    assert json.loads(record.read_text())["command"] == "audit"
    assert count(index=-1) == 2, "a constant of another module"
    assert count(0, 9, "", "--cache-clear") == 1
    assert count(0, 9, "", "-p", "no:cacheprovider") == 1


@pytest.mark.runs
def test_workers_of_xdist_ask_one_agent_once(run):
    calls = run.folder / "calls.txt"
    bot = """
def act(question):
    with open("calls.txt", "a") as file:
        print("call", file=file)
    return question["choices"]["actions"][0]
"""
    test = """
@pytest.mark.exploitability("kuhn", below=9, decisions=300, version="1")
def test_{}():
    return act
"""
    status, printed = run(bot + "".join(map(test.format, "abcd")), "-n", "2")
    assert status == 0, printed
    together = len(calls.read_text().splitlines())
    calls.unlink()
    status, printed = run(bot + test.format("a"), "--cache-clear")
    assert status == 0, printed
    assert together == len(calls.read_text().splitlines())


@pytest.mark.runs
def test_budget_holds_for_all_workers_together(run):
    """Two workers share 60 calls; all replies are in the records, so the next session goes on from there."""
    test = """
@pytest.mark.exploitability("kuhn", below=9, decisions=220, seed={seed}, version="1")
def test_{seed}():
    return "api:NashApprox@{url}"
"""
    with sg.serve("NashApprox", "kuhn", port=0) as server:
        source = "".join(test.format(seed=seed, url=server.url) for seed in range(2))
        _, stopped = run(source, "-n", "2", "--stratagem-budget", "60calls")
        assert outcomes(stopped) == {"failed": 2}
        assert "The budget of 60 calls is spent (60): " in stopped
        assert "60 of 60 calls spent" in stopped
        _, whole = run(source, "--stratagem-budget", "2000calls")
        assert outcomes(whole) == {"passed": 2}
        _, again = run(source, "--stratagem-budget", "1calls")
        assert outcomes(again) == {"passed": 2}
        assert "0 of 1 calls spent" in again
    (spent,) = re.findall(r"(\d+) of 2000 calls spent", whole)
    cards = [json.loads(path.read_text()) for path in run.folder.glob(".pytest_cache/d/stratagem/*/card.json")]
    assert len(cards) == 2
    assert sum(card["cost"]["calls"] for card in cards) == 60 + int(spent)


def test_wrong_budget_is_one_sentence(run):
    status, printed = run("", "--stratagem-budget", "5")
    assert status == 4
    assert "--stratagem-budget: A budget is an amount and its unit, such as 2000calls" in printed


def test_records_are_few_and_the_newest_stay(tmp_path, monkeypatch):
    from stratagem.base.lock import hold_lock
    from stratagem.testing import agent_tests

    monkeypatch.setattr(agent_tests, "MOST_RECORDS", 1)
    for age, name in enumerate(("new", "old", "in use", "oldest")):
        (tmp_path / name).mkdir()
        lock = tmp_path / f"{name}.lock"
        lock.touch()
        os.utime(lock, (1e9 - age, 1e9 - age))
    (tmp_path / "another.lock").touch()  # of a record that was removed before
    with hold_lock(tmp_path / "in use.lock", "it"):
        agent_tests.drop_old_records(tmp_path)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"new", "in use"}
