"""Old names of modules: the imports of earlier documentation and examples give what is there now."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import stratagem
from forks import forked_program
from stratagem.base.renamed.modules import MOVED, new_name
from stratagem.base.renamed.names import CALLED_PACKAGES, RENAMED, RENAMED_FUNCTIONS

IMPORTS = (Path(__file__).parent / "imports_414bf7c8.txt").read_text().split()
"""Imports of README, the pages and the examples at commit 414bf7c8, as MODULE:NAME."""
GONE = {
    "stratagem.evaluation.talk.sender_receiver:sender_receiver_figures": "`sg.talk` measures this game as every other",
}
"""Imports whose thing is no more, with what is there in its place."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("written", sorted(set(IMPORTS) - set(GONE)))
def test_an_import_of_earlier_pages_is_answered(written):
    module, _, name = written.partition(":")
    found = import_module(module)
    assert not name or hasattr(found, name) or import_module(f"{module}.{name}")


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_gives_the_module_of_the_new_name(old):
    if old.startswith("integrations.inspect"):
        pytest.importorskip("inspect_ai")
    old_name = f"stratagem.{old}"
    new = new_name(old_name)
    assert new is not None
    sys.modules.pop(old_name, None)
    with pytest.warns(DeprecationWarning, match=f"{old_name} is now {new}"):
        found = import_module(old_name)
    assert found is import_module(new)
    assert (found.__name__, found.__spec__.name) == (new, new)


@pytest.mark.parametrize(("module", "old"), [(module, old) for module, names in RENAMED.items() for old in names])
def test_an_old_name_in_a_module_gives_what_has_the_new_name(module, old):
    found, new = import_module(f"stratagem.{module}"), RENAMED[module][old]
    assert old not in vars(found)
    with pytest.warns(DeprecationWarning, match=f"{module}.{old} is now {new}"):
        assert getattr(found, old) is vars(found)[new]


def test_a_module_with_old_names_refuses_other_names():
    found = import_module(f"stratagem.{next(iter(RENAMED))}")
    with pytest.raises(AttributeError, match=f"module '{found.__name__}' has no attribute 'Nothing'"):
        _ = found.Nothing


def run_and_count_warnings(tmp_path, program):
    """Run a program, and return the sentences of its warnings."""
    kept = "import warnings; kept = warnings.catch_warnings(record=True); seen = kept.__enter__()\n"
    text = f"{kept}warnings.simplefilter('always')\n{program}\nprint(*(one.message for one in seen), sep='\\n')"
    status, printed = forked_program(text, work=tmp_path, scratch=tmp_path)
    assert status == 0, printed
    return printed.splitlines()


@pytest.mark.parametrize("old", RENAMED_FUNCTIONS)
def test_an_old_function_is_called_with_a_warning(tmp_path, old):
    new = RENAMED_FUNCTIONS[old]
    told = run_and_count_warnings(tmp_path, f"import stratagem as sg; assert repr(sg.{old}()) == repr(sg.{new}())")
    assert len(told) == 1
    assert f"stratagem.{new}" in told[0] or told[0] == f"stratagem.{old} is now {new}."


def test_a_package_of_a_former_name_is_called_as_the_function_that_it_hides(tmp_path):
    program = (
        "import stratagem as sg, stratagem.play.match as m, stratagem.runs.folder, stratagem.engines.base\n"
        "assert sg.play.match is m and len(sg.play('kuhn', 'random').episodes) == 1\n"
        "assert sg.games('kuhn').game == sg.game('kuhn') and sg.games.catalogue.GAMES\n"
        "assert sg.players('kuhn').rows() and sg.runs().rows() == [] and sg.engines().rows()"
    )
    told = [line for line in run_and_count_warnings(tmp_path, program) if "is a package: call" in line]
    assert told == [
        f"stratagem.{package} is a package: call stratagem.{CALLED_PACKAGES[package]}, and import packages by their "
        "present names."
        for package in ("playing", "games", "players", "training.runs", "language.engines")
    ]


def test_no_old_name_is_that_of_a_module():
    paths = [Path(stratagem.__file__).parent / old.replace(".", "/") for old in MOVED]
    assert not [path for path in paths if path.with_suffix(".py").exists() or (path / "__init__.py").exists()]
    assert not set(MOVED) & set(MOVED.values())


def test_no_file_of_the_project_imports_by_an_old_name():
    root = Path(__file__).parents[2]
    folders = ("benchmarks", "docs", "examples", "experiments", "recipes", "src", "tests", "zoo")
    files = [file for folder in folders for file in (root / folder).rglob("*.py")]
    imports = re.compile(r"^\s*(?:from|import) (stratagem(?:\.\w+)+)", re.MULTILINE)
    named = {(str(file.relative_to(root)), name) for file in files for name in imports.findall(file.read_text())}
    assert len(named) > 2000
    assert not sorted((file, name) for file, name in named if new_name(name) is not None)


def test_a_package_stands_for_its_modules():
    program = (
        "from stratagem.base.renamed.modules import MOVED; MOVED['former'] = 'show'\n"
        "import stratagem.former.table, stratagem.show.table\n"
        "assert stratagem.former.table is stratagem.show.table\n"
        "from stratagem.former.table import ResultTable; assert ResultTable is stratagem.show.table.ResultTable\n"
        "import stratagem.show.cells, stratagem.former.cells; assert stratagem.former.cells is stratagem.show.cells\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)
    assert new_name("stratagem.formerly") is None
