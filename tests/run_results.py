"""Results of work in a folder, by part: two works are equal only if every part is bit-identical."""

from dataclasses import replace

from stratagem.playing.store import read_episodes, shards
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE


def end_of(path):
    """Return the results of work, by part: the same only if it is bit-identical."""
    if (path / "episodes").is_dir():
        return {"record": record_of(path)}
    runs = sorted(found.parent for found in path.rglob("run.json") if "set-aside" not in found.parts)
    return {f"{run.relative_to(path)}/{part}": found for run in runs for part, found in end_of_run(run).items()}


def end_of_run(path):
    run = RunFolder.open(path)
    last = latest(run)
    kept = {} if last is None else {name: last.folder / name for name in sorted(files_in(last.folder))}
    base = files_in(path / "base")
    return {
        "status": run.status().state,
        "metrics": (path / FILE).read_bytes(),
        "record": record_of(run.record),
        "step": last and (last.step, last.shards, last.best),
        **{f"checkpoint/{name}": file.read_bytes() for name, file in kept.items() if name.endswith(".safetensors")},
        **{f"base/{name}": file.read_bytes() for name, file in base.items()},
    }


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.safetensors"))}


def record_of(folder):
    """All episodes but for how long they took."""
    episodes = list(read_episodes(folder)) if shards(folder) else []
    for episode in episodes:
        for row in episode.decisions:
            row.calls = tuple(replace(call, ms=0.0) for call in row.calls)
    return sorted(episodes, key=lambda episode: episode.id)
