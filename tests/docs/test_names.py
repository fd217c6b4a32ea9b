"""Names of code in the pages: each is a class, a function or a registered name of today."""

import re
from functools import cache
from pathlib import Path

import pytest

from stratagem.measure.metrics import METRICS
from stratagem.players.catalogue import PLAYERS

ROOT = Path(__file__).resolve().parents[2]
CODE = ("src", "examples", "experiments", "benchmarks", "integrations")
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "AGENTS")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "reference"),
    *(ROOT / "docs" / "reference" / f"{name}.md" for name in ("README", "glossary")),
]
"""Pages that people write; CHANGELOG names what was renamed."""
CAPITALISED = r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)*|[A-Z]+[A-Z][a-z0-9]+[A-Za-z0-9]*"
CAMEL_CASE = re.compile(rf"`({CAPITALISED})(?:\.\w+)?(?:\([^`]*\))?`")
"""A word in backticks that looks like the name of a class, alone or with an attribute or arguments."""
DEFINED = re.compile(r"^ *(?:class|(?:async )?def) (\w+)|^(\w+) = ", re.MULTILINE)
"""A class, a function or an alias; to parse all of the code takes seconds."""
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
OTHERS = {
    "CFRPlusSolver": "OpenSpiel",
    "DPOTrainer": "trl",
    "Discrete": "gymnasium",
    "GRPOTrainer": "trl",
    "ISMCTSBot": "OpenSpiel",
    "KTOTrainer": "trl",
    "LLMObservationWrapper": "TextArena",
    "NamedTuple": "typing",
    "NashConv": "OpenSpiel's figure",
    "Page": "component of a JavaScript module of the viewer",
    "SFTTrainer": "trl",
    "V1": "end of the name of vLLM's runner",
    "V2": "end of the name of vLLM's runner",
}
"""Names that are not ours, or no names of Python code, with where they are from."""


@cache
def defined_names():
    """Return the classes, functions and aliases of the code, and the registered players and metrics."""
    texts = (path.read_text("utf-8") for folder in CODE for path in (ROOT / folder).rglob("*.py"))
    found = {name.rpartition("/")[2] for name in PLAYERS} | set(METRICS)
    return found.union(*(filter(None, names) for text in texts for names in DEFINED.findall(text)))


def unknown_names(page):
    """Return the names of a page that no code and no registry has."""
    return sorted(set(CAMEL_CASE.findall(FENCED.sub("", page))) - defined_names() - set(OTHERS))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_of_classes_exist(page):
    assert unknown_names(page.read_text("utf-8")) == []


def test_a_class_that_does_not_exist_is_found():
    assert unknown_names("`Collects`, `Game`, `Game.start()`, `NashApprox`, `TriesItAll(3)`") == [
        "Collects",
        "TriesItAll",
    ]


def test_each_excused_name_is_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in PAGES)
    assert [name for name in OTHERS if f"`{name}" not in pages] == []
