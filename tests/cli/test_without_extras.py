"""Commands of a plain install: each works or names its extra in one sentence; nothing ends with a traceback."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from stratagem.base.errors import MissingExtra
from stratagem.base.extras import MODULES, missing_extra
from stratagem.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
PLAIN = """
import sys
from importlib import util
from importlib.abc import MetaPathFinder

EXTRAS = set(sys.argv[1].split())


class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
there = util.find_spec
util.find_spec = lambda name, package=None: None if name.partition(".")[0] in EXTRAS else there(name, package)
from stratagem.cli.main import main

for line in sys.argv[2:]:
    print(f"$ {line}", flush=True)
    try:
        main(line.split())
    except SystemExit as ended:
        print(f"status {ended.code}", flush=True)
"""
WORKS = {
    "games": "games",
    "players": "players kuhn",
    "engines": "engines",
    "play": "play kuhn --players random NashApprox",
    "eval": "eval kuhn --player random --episodes 2",
    "tournament": "tournament ipd --players TitForTat Pavlov --episodes 2",
    "audit": "audit random --games kuhn --decisions 300 --out audit",
    "verify": "verify audit",
    "verify-game": "verify-game kuhn --episodes 5",
    "solve": "solve kuhn --iterations 5",
    "prompt": "prompt kuhn",
    "data": "data sepo --set kuhn --scale 0.001 --out data",
    "recipes": "recipes",
    "runs": "runs .",
    "talk": "talk talk(kuhn(hands=1),before=round,intents=[state]) liar(NashApprox) believer(NashApprox)",
    "trust": "trust .",
}
NEEDS = {
    "train": ("train sepo/kuhn-tiny --out run", "models"),
    "sweep": ("sweep sweeps/kuhn-held --out sweep", "models"),
    "reproduce": ("reproduce sepo:5 --scale tiny --out paper", "models"),
    "mcp": ("mcp kuhn", "mcp"),
    "eval with a model": ("eval kuhn --player tiny", "models"),
}
OTHERS = {"serve", "view", "compare", "collusion", "leaderboard", "new", "steps", "upgrade", "watch", "report", "show"}
"""Commands that read what others wrote, or that have tests of their own."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    modules = " ".join(name for names in MODULES.values() for name in names)
    lines = [*WORKS.values(), *(line for line, _ in NEEDS.values())]
    lists = tmp_path_factory.mktemp("lists")  # a fixture of a module runs before a test gets lists of its own
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, modules, *lines],
        cwd=tmp_path_factory.mktemp("plain"),
        env={**os.environ, "STRATAGEM_CONFIG": str(lists)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert list(lists.iterdir()), "`trust .` has written to the lists of who runs the tests"
    parts = re.split(r"^\$ (.*)\n", done.stdout, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("line", WORKS.values(), ids=WORKS)
def test_command_works_without_any_extra(line, printed):
    assert printed[line].endswith("status 0\n"), printed[line]


@pytest.mark.parametrize(("line", "extra"), NEEDS.values(), ids=NEEDS)
def test_command_names_its_extra_in_one_sentence(line, extra, printed):
    said = " ".join(printed[line].split())
    assert re.search(
        rf"needs an extra that is not installed: pip install -e '\.\[{extra}\]' in the checkout\. status 2$", said
    )
    assert "Traceback" not in said


def test_every_command_is_tried_or_named():
    assert {*WORKS, *NEEDS} - {"eval with a model"} | OTHERS == {*COMMANDS}


def test_every_extra_has_its_modules():
    assert {*MODULES} == {*EXTRAS} - {"dev"}
    for extra, modules in MODULES.items():
        packages = {re.split(r"[<>=\[]", package)[0].replace("-", "_") for package in EXTRAS[extra]} - {"stratagem"}
        assert packages == {*modules}, extra


def test_another_missing_module_is_a_defect():
    assert missing_extra(ModuleNotFoundError("No module named 'nothing'", name="nothing"), "It") is None
    assert isinstance(missing_extra(ModuleNotFoundError("", name="torch.nn"), "It"), MissingExtra)
