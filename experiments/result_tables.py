"""Tables of the experiments: finished runs with their provenance, one JSON over several sittings, and Markdown."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratagem.base.provenance import provenance
from stratagem.base.renamed.metrics import present_table
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import Estimate, with_interval
from stratagem.sweeps.comparison import BySeed, PairedTest, PValue, pair_seeds, paired_tests, sign_flips
from stratagem.training.runs.config_file import recipe_digest
from stratagem.training.runs.folder import RunFolder, find_runs

Row = dict[str, Any]
"""Figures of one run, with its seed, commit, command, `dirty` and recipe."""
Layout = Callable[[Mapping[str, Any]], str]
"""Text of the JSON of results."""
Counts = Mapping[str, int]
"""Numbers of results by the name of what they are of."""
RECIPES = "recipes"
"""Folder beside the results, with the resolved recipe of each run as DIGEST.json, without its seed."""
DASH = "\u2013"
_NAME = re.compile(r"(?P<stem>.+)-(?P<seed>\d+)")
_OF_A_RUN = re.compile(r"run:(?:.*/)?(?P<name>[^/@]+)-\d+@")
_IN_A_FOLDER = re.compile(r"dir:(?:.*/)?(?P<name>[^/@]+)-\d+$")


@dataclass(frozen=True)
class FinishedRun:
    """Finished run of an experiment; its folder is called STEM-SEED."""

    stem: str
    seed: int
    folder: RunFolder

    @property
    def path(self) -> Path:
        """Folder of the run."""
        return self.folder.path

    def read(self, name: str) -> Any:
        """Read a JSON file of the run, in which metrics may have their former names."""
        return _parse((self.path / name).read_text(encoding="utf-8"))

    def provenance(self) -> Row:
        """Return the commit and the command of the run, whether the program differed from it, and the resolved recipe.

        `write_results` puts the digest of the recipe in its place, and the recipe into a file. A model of another run
        beside this one is named without the folder and the seed, so that all seeds of an arm have one recipe.
        """
        info, recipe = self.folder.info(), seedless(self.folder.config_data())
        return {"commit": info.commit, "command": info.command, "dirty": info.dirty, "recipe": recipe}


def seedless(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe without its seed, in the name of its model, too."""
    same = {key: value for key, value in recipe.items() if key != "seed"}
    if isinstance(model := same.get("model"), str):
        of_run = _OF_A_RUN.sub(r"run:\g<name>-SEED@", model)
        same["model"] = _IN_A_FOLDER.sub(r"dir:\g<name>-SEED", of_run)
    return same


def finished(folder: Path) -> Iterator[FinishedRun]:
    """Find the finished runs whose names end with a seed."""
    for run in find_runs(folder):
        match = _NAME.fullmatch(run.name)
        if match and run.status().state == "finished":
            yield FinishedRun(match["stem"], int(match["seed"]), run)


def merged(old: Mapping[str, Sequence[Row]], new: Iterable[tuple[str, Row]]) -> dict[str, list[Row]]:
    """Merge runs by name and seed; a new run replaces an old one, and a new name comes last."""
    runs = {name: {row["seed"]: row for row in rows} for name, rows in old.items()}
    for name, row in new:
        runs.setdefault(name, {})[row["seed"]] = row
    return {name: [own[seed] for seed in sorted(own)] for name, own in runs.items()}


def table_command_line(doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a program that adds the runs of a folder to a JSON and prints tables."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the runs")
    parser.add_argument("out", type=Path, help="JSON file, to which finished runs are added")
    return parser


