"""Golden figures: what commands and functions compute, stored and compared.

    python tests/golden_figures/figures.py compare [--only CASE]
    python tests/golden_figures/figures.py store [--only CASE]

`compare` prints each figure that moved, vanished or is new, and exits with 1 if there is one. Keys, rows and words that
were renamed on purpose stand in `renames.toml`. `store` writes the figures of today.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from figure_changes import changes, read_renames
from flat_figures import Figure
from golden_cases import HERE, Case, Outcome, compute, read_cases

from stratagem.base.errors import StratagemError

STORED = HERE / "stored"


def path_of(name: str) -> Path:
    """Return the file of a case."""
    return STORED / f"{name}.txt"


def outcome_text(case: Case, outcome: Outcome) -> str:
    """Write an outcome: a line for each figure of a row, then the printed texts."""
    return "\n".join([f"# {case.of}", *_figure_lines(outcome.figures), *_text_lines(outcome), ""])


def _figure_lines(figures: Iterable[Figure]) -> Iterator[str]:
    """Yield figures that share all but the last part of their key in one line below their row."""
    at: tuple[str, str] | None = None
    line, start = "", ""
    for face, row, key, value in figures:
        stem, _, last = key.rpartition(".")
        if (face, row) != at or stem != start:
            if line:
                yield line
            if (face, row) != at:
                yield f"@{face}\t{row}"
            at, start, line = (face, row), stem, f"{stem}:"
        line += f"\t{last}={_short(value)}"
    if line:
        yield line


def _short(value: str) -> str:
    """Drop the zeros at the end of a mantissa."""
    mantissa, exponent, power = value.partition("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{power}" if exponent and "." in mantissa else value


def _text_lines(outcome: Outcome) -> Iterator[str]:
    for face, lines in outcome.texts.items():
        yield f">{face}"
        yield from (f" {line}" for line in lines)


def read_outcome(text: str) -> Outcome:
    """Read the outcome of a file."""
    figures: list[Figure] = []
    texts: dict[str, list[str]] = {}
    face = row = ""
    lines: list[str] = []
    for line in text.splitlines()[1:]:
        if line.startswith("@"):
            face, row = line[1:].split("\t")
        elif line.startswith(">"):
            lines = texts.setdefault(line[1:], [])
        elif line.startswith(" "):
            lines.append(line[1:])
        else:
            figures += _figures_of(face, row, line)
    return Outcome(figures, texts)


def _figures_of(face: str, row: str, line: str) -> Iterator[Figure]:
    stem, *values = line.split("\t")
    stem = stem.removesuffix(":")
    for one in values:
        name, _, value = one.rpartition("=")
        number = float.fromhex(value).hex() if value not in ("true", "false", "none") else value
        yield Figure(face, row, f"{stem}.{name}" if stem else name, number)


def compare(case: Case) -> list[str]:
    """Return a sentence for each figure and line of a case that is not as it is stored."""
    if not path_of(case.name).is_file():
        return [f"{case.name}: nothing is stored"]
    stored = read_outcome(path_of(case.name).read_text(encoding="utf-8"))
    found = changes(
        stored, compute(case), read_renames(HERE / "renames.toml"), tolerance=1e-9 if case.model else 1e-12 * case.sums
    )
    return [f"{case.name}: {sentence}" for sentence in found]


def store(case: Case) -> list[str]:
    """Write the figures of a case; return no sentence."""
    STORED.mkdir(exist_ok=True)
    path_of(case.name).write_text(outcome_text(case, compute(case)), encoding="utf-8")
    return []


def _tried(action: Callable[[Case], list[str]], case: Case) -> list[str]:
    """Return the sentences of an action, or that the case cannot be computed, so that the others still are."""
    try:
        return action(case)
    except (StratagemError, RuntimeError, TypeError, AttributeError, FileNotFoundError) as error:
        return [f"{case.name} cannot be computed: {type(error).__name__}: {error}"]


def main(arguments: list[str] | None = None) -> int:
    """Store or compare the cases, and return 1 if a figure changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["store", "compare"])
    parser.add_argument("--only", metavar="CASE", action="append", help="case to store or compare; repeatable")
    given = parser.parse_args(arguments)
    os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")  # before torch is imported
    cases = read_cases()
    if unknown := sorted(set(given.only or ()) - set(cases)):
        parser.error(f"there is no case {', '.join(unknown)}: there are {', '.join(cases)}.")
    if given.action == "store" and not given.only:
        for path in STORED.glob("*.txt"):
            if path.stem not in cases:
                path.unlink()
    sentences: list[str] = []
    for name in given.only or cases:
        start = time.process_time()
        found = _tried(store if given.action == "store" else compare, cases[name])
        sys.stdout.write("".join(f"{line}\n" for line in found))
        sys.stderr.write(f"{name}: {time.process_time() - start:.1f} s\n")
        sentences += found
    sys.stdout.write(f"{len(sentences)} changes\n" if given.action == "compare" else f"{len(sentences)} errors\n")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
