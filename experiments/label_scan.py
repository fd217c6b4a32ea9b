"""Labels under which an untrained model starts near a target policy.

`python experiments/label_scan.py ipd-shapellm --model smollm2 --top 5 --out labels-smollm2.json`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from label_picture import picture
from label_record import Asked, Target, resumed, scan_json
from label_targets import TargetLike, as_target, told

from stratagem.api.arguments import as_path, as_text, several
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import show_progress
from stratagem.api.result import PlottedResult
from stratagem.base.errors import StratagemError
from stratagem.base.files import telling, write_json
from stratagem.base.options import whole, within
from stratagem.cli.commands import Command
from stratagem.cli.main import run_command
from stratagem.games.base import Json
from stratagem.language.engines.open import engine_for
from stratagem.language.models.run_models import pin_label
from stratagem.language.prompting.catalogue import make_style
from stratagem.measure.figures.catalogue import figures_of
from stratagem.measure.labels import PAIRS, TARGETS, RankedPair, Scan, num_batches, rank, scan, scene_of
from stratagem.players.given import GameLike, as_game
from stratagem.show.table import Numbers, ResultTable, Value, columns_of, text_table

STYLE = "shapellm-state"
Nearest: TypeAlias = Mapping[Target, Sequence[RankedPair]]
"""Pairs by target, the nearest first."""

__all__ = ["LabelScan", "labels"]


@dataclass(frozen=True, repr=False)
class LabelScan(PlottedResult):
    """Policy of a model under all pairs of capital letters, and the pairs nearest to targets."""

    asked: Asked
    readings: Scan
    """Probabilities of both labels of each pair; None where a label has more than one token."""
    ranked: Nearest
    """All usable pairs by target, the nearest first."""
    top: int
    """Number of pairs that are shown of each target."""
    min_legal: float
    """Least total probability of the two labels."""

    @property
    def best(self) -> dict[Target, Sequence[RankedPair]]:
        """The pairs that are shown, by target, the nearest first."""
        return {target: pairs[: self.top] for target, pairs in self.ranked.items()}

    def rows(self) -> list[Json]:
        """Return one row for each shown pair: its target, its KL divergence, and its probabilities by state."""
        return [
            {"target": told(target), "labels": "/".join(pair.labels), "kl": pair.kl}
            | dict(zip(self.asked.scene.states, pair.reading.share, strict=True))
            | {"legal": _mean(pair.reading.legal)}
            for target, pairs in self.best.items()
            for pair in pairs
        ]

    def to_json(self) -> Json:
        """Return the whole scan, as `--json` prints it."""
        return scan_json(self.asked, self.readings, self.best)

    def tables(self) -> list[ResultTable]:
        return [self._grid(target, pairs) for target, pairs in self.best.items()]

    def _grid(self, target: Target, pairs: Sequence[RankedPair]) -> ResultTable:
        scene, first = self.asked.scene, self.asked.actions[0]
        title = f"p({first}) nearest to {told(target)}   given the labels, seat {scene.seat}, own action first"
        rows: list[tuple[Value, ...]] = [
            (
                "/".join(pair.labels),
                pair.kl,
                *pair.reading.share,
                _mean(pair.reading.legal),
            )
            for pair in pairs
        ]
        kl, legal = figures_of("kl", "legal")
        columns = columns_of("labels", kl, *map(Numbers, scene.states), legal)
        return text_table(title, columns, rows)

    def remarks(self) -> list[str]:
        """Explain the columns, and name what was left out."""
        read = sum(reading is not None for reading in self.readings.values())
        split, rare = len(self.readings) - read, read - len(next(iter(self.ranked.values())))
        out_of = f"of {len(self.readings)} pairs left out"
        parts = [f"{split} {out_of}: a label has more than one token."] if split else []
        least = f"the total probability of the labels is below {self.min_legal:g}."
        return parts + ([f"{rare} {out_of}: {least}"] if rare else [])

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writer of the maps of the scan, `.svg`."""
        return {".svg": lambda path: _write(path, self.svg())}

    def svg(self) -> str:
        """Return the maps of the scan as SVG."""
        data, scene = self.asked.to_json(), self.asked.scene
        title = f"{self.asked.model} in {data['game']}, seat {scene.seat}, {self.asked.style}"
        return picture(self.readings, scene.states, self.asked.actions, title)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@one_sentence
