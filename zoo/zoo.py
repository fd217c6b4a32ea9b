"""Train the models of the zoo, store them, and measure them again.

    python zoo/zoo.py train RUNS     make the runs of zoo/models.toml that are not finished; the same call goes on
    python zoo/zoo.py store RUNS     copy the models from their runs, measure them, write cards
    python zoo/zoo.py check          measure the installed models again, and compare with their cards

Stored weights are rounded to bf16, and the figures of a card are those of the rounded weights. A card says the recipe,
the commit, the settings, the digest of each file, and figures with their standard errors. The check takes other deals.
An exact figure must be the same; a sampled one must differ by no more than a 99.9 % interval of the difference, since
it is one of several of a model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

import stratagem as sg
from stratagem.language.models.folder import folder_fingerprint
from stratagem.language.models.reference import parse_model
from stratagem.language.models.run_models import RunModel, RunModels, read_run_models, write_run_models, zoo_models
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.sweeps.run_maker import make_runs
from stratagem.training.runs.config_file import toml_value
from stratagem.training.runs.folder import RunFolder, RunInfo
from stratagem.training.shipped import recipe_path

HERE = Path(__file__).parent
PACKAGE = HERE / "src" / "stratagem_zoo"
CARD = "card.json"
LABELS, MEASURED = ("start", "best", "last"), ("start", "best")
EPISODES, BUILD_SEED, CHECK_SEED = 200, 0, 1
SAME = 1e-5
"""Largest difference of exact figures, for other processors round sums in another order."""
LIMIT = 3.29
"""Standard errors of a difference: 99.9 % of a normal distribution."""


def figures(game: str, player: str, seed: int) -> dict[str, dict[str, Any]]:
    """Measure a player: its metrics, and the exact exploitability where the game is small."""
    (told,) = sg.evaluate(game, [player], episodes=EPISODES, seed=seed, progress=False).to_json()["games"]
    (row,) = [row for row in told["players"] if not row["player"].startswith("random")]
    found = {name: value for name, value in row["metrics"].items() if value is not None}
    if "exploitability" in (row.get("exact") or {}):
        found["exploitability"] = {"mean": row["exact"]["exploitability"], "se": 0.0, "exact": True}
    return {name: {key: value[key] for key in ("mean", "se", "exact")} for name, value in found.items()}


def read_plan() -> Mapping[str, Any]:
    """Read the runs and the models of the zoo."""
    return tomllib.loads((HERE / "models.toml").read_text("utf-8"))


def train(runs: Path) -> None:
    """Make the runs that are not finished."""
    planned = [
        PlannedRun(
            name,
            tuple(map(recipe_path, about["recipes"])),
            {key: toml_value(value) for key, value in _changes(about, runs).items()},
            first=any(other.get("after") == name for other in read_plan()["runs"].values()),
        )
        for name, about in read_plan()["runs"].items()
    ]
    if failed := make_runs(planned, runs, print):
        sys.exit("\n".join(f"{name} failed: {error}" for name, error in failed.items()))


def _changes(about: Mapping[str, Any], runs: Path) -> dict[str, Any]:
    start = {"model": f"run:{runs / about['after']}@start"} if "after" in about else {}
    return {"seed": 0, **start, **about.get("set", {})}


def store(runs: Path) -> None:
    """Copy every model, measure it, and write its card; a run that is refused leaves what is stored as it was."""
    models = read_plan()["models"]
    infos = {name: _checked_info(runs / about["run"]) for name, about in models.items()}
    for name, about in models.items():
        run, folder, info = runs / about["run"], PACKAGE / name, infos[name]
        shutil.rmtree(folder, ignore_errors=True)
        copy(run, folder, about.get("seat", ""))
        round_weights(folder)
        measured = {label: figures(about["game"], f"run:{folder}@{label}", BUILD_SEED) for label in MEASURED}
        card = {
            **about,
            "commit": info.commit,
            "command": _placeless(run, info.command),
            "seed": info.seed,
            "episodes": EPISODES,
            "figures": measured,
            "sha256": digests(folder),
        }
        (folder / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {sum(path.stat().st_size for path in _files(folder)) / 1e6:.1f} MB")


def _checked_info(run: Path) -> RunInfo:
    """Return how a run was made; refuse one that is not finished, or whose commit does not say it."""
    folder = RunFolder.open(run)
    info = folder.info()
    if folder.status().state != "finished":
        sys.exit(f"{run} is not finished: go on with it by zoo.py train.")
    if info.dirty:
        sys.exit(f"{run} was made by a tree with changes, so its commit does not say how.")
    return info


def round_weights(folder: Path) -> None:
    """Round the weights in a folder to bf16, and name the rounded base in its adapters."""
    for path in folder.rglob("*.safetensors"):
        save_file({name: one.to(torch.bfloat16) for name, one in load_file(path).items()}, path, {"format": "pt"})
    bases = [path.parent for path in folder.rglob("config.json")]
    for named in folder.rglob("base.json"):
        (base,) = bases
        told = json.loads(named.read_text("utf-8")) | {"fingerprint": folder_fingerprint(base)}
        named.write_text(json.dumps(told), "utf-8")


def copy(run: Path, folder: Path, seat: str = "") -> None:
    """Copy the settings of a run, and the models of `LABELS` with the folders that they name.

    Where several seats learnt, `seat` is the one that is copied. A run that chose no best checkpoint has its last.
    """
    told = read_run_models(run)
    models = {label.removesuffix(f"/{seat}"): model for label, model in told.models.items() if label.endswith(seat)}
    kept = {label: models[label] for label in LABELS if label in models}
    kept.setdefault("best", kept["last"])
    step = next(label for label, model in models.items() if label.isdecimal() and model == kept["best"])
    folder.mkdir(parents=True)
    moved = {label: _moved(model) for label, model in {**kept, step: kept["best"]}.items()}
    titles = {label: title for label, title in told.titles.items() if label in moved}
    write_run_models(folder, RunModels(models=moved, speaks=told.speaks, titles=titles))
    (folder / "config.toml").write_text(_placeless(run, (run / "config.toml").read_text("utf-8")), "utf-8")
    for source, target in {part for model in kept.values() for part in _parts(model)}:
        shutil.copytree(run / source, folder / target)
    for path in folder.rglob("*.json"):  # on one line each: a tokenizer has seven thousand
        path.write_text(json.dumps(json.loads(_placeless(run, path.read_text("utf-8")))) + "\n", "utf-8")


def _placeless(run: Path, text: str) -> str:
    """Leave out where the runs lay on the machine that made them."""
    return text.replace(str(run.resolve().parent), "runs/zoo")


def _parts(model: RunModel) -> Iterator[tuple[str, str]]:
    """Return the folders of a model, and their places in the zoo; a base can lie in another run."""
    base = parse_model(model.model)
    if base.kind == "dir":
        yield base.where, _place(base.where)
    if model.adapter:
        yield model.adapter, model.adapter


def _place(where: str) -> str:
    return "base/model" if Path(where).is_absolute() else where


def _moved(model: RunModel) -> RunModel:
    """Name the base of a model at its place in the zoo."""
    base = parse_model(model.model)
    return (
        model
        if base.kind != "dir"
        else model.model_copy(update={"model": str(replace(base, where=_place(base.where)))})
    )


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file but the card."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in _files(folder)}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CARD)


def differences(card: Mapping[str, Any], again: Mapping[str, Mapping[str, Any]], label: str) -> Iterator[str]:
    """Say which figures of one model are not those of its card."""
    for name, told in card["figures"][label].items():
        found = again[name]
        apart = abs(found["mean"] - told["mean"])
        exact = told["exact"] and found["exact"]
        allowed = SAME if exact else LIMIT * math.hypot(told["se"], found["se"]) + SAME
        if apart > allowed:
            yield f"{label}, {name}: the card says {told['mean']:.4g}, measured {found['mean']:.4g}"


def check() -> int:
    """Measure every installed model again; return 1 if a file or a figure is not that of its card."""
    wrong = 0
    carded = {name: folder for name, folder in zoo_models().items() if (folder / CARD).is_file()}  # the demo has none
    for name, folder in carded.items():
        card = json.loads((folder / CARD).read_text("utf-8"))
        said = [] if digests(folder) == card["sha256"] else ["its files are not those of its card"]
        count = 0
        for label in card["figures"]:
            again = figures(card["game"], f"zoo:{name}@{label}", CHECK_SEED)
            said += differences(card, again, label)
            count += len(again)
        print(f"{name}: {count} figures, {len(said)} differ", *said, sep="\n  ")
        wrong += len(said)
    if not carded:
        sys.exit("The package stratagem-zoo is not installed: pip install ./zoo")
    return 1 if wrong else 0


def main() -> int:
    """Train, store or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "store", "check"))
    parser.add_argument("runs", nargs="?", type=Path, help="folder with the runs, to train and to store")
    arguments = parser.parse_args()
    if arguments.what == "check":
        return check()
    if arguments.runs is None:
        parser.error(f"{arguments.what} takes the folder with the runs")
    (train if arguments.what == "train" else store)(arguments.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
