"""Constraints name every package that is installed, and the lock file has the hashes of the same versions."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def pins(name):
    return {canonicalize_name(found[1]): found[2] for found in PINNED.finditer((ROOT / name).read_text("utf-8"))}


def needed(texts, extras=()):
    """The packages that these requirements bring where this is run, whatever they need included."""
    found, waiting = set(), [(text, tuple(extras)) for text in texts]
    while waiting:
        text, extras = waiting.pop()
        one = Requirement(text)
        name = canonicalize_name(one.name)
        if one.marker and not any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        if name == "stratagem" or (name, tuple(sorted(one.extras))) in found:
            continue
        try:
            more = requires(name) or []
        except PackageNotFoundError:
            continue
        found.add((name, tuple(sorted(one.extras))))
        waiting += [(other, tuple(one.extras)) for other in more]
    return {name for name, _ in found}


def asked(*extras):
    return [*PROJECT["dependencies"], *(text for extra in extras for text in PROJECT["optional-dependencies"][extra])]


def test_constraints_name_every_package_that_is_installed():
    found = needed(asked("dev", "models"))
    assert {"scipy", "numpy", "torch", "pytest"} <= found
    ours = {name for name in found if not name.startswith(("nvidia-", "cuda-", "triton"))}  # torch pins its own
    assert ours - {"setuptools"} - pins("constraints.txt").keys() == set()  # which venv brings along


def test_the_lock_names_every_package_of_an_install():
    assert needed(asked("models", "api", "diplomacy")) - pins("requirements.lock").keys() == set()


def test_the_lock_has_the_versions_of_the_constraints():
    locked, tested = pins("requirements.lock"), pins("constraints.txt")
    assert {
        name: (version, tested[name]) for name, version in locked.items() if tested.get(name, version) != version
    } == {}
    assert {canonicalize_name(Requirement(text).name) for text in asked("models", "api")} - {
        "stratagem"
    } <= locked.keys()


def test_every_entry_of_the_lock_has_hashes_and_no_host():
    text = (ROOT / "requirements.lock").read_text("utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    entries = [entry for entry in re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"(?m)^#.*\n", "", text)) if entry.strip()]
    assert len(entries) == len(PINNED.findall(text))
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry.splitlines()[0]


@pytest.mark.parametrize("name", ["constraints.txt", "requirements.lock"])
def test_every_line_is_one_version(name):
    assert not re.search(r"(?m)^[A-Za-z0-9._-]+ *(>=|<=|~=|>|<)", (ROOT / name).read_text("utf-8"))
