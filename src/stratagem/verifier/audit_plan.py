"""Plan of an audit: shares of the probes, folders of their records, and whether a card and its records follow one plan.

No library is loaded, since the probes of an audit take their shares from here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small

PLAN = "evaluation.json"
SETTINGS = ("games", "decisions", "seed")
"""Settings that a card, its records and the card of its baseline share."""
SHARES = {
    "replies": 0.45,
    "bound": 0.45,
    "words": 0.15,
    "style": 0.1,
    "repeat": 0.03,
    "rules": 0.07,
    "matches": 0.2,
    "talk": 0.2,
    "injection": 0.2,
    "exploiter": 0.2,
    "draws": 1.0,
}
"""Share of the decisions of a game that a probe of an audit may ask for; the probes take theirs from here."""
KNOWN_GAMES = ("kuhn", "leduc")
"""Games that everybody has seen, beside which an audit over draws sets the drawn ones."""


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object of a folder."""
    try:
        data = parse_json(read_small(path))
    except (OSError, ValueError) as error:
        raise BadRecord(f"{path} cannot be read: {error}.") from error
    if not isinstance(data, dict):
        raise BadRecord(f"{path} holds no JSON object.")
    return data


def record_folder(folder: Path, game: str, probe: str) -> Path:
    """Return the folder of the episodes of a probe."""
    return folder / "records" / re.sub(r"[^A-Za-z0-9.=_-]+", "-", f"{game}-{probe}").strip("-")


def faults_of_plan(folder: Path, card: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence where a card, its plan and the plans of its records are not of one audit."""
    plan = read_object(folder / PLAN)
    for name in SETTINGS:
        if plan.get(name) != card.get(name):
            yield f"{PLAN} has other {name} than the card."
    origin = {name: value for name, value in card.get("draws", {}).items() if name != "games"}
    if plan.get("draws", {}) != origin:
        yield f"{PLAN} has another origin of the drawn games than the card."
    yield from _faults_of_names(card)
    steps = [(game, probe) for game in card["games"] for probe in card["probes"][game]]
    expected = {record_folder(folder, *step) for step in steps}
    found = {path for path in (folder / "records").glob("*") if path.is_dir()}
    for path in sorted(expected ^ found):
        where = path.relative_to(folder)
        yield f"{where} is missing." if path in expected else f"{where} belongs to no probe of the card."
    for path in sorted(found):
        own = read_object(path / PLAN)
        if any(own.get(name) != plan.get(name) for name in ("player", *SETTINGS)):
            yield f"{path.relative_to(folder)} is of another audit."
    each = int(card["decisions"]) // len(card["games"])
    for game, probe in steps:
        if probe in SHARES and card["probes"][game][probe] != int(SHARES[probe] * each):
            yield f"{game}: {probe} has another number of decisions than an audit gives it."


def _faults_of_names(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence where a card has a figure twice, or games or exploiting moves that are not of its audit."""
    if twice := [name for name, times in Counter(one["name"] for one in card["figures"]).items() if times > 1]:
        yield f"The card has {twice[0][:100]} more than once."
    lists = card.get("draws", {}).get("games", {})
    if odd := [text for text in lists if text not in card["games"]]:
        yield f"The card has drawn games of {odd[0][:100]}, which is no game of the audit."
    own = {*card["games"], *(row["game"] for rows in lists.values() for row in rows if row.get("digest"))}
    if odd := [text for text in card.get("strategies", {}) if text not in own]:
        yield f"The card has exploiting moves in {odd[0][:100]}, which is no game of the audit."
