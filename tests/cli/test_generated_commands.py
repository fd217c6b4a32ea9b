"""Commands that are made from functions: what the parser reads reaches the function, and nothing else does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pytest

from stratagem.api.parameters import explanations, purpose
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter
from stratagem.cli.commands import Command
from stratagem.cli.main import run_command
from stratagem.players.given import GameLike

GIVEN = []


class Nothing(Result):
    """Result without figures, whose command ends with a status."""

    def tables(self):
        return []

    def rows(self):
        return []

    def to_json(self):
        return {}

    @property
    def exit_status(self):
        return 5

    @property
    def files(self):
        return [Path("page.html")]


def work(
    game: GameLike,
    players: Sequence[str] = (),
    *,
    level: Literal["low", "high"] = "low",
    times: int = 1,
    fast: bool = False,
    chance: bool = True,
    locked: bool = True,
    changes: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    size: float | None = None,
    tag: str | int | None = None,
    progress: bool = True,
) -> Nothing:
    """Do some work.

    From Python it is called.

    Args:
        game: Game.
        players: Players, as with `times=`.
        level: Level.
        times: Times, of which
            a further line tells more.
        fast: True to be fast.
        chance: True for chance.
        locked: False to open it.
        changes: Settings.
        out: File.
        size: Size.
        tag: Tag.
        progress: True to show progress.
    """
    GIVEN.append(locals() | {})
    if times < 1:
        raise BadParameter("work needs `times` of at least 1, a whole number, not 0.")
    return Nothing()


def rehearse(game: GameLike, *, speed: float = 0.0, times: int = 1) -> Nothing:
    """Rehearse the work.

    Args:
        game: Game.
        speed: Speed.
        times: Times.
    """
    GIVEN.append({"rehearsed": game, "speed": speed, "times": times})
    return Nothing()


def reread(folder: str | Path, *, times: int = 1) -> Nothing:
    """Read it again.

    Args:
        folder: Folder of earlier work.
        times: Times.
    """
    GIVEN.append({"folder": folder, "times": times})
    return Nothing()


COMMAND = Command(
    work,
    "Do some work.",
    names={"players": "--player", "changes": "--set", "locked": "--no-lock"},
    instead={"--dry-run": (rehearse, ""), "--from": (reread, "folder")},
    servers=True,
    more="More: --all.",
)
DEFAULTS = {"players": (), "level": "low", "times": 1, "fast": False, "chance": True, "locked": True}
DEFAULTS |= {"changes": None, "out": None, "size": None, "tag": None, "progress": True}


@pytest.fixture
def called(capsys):
    def go(*words):
        GIVEN.clear()
        with pytest.raises(SystemExit) as end:
            run_command(COMMAND, "work", words)
        printed = capsys.readouterr()
        return end.value.code, printed.out, " ".join(printed.err.split())

    return go


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ((), {}),
        (("--player", "a", "--player", "b"), {"players": ["a", "b"]}),
        (("--level", "high", "--times", "3"), {"level": "high", "times": 3}),
        (("--fast", "--no-chance", "--no-lock"), {"fast": True, "chance": False, "locked": False}),
        (("--chance",), {}),
        (("--set", "a.b=3", "--set", "c=d=e"), {"changes": {"a.b": "3", "c": "d=e"}}),
        (("--out", "x/y.json", "--size", "1.5", "--tag", "7"), {"out": Path("x/y.json"), "size": 1.5, "tag": "7"}),
        (("--json",), {"progress": False}),
        (("--tries", "2", "--max-failed", "0.5"), {}),
    ],
)
def test_values_reach_the_function_and_others_keep_its_defaults(called, words, given):
    status, printed, _ = called("kuhn", *words)
    assert [{"game": "kuhn"} | DEFAULTS | given] == GIVEN
    assert (status, printed) == (5, "{}\n" if "--json" in words else "More: --all.\npage.html\n")


def test_an_option_calls_another_function_with_what_it_takes(called):
    assert called("kuhn", "--dry-run", "--speed", "2", "--times", "4")[0] == 5
    assert GIVEN == [{"rehearsed": "kuhn", "speed": 2.0, "times": 4}]
    assert called("--from", "old", "--times", "4")[0] == 5
    assert [{"folder": Path("old"), "times": 4}] == GIVEN


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name game, or use --from."),
        (("--dry-run",), "Name game, or use --from."),
        (("kuhn", "--speed", "2"), "Leave out what has an effect with --dry-run or --from alone: --speed."),
        (("kuhn", "--from", "x", "--no-chance", "--budget", "3calls"), "no effect there: --budget, --no-chance, game."),
        (("kuhn", "--dry-run", "--fast"), "Beside --dry-run leave out what has no effect there: --fast."),
        (("kuhn", "--times", "0"), "work needs --times of at least 1, a whole number, not 0."),
        (("kuhn", "--set", "x"), "--set x changes nothing: write it as"),
        (("kuhn", "--level", "middle"), "'middle' is not one of 'low', 'high'"),
        (("kuhn", "--out", ""), "--out needs a path, and its text is empty"),
        (("kuhn", "--max-failed", "2"), "--max-failed must be from 0 to 1, a number, not 2.0."),
    ],
)
def test_what_cannot_be_is_one_sentence(called, words, said):
    status, printed, error = called(*words)
    assert (status, printed) == (2, "")
    assert said in error


def test_help_is_what_the_docstring_says(called):
    status, printed, _ = called("--help")
    shown = " ".join(printed.split())
    assert status == 0
    assert "Do some work." in shown
    assert "From Python" not in shown
    for line in (
        "game <str> Game.",
        "--player <list[str]> Players, as with --times. Repeatable.",
        "--times <int> Times, of which a further line tells more. [default: 1]",
        "--fast Be fast.",
        "--chance / --no-chance Chance. [default: chance]",
        "--dry-run Rehearse the work.",
        "--from <path> Folder of earlier work.",
        "--budget <str> Cap on the calls",
    ):
        assert line in shown
    assert "\n  --no-lock " in printed  # the one that negates is the only one
    assert "progress" not in shown


def test_a_docstring_is_read_in_two_parts():
    assert purpose(work) == "Do some work.\n\nFrom Python it is called."
    assert list(explanations(work))[:2] == ["game", "players"]
    assert explanations(purpose) == {}
