"""The built package holds what it needs beside its code."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


def test_wheel_holds_every_recipe_of_the_repository(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    tree = tmp_path / "tree"
    for name in ("src", "recipes"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    subprocess.run([sys.executable, "-c", BUILD, tmp_path], cwd=tree, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        shipped = {Path(name) for name in packed.namelist() if name.endswith(".toml")}
    files = (path.relative_to(ROOT) for path in (ROOT / "recipes").rglob("*.toml"))
    assert shipped == {Path("stratagem") / path for path in files}
