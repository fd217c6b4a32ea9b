"""The bibliography: every citation has one entry that fits it, every entry is cited, and the page leads to both."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
chapter = import_module("chapters.bibliography")
WORKS = chapter.read_works()
PLACES = chapter.places()


def family_names(work):
    """Family names of the authors of an entry, and whether there are others."""
    named, _, others = work.authors.partition(" and others")
    assert not others
    return [author.split(". ")[-1] for author in named.split(", ")], " and others" in work.authors


def test_every_citation_has_an_entry_and_every_entry_is_cited():
    assert {name: files for name, files in PLACES.items() if name not in {work.citation for work in WORKS}} == {}
    assert [work.citation for work in WORKS if work.citation not in PLACES] == []
    assert len(WORKS) > 100


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("by fictitious play (Brown\n    1951): it", ["Brown 1951"]),
        ("# that of Bell and\n# McCaffrey (2002), CR2", ["Bell and McCaffrey 2002"]),
        ("GRPO (Shao et al. 2024), Bradley and Terry's (1952) model", ["Shao et al. 2024", "Bradley and Terry 1952"]),
        ("(UCT, Kocsis and Szepesvári 2006; von Stengel 1996)", ["Kocsis and Szepesvári 2006", "von Stengel 1996"]),
        ("in Spring 1903 and in January, 10 of 1900", []),
    ],
)
def test_citations_are_found_in_sentences(text, found):
    assert list(chapter.citations(text)) == found


def test_a_citation_names_the_authors_of_its_entry():
    for work in WORKS:
        names, others = family_names(work)
        short = f"{names[0]} et al."
        full = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        allowed = {short} if others else {full, *([short] if len(names) > 2 else [])}
        assert work.citation.rpartition(" ")[0] in allowed, work


def test_works_are_sorted_and_none_stands_twice():
    names = [work.citation for work in WORKS]
    assert names == sorted(names, key=str.casefold)
    titles = [work.title.casefold() for work in WORKS]
    assert len({*titles}) == len(titles)
    numbers = [work.arxiv for work in WORKS if work.arxiv]
    assert len({*numbers}) == len(numbers)


def test_page_leads_from_a_work_to_its_modules_and_pages():
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in chapter.bibliography().splitlines()}
    assert "`learn.losses.kto`" in lines["Ethayarajh et al. 2024"]
    assert "(../explanation/shaping.md)" in lines["Foerster et al. 2018a"]
    assert "https://arxiv.org/abs/1709.04326" in lines["Foerster et al. 2018a"]


def test_entry_of_a_work_without_a_known_place_ends_after_its_title():
    work = chapter.Work("Frean 1994", "M. Frean", "The prisoner's dilemma without synchrony")
    assert work.entry == "M. Frean, 1994. The prisoner's dilemma without synchrony."
    assert work._replace(published_in="Nature 1").entry.endswith("synchrony. Nature 1.")
    assert ". ." not in chapter.bibliography()
