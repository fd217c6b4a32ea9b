"""Pictures of results pages, drawn from the tables of the pages themselves: `python experiments/table_pictures.py`.

A picture shows the figures of one table as dots with their intervals, so it cannot say anything else than the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dots import Dot, picture

from stratagem.measure.rates import wilson

RESULTS = Path(__file__).parents[1] / "docs" / "results"
Cells = Sequence[str]
SHORT = {
    "win rate against": "wins,",
    " told in the prompt": "",
    "exploitability \N{DOWNWARDS ARROW}": "exploitability",
    "cooperative dilemma": "coop. dilemma",
    "shaper and naive": "shaper",
    ", from the honest start": "",
    "trained and measured against Honest": "against Honest",
    "dumbbot-ported-dipnet": "DipNet's port",
    "SEPO against Honest, b = 1, without the term": "SEPO without the term",
    "the same with deception_weight 2": "SEPO with the term",
    "SEPO against believer(FairNeg) over items, without the term": "items without the term",
    "over items with deception_weight 2": "items with the term",
}
"""Words that are cut where a label would not fit."""
_NUMBER = re.compile(r"[-\u2212]?\d*\.?\d+")
_LABEL = re.compile(r"[`*]|\[([^]]*)\]\([^)]*\)")


class Picture(NamedTuple):
    """Title, rows and axis of the picture of a page."""

    title: str
    row: Callable[[Cells], Iterator[Dot]]
    """Dots of one row of the table."""
    low: float
    high: float
    table: int = 0
    """Number of the table in the page."""


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell, without its thousands' commas."""
    return [float(found.replace("\u2212", "-")) for found in _NUMBER.findall(cell.replace(",", ""))]


def label(cell: str) -> str:
    """Return a cell without marks of code, bold and links."""
    return _LABEL.sub(lambda found: found[1] or "", cell).strip()


def _short(text: str) -> str:
    for long, short in SHORT.items():
        text = text.replace(long, short)
    return text


def tables(page: str) -> list[list[list[str]]]:
    """Return the tables of a page as rows of cells, without their heads."""
    found = re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]] for table in found
    ]


def dots(page: str, drawn: Picture) -> list[Dot]:
    """Return the dots of a picture."""
    return [dot for cells in tables(page)[drawn.table] for dot in drawn.row(cells)]


def limits(cells: Cells) -> Iterator[Dot]:
    """An estimate between its limits, and the exact figure beside it."""
    lower, estimate, upper = (numbers(cell)[0] for cell in cells[2:5])
    yield Dot(f"{label(cells[0])}, from replies", estimate, lower, upper)
    if exact := numbers(cells[1]):
        yield Dot("exact", exact[0], exact[0], exact[0], marked=True)


def coverage(cells: Cells) -> Iterator[Dot]:
    """Least and most of the shares of two limits; the dot is the least."""
    for name, cell in (("lower", cells[3]), ("upper", cells[4])):
        least, most = numbers(cell)
        yield Dot(f"{cells[0]}, {cells[1]} replies, {name}", least, least, most, marked=name == "upper")


def misses(cells: Cells) -> Iterator[Dot]:
    """Share of limits above the true mean, by Gaffke's limit and by Student's t; Gaffke's is marked."""
    for name, cell in (("Gaffke", cells[2]), ("t", cells[3])):
        (share,) = numbers(cell)
        yield Dot(f"{cells[0]}, {cells[1]} deals, {name}", share, share, share, marked=name == "Gaffke")


ENGINE = {
    "decoding against": "decoding, fp32, batches of 1 to 32",
    "the same in bf16": "decoding, bf16, batches of 1 to 32",
    "50 prompts": "50 prompts that share 120 tokens",
    "7 adapters": "7 adapters in one batch, to generate",
}
"""Short names of the rows that are ratios to a public tool, by their first words."""


