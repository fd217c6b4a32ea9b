"""Long commands speak: each that may take over two seconds shows how far it is, as a bar or in lines."""

import inspect
import os
import subprocess
import sys
from itertools import count

import pytest

import stratagem as sg
from stratagem.api import progress as progress_module
from stratagem.api.progress import bar, show_progress
from stratagem.cli.commands import COMMANDS, function_named

QUICK = {
    "games": "lists what is in tables",
    "players": "lists what is in tables",
    "engines": "looks for installed packages",
    "recipes": "reads the shipped files",
    "compare": "reads two cards",
    "leaderboard": "reads cards",
    "new": "writes a few files",
    "prompt": "prints the first turns of one game",
    "runs": "reads the small files of runs",
    "upgrade": "rewrites the settings of one run",
    "watch": "shows a run itself, until it ends",
    "serve": "answers until it is closed",
    "mcp": "answers until it is closed; its option --audit has a bar",
    "show": "lists episodes as it reads them",
    "view": "shows pages until it is closed; its option --export has a bar",
    "trust": "writes one line",
}
"""Commands without progress, with the reason."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_progress_or_a_reason(command):
    parameters = inspect.signature(function_named(COMMANDS[command].function)).parameters
    assert ("progress" in parameters) != (command in QUICK)


@pytest.fixture
def shown(monkeypatch):
    """Progress that is shown where no terminal is."""
    seen = []
    monkeypatch.setattr(progress_module, "show_in_lines", lambda console: lambda *one: seen.append(one))
    return seen


def play(place):
    return sg.play("kuhn", "random", episodes=3, record=place / "record")


def report(place):
    sg.evaluate("kuhn", "random", episodes=2, chance=False, record=place / "run")
    return sg.report(place / "run")


def steps(place):
    sg.play("nim", "random", episodes=3, record=place / "record", progress=False)
    return sg.steps(place / "record")


def export(place):
    sg.play("kuhn", "random", episodes=3, record=place / "record", progress=False)
    return sg.export_replays(place / "record", place / "page.html")


RING = "talk(auction(seats=3, rounds=1, price=second), before=round)"
CALLS = {
    "play": play,
    "eval": lambda place: sg.evaluate("kuhn", "random", episodes=2, chance=False),
    "tournament": lambda place: sg.tournament("kuhn", ["random", "AlwaysBet"], episodes=2),
    "audit": lambda place: sg.audit("AlwaysBet", games="kuhn", decisions=300),
    "talk": lambda place: sg.talk("sender-receiver", "Honest", "Honest"),
    "talk by play": lambda place: sg.talk(
        "talk(kuhn(hands=1), before=round)", "honest(NashApprox)", "believer(NashApprox)", episodes=4
    ),
    "collusion": lambda place: sg.collusion(RING, "ring(Truthful, partner=1)", "ring(Truthful)", "Truthful", deals=2),
    "verify-game": lambda place: sg.verify("kuhn(hands=1)", episodes=2),
    "data": lambda place: sg.data("sepo", place / "sets", sets="kuhn", scale=0.002),
    "steps": steps,
    "view": export,
}
"""One short call of each; training, sweeps and published tables have tests of their own lines."""


@pytest.mark.parametrize("name", CALLS)
def test_a_call_tells_how_far_it_is(name, shown, tmp_path):
    CALLS[name](tmp_path)
    assert shown
    assert all(0 <= done <= total for done, total, _ in shown)
    assert all(text for *_, text in shown)


@pytest.mark.linux
@pytest.mark.parametrize("where", ["a closed pipe", "/dev/full"])
def test_a_stream_that_takes_no_line_ends_no_call(where):
    """A call of hours outlives the log that it writes to."""
    program = (
        "import stratagem as sg; from stratagem.api import progress; progress.FIRST_LINE = 0.0;"
        "print(len(sg.play('kuhn', 'random', episodes=40).episodes))"
    )
    if where == "/dev/full":
        errors = os.open(where, os.O_WRONLY)
    else:
        reader, errors = os.pipe()
        os.close(reader)
    run = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
    os.close(errors)
    assert (run.returncode, run.stdout) == (0, "40\n")


def test_lines_become_rarer_and_short_calls_write_none(capsys, monkeypatch):
    clock = count()  # a second passes between two looks at it
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: float(next(clock)))
    with show_progress(9) as step:
        for number in range(9):
            step(f"item {number}")
    assert capsys.readouterr() == ("", "")
    with bar("work") as show:
        for done in range(100):
            show(done, 100, "[red]work")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"[red]work: {seconds - 1} of 100 after {seconds} s" for seconds in (10, 20, 40, 80)]
    with bar("work", shown=False) as show:
        show(1, 2, "work")
    assert capsys.readouterr() == ("", "")
