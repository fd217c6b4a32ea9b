"""Make the demo that ships with the package from a finished run of `make demo`.

    python zoo/ship_demo.py runs/demo

It writes src/stratagem/demo/kuhn-demo: the run without the state of its optimizer, with weights rounded to bf16 and the
games of its first and last steps, so that the wheel grows by less than 4 MB. The exact figures of the run are those of
the unrounded weights; the last lines print both.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo import round_weights

import stratagem as sg
from stratagem.base.manifest import write_manifest
from stratagem.language.models.run_models import RunModels, read_run_models, write_run_models
from stratagem.training.runs.checkpoint import Checkpoint, checkpoint_folders
from stratagem.training.runs.folder import RunFolder

DEMO = Path(__file__).parents[1] / "src" / "stratagem" / "demo" / "kuhn-demo"
STEPS = 4
"""Steps of training at the beginning and at the end whose games are shipped."""
LABELS = ("base", "start", "best", "last")
PARTS = ("config.toml", "run.json", "status.json", "metrics.jsonl", "evaluation.json", "findings.json", "newest.json")


def ship(source: Path, target: Path) -> None:
    """Copy what a reader of the run needs."""
    run = RunFolder.open(source)
    if run.info().dirty:
        sys.exit(f"{source} was made by a tree with changes, so its commit does not say how.")
    best = max(checkpoint_folders(run))
    checkpoint = Checkpoint.open(checkpoint_folders(run)[best])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in PARTS:
        shutil.copy(source / name, target / name)
    shutil.copytree(source / "policies", target / "policies")
    _ship_models(source, target, best)
    kept = (*checkpoint.shards[:STEPS], *checkpoint.shards[-STEPS:])
    names = {name: entry for name, entry in checkpoint.files.items() if int(Path(name).stem) in kept}
    for path in sorted(run.record.glob("*/*.parquet")):
        if int(path.stem) in kept:
            (target / "record" / path.parent.name).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / "record" / path.parent.name)
    shutil.copy(run.record / "README.md", target / "record")
    folder = target / "checkpoints" / checkpoint.folder.name
    about = json.loads((checkpoint.folder / "checkpoint.json").read_text("utf-8"))
    (folder / "checkpoint.json").write_text(json.dumps({**about, "shards": kept, "files": names}) + "\n", "utf-8")
    write_manifest(folder)


def _ship_models(source: Path, target: Path, best: int) -> None:
    """Copy the base and the adapter of the last checkpoint, rounded to bf16."""
    base, adapter = Path("base"), Path("checkpoints") / f"step-{best:06d}" / "adapters" / "policy"
    for part in (base / "model", adapter):
        shutil.copytree(source / part, target / part)
    round_weights(target)
    write_manifest(target / base)
    models = read_run_models(source)
    kept = {label: models.models[label] for label in (*LABELS, str(best))}
    write_run_models(target, RunModels(models=kept, speaks=models.speaks, titles=models.titles))


def exploitabilities(run: Path) -> Mapping[str, float]:
    """Return the exact exploitability of the first and the best model of a run, in chips a hand."""

    def measure(label: str) -> Any:
        return sg.exploitability("kuhn", f"run:{run}@{label}").to_json()["exploitability"]

    return {label: measure(label) for label in ("start", "best")}


if __name__ == "__main__":
    (given,) = sys.argv[1:]
    ship(Path(given), DEMO)
    for place in (Path(given), DEMO):
        print(place.name, {label: round(value, 4) for label, value in exploitabilities(place).items()})
    print(f"{sum(path.stat().st_size for path in DEMO.rglob('*') if path.is_file()) / 1e6:.2f} MB")
