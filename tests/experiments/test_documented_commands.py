"""Documented commands of the experiments: each one lists runs, whose recipes can be composed."""

import re
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import read_any

ROOT = Path(__file__).resolve().parents[2]
NAMES = "sepo|league|scopal|shapellm|reinforce|diplomacy_runs|collapse"
COMMAND = re.compile(rf"^python (experiments/(?:{NAMES})\.py .*)$|(experiments/(?:{NAMES})\.py [^`\n]*)`", re.MULTILINE)
NEEDS_RUNS = ("sepo.py runs/sepo bits", "reinforce.py runs/reinforce table", "collapse.py runs/collapse table")
"""Commands that read the results of earlier runs at once."""


def documented():
    """Yield every command of the pages."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for match in COMMAND.finditer(path.read_text("utf-8")):
            yield match[1] or match[2]


COMMANDS = [text for text in dict.fromkeys(documented()) if not text.endswith(NEEDS_RUNS)]


def test_commands_of_the_pages_are_found():
    assert len(COMMANDS) > 20
    assert {Path(text.split()[0]).stem for text in COMMANDS} == set(NAMES.split("|"))


@pytest.mark.parametrize("command", COMMANDS)
def test_documented_experiment_lists_runs_whose_recipes_can_be_composed(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    script, *words = shlex.split(command)
    monkeypatch.setattr(sys, "argv", [script, *words, "--list"])
    import_module(Path(script).stem).main()
    lines = capsys.readouterr().out.splitlines()
    assert len(set(lines)) == len(lines) > 0
    for recipes, settings in {_parts(line) for line in lines}:
        read_any([Path(name) for name in recipes], dict(setting.split("=", 1) for setting in settings))


def _parts(line):
    """Return the recipes and the settings of a command but for its seed, so that each is read once."""
    words = shlex.split(line)[2:]
    end = words.index("--out")
    settings = [word for word in words[end + 2 :] if word != "--set" and not word.startswith("seed=")]
    return tuple(words[:end]), tuple(settings)
