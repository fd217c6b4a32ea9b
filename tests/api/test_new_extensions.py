"""Files that `stratagem new` writes: they work, pass their own tests, and are as clean as ours."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import stratagem as sg
from forks import COMMAND, forked_program
from stratagem.api.extensions import KINDS, TEMPLATES

ROOT = Path(__file__).resolve().parents[2]
SLOW = {"algorithm"}
TESTS = (
    "import os; os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
)
RUFF = "A,ANN,B,BLE,C4,C90,D,E,F,I,N,PERF,PIE,PT,PTH,RET,RSE,RUF,SIM,SLF,T20,TC,UP,W"
IGNORED = "ANN401,D102,D105,D107,D203,D212,D213,D401,D413,TC001,TC002,TC003"
"""Rules of the project; its folders are not those of a user, so that `stratagem` is a library here."""


def kinds():
    return [pytest.param(kind, marks=[pytest.mark.runs] if kind in SLOW else []) for kind in KINDS]


def python(folder, *words):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MYPYPATH": str(ROOT / "src")}
    return subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True)


def run(source, folder, *words, paths=()):
    """Run source in a fork, where packages of these paths are found; return its exit status and what it printed."""
    own = f"import sys; sys.path[:0] = {list(map(str, paths))!r}\n"
    return forked_program(own + source, *words, work=folder, scratch=folder)


def installed(folder, made):
    """Write the metadata that pip leaves of a package, and return the paths on which Python finds it."""
    declared = (folder / made.name / "pyproject.toml").read_text("utf-8")
    (line,) = [line for line in declared.splitlines() if line.endswith(':PACKAGE"')]
    info = folder / "site" / f"{made.name}-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {made.name}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[stratagem.games]\n" + line.replace('"', "") + "\n")
    return folder / "site", folder / made.name


@pytest.mark.parametrize("kind", kinds())
def test_new_extension_passes_its_own_tests(kind, tmp_path):
    made = sg.new(kind, "coin_swap", folder=tmp_path)
    paths = installed(tmp_path, made) if kind == "game" else ()
    where = tmp_path / "coin_swap" if kind == "game" else tmp_path
    status, printed = run(TESTS, where, "-q", "-p", "no:cacheprovider", "--rootdir", where, paths=paths)
    assert status == 0, printed
    assert " passed" in printed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.runs
def test_new_extension_is_clean(kind, tmp_path):
    made = sg.new(kind, "coin_swap", folder=tmp_path)
    where = tmp_path / "coin_swap" if kind == "game" else tmp_path
    rules = ("--isolated", "--no-cache", "--line-length", "120")
    checked = ("--select", RUFF, "--ignore", IGNORED, "--per-file-ignores", "test_*.py:D")
    for words in (("check", *rules, *checked, "."), ("format", *rules, "--check", ".")):
        run = python(where, "-m", "ruff", *words)
        assert run.returncode == 0, run.stdout
    ours = ("coin_swap",) if kind == "game" else [str(path) for path in made.written if path.suffix == ".py"]
    words = ("--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"))
    run = python(where, "-m", "mypy", *words, "--follow-imports", "silent", *ours)
    assert run.returncode == 0, run.stdout


def test_every_template_belongs_to_a_kind():
    templates = {text.format(kind=kind) for kind, row in KINDS.items() for text in row.files.values()}
    assert templates == {str(path.relative_to(TEMPLATES)).removesuffix(".txt") for path in TEMPLATES.rglob("*.txt")}


def test_new_game_is_used_by_the_commands_that_are_printed(tmp_path):
    made = sg.new("game", "CoinSwap", folder=tmp_path)
    assert made.name == "coin_swap"
    assert made.remarks()[1] == "  pip install --no-deps -e coin_swap"
    paths = installed(tmp_path, made)
    for use in made.uses[1:3]:
        status, printed = run(COMMAND, tmp_path, *use.split()[1:], paths=paths)
        assert status == 0, printed
    assert "return: seat 0 -0.25, seat 1 0.75" in printed


@pytest.mark.parametrize("kind", ["player", "metric"])
def test_new_file_is_used_by_the_command_that_is_printed(kind, tmp_path):
    use = sg.new(kind, "coin_swap", folder=tmp_path).uses[0]
    status, printed = run(COMMAND, tmp_path, *shlex.split(use)[1:])
    assert status == 0, printed


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        (
            "player",
            "coin-swap",
            "'coin-swap' is no name of a module: write an identifier of Python, such as coin_match",
        ),
        ("player", "class", "'class' is no name of a module"),
        ("player", "../up", "'../up' is no name of a module"),
        ("player", "_own", "'_own' is no name of a module"),
        ("metric", "Random", "random is the name of another module that Python finds"),
        ("loss", "numpy", "numpy is the name of another module that Python finds"),
        ("game", "public_goods", "There is a game called public-goods already"),
        ("plaier", "own", "There is no kind of extension called 'plaier': did you mean player"),
    ],
)
def test_name_that_cannot_be_used_is_refused(kind, name, sentence, tmp_path):
    with pytest.raises(sg.StratagemError) as refused:
        sg.new(kind, name, folder=tmp_path)
    assert sentence in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "file"), [("player", "coin_swap.py"), ("loss", "test_coin_swap.py")])
def test_existing_file_is_not_overwritten(kind, file, tmp_path):
    (tmp_path / file).write_text("mine")
    with pytest.raises(sg.StratagemError, match=f"{file} exists already, and nothing is overwritten"):
        sg.new(kind, "coin_swap", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert (tmp_path / file).read_text() == "mine"


def test_existing_folder_of_a_game_stays_as_it_is(tmp_path):
    (tmp_path / "coin_swap").mkdir()
    with pytest.raises(sg.StratagemError, match="coin_swap exists already"):
        sg.new("game", "coin_swap", folder=tmp_path)
    assert list((tmp_path / "coin_swap").iterdir()) == []
