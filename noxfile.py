"""The tests of games, players, play and evaluation with every Python that is installed: `make pythons`."""

from __future__ import annotations

import shutil

import nox

VERSIONS = ("3.11", "3.12", "3.13")
FOLDERS = ("games", "players", "play", "evaluation", "conformance", "decoding", "prompting", "cli")
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=[version for version in VERSIONS if shutil.which(f"python{version}")])
def tests(session: nox.Session) -> None:
    """Install the package with its models, and run the tests."""
    session.install("-c", "constraints.txt", "-e", ".[dev,models]")
    session.run("python", "-m", "pytest", "-n", "2", *(f"tests/{name}" for name in FOLDERS), *session.posargs)
