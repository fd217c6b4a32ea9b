"""The plugin of pytest as an installed package declares it, in a pytest of its own."""

import tomllib
from pathlib import Path

from forks import forked_program

ROOT = Path(__file__).resolve().parents[1]
MAIN = "import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"


def declare_plugin(site):
    """Write the entry point of `pyproject.toml` to a folder of packages, and return the folder."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    info = site / "stratagem_plugin-0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stratagem-plugin\nVersion: 0\n", "utf-8")
    lines = [f"{name} = {module}\n" for name, module in declared.items()]
    (info / "entry_points.txt").write_text("[pytest11]\n" + "".join(lines), "utf-8")
    return site


def run_pytest(folder, *words):
    """Run the tests of a folder in a fork that has the libraries; return the exit status and what it printed."""
    scratch = folder.parent / f"{folder.name}-packages"
    declare_plugin(scratch / "site")
    quiet = ("-q", "-W", "ignore::pytest.PytestAssertRewriteWarning")  # a plugin whose modules the fork has already
    words = (*quiet, "--rootdir", folder, *words)
    return forked_program(MAIN, *words, work=folder, scratch=scratch)
