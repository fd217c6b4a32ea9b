"""Proof on a machine with GPUs: every claim that no processor can show, as steps of less than eight minutes each.

`make gpu-proof` runs the steps whose results are missing, one after another, and writes `docs/results/gpu.json` after
each. A step that was broken off, or failed, is run again by the next start. A new step is a line in `STEPS`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import gpu

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.playing.workers.processes import visible_devices
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

RESULT = Path("docs/results/gpu.json")
FOLDER = Path("runs/gpu-proof")
LIMIT = 480
"""Seconds of a step."""
SHAPE = "qwen3-4b"
"""Model with random weights of the steps of `make gpu-bench`."""
PUBLISHED = {"0.6b": "hf:Qwen/Qwen3-0.6B", "4b": "hf:Qwen/Qwen3-4B"}
Rows = list[list[Any]]
"""Rows of a name, a value and a unit."""


class ProofStep(NamedTuple):
    """Step of the proof."""

    claim: str
    command: Sequence[str]
    """Arguments of this Python."""
    rows: Callable[[str, float], Rows]
    """Function from the output and the seconds to the figures."""
    gpus: int = 1
    packages: tuple[str, ...] = ()
    folder: Path | None = None
    """Folder of its run, which a step that was broken off leaves behind."""


FLEX = Path(__file__).parent / "gpu_flex.py"
"""Script that compares FlexAttention with dense masks; it fails where they do not agree."""


def last_line(output: str, _: float) -> Rows:
    """Return the figures that a part of the benchmark prints on its last line."""
    found: Rows = json.loads(output.strip().splitlines()[-1])
    return found


def flex_rows(output: str, _: float) -> Rows:
    """Return time and memory of FlexAttention as shares of those of dense masks, where their gradients agree."""
    found = json.loads(output)
    rows: Rows = []
    for row in found["rows"]:
        case = f"{row['tokens']} tokens, window {row['window'] or 'none'}, {row['dtype']}"
        own, dense = row["flex"], row["dense"]
        rows += [[f"{case}: {name} of dense", own[name] / dense[name], ""] for name in ("ms", "mib")]
        rows.append(
            [f"{case}: largest deviation", max(own[part] for part in ("output", "queries", "keys", "values")), ""]
        )
    return rows


def benchmark_part(claim: str, name: str, *packages: str) -> ProofStep:
    """Make a step of a part of `make gpu-bench`."""
    script = [str(Path(gpu.__file__)), "--folder", str(gpu.ROOT), "--new-tokens", "128", "--measure", SHAPE, name]
    return ProofStep(claim, ("-W", "ignore", *script), last_line, packages=packages)


def training(claim: str, algorithm: str, model: str, *, devices: int = 1, **settings: object) -> ProofStep:
    """Make a step of three iterations of a recipe; its figures are those of the run."""
    folder = FOLDER / "-".join([algorithm, model, str(devices), *map(str, settings.values())])
    changes = {
        "model": PUBLISHED[model],
        "sft.num_examples": 64,
        "sft.epochs": 1,
        f"{algorithm}.iterations": 3,
        "evaluate_every": 3,
        "test_episodes": 4,
        "exact_budget": 0,
        "engine": "vllm" if devices == 1 else "transformers",
        **settings,
    }
    sets = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    command = ("-m", "stratagem", "train", f"{algorithm}/kuhn", *sets, "--out", str(folder))
    command += ("--devices", str(devices)) if devices > 1 else ()
    return ProofStep(
        claim,
        command,
        lambda _, seconds: figures_of(folder, seconds),
        gpus=devices,
        packages=("vllm",) if changes["engine"] == "vllm" else (),
        folder=folder,
    )


METRICS = ("loss", "grad_norm", "payoff")
"""Last parts of the names of the metrics that are shown."""


def figures_of(folder: Path, seconds: float) -> Rows:
    """Return the figures of a finished run: its time, the certificate of its engine, and its last metrics."""
    run = RunFolder.open(folder)
    metrics = {name: curve.values[-1] for name, curve in read_metrics(run).items() if curve.values}
    wanted = [name for name in metrics if name.rpartition("/")[2] in METRICS]
    certificates = [text for name, text in run.info().reading.items() if name.endswith("engine")]
    return [
        ["seconds", seconds, "s"],
        *([name, metrics[name], ""] for name in wanted),
        *(["certificate", text, ""] for text in certificates),
    ]


STEPS: Mapping[str, ProofStep] = {
    "flex": ProofStep("FlexAttention gives the gradients of dense masks", ("-W", "ignore", str(FLEX)), flex_rows),
    "parity": benchmark_part("engine, learner and transformers give the same log-probabilities", "parity"),
    "certificate": training("vLLM answers as the learner's model does", "reinforce", "0.6b"),
    "sepo-0.6b": training("SEPO trains Qwen3-0.6B with vLLM", "sepo", "0.6b"),
    "grpo-0.6b": training("GRPO trains Qwen3-0.6B with vLLM", "grpo", "0.6b"),
    "sepo-4b": training("SEPO trains Qwen3-4B with vLLM", "sepo", "4b"),
    "grpo-4b": training("GRPO trains Qwen3-4B with vLLM", "grpo", "4b"),
    "two-devices": training("FSDP2 trains all weights on two GPUs", "grpo", "0.6b", devices=2, train="all"),
    "one-device": training("the same on one GPU, for comparison", "grpo", "0.6b", train="all", engine="transformers"),
    "speed": benchmark_part("speed of an iteration", "vllm", "vllm"),
    "trl": benchmark_part("speed of an iteration of trl with vLLM", "grpo", "trl", "vllm"),
}
"""Steps by name, in their order."""


def missing(step: ProofStep, gpus: int) -> str:
    """Return what a step needs and this machine has not; empty where it can be run."""
    absent = [package for package in step.packages if find_spec(package) is None]
    if step.gpus > gpus:
        return f"it needs {step.gpus} GPUs, and this machine has {gpus}"
    return f"{' and '.join(absent)} is not installed here" if absent else ""


def run_step(step: ProofStep) -> dict[str, Any]:
    """Run a step from its beginning in a process of its own, and return its figures or its error."""
    if step.folder is not None:
        shutil.rmtree(step.folder, ignore_errors=True)
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, *step.command], capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return {"claim": step.claim, "rows": [], "error": f"not done in {LIMIT} s"}
    seconds = time.perf_counter() - start
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"claim": step.claim, "rows": [], "error": said, "seconds": seconds}
    return {"claim": step.claim, "rows": step.rows(done.stdout, seconds), "error": "", "seconds": seconds}


def main() -> None:
    """Run what is missing, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS), help="the steps to run")
    parser.add_argument("--result", type=Path, default=RESULT, help="file of the results")
    options = parser.parse_args()
    if not (gpus := len(visible_devices())):
        sys.exit("This machine has no GPU, so there is nothing here that a processor has not shown: nothing was run.")
    known = json.loads(options.result.read_text()) if options.result.exists() else {"steps": {}}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        if name in known["steps"] and not known["steps"][name]["error"]:
            continue
        step = STEPS[name]
        print(f"{name}: {step.claim} ...", file=sys.stderr, flush=True)
        lacking = missing(step, gpus)
        known["steps"][name] = {"claim": step.claim, "rows": [], "error": lacking} if lacking else run_step(step)
        known |= {"machine": gpu.machine(), "gpus": gpus, "made_by": provenance(), "at": _now()}
        write_file(options.result, json.dumps(known, indent=1) + "\n")
    for name in options.only:
        found = known["steps"][name]
        print(f"{name}: {found['error'] or 'shown'}: {found['claim']}")
        for figure, value, unit in found["rows"]:
            print(f"  {figure}: {value} {unit}".rstrip())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


if __name__ == "__main__":
    main()
