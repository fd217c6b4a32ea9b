"""Figures of talk as rows of a table and as plain data: each declared once, with its words exactly and by play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.talk.figures import TalkFigures
from stratagem.games.base import Json, Seat
from stratagem.show.cells import is_of_few, number
from stratagem.show.table import Numbers, Table, columns_of, text_table

Found = Mapping[Seat, TalkFigures[Any]]
"""Figures by the seat of the speaker."""


@dataclass(frozen=True)
class TalkFigure:
    """Figure of talk: a field of `TalkFigures`, or one of its parts, with its words."""

    name: str
    """Name of the field."""
    exactly: str = ""
    """Words where it is exact; empty where it is not printed."""
    by_play: str = ""
    """Words by play; empty where play cannot tell it."""
    part: int | None = None
    """0 for the speaker's part of a pair, 1 for the reader's."""
    key: str = ""
    """Key by play, where it is not the name."""
    chance: float | None = None
    """Level of chance by play, where it is the same everywhere."""

    def of(self, found: TalkFigures[Any]) -> Any:
        """Return the figure."""
        value = getattr(found, self.name)
        return value if self.part is None or value is None else value[self.part]

    def chance_of(self, found: TalkFigures[Any]) -> float | None:
        """Return its level of chance by play."""
        by_chance: float | None = getattr(found, f"{self.name}_by_chance", self.chance)
        return by_chance


def _alike(name: str, words: str, chance: float | None = None) -> TalkFigure:
    return TalkFigure(name, words, words, chance=chance)


def _of_side(part: int, key: str, exactly: str, by_play: str) -> Iterator[TalkFigure]:
    """Yield the figures of the speaker, or of the readers."""
    yield TalkFigure(
        "returns", f"return of {exactly}, {{unit}}", f"return of {by_play}, {{unit}}", part, f"{key}_return"
    )
    for arm, alone, all_of_them in (
        ("reader", "the reader alone responding", "the readers alone responding"),
        ("table", "the whole table responding", "the whole table responding"),
    ):
        yield TalkFigure(
            f"gain_by_{arm}",
            f"gain of {exactly} by a message, {alone}",
            f"gain of {by_play} by a message, {all_of_them}",
            part,
            f"{key}_gain_by_{arm}",
            0.0,
        )
    by_lie = f"gain of {by_play} by a false statement, over a true one of its form"
    yield TalkFigure("gain_by_lie", "", by_lie, part, f"{key}_gain_by_lie", 0.0)
    yield TalkFigure("worth", f"worth of talk for {exactly}", "", part)


FIGURES = (
    TalkFigure("messages", "probability that it says something", "messages, of the occasions to send one"),
    TalkFigure("state_information", "information of what it sees and what it says, nats"),
    TalkFigure("action_information", "information of what is said and the reader's first move, nats"),
    _alike("honesty", "true statements, of those known to be true or false"),
    TalkFigure("honesty_by_chance", "the same, shuffled over deals"),
    TalkFigure("deception", "deceptive statements, of those known to be true or false"),
    TalkFigure("deception_by_chance", "the same, shuffled over deals"),
    _alike("keeping", "probability that the speaker keeps a promise"),
    TalkFigure("keeping_by_chance", "the same, shuffled over decisions"),
    _alike("keeping_lift", "lift of a promise over silence", 0.0),
    TalkFigure("met", "probability that the reader meets a request", "probability that a reader meets a request"),
    TalkFigure("met_by_chance", "the same, shuffled over decisions"),
    _alike("met_lift", "lift of a request over silence", 0.0),
    TalkFigure(
        "effect",
        "effect on the reader alone: total variation of its first move, against silence",
        "effect on the readers alone: total variation of their first move, less that of the placebo",
        chance=0.0,
    ),
    TalkFigure("placebo", "", "placebo: total variation between replies to the same message"),
    TalkFigure(
        "effect_on_table", "effect on the whole table: total variation of both seats' first moves, against silence"
    ),
    *_of_side(0, "speaker", "the speaker", "the speaker"),
    *_of_side(1, "reader", "the reader", "a reader"),
    TalkFigure("gullibility", "gullibility of the reader, {unit}", "gullibility of a reader, {unit}", chance=0.0),
)
"""Figures of talk in the order of their rows."""
EXACT = [figure for figure in FIGURES if figure.exactly]
PLAYED = [figure for figure in FIGURES if figure.by_play]


def exact_json(found: TalkFigures[float]) -> Json:
    """Return exact figures by name; pairs are of the speaker and the reader."""
    return {figure.name: getattr(found, figure.name) for figure in EXACT} | {"jammed": found.jammed}


def played_json(found: TalkFigures[Estimate]) -> Json:
    """Return each figure by play, beside its level of chance."""
    return {
        figure.key or figure.name: {
            "estimate": None if (estimate := figure.of(found)) is None else estimate.to_json(),
            "chance": figure.chance_of(found),
        }
        for figure in PLAYED
    }


def exact_table(title: str, found: Found, unit: str) -> Table:
    """Return exact figures, one column for each seat of the speaker."""
    rows = [
        (figure.exactly.format(unit=unit), *(_number(figure.of(each)) for each in found.values())) for figure in EXACT
    ]
    return text_table(title, columns_of("", *(Numbers(f"speaker at seat {seat}") for seat in found)), rows)


def played_tables(title: str, found: Found, unit: str) -> list[Table]:
    """Return figures by play, one table for each seat of the speaker."""
    columns = ("", Numbers("estimate"), Numbers("95 % interval"), Numbers("chance"))
    return [
        text_table(f"{title}, seat {seat}", columns, [(f.by_play.format(unit=unit), *_cells(f, each)) for f in PLAYED])
        for seat, each in found.items()
    ]


def estimates(found: Found) -> Iterator[Estimate | None]:
    """Yield every estimate of figures by play."""
    return (figure.of(each) for each in found.values() for figure in PLAYED)


def _number(value: float | None) -> str:
    return "–" if value is None else number(value)


def _cells(figure: TalkFigure, found: TalkFigures[Estimate]) -> tuple[str, str, str]:
    by_chance, estimate = figure.chance_of(found), figure.of(found)
    chance = "" if by_chance is None else number(by_chance)
    return ("–", "", chance) if estimate is None else (number(estimate.mean), _interval(estimate), chance)


def _interval(estimate: Estimate) -> str:
    if estimate.exact:
        return "exact"
    if estimate.low is None or estimate.high is None:
        return ""
    few = f", n={estimate.n}" if is_of_few(estimate) else ""
    return f"{number(estimate.low)} to {number(estimate.high)}{few}"
