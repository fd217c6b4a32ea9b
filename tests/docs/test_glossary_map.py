"""The map of the glossary: every term has exactly one module, which exists, or a reason why it has none."""

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
chapter = import_module("chapters.homes")

HOMES = list(chapter.homes_in(chapter.GLOSSARY.read_text("utf-8")))
HEAD = "| term | meaning | module |\n| --- | --- | --- |\n"


def lost(homes):
    """Terms whose module does not exist."""
    return [home.term for home in homes if home.module and not home.file.is_file()]


def repeated(homes):
    """Terms that stand in the glossary more than once, and so may have two homes."""
    return [term for term, count in Counter(home.term.lower() for home in homes).items() if count > 1]


def test_every_row_of_the_glossary_is_a_term_with_one_home():
    rows = [line for line in chapter.GLOSSARY.read_text("utf-8").splitlines() if line.startswith("| ")]
    heads = [line for line in rows if line.startswith(("| term |", "| word |", "| --- "))]
    assert all(line.endswith((" module |", " --- |")) for line in heads)
    assert len(HOMES) == len(rows) - len(heads)
    assert repeated(HOMES) == []


def test_the_modules_of_all_terms_exist():
    assert lost(HOMES) == []


def test_terms_without_a_module_have_a_reason():
    reasons = [home.reason for home in HOMES if not home.module]
    assert all(len(reason.split()) >= 4 for reason in reasons)
    assert len(reasons) <= len(HOMES) // 10, "most terms are code"


def test_a_term_of_two_homes_and_a_lost_module_are_found():
    homes = list(chapter.homes_in(f"{HEAD}| seat | x | `games.base` |\n| Seat | y | `games.seat` |\n"))
    assert repeated(homes) == ["seat"]
    assert lost(homes) == ["Seat"]


@pytest.mark.parametrize("last", ["a place", "", "no module:", "`games.base` `games.key`", "games.base"])
def test_a_term_without_a_home_is_refused(last):
    with pytest.raises(ValueError, match="'seat' no home"):
        list(chapter.homes_in(f"{HEAD}| seat | x | {last} |\n"))


def test_the_map_lists_every_term_in_alphabetical_order():
    rows = [line.split(" | ") for line in chapter.homes().splitlines() if line.startswith("| ")]
    listed = [cells for cells in rows if cells[1].startswith("`")]
    terms = sorted((home.term for home in HOMES if home.module), key=str.lower)
    assert [cells[0].removeprefix("| ") for cells in listed] == terms
    assert all(cells[2].rstrip(" |") for cells in listed), "a module without a docstring"
