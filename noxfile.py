"""The tests of games, players, play and evaluation with every Python that is installed: `make pythons`."""

from __future__ import annotations

import shutil
import subprocess

import nox

VERSIONS = ("3.11", "3.12", "3.13")
FOLDERS = ("games", "players", "play", "evaluation", "conformance", "decoding", "prompting", "cli")
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True


def starts(program: str) -> bool:
    """Return whether a program is installed and starts; the names that pyenv puts on the path may lead to nothing."""
    return bool(shutil.which(program)) and not subprocess.run([program, "--version"], capture_output=True).returncode


@nox.session(python=[version for version in VERSIONS if starts(f"python{version}")])
def tests(session: nox.Session) -> None:
    """Install the package with its models, and run the tests: of `FOLDERS`, or what `nox -- tests/play` names."""
    session.install("-c", "constraints.txt", "-e", ".[dev,models]")
    chosen = session.posargs or ("--jobs", "2", *(f"tests/{name}" for name in FOLDERS))
    session.run("python", "-m", "pytest", *chosen)
