"""Seconds and megabytes from an empty environment to the first interval of an audit, by installer and by package.

Each installer makes a new environment, installs a wheel of the checkout and audits a scripted player. `uv` begins with
an empty cache, and is measured again with the cache that this filled. Run with `make bench-cold-start`, which writes
docs/results/cold-start.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from stratagem.base.provenance import provenance

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "results" / "cold-start.json"
CONSTRAINTS = str(ROOT / "constraints.txt")
AUDIT = ("audit", "TightValue", "--games", "kuhn", "--decisions", "600")
SERVES = {
    "pyarrow": "records in Parquet, logs of other tools",
    "scipy": "distributions, linear programs, ratings",
    "numpy": "arrays",
    "open-spiel": "kuhn, leduc, liar's dice, tic-tac-toe, connect four",
    "stratagem": "this package, with the model of the demo",
    "Pygments": "colours of rich",
    "pydantic_core": "checks of settings",
    "pydantic": "checks of settings",
    "PyYAML": "settings of OpenSpiel",
    "rich": "tables in a terminal",
    "typer": "commands",
    "click": "commands",
    "starlette": "pages in a browser",
    "uvicorn": "pages in a browser",
}
"""Purpose of the larger packages; others belong to these."""
LEAST_MB = 1.0
"""Size from which a package has a row of its own."""


class Spent(NamedTuple):
    """Seconds of some programs, by the clock and of processors."""

    wall: float
    processor: float


def spend(*commands: tuple[str, ...], **environment: str) -> Spent:
    """Run programs one after the other, and return what they took."""
    began, before = time.perf_counter(), _children()
    for command in commands:
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return Spent(time.perf_counter() - began, _children() - before)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def installers(wheel: str, folder: Path, tools: Path) -> Mapping[str, Callable[[], Mapping[str, Spent]]]:
    """Return by name what makes an environment, installs there and audits."""

    def into_environment(*install: str) -> Mapping[str, Spent]:
        with TemporaryDirectory(dir=folder) as place:
            made = (sys.executable, "-m", "venv", "--without-pip", place)
            program = tuple(part.replace("PYTHON", f"{place}/bin/python") for part in install)
            installed = spend(made, (*program, "-c", CONSTRAINTS, wheel))
            return {"install": installed, "audit": spend((f"{place}/bin/stratagem", *AUDIT))}

    cache = str(folder / "uv-cache")
    pip = (sys.executable, "-m", "pip", "--python", "PYTHON", "install", "--quiet", "--disable-pip-version-check")
    uv = (str(tools / "uv"), "pip", "install", "--quiet", "--python", "PYTHON", "--cache-dir", cache)
    uvx = (str(tools / "uvx"), "--cache-dir", cache, "--from", wheel, "stratagem", *AUDIT)
    pipx = (str(tools / "pipx"), "run", "--spec", wheel, "stratagem", *AUDIT)
    return {
        "pip": lambda: into_environment(*pip),
        "pip --no-compile": lambda: into_environment(*pip, "--no-compile"),
        "uv, empty cache": lambda: into_environment(*uv),
        "uv": lambda: into_environment(*uv),
        "uvx": lambda: {"install and audit": spend(uvx, UV_CONSTRAINT=CONSTRAINTS)},
        "uvx, again": lambda: {"install and audit": spend(uvx, UV_CONSTRAINT=CONSTRAINTS)},
        "pipx run": lambda: {"install and audit": spend(pipx, PIP_CONSTRAINT=CONSTRAINTS, PIPX_HOME=str(folder / "x"))},
    }


def sizes(environment: Path) -> Mapping[str, float]:
    """Return the megabytes of the packages of an environment, the largest first, and of all others."""
    (site,) = environment.glob("lib/python*/site-packages")
    found = {one.metadata["Name"]: _megabytes(one) for one in distributions(path=[str(site)])}
    large = {name: size for name, size in found.items() if size >= LEAST_MB}
    others = sum(found.values()) - sum(large.values())
    return dict(sorted(large.items(), key=lambda item: -item[1])) | {"others": others}


def _megabytes(package: Distribution) -> float:
    """Return the size of the files that a package installed, compiled ones apart."""
    paths = (Path(str(file.locate())) for file in package.files or () if file.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.exists()) / 1e6


def build_wheel(folder: Path) -> str:
    """Build a wheel of the checkout, and return its path."""
    spend((sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)))
    (wheel,) = folder.glob("*.whl")
    return str(wheel)


def main() -> None:
    """Measure all installers, and print and store what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=Path(sys.executable).parent, help="folder of uv, uvx and pipx")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build_wheel(folder)
        rows = {}
        for installer, measure in installers(wheel, folder, options.tools).items():
            rows[installer] = {step: spent._asdict() for step, spent in measure().items()}
            steps = rows[installer].items()
            text = ", ".join(f"{step} {one['wall']:.1f} s ({one['processor']:.1f})" for step, one in steps)
            print(f"{installer}: {text}", flush=True)
        environment = folder / "sized"
        spend((sys.executable, "-m", "venv", "--without-pip", str(environment)))
        pip = (sys.executable, "-m", "pip", "--python", f"{environment}/bin/python", "install", "--quiet")
        spend((*pip, "--no-compile", "-c", CONSTRAINTS, wheel))
        megabytes = sizes(environment)
    for package, size in megabytes.items():
        print(f"{size:7.1f} MB  {package:20} {SERVES.get(package, '')}")
    print(f"{sum(megabytes.values()):7.1f} MB  together")
    data = {"made_by": provenance(), "load": os.getloadavg()[0], "seconds": rows, "megabytes": megabytes}
    OUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
