"""Private names: a test calls what a user can call, so that the code behind it can be rewritten without the test.

Each use of a private name of the project is in `LEFT` with its reason.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "experiments", "docs", "benchmarks")
PUBLIC = {"_asdict", "_fields", "_field_defaults", "_make", "_replace", "_repr_html_"}
"""Public names of `NamedTuple` and of notebooks."""
LEFT = {
    ("games/test_distribution.py", "_digest"): "The file is damaged, and its digest is that of the damage.",
    ("games/test_distribution.py", "_text"): "The text under that digest.",
    ("learning/test_optimizer.py", "_version"): "It is torch's count of the changes of a tensor.",
    ("learning/test_shard_memory.py", "_in_vocabulary"): "Names of an experiment, which has no public part for it.",
    ("learning/test_shard_memory.py", "_with_columns"): "As above.",
    ("learning/test_shard_memory.py", "_shares_work"): "Processes of devices set it; this is one process.",
    ("learning/test_sharded.py", "_shares_work"): "As above.",
    ("workers/misbehaving.py", "_send"): "It is Python's, of a pipe, and ends the process in the middle of a message.",
    ("workers/test_certified_workers.py", "_reader"): "It is Python's, of the queue of a pool.",
    ("workers/test_shards.py", "_watch"): "The thread ends its process where the parent is gone.",
}  # fmt: skip
"""Names by test file, each with the reason why it is used."""
DEFINED = re.compile(r"(?:\bdef |\bclass |\bself\.|\bcls\.|^[ \t]*|[,(] ?)(_[A-Za-z]\w*)(?=[ ,:=(\[])", re.M)
CANDIDATE = re.compile(
    r"""(?<!self)(?<!cls)\._[A-Za-z]|import.*\b_[A-Za-z]|["']_[A-Za-z]\w*["']|^    _[A-Za-z]\w*,$""", re.M
)
"""Text of a file that may use one: most files need no parsing."""


@pytest.fixture(scope="module")
def private():
    """Private names that the project defines."""
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return {name for path in files for name in DEFINED.findall(path.read_text("utf-8"))} - PUBLIC


def uses(text: str, private: set[str]) -> Iterator[str]:
    """Yield the private names that a test reads from another object or module, or replaces there."""
    if not CANDIDATE.search(text):
        return
    private = private - {*re.findall(r"\b(?:self\.|cls\.|def )(_\w+)", text)}
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) if name in private:
                yield name
            case ast.ImportFrom(names=names):
                yield from (alias.name for alias in names if alias.name in private)
            case ast.Call(args=[*given]):
                texts = (one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str))
                yield from (name for text in texts if (name := text.rpartition(".")[2]) in private)


def test_tests_use_private_names_only_for_a_stated_reason(private):
    tests = ROOT / "tests"
    found = {
        (path.relative_to(tests).as_posix(), name)
        for path in sorted(tests.rglob("*.py"))
        for name in uses(path.read_text("utf-8"), private)
    }
    assert found - {*LEFT} == set(), "test by public names, or give a private name that users need a public one"
    assert {*LEFT} - found == set(), "no test uses these any more: remove their lines"


@pytest.mark.parametrize(
    "text",
    [
        "assert engine._spoke\n",
        "engine.reader._spoke = True\n",
        "from stratagem.learn.head import Head, _spoke\n",
        "from stratagem.learn.head import (\n    Head,\n    _spoke,\n)\n",
        'monkeypatch.setattr(engine, "_spoke", True)\n',
        'monkeypatch.setattr("stratagem.learn.head._spoke", 37)\n',
        'vars(engine).pop("_spoke")\n',
        "super()._spoke()\n",
    ],
)
def test_use_of_a_private_name_is_found(text):
    assert [*uses(text, {"_spoke"})] == ["_spoke"]


@pytest.mark.parametrize(
    "text",
    ["self._spoke = 1\nother._spoke\n", "def _spoke():\n    pass\n", "row._other\n", 'f("a sentence of _spoke")\n'],
)
def test_name_of_the_test_itself_is_no_use(text):
    assert [*uses(text, {"_spoke"})] == []