def read_results(path: Path) -> dict[str, Any]:
    """Read the JSON of results, in which metrics may have their former names; empty where there is none yet."""
    data: dict[str, Any] = _parse(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return data


def _parse(text: str) -> Any:
    return json.loads(text, object_hook=present_table)


def indented(data: Mapping[str, Any]) -> str:
    """Format as JSON, a line for each value."""
    return json.dumps(data, indent=1) + "\n"


def run_lines(data: Mapping[str, Sequence[Row] | Row]) -> str:
    """Format as JSON, a line for each run, and one for what is no list of runs."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {_lines(value)}" for name, value in data.items()) + "\n}\n"


def _lines(value: Sequence[Row] | Row) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value, allow_nan=False)
    return "[\n" + ",\n".join(json.dumps(run, allow_nan=False) for run in value) + "\n]"


def write_results(path: Path, data: Mapping[str, Any], layout: Layout = indented) -> None:
    """Write the JSON of results, and the recipes of its runs into files beside it.

    A run that is not in the file yet is refused without its recipe: its command alone is lost with the next renaming.
    """
    known = {row["command"] for row in _runs(read_results(path))}
    if lacking := [row["command"] for row in _runs(data) if row.get("recipe") is None and row["command"] not in known]:
        raise ValueError(f"{path} would lack the recipe of `{lacking[0]}`: take the row from `FinishedRun.provenance`.")
    path.write_text(layout(_with_digests(data, path.parent / RECIPES)), encoding="utf-8")


def check_nothing_lost(path: Path, data: Mapping[str, Any], count: Callable[[Mapping[str, Any]], Counts]) -> None:
    """Refuse to replace the JSON of results by data from fewer of them; `count` returns their numbers by name.

    A table over all results of a folder cannot add them to stored ones, and a clean clone has a folder without any.
    """
    if not path.is_file():
        return
    new, stored = count(data), count(read_results(path))
    if fewer := [name for name, old in stored.items() if new.get(name, 0) < old]:
        others = f", and {len(fewer) - 1:,} more lack some" if len(fewer) > 1 else ""
        raise SystemExit(
            f"{path.name} stays as it is, since this is of fewer results: {fewer[0]}, {new.get(fewer[0], 0):,} of "
            f"{stored[fewer[0]]:,}{others}. Make the rest first, or move the file away."
        )


def files_of(folder: Path, pattern: str = "*.json") -> list[Path]:
    """Return the files of results in a folder, in order; one without any is a mistake."""
    if not (files := sorted(folder.glob(pattern))):
        raise SystemExit(f"{folder} holds no {pattern}: make the results first, by the command without the table.")
    return files


def audits_of(table: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of audits of each agent of a table."""
    return {name: row["audits"] for name, row in table["agents"].items()}


def _runs(data: object) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of runs: what has a command of training."""
    if isinstance(data, Mapping):
        if str(data.get("command", "")).startswith("stratagem train "):
            yield data
        for value in data.values():
            yield from _runs(value)
    elif isinstance(data, list | tuple):
        for value in data:
            if not isinstance(value, float | int):  # a curve has very many
                yield from _runs(value)


def _with_digests(data: Any, folder: Path) -> Any:
    """Return data with the digest of each run's recipe in place of the recipe, which is written as DIGEST.json."""
    if isinstance(data, list | tuple):
        return [_with_digests(value, folder) for value in data]
    if not isinstance(data, Mapping):
        return data
    inside = {name: value if name == "recipe" else _with_digests(value, folder) for name, value in data.items()}
    if "command" in data and isinstance(recipe := data.get("recipe"), Mapping):
        inside["recipe"] = store_recipe(recipe, folder)
    return inside


def store_recipe(recipe: Mapping[str, Any], folder: Path) -> str:
    """Write a recipe as DIGEST.json, and return its digest."""
    digest = recipe_digest(recipe)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{digest}.json").write_text(indented(recipe), encoding="utf-8")
    return digest


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def number(value: float | None, digits: int = 3) -> str:
    """Format a figure without its leading zero; a dash where there is none."""
    if value is None:
        return DASH
    text = f"{abs(value):.{digits}f}"
    return ("-" if value < 0 and float(text) else "") + text.removeprefix("0")


def interval(estimate: Estimate, form: str = ".2f") -> str:
    """Format the 95 % interval of a mean, as [LOW, HIGH]; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{estimate.low:{form}}, {estimate.high:{form}}]"


def family_tests(
    pairs: Mapping[str, Mapping[str, tuple[str, str, str]]],
    by_seed: Callable[[str, str], BySeed],
    key: Key,
    fewest: Callable[[str], int],
) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family with its name, where at least two seeds are there.

    A test is of a figure of an arm less that of its control, or of the figure itself where the control is empty.
    One with fewer seeds than `fewest` of its name, the number that was declared, has an estimate and no p.
    """
    for name, tests in pairs.items():
        family, differences = Family(name, tuple(tests)), {}
        for test, (arm, control, figure) in tests.items():
            own = by_seed(arm, figure)
            gap = pair_seeds(own, by_seed(control, figure)) if control else own
            if len(gap) > 1:
                differences[test] = gap
        p_values = {test: sign_flips(key.at(name), fewest(test)) for test in differences}

        def p_value(test: str, own: Sequence[float], known: Mapping[str, PValue] = p_values) -> float | None:
            return known[test](test, own)

        yield from ((name, test) for test in paired_tests(family, differences, p_value).values())


def known_arms(path: Path) -> dict[str, list[Row]]:
    """Read the runs of a JSON of results by arm."""
    arms: dict[str, list[Row]] = {}
    for row in read_results(path).get("runs", []):
        arms.setdefault(row["arm"], []).append(row)
    return arms


def by_seed(rows: Mapping[str, Sequence[Row]], arm: str, figure: str) -> BySeed:
    """Return a figure of an arm by seed."""
    return {row["seed"]: float(row[figure]) for row in rows.get(arm, ()) if figure in row}


def row_of_test(family: str, test: PairedTest, unit: str = "seeds") -> Row:
    """Return the row of a test for the JSON; the unit is what is paired."""
    return {
        "family": family, "test": test.name, unit: len(test.by_seed), "difference": test.estimate.mean,
        "low": test.estimate.low, "high": test.estimate.high, "p": test.p, "p (Holm)": test.holm_p,
    }  # fmt: skip


def table_of_tests(tests: Iterable[Row], unit: str = "seeds") -> str:
    """Format the rows of tests in Markdown."""
    rows = (_test_cells(row, unit) for row in tests)
    return markdown(["family", "test", unit, "difference [95 %]", "p", "p (Holm)"], rows)


def _test_cells(row: Row, unit: str) -> list[str]:
    difference = f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"
    return [row["family"], row["test"], str(row[unit]), difference, *(number(row[p]) for p in ("p", "p (Holm)"))]


def mean_with_error(values: Sequence[float], digits: int = 3) -> str:
    """Format a mean with its standard error over seeds; a dash without values."""
    if not values:
        return DASH
    estimate = with_interval(values)
    error = "" if estimate.se is None else f" \u00b1 {estimate.se:.{digits}f}"
    return f"{estimate.mean:.{digits}f}{error}"


def write_tests(
    path: Path, rows: Mapping[str, Sequence[Row]], tested: Iterable[tuple[str, PairedTest]], shown: Sequence[str]
) -> None:
    """Write the runs of all arms with their tests, and print both as tables; `shown` are the figures of an arm."""
    tests = [row_of_test(name, test) for name, test in tested]
    every = [row for arm in sorted(rows) for row in rows[arm]]
    write_results(path, {"made by": provenance(), "tests": tests, "runs": every})
    print(markdown(["arm", "seeds", *shown], (_means(arm, rows[arm], shown) for arm in sorted(rows))))
    print()
    print(table_of_tests(tests))


def _means(arm: str, rows: Sequence[Row], shown: Sequence[str]) -> list[str]:
    return [arm, str(len(rows)), *(mean_with_error([row[name] for row in rows if name in row]) for name in shown)]
