"""Engine, learner and whole iterations on the GPU that is here; without one, small models on the CPU.

On a GPU the models have the sizes of Qwen3 4B and Gemma 3 4B, in bfloat16 with random weights, and replies have 1,500
tokens; on a CPU both have two narrow layers, and replies have 64 tokens. Each part is a process of its own, and its
figures go to a file; after an interrupt only parts without figures are measured. Run with `make gpu-bench`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stratagem.base.files import write_file

ROOT = Path("runs/gpu-bench")
SHAPES = ("qwen3-4b", "gemma3-4b")
PARTS = ("parity", "engine", "learner", "trl", "grpo", "vllm", "sepo", "diplomacy")
NEEDED = {"trl": "trl", "grpo": "trl", "vllm": "vllm"}
"""Packages that a part needs beside this one."""
LIMIT = 3600
"""Seconds after which a part is given up."""


def main() -> None:
    """Measure what is missing, and print all as markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="the parts to run")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--folder", type=Path, default=ROOT, help="of the models and of what was measured")
    parser.add_argument("--new-tokens", type=int, default=0, help="tokens of a reply in place of 1,500 or 64")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        shape, part = options.measure
        print(json.dumps(measured(shape, part, options.folder, options.new_tokens)))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    for shape in options.shapes:
        for part in options.only:
            if not read(file := file_of(options.folder, shape, part, options.new_tokens))["rows"]:
                write_file(file, _measure(shape, part, options.folder, options.new_tokens))
    print(markdown(options.folder, options.shapes, options.only, options.new_tokens))


def kind() -> str:
    """Return the form of the benchmark."""
    import torch

    return "gpu" if torch.cuda.is_available() else "cpu"


def file_of(folder: Path, shape: str, part: str, new: int) -> Path:
    """Return the file of a part's figures; other lengths of replies than that of the form have files of their own."""
    return folder / f"{shape}-{part}-{kind()}{f'-{new}' if new else ''}.json"


def read(file: Path) -> dict[str, Any]:
    """Read the figures of a part; none where there is no file."""
    if not file.exists():
        return {"machine": "", "rows": [], "error": "not measured"}
    content: dict[str, Any] = json.loads(file.read_text())
    return content


def measured(shape: str, part: str, folder: Path, new: int) -> list[tuple[str, float, str]]:
    """Measure one part in this process; 0 new tokens are the number of the form."""
    import gpu_models
    import gpu_parts

    full = gpu_models.device() == "cuda"
    path = gpu_models.folder(gpu_models.SHAPES[shape], folder / "models", full=full)
    size = gpu_parts.FULL if full else gpu_parts.SMALL
    return [tuple(row) for row in _parts(part)[part](path, size._replace(new=new or size.new))]


def _parts(part: str) -> Mapping[str, Callable[..., Any]]:
    """Return the parts, one of which is asked for: those of trl are imported only where they are measured."""
    if NEEDED.get(part) == "trl":
        import gpu_trl

        return gpu_trl.PARTS
    import gpu_parts

    return gpu_parts.PARTS


def _measure(shape: str, part: str, folder: Path, new: int) -> str:
    """Measure one part in a process of its own, and return its figures or its error as JSON."""
    if (needed := NEEDED.get(part)) and find_spec(needed) is None:
        return json.dumps({"machine": machine(), "rows": [], "error": f"{needed} is not installed here"})
    command = [sys.executable, "-W", "ignore", __file__, "--folder", str(folder), "--new-tokens", str(new)]
    command += ["--measure", shape, part]
    print(f"{shape}: {part} ...", file=sys.stderr, flush=True)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return json.dumps({"machine": machine(), "rows": [], "error": f"not done in {LIMIT} s"})
    if done.returncode:
        error = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return json.dumps({"machine": machine(), "rows": [], "error": error})
    return json.dumps({"machine": machine(), "rows": json.loads(done.stdout.splitlines()[-1]), "error": ""})


def machine() -> str:
    """Return the device and the versions of the figures."""
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU {platform.machine()}, {cores} cores"
    return f"{device}, torch {torch.__version__}, transformers {version('transformers')}"


def markdown(folder: Path, shapes: list[str], parts: list[str], new: int) -> str:
    """Return the table of what is in the folder."""
    found = {part: [read(file_of(folder, shape, part, new)) for shape in shapes] for part in parts}
    form = "GPU form" if kind() == "gpu" else "CPU form: two narrow layers, short replies"
    machines = sorted({content["machine"] for contents in found.values() for content in contents} - {""})
    lines = [f"{form}. {'; '.join(machines)}.", "", "| part | figure | unit | " + " | ".join(shapes) + " |"]
    lines.append("| --- | --- | --- |" + " ---: |" * len(shapes))
    for part, contents in found.items():
        lines += _rows(part, contents)
    return "\n".join(lines)


def _rows(part: str, contents: list[dict[str, Any]]) -> list[str]:
    """Return the lines of one part, a column for each model."""
    names = list(dict.fromkeys((name, unit) for content in contents for name, _, unit in content["rows"]))
    lines = []
    for name, unit in names:
        values = [next((v for n, v, _ in content["rows"] if n == name), None) for content in contents]
        cells = ["–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in values]
        lines.append(f"| {part} | {name} | {unit} | {' | '.join(cells)} |")
    errors = dict.fromkeys(content["error"] for content in contents if content["error"])
    return lines + [f"| {part} | {error} | | {' | '.join('–' for _ in contents)} |" for error in errors]


if __name__ == "__main__":
    main()
