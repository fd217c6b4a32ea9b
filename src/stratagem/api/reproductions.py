"""Reproductions: `reproduce` makes the runs of a published table, and prints its figures beside those of the runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from json import dumps
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Literal

from stratagem.api.arguments import as_path, names_of
from stratagem.api.mistakes import one_sentence
from stratagem.api.published_tables import GIB, PublishedTables, Reproduction, ReproductionPlan, TableState
from stratagem.api.serving import serving
from stratagem.api.stopped import going_on
from stratagem.base.consent.table import allow_named, reading_files
from stratagem.base.errors import BadParameter, StratagemError, UnknownName, WrongKind
from stratagem.base.files import parse_json, read_small, telling, write_file
from stratagem.base.options import whole, within
from stratagem.base.provenance import source
from stratagem.show.console import VisibleConsole
from stratagem.sweeps.reproduction.published import (
    MOST_SEEDS,
    SCALES,
    PublishedPaper,
    PublishedTable,
    ScaleName,
    all_tables,
    file_of,
    read_paper,
)
from stratagem.training.shipped import is_published

if TYPE_CHECKING:
    from stratagem.sweeps.reproduction.table_plan import TablePlan

FOLDER = Path("runs/papers")
"""Folder of reproductions without a folder of their own."""
_FILE = "table-{}.json"

__all__ = ["PublishedTables", "Reproduction", "ReproductionPlan", "reproduce"]


@one_sentence
def reproduce(
    table: str = "",
    *,
    scale: Literal["tiny", "cpu", "gpu"] = "tiny",
    model: str = "",
    seeds: int = 0,
    hours: float = 0.0,
    out: str | Path | None = None,
    dry_run: bool = False,
    any_tree: bool = False,
    allow: str | Sequence[str] = (),
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> PublishedTables | ReproductionPlan | Reproduction:
    """Make the runs of a published table, and print its figures beside theirs; the same call goes on with them.

    As a command its status is 1 if a figure is outside of a range that the table's file gives, and 2 if a run failed.

    Args:
        table: PAPER:TABLE as in `sepo:5`, or PAPER for all its tables; without one all are listed with their states.
            PAPER may be the path of a file of your own, as in `mine/published.toml:2`.
        scale: Scale of the runs. tiny: a model of a million weights. cpu: a small model overnight on two cores. gpu:
            the paper's own model.
        model: Model in place of the scale's.
        seeds: Number of seeds; by default the paper's, and 3 at least.
        hours: Hours after which no further run is begun; 0 has no limit.
        out: Folder of all reproductions; by default runs/papers.
        dry_run: True to print the plan, and run nothing.
        any_tree: True to permit uncommitted changes of the program.
        allow: Single things that a recipe may use although its folder is not trusted: a Python file, a command
            `cmd:...`, or a server as HOST or HOST:PORT.
        workers: Number of processes that share the work; with `ray=`, of workers on the cluster.
        ray: Ray cluster for the work: its address, `auto`, or `local` for a new one here.
        progress: True to print a line for each run on the error stream.
    """
    root = FOLDER if out is None else as_path(out, "folder")
    if not isinstance(table, str):
        raise WrongKind("table", "a text such as `sepo:5`", table)
    if not table and (dry_run or model or seeds or hours):
        raise BadParameter("Name a table, such as sepo:5: without one all tables are listed, and nothing else is done.")
    if not table:
        return PublishedTables(tuple(_states(root)))
    if scale not in SCALES:
        raise UnknownName("scale", str(scale), SCALES)
    whole("reproduce", "seeds", seeds, 0)
    within("reproduce", "seeds", seeds, 0, MOST_SEEDS)
    within("reproduce", "hours", hours, 0.0)
    with reading_files(*names_of(allow, "permission")), serving(None, workers, ray):
        if model:
            allow_named([model])
        plans = tuple(_plans(table, scale, model, seeds, root))
        if dry_run:
            return _make_plan(plans)
        tell = _tell if progress else _be_silent
        for line in _plan_lines(plans):
            tell(line)
        until = monotonic() + hours * 3600.0 if hours else inf
        with going_on("The same call goes on with the runs."):
            return _make_runs(plans, until, any_tree or source()["commit"] is None, tell)


def _plans(table: str, scale: ScaleName, model: str, seeds: int, root: Path) -> list[TablePlan]:
    from stratagem.sweeps.reproduction.table_plan import LEAST_SEEDS, TablePlan

    name, wanted = _split(table)
    file = file_of(name)
    paper = read_paper(file)
    if scale not in paper.scales:
        raise UnknownName(f"scale of {paper.name}", scale, paper.scales)
    folder = root / "-".join([file.absolute().parent.name, scale, *_marks(file, model)])
    tables = [_possible(paper, wanted)] if wanted else [one for one in paper.tables if not one.cannot]
    return [
        TablePlan(
            file,
            paper,
            one,
            scale,
            folder,
            tuple(range(seeds or max(one.seeds, LEAST_SEEDS))),
            model,
            of_rows=not seeds,
        )
        for one in tables
    ]


def _marks(file: Path, model: str) -> list[str]:
    """Return what tells the folder of a user's own paper, or of another model, from all others."""
    own = [] if is_published(file) else [_digest(str(file.absolute()))]
    plain = re.sub(r"[^A-Za-z0-9]+", "-", model).strip("-")[:40]
    return [*own, *([f"{plain}-{_digest(model)}"] if model else [])]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=4).hexdigest()


