"""The built package holds what it needs beside its code, and works in a fresh environment outside the repository."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
SMALL = {
    "sft.num_examples": 40,
    "sft.epochs": 1,
    "sepo.iterations": 2,
    "sepo.group_size": 2,
    "sepo.groups_per_batch": 1,
    "validation_episodes": 2,
    "test_episodes": 2,
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    for name in ("src", "recipes", "docs/man"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    subprocess.run([sys.executable, "-c", BUILD, folder], cwd=tree, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_every_recipe_and_sentence_of_the_repository_and_the_types(wheel):
    with zipfile.ZipFile(wheel) as packed:
        held = {Path(name) for name in packed.namelist()}
    files = (path.relative_to(ROOT) for path in (ROOT / "recipes").rglob("*.toml"))
    rooms = (ROOT / "src/stratagem" / room for room in ("base/sentences", "games/drawn"))
    sentences = {path.relative_to(ROOT / "src") for room in rooms for path in room.glob("*.toml")}
    recipes = {Path("stratagem") / path for path in files}
    assert len(sentences) == 5
    shipped = {path.relative_to(ROOT / "src") for path in (ROOT / "src/stratagem/demo").rglob("*") if path.is_file()}
    assert shipped <= held
    assert {path for path in held if path.suffix == ".toml"} - shipped == recipes | sentences
    assert {
        Path("stratagem") / name for name in ("py.typed", "__init__.pyi", "show/reports/page.js", "cli/help.json")
    } <= held
    code = {path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.py")}
    assert {path for path in held if path.suffix == ".py"} == code


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Run a program of a fresh environment, whose other packages are those of this one."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(pip, check=True, capture_output=True)
    paths = {"base": str(folder / "env"), "platbase": str(folder / "env")}
    own = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (own / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    cwd = folder / "work"
    cwd.mkdir()

    def run(program, *words):
        command = [folder / "env/bin" / program, *words]
        done = subprocess.run(command, cwd=cwd, env=outside, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.runs
def test_installed_wheel_is_what_is_run(installed):
    place = installed("python", "-c", "import stratagem; print(stratagem.__file__)")
    assert "/env/lib/" in place
    assert "NashApprox" in installed("stratagem", "play", "kuhn", "--players", "NashApprox", "random")


@pytest.mark.long
def test_installed_wheel_plays_evaluates_and_trains_outside_the_repository(installed):
    place = installed("python", "-c", "import stratagem; print(stratagem.__file__)")
    assert "/env/lib/" in place
    assert "NashApprox" in installed("stratagem", "play", "kuhn", "--players", "NashApprox", "random")
    figures = json.loads(installed("stratagem", "eval", "kuhn", "--player", "random", "--episodes", "2", "--json"))
    assert figures["games"][0]["players"][0]["exact"]["exploitability"] == pytest.approx(11 / 24)
    changes = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    told = json.loads(installed("stratagem", "train", "sepo/kuhn-tiny", *changes, "--json"))
    assert (told["state"], told["step"], told["path"]) == ("finished", 2, "runs/kuhn-tiny-0")
    program = "import stratagem as sg; print(sg.load_run('runs/kuhn-tiny-0').state, sg.play('kuhn', 'random'))"
    assert installed("python", "-c", program).startswith("finished kuhn: 1 episode,")


@pytest.mark.long
def test_installed_wheel_audits_verifies_ranks_and_trains_on_two_devices(installed):
    for name in ("TightValue", "random"):
        installed("stratagem", "audit", name, "--games", "kuhn", "--decisions", "300", "--out", f"audits/{name}")
    assert "agrees" in installed("stratagem", "verify", "audits/TightValue")
    assert "kuhn/TightValue" in installed(
        "stratagem", "leaderboard", "audits/TightValue", "audits/random", "--html", "board.html"
    )
    assert "TightValue" in installed("python", "-c", "print(open('board.html').read())")
    changes = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    told = json.loads(
        installed("stratagem", "train", "sepo/kuhn-tiny", *changes, "--devices", "2", "--out", "runs/two", "--json")
    )
    assert (told["state"], told["step"]) == ("finished", 2)
