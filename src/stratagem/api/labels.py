"""Labels: `labels` finds the names of actions under which an untrained model starts near a target policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from stratagem.api.arguments import as_path, as_text, several
from stratagem.api.json_file import write_json
from stratagem.api.label_targets import TargetLike, as_target, told
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import bars
from stratagem.api.progress import counted
from stratagem.api.result import Plotted
from stratagem.engines.open import served
from stratagem.errors import StratagemError
from stratagem.evaluation.label_picture import picture
from stratagem.evaluation.label_record import Asked, Target, resumed, scan_json
from stratagem.evaluation.labels import PAIRS, TARGETS, Ranked, Scan, num_batches, rank, scan, scene_of
from stratagem.evaluation.statistics import exactly
from stratagem.files import telling
from stratagem.games.base import Json
from stratagem.models.run_models import pinned
from stratagem.options import whole, within
from stratagem.players.given import GameLike, as_game
from stratagem.prompting.catalogue import make_style
from stratagem.show.table import Numbers, Table, Value, columns_of, text_table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

STYLE = "shapellm-state"
Nearest: TypeAlias = Mapping[Target, Sequence[Ranked]]
"""Pairs by target, the nearest first."""

__all__ = ["LabelScan", "labels"]


@dataclass(frozen=True, repr=False)
class LabelScan(Plotted):
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
    def best(self) -> dict[Target, Sequence[Ranked]]:
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
        """Return the whole scan, as `stratagem labels --json` prints it."""
        return scan_json(self.asked, self.readings, self.best)

    def tables(self) -> list[Table]:
        return [self._grid(target, pairs) for target, pairs in self.best.items()]

    def _grid(self, target: Target, pairs: Sequence[Ranked]) -> Table:
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
        columns = columns_of("labels", Numbers("KL", 5), *map(Numbers, (*scene.states, "legal")))
        return text_table(title, columns, rows)

    def remarks(self) -> list[str]:
        """Explain the columns, and name what was left out."""
        read = sum(reading is not None for reading in self.readings.values())
        split, rare = len(self.readings) - read, read - len(next(iter(self.ranked.values())))
        out_of = f"of {len(self.readings)} pairs left out"
        parts = [
            "KL is the divergence from the target to the policy given the labels: mean over states, in nats.",
            "`legal` is the total probability of the two labels among all tokens: mean over states.",
        ]
        parts += [f"{split} {out_of}: a label has more than one token."] if split else []
        least = f"the total probability of the labels is below {self.min_legal:g}."
        return parts + ([f"{rare} {out_of}: {least}"] if rare else [])

    def plot(self) -> Figure:
        """Draw the KL divergence of the shown pairs from each target."""
        drawn = {
            told(target): {"/".join(pair.labels): exactly(pair.kl) for pair in pairs}
            for target, pairs in self.best.items()
        }
        return bars(f"{self.asked.model}: labels nearest to targets", "KL in nats", drawn)

    @one_sentence
    def save(self, path: str | Path) -> Path:
        """Write the maps of the scan to a path that ends in `.svg`, else the scan as JSON."""
        target = as_path(path, "file")
        if target.suffix != ".svg":
            return super().save(target)
        _write(target, self.svg())
        return target

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
    """Measure a model's policy under all 650 pairs of capital letters, and find the pairs nearest to targets.

    `game` is a repeated matrix game of two by two actions. A target is the probability of the first action, or five of
    them, as in `targets=[(1, 1, 0, 1, 0)]`: at the start and after each joint action. `top` pairs are shown of each;
    `min_legal` is the least total probability of the two labels. `out` is a JSON file for the scan, which `resume`
    continues, and `svg` a file for its maps.
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
    return Asked(pinned(named), words, scene_of(as_game(game), make_style(words), seat))


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
    engine, adapter = served(asked.model)
    with counted(num_batches(missing), shown=shown) as step:
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
