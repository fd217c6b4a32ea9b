"""Label scan as JSON: the question and the model, every pair read so far, the best, and the maps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from label_maps import maps_json

from stratagem.base.errors import BadRecord
from stratagem.base.files import read_small
from stratagem.base.provenance import provenance
from stratagem.games.base import Json
from stratagem.games.catalogue import describe
from stratagem.measure.labels import PAIRS, LabelReading, Labels, RankedPair, Scan, Scene

Target = tuple[float, ...]


@dataclass(frozen=True)
class Asked:
    """Settings of a scan: two scans with equal settings may be joined."""

    model: str
    style: str
    scene: Scene

    @property
    def actions(self) -> tuple[str, ...]:
        """The game's own names of the seat's two actions."""
        return self.scene.game.seat_labels(self.scene.seat)

    def to_json(self) -> Json:
        game = self.scene.game
        return {
            "game": describe(game),
            "version": game.spec.version,
            "model": self.model,
            "style": self.style,
            "seat": self.scene.seat,
            "states": list(self.scene.states),
        }


def scan_json(asked: Asked, scan: Scan, best: Mapping[Target, Sequence[RankedPair]]) -> Json:
    """Return the scan as JSON; while pairs are missing, neither the best nor the maps."""
    whole = len(scan) == len(PAIRS)
    data = asked.to_json() | {
        "made_by": provenance(),
        "complete": whole,
        "unusable": [list(labels) for labels, reading in scan.items() if reading is None],
        "pairs": [reading_json(labels, reading) for labels, reading in scan.items() if reading is not None],
    }
    if whole:
        data["targets"] = [
            {"target": list(target), "best": [ranked_json(pair) for pair in pairs]} for target, pairs in best.items()
        ]
        data["maps"] = maps_json(scan, asked.scene.states)
    return data


def reading_json(labels: Labels, reading: LabelReading) -> Json:
    """Return a pair as it was read: the probabilities of its labels, for every state."""
    return {"labels": list(labels), "first": list(reading.first), "second": list(reading.second)}


def ranked_json(pair: RankedPair) -> Json:
    """Return a pair and its distance, with its printed figures."""
    reading = pair.reading
    derived = {"share": list(reading.share), "legal": list(reading.legal)}
    return {"kl": pair.kl} | reading_json(pair.labels, reading) | derived


def resumed(path: Path, asked: Asked) -> Scan:
    """Read the pairs that an earlier scan of the same question left in a file; none where there is no file yet."""
    if not path.exists():
        return {}
    try:
        data = json.loads(read_small(path))
        stated = {name: data[name] for name in asked.to_json()}
        pairs_read = _pairs(data)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise BadRecord(
            f"{path} holds no scan of labels to go on with: leave `resume=True` out to write a new one."
        ) from error
    if differing := [name for name, value in asked.to_json().items() if stated[name] != value]:
        name = differing[0]
        raise BadRecord(
            f"{path} holds a scan of another {name}, {stated[name]!r} and not {asked.to_json()[name]!r}: "
            "choose another file, or leave `resume=True` out."
        )
    return pairs_read


def _pairs(data: Any) -> Scan:
    scan: Scan = {_labels(pair): None for pair in data["unusable"]}
    for row in data["pairs"]:
        scan[_labels(row["labels"])] = LabelReading(_five(row["first"]), _five(row["second"]))
    return scan


def _labels(pair: Any) -> Labels:
    first, second = pair
    if (first, second) not in PAIRS:
        raise ValueError(f"{pair} are no two capitals")
    return first, second


def _five(values: Any) -> tuple[float, ...]:
    """Return one probability a state, as JSON has them; null is no probability."""
    first, *others = (float(value) for value in values)
    if len(others) != 4 or not all(0.0 <= value <= 1.0 for value in (first, *others)):
        raise ValueError(f"{values} are not five probabilities")
    return first, *others
