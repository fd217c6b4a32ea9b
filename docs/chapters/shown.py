"""Outputs shown in hand-written pages: what the commands and programs above them print now.

In a page, a block of `text` right under a block of `sh` or `python` is the output of that block. Blocks of one page run
in order, in one temporary folder with `examples/`, whose package counts as installed.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from chapters.forked import Programs

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, SOURCE = ROOT / "examples", ROOT / "src"
"""The code that is shown is that of this tree, whatever is installed."""
SLOW = (
    "stratagem data sepo",
    "stratagem eval kuhn --player tiny --player",
    "stratagem train",
    "stratagem sweep",
    "stratagem reproduce sepo:5 --seeds",
    "stratagem report",
    "stratagem eval sepo",
    "stratagem eval gtbench",
    "stratagem eval pig",
    "stratagem eval 'diplomacy",
    "stratagem labels",
    "stratagem prompt 'ipd-shapellm(labels=[G,I])'",
)
"""Commands that are read and not run: they take long,"""
ELSEWHERE = ("smollm2", "PATH", "human", "@http", "run:", "runs/")
"""or need what is not here: another model, a folder, a run, somebody at the keyboard, a server."""
_MAIN = ("-c", "from stratagem.cli.main import main; main()")


def refreshed(page: str) -> str:
    """The page with every output as it is now; a program or command that breaks raises `RuntimeError`."""
    with TemporaryDirectory() as name:
        work, packages = Path(name, "work"), Path(name, "installed")
        work.mkdir()
        (work / EXAMPLES.name).symlink_to(EXAMPLES)
        install_examples(packages)

        def again(found: re.Match[str]) -> str:
            language, source, shown = found.groups()
            calls = _calls(language, source)
            calls = calls if shown is not None else [_shortened(call) for call in calls]
            printed = "".join(_printed(call, work, packages) for call in calls)
            whole = found.group()
            return whole if shown is None else whole.replace(f"```text\n{shown}", f"```text\n{printed}")

        return BLOCK.sub(again, page)


def commands(page: str) -> list[str]:
    """Every line of the page's `sh` blocks."""
    blocks = (found.group(2) for found in BLOCK.finditer(page) if found.group(1) == "sh")
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


@cache
def programs() -> Programs:
    """Programs in our environment, with a plain terminal of fixed width."""
    path = os.pathsep.join((str(SOURCE), str(EXAMPLES)))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FORCE_", "CLICOLOR"))}
    plain = {"COLUMNS": "116", "NO_COLOR": "1", "TERM": "dumb", "PYTHONPATH": path, "PYTHONUTF8": "1"}
    return Programs(kept | plain)


def install_examples(folder: Path) -> None:
    """Return the metadata that `pip install examples` would write, without copying the package."""
    groups = tomllib.loads((EXAMPLES / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    info = folder / "stratagem_examples-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stratagem-examples\nVersion: 0\n", "utf-8")
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {what}\n" for name, what in own.items()) for group, own in groups.items()
    )
    (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")


def _calls(language: str, source: str) -> list[list[str]]:
    """The programs of a block, as `python` takes them."""
    if language == "python":
        return [["-c", source]]
    lines = [line for line in source.splitlines() if line.startswith("stratagem ") and _runs(line)]
    return [[*_MAIN, *shlex.split(line, comments=True)[1:]] for line in lines]


def _shortened(call: list[str]) -> list[str]:
    """Return an evaluation whose output is not shown with two episodes and without exact figures, which take long.

    One that leaves a record or a file stays as it is: what stands below may read it.
    """
    if call[:3] != [*_MAIN, "eval"] or {"--record", "--out", "--effort", "--exploitability"} & {*call}:
        return call
    at = call.index("--episodes") if "--episodes" in call else len(call)
    return [*call[:at], "--episodes", "2", "--exploitability", "exact", "--effort", "2", *call[at + 2 :]]


def _runs(line: str) -> bool:
    return not line.startswith(SLOW) and not any(word in line for word in ELSEWHERE)


def _printed(call: list[str], work: Path, packages: Path) -> str:
    """Return the output of a program, without blanks at the ends of lines."""
    status, said = programs().run(call, work, packages)
    if status:
        raise RuntimeError(f"{call} ended with status {status}:\n{said}")
    text = "\n".join(line.rstrip() for line in said.splitlines()).strip("\n")
    return text + "\n" if text else ""
