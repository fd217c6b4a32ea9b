"""Cases of the golden figures, and what the commands and the functions compute in them today."""

import io
import json
import os
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from flat_figures import Figure, flat_figures, page_lines, plain_lines

import stratagem as sg
from stratagem.base.files import finite
from stratagem.cli import console
from stratagem.cli.main import main

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EARLIER_RUN = ROOT / "tests" / "runs" / "earlier" / "0.2"
"""Stored run, which is the model of the zoo and the subject of a report, too."""
SURROUNDINGS = {"NO_COLOR": "1", "COLUMNS": "200"}
"""Environment of a case, on which the form of printed tables depends."""


@dataclass(frozen=True)
class Case:
    """One computation: a command, a function of `stratagem`, or both."""

    name: str
    of: str
    """Subject of the case."""
    command: str = ""
    """Command line. `{folder}` is an empty folder, `{run}` a copy of a stored run, `{server}` an address."""
    call: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Arguments by the name of the function of `stratagem`."""
    before: tuple[str, ...] = ()
    """Commands that run first, and whose figures are not stored."""
    page: str = ""
    """File of a page that the command writes, whose tables are stored."""
    serves: tuple[str, str] | None = None
    """Game and player of a server that runs beside the case."""
    json: bool = True
    """False where the command has no JSON."""
    model: bool = False
    """True where figures rest on a model's floating point: they are compared to 1e-9, not to the last bit."""
    sums: bool = False
    """True where figures rest on sums whose order the processor decides: they are compared to 1e-12."""
    slow: bool = False
    """True where the case takes more than a few seconds; the test leaves it out."""


@dataclass(frozen=True)
class Outcome:
    """Figures and texts of a case."""

    figures: list[Figure]
    texts: dict[str, list[str]]
    """Lines by face: `printed` of the command, `repr` of the function's result, `page` of a report."""


def read_cases(path: Path = HERE / "cases.toml") -> dict[str, Case]:
    """Return the cases by name."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["case"]
    cases = [
        Case(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})
        for entry in listed
    ]
    named = {case.name: case for case in cases}
    if len(named) != len(cases):
        raise ValueError("two cases have one name")
    return named


def compute(case: Case) -> Outcome:
    """Compute a case on each of its faces, each in a folder of its own."""
    figures: list[Figure] = []
    texts: dict[str, list[str]] = {}
    if case.command:
        with _place(case) as (words, mask):
            texts["printed"] = plain_lines(_printed(case.command, words), mask)
            if case.page:
                html = (Path(words["folder"]) / case.page).read_text(encoding="utf-8")
                texts["page"] = page_lines(html, mask)
    if case.command and case.json:
        with _place(case) as (words, mask):
            figures += flat_figures("json", json.loads(_printed(f"{case.command} --json", words)), mask)
    for name, arguments in case.call.items():
        with _place(case) as (words, mask):
            result = getattr(sg, name)(**_filled(arguments, words))
            figures += flat_figures("python", result.rows(), mask)
            texts["repr"] = plain_lines(repr(result), mask)
            figures += _unlike_json(figures, flat_figures("json", _plain(result.to_json()), mask))
    return Outcome(figures, texts)


def _unlike_json(figures: list[Figure], own: list[Figure]) -> list[Figure]:
    """Return the figures of `to_json()` that the command's JSON has not, or has with another value."""
    printed = {figure for figure in figures if figure.face == "json"}
    return [figure._replace(face="to_json") for figure in own if figure not in printed]


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(finite(data)))


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(f"{{{name}}}", word)
        return value
    if isinstance(value, Mapping):
        return {name: _filled(each, words) for name, each in value.items()}
    return [_filled(each, words) for each in value] if isinstance(value, list | tuple) else value


def _printed(command: str, words: Mapping[str, str]) -> str:
    """Run a command in this process and return its output; a status of failure is an error unless it has output."""
    arguments = [_filled(argument, words) for argument in shlex.split(command)]
    output, said = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(said):
        width, console.out.width = console.out.width, 200
        try:
            main(arguments)
        except SystemExit as ended:
            if ended.code and not output.getvalue():
                raise RuntimeError(f"stratagem {command}: {said.getvalue()}") from None
        finally:
            console.out.width = width
    return output.getvalue()


@contextmanager
def _place(case: Case) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield the words of a case's placeholders, and the texts that stand for them in its figures."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="golden-")))
        stack.enter_context(chdir(ROOT))
        stack.enter_context(patch.dict(os.environ, SURROUNDINGS))
        (folder / "out").mkdir()
        words, mask = {"folder": str(folder / "out"), "run": str(folder / "run")}, {str(folder): "FOLDER"}
        shutil.copytree(EARLIER_RUN, words["run"])
        stack.enter_context(_zoo(folder))
        if case.serves:
            game, player = case.serves
            server = stack.enter_context(sg.serve([player], game, port=0))
            words["server"], mask[server.url] = server.url, "SERVER"
        for command in case.before:
            _printed(command, words)
        yield words, mask


@contextmanager
def _zoo(folder: Path) -> Iterator[None]:
    """Let the stored run be `zoo:earlier`: a model of the zoo is the folder of a run in a package."""
    package = folder / "zoo" / "stratagem_zoo"
    package.mkdir(parents=True)
    shutil.copytree(EARLIER_RUN, package / "earlier")
    sys.path.insert(0, str(package.parent))
    sys.path_importer_cache.pop(str(package.parent), None)
    try:
        yield
    finally:
        sys.path.remove(str(package.parent))
