"""Tables of cards: the numbers of each group, the changes between two cards, and agents by one figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from stratagem.measure.audit.card import Card
from stratagem.measure.audit.compare import FigureChange
from stratagem.measure.audit.leaderboard import LeaderboardPlace
from stratagem.measure.audit.measurement import GROUPS, Group, Measurement
from stratagem.measure.figures.audits import audit_figure
from stratagem.show.table import NamedFigure, Numbers, ResultTable, TableRow, Value, text_table, within

Cell = Callable[[Measurement], Value]


def value_of(figure: Measurement) -> Value:
    """Return the value with its limits, or these alone."""
    return within(figure.value, figure.lower, figure.upper)


def mark_of(figure: Measurement) -> str:
    """Return the word that marks a number."""
    if figure.alarm:
        return "alarm"
    return "differs" if figure.differs else "not measured" if figure.why_not else ""


def name_figure(figure: Measurement | FigureChange) -> NamedFigure:
    """Return the figure of a number under its name in the card."""
    return NamedFigure(audit_figure(figure.name), figure.name)


_KINDS = {"alarm": "bad", "differs": "doubt", "not measured": "doubt"}
"""Kind of a row by its mark."""
MAIN: Mapping[str, Cell] = {
    "value": value_of,
    "random play": lambda one: one.chance,
    "Holm p": lambda one: one.holm_p,
    "n": lambda one: one.n or None,
}
"""Columns of a terminal by heading."""
ALL: Mapping[str, Cell] = {
    **{name: MAIN[name] for name in ("value", "random play")},
    "best": lambda one: one.best,
    **{name: MAIN[name] for name in ("Holm p", "n")},
}
"""Columns of a page."""


def group_tables(card: Card, columns: Mapping[str, Cell] = MAIN) -> Iterator[tuple[Group, ResultTable]]:
    """Yield the table of each group that has numbers."""
    for group in GROUPS:
        if figures := [figure for figure in card.figures if figure.group == group]:
            title = f"against {card.baseline}" if group == "against" else group
            yield group, _group_table(f"{card.agent}: {title}", figures, columns)


def drawn_tables(card: Card) -> Iterator[ResultTable]:
    """Yield the exploitability of each game behind the figures over drawn games."""
    columns = ("game", Numbers("exploitability"), Numbers("random play"), Numbers("replies"), Numbers("situations"))
    for name, games in card.draws.get("games", {}).items():
        rows: list[tuple[Value, ...]] = [
            (
                str(one["game"]),
                within(one["value"], one["lower"], one["upper"]),
                one["random"],
                one["replies"],
                one["situations"],
            )
            for one in games
        ]
        yield text_table(f"{card.agent}: games of {name} and known ones, shares of the payoff range", columns, rows)


def _group_table(title: str, figures: Sequence[Measurement], columns: Mapping[str, Cell]) -> ResultTable:
    rows = (
        TableRow(
            (name_figure(one), *(cell(one) for cell in columns.values()), one.unit, mark_of(one)),
            _KINDS.get(mark_of(one), ""),
        )
        for one in figures
    )
    return ResultTable(title, ("figure", *map(Numbers, columns), "unit", ""), tuple(rows))


def changes_table(before: Card, after: Card, changes: Sequence[FigureChange]) -> ResultTable:
    """Return the numbers of two cards with their change."""
    columns = ("before", "after", "change")
    rows: list[tuple[Value, ...]] = [
        (
            name_figure(change),
            change.before.value,
            change.after.value,
            within(change.difference, change.lower, change.upper),
            change.unit,
            "changed" if change.changed else "",
        )
        for change in changes
    ]
    return text_table(f"{before.agent}, then {after.agent}", ("figure", *map(Numbers, columns), "unit", ""), rows)


def ranks_table(name: str, places: Sequence[LeaderboardPlace]) -> ResultTable:
    """Return agents with their ranks by one figure."""
    rows: list[tuple[Value, ...]] = [
        (
            place.agent,
            rank_text(place),
            value_of(place.figure),
            place.figure.n or None,
        )
        for place in places
    ]
    columns = ("agent", Numbers("rank"), audit_figure(name), Numbers("n"))
    return text_table(f"{name}, {places[0].figure.unit}", columns, rows)


def rank_text(place: LeaderboardPlace) -> str:
    """Return the ranks that the limits of an agent allow."""
    return f"{place.best} to {place.worst}" if place.best < place.worst else str(place.best)