def spread(cells: Cells) -> Iterator[Dot]:
    """Ratios of one requirement, from the least to the most; the dot is the middle one."""
    named = next((name for words, name in ENGINE.items() if cells[0].startswith(words)), None)
    if named:
        found = [numbers(part)[0] for part in cells[1].replace(", ", "; ").split(";") if "our own" not in part]
        found.sort()
        yield Dot(named, found[len(found) // 2], found[0], found[-1])


def ratio(cells: Cells) -> Iterator[Dot]:
    """One ratio without an interval."""
    if found := numbers(cells[1]):
        name = label(cells[0]).split(":")[0].split(",")[0]
        reference = ", with a reference" if "with a reference" in cells[0] else ""
        yield Dot(name + reference, found[0], found[0], found[0])


def exponent(cells: Cells) -> Iterator[Dot]:
    """An exponent with two standard errors."""
    mean, error = numbers(cells[1])
    yield Dot(_short(label(cells[0])), mean, mean - 2 * error, mean + 2 * error, marked="2" in cells[3])


def difference(cells: Cells) -> Iterator[Dot]:
    """A difference with two standard errors."""
    mean, error = numbers(cells[5])
    yield Dot(_short(f"{cells[0]}, {label(cells[1])}, {label(cells[2])}"), mean, mean - 2 * error, mean + 2 * error)


def exact(cells: Cells) -> Iterator[Dot]:
    """An exact figure."""
    value = numbers(cells[1])[0]
    yield Dot(label(cells[0]), value, value, value, marked="random" in cells[0])


def by_workers(cells: Cells) -> Iterator[Dot]:
    """Speed with several workers, as multiples of the speed in process."""
    for count, cell in (("1 worker", cells[2]), ("2 workers", cells[3]), ("4 workers", cells[4])):
        if found := numbers(cell):
            yield Dot(f"{label(cells[0]).split(' of ')[0][:20]}, {count}", found[0], found[0], found[0])


def truth(cells: Cells) -> Iterator[Dot]:
    """Honesty and the rate of deception of an arm, with two standard errors."""
    for name, cell in (("honesty", cells[3]), ("deception", cells[5])):
        mean, error = numbers(cell)
        arm = _short(label(cells[1]))
        yield Dot(f"{arm}, {name}", mean, mean - 2 * error, mean + 2 * error, marked=name == "deception")


def bets(cells: Cells) -> Iterator[Dot]:
    """Exact exploitability of a model in Kuhn poker."""
    if found := numbers(cells[9]):
        examples = f", {cells[2]}" if cells[2] else ""
        name = _short(label(cells[0])) + examples
        yield Dot(name, found[0], found[0], found[0], marked=cells[0] == "random play")


def seeds(cells: Cells) -> Iterator[Dot]:
    """Share of seeds of each arm that ended as the row says, with Wilson's interval."""
    if "mutual defection" in cells[2]:
        return  # the two arms of this row are counts of different things
    for arm, cell in (("shaper and naive", cells[1]), ("two naive", cells[2])):
        if found := re.search(r"in (\d+) of (\d+)", cell):
            share = wilson(int(found[1]), int(found[2]))
            assert share.low is not None
            assert share.high is not None
            yield Dot(_short(f"{cells[0]}, {arm}"), share.mean, share.low, share.high, marked=arm == "two naive")


def accuracies(cells: Cells) -> Iterator[Dot]:
    """Share of texts that a reader reads rightly; marked for texts that its rules were written from."""
    mean, low, high = numbers(cells[3])
    yield Dot(f"{label(cells[0])}, {label(cells[1])}, {cells[2]}", mean, low, high, marked=cells[2] == "seen")


def first_places(cells: Cells) -> Iterator[Dot]:
    """Share of games in which a player is first, with its interval, and the null of these games."""
    name = f"{label(cells[0])}: six {label(cells[1])}, {cells[2]}"
    if found := numbers(cells[6]):
        mean, low, high = found
        yield Dot(_short(name), mean, low, high)
    if null := numbers(cells[7]):
        yield Dot("its null", null[0], null[0], null[0], marked=True)
    if alone := numbers(cells[8]):
        mean, low, high = alone
        yield Dot(f"{_short(name)}, alone", mean, low, high)


PICTURES = {
    "audit": Picture("Exploitability in Kuhn poker, chips a hand: limits at 95 % each", limits, 0, 1.1),
    "coverage": Picture("Per cent of repetitions in which a limit holds, least to most", coverage, 80, 100),
    "deal-coverage": Picture("Per cent of lower limits above the true mean; 5 are allowed", misses, 0, 100),
    "diplomacy-search": Picture(
        "First places against six of a kind, with ties and alone, per cent, 95 % intervals", first_places, 0, 100
    ),
    "engine": Picture("Speed as multiples of public tools", spread, 0, 10),
    "growth": Picture("Exponent of time, with two standard errors; 1 is linear", exponent, 0, 2.5),
    "language-players": Picture("Exact exploitability in Kuhn poker, chips a hand", exact, 0, 0.6),
    "learner": Picture("Speed of a training step as multiples of trl", ratio, 0, 5),
    "readers": Picture("Texts that are read rightly, 95 % intervals; seen texts are marked", accuracies, 0, 1),
    "press": Picture("Honesty and rate of deception after training with talk, two standard errors", truth, 0, 1),
    "reading": Picture("Exact exploitability in Kuhn poker, chips a hand, by model and examples", bets, 0, 0.7),
    "reinforce": Picture("REINFORCE less the control, two standard errors", difference, -0.25, 0.05),
    "scale": Picture("Speed as multiples of one process, two cores", by_workers, 0, 2),
    "shapellm": Picture("Share of seeds that end as the table says, 95 % intervals", seeds, 0, 1),
}
"""Pictures by page, or by section of the page about performance; some pages have a picture of their own."""


SECTIONS = {"engine": "Engine", "growth": "Growth", "learner": "Learner", "scale": "Workers"}
"""Sections of the page about performance that have a picture of their own."""


def text_of(name: str) -> str:
    """Return the text that has the table of a picture: a page, or a section of the page about performance."""
    if name not in SECTIONS:
        return (RESULTS / f"{name}.md").read_text("utf-8")
    page = (RESULTS / "performance.md").read_text("utf-8")
    return page.partition(f"\n## {SECTIONS[name]}\n")[2].partition("\n## ")[0]


def drawn(name: str) -> str:
    """Draw a picture from its table."""
    what = PICTURES[name]
    return picture(dots(text_of(name), what), what.title, what.low, what.high)


def main() -> None:
    """Write all pictures."""
    for page in PICTURES:
        (RESULTS / f"{page}.svg").write_text(drawn(page), encoding="utf-8")


if __name__ == "__main__":
    main()
