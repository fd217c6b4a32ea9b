"""Programs and commands of tests that run in forks of one process, which has read in the libraries."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
shown = import_module("chapters.shown")

COMMAND = "from stratagem.cli.main import main; main()"
SECONDS = 120
"""On the clock; a program that goes on for longer is killed: it waits for what never comes."""


def forked_program(source, *words, work, scratch, seconds=SECONDS):
    """Run Python source with words in a folder; return its exit status and all that it printed.

    `scratch` is a folder of the test's own; the packages that are installed in its folder `site` are found. The limit
    on the clock is `seconds`.
    """
    own = f"import signal, sys; sys.path += [path for path in {sys.path!r} if path not in sys.path]\n"
    own += f"signal.alarm({seconds})\n"
    return shown.programs().run(["-c", own + source, *map(str, words)], work, scratch / "site")


def forked_command(*words, work, scratch):
    """Run a command of `stratagem`, as `forked_program` does."""
    return forked_program(COMMAND, *words, work=work, scratch=scratch)