def _split(table: str) -> tuple[str, str]:
    """Split PAPER:TABLE; a path may have a colon of its own."""
    head, suffix, wanted = table.rpartition(".toml")
    if suffix:
        return head + suffix, wanted.removeprefix(":")
    name, colon, wanted = table.partition(":")
    if colon and not wanted:
        raise BadParameter(f"The table {table!r} has no name: write {name}:5, or {name} for all its tables.")
    return name, wanted


def _possible(paper: PublishedPaper, wanted: str) -> PublishedTable:
    table = paper.table(wanted)
    if table.cannot:
        raise BadParameter(f"No run answers to table {table.id} of {paper.name}: {table.cannot}")
    return table


def _make_plan(plans: Sequence[TablePlan]) -> ReproductionPlan:
    from stratagem.sweeps.reproduction.table_plan import size_of

    return ReproductionPlan(tuple(plans), tuple(map(size_of, plans)))


def _plan_lines(plans: Sequence[TablePlan]) -> list[str]:
    """Return the plan in one line for each table, before anything is run."""
    planned = _make_plan(plans)
    return [
        f"{row['table']} at scale {row['scale']}: runs: {row['runs']}, finished before: {row['finished']}, "
        f"{row['sampled_tokens']:,} sampled and {row['trained_tokens']:,} trained tokens at most"
        + ("" if row["hours"] is None else f", {row['hours']:.1f} hours")
        + (f", {row['bytes'] / GIB:.1f} GiB" if row["bytes"] else "")
        + f"; in {row['folder']}"
        for row in planned.rows()
    ]


def _make_runs(plans: Sequence[TablePlan], until: float, any_tree: bool, tell: Callable[[str], None]) -> Reproduction:
    from stratagem.sweeps.reproduction.table_maker import figures_of, make_table

    failed: dict[str, StratagemError] = {}
    figures = []
    for plan in plans:
        wrong = make_table(plan, tell, until=until, any_tree=any_tree)
        figures.append(tuple(figures_of(plan, wrong)))
        failed |= wrong
        result = Reproduction((plan,), (figures[-1],))
        with telling(plan.folder):
            plan.folder.mkdir(parents=True, exist_ok=True)
        path = plan.folder / _FILE.format(plan.table.id)
        write_file(path, dumps(result.to_json(), indent=1) + "\n")
    errors = tuple(f"{name} failed: {error}" for name, error in failed.items())
    return Reproduction(tuple(plans), tuple(figures), errors)


def _states(root: Path) -> list[TableState]:
    return [
        TableState(name, paper, table, tuple(_reproductions(root, name, table))) for name, paper, table in all_tables()
    ]


def _reproductions(root: Path, name: str, table: PublishedTable) -> list[tuple[str, str, int]]:
    """Return the scale, the date and the finished runs of every reproduction of a table here."""
    found = []
    for path in sorted(root.glob(f"{name}-*/{_FILE.format(table.id)}")):
        date = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
        found.append((path.parent.name.removeprefix(f"{name}-"), date, _runs_in(path)))
    return found


def _runs_in(path: Path) -> int:
    """Return the number of finished runs that a table was made from; 0 where its file cannot be read."""
    try:
        return int(parse_json(read_small(path))["tables"][0]["runs"])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return 0


def _tell(message: str) -> None:
    VisibleConsole(stderr=True).print(message, highlight=False, markup=False)


def _be_silent(message: str) -> None:
    """Print nothing."""