def labels(
    game: GameLike,
    model: str,
    *,
    targets: TargetLike | Sequence[TargetLike] = TARGETS,
    style: str = STYLE,
    seat: int = 1,
    top: int = 5,
    min_legal: float = 0.0,
    out: str | Path | None = None,
    resume: bool = False,
    svg: str | Path | None = None,
    progress: bool = True,
) -> LabelScan:
    """Measure a model's policy under all 650 pairs of capital letters, and print the pairs nearest to a target.

    Args:
        game: Repeated matrix game of two by two actions.
        model: Model, such as `tiny`.
        targets: Target probabilities of the first action: one number, or five numbers at the start and after each joint
            action; by default those of ShapeLLM.
        style: Prompt style.
        seat: Seat of the model; its own action stands first.
        top: Number of pairs of each target that are shown.
        min_legal: Minimum total probability of the two labels.
        out: JSON file for the scan.
        resume: True to continue the scan in `out=`.
        svg: SVG file for the maps of the scan.
        progress: True to show progress in a terminal and in a notebook.
    """
    asked = _asked(game, model, style, seat)
    whole("labels", "top", top, 1)
    within("labels", "min_legal", min_legal, 0.0, 1.0)
    wanted = [as_target(one, asked.scene.states) for one in several(targets, "target")]
    write_to, draw_to = (None if given is None else as_path(given, "file") for given in (out, svg))
    readings = _complete_scan(asked, write_to, draw_to, resume=resume, shown=progress)
    found = LabelScan(asked, readings, {target: rank(readings, target, min_legal) for target in wanted}, top, min_legal)
    if write_to is not None:
        write_json(found.to_json(), write_to)
    if draw_to is not None:
        _write(draw_to, found.svg())
    return found


def _asked(game: GameLike, model: str, style: str, seat: int) -> Asked:
    """Check what is to be asked."""
    named, words = as_text(model, "model"), as_text(style, "prompt style")
    return Asked(pin_label(named), words, scene_of(as_game(game), make_style(words), seat))


def _complete_scan(asked: Asked, write_to: Path | None, draw_to: Path | None, *, resume: bool, shown: bool) -> Scan:
    """Measure every pair that is not known already; results are saved after each batch."""
    if resume and write_to is None:
        raise StratagemError("`resume=True` continues the scan in `out=`: name its file.")
    scan_so_far = resumed(write_to, asked) if resume and write_to is not None else {}
    missing = [pair for pair in PAIRS if pair not in scan_so_far]
    if not missing:
        return scan_so_far
    if draw_to is not None:
        _write(draw_to, "", mode="a")  # fails now, not after minutes, if it cannot be written
    engine, adapter = engine_for(asked.model)
    with show_progress(num_batches(missing), shown=shown) as step:
        batches = scan(engine, asked.scene, missing, adapter=adapter, progress=step)
        _save(write_to, asked, scan_so_far)
        for some in batches:
            scan_so_far.update(some)
            _save(write_to, asked, scan_so_far)
    return scan_so_far


def _save(write_to: Path | None, asked: Asked, readings: Scan) -> None:
    if write_to is not None:
        write_json(scan_json(asked, readings, {}), write_to)


def _write(path: Path, text: str, mode: str = "w") -> None:
    with telling(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)


COMMAND = Command(
    labels, "Measure a model's policy under pairs of letters.", names={"targets": "--target", "model": "--model"}
)

if __name__ == "__main__":
    run_command(COMMAND, "label_scan")
