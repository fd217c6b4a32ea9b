"""Board: a page of audited agents by game, with the ranks that limits allow, and the files behind each row.

Names of agents and texts of models are untrusted: all of them are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from stratagem.base.files import telling, write_file
from stratagem.measure.audit.card import Card
from stratagem.measure.audit.leaderboard import LeaderboardPlace, centre_of
from stratagem.measure.figures.audits import audit_figure
from stratagem.show.audit.board_files import AuditSource, LinkedFile, copy_card, pack_record
from stratagem.show.audit.card_tables import rank_text
from stratagem.show.audit.page import strategy_table
from stratagem.show.audit.picture import intervals_picture
from stratagem.show.audit.words import NONE, ends, summarise, verdict
from stratagem.show.cells import number
from stratagem.show.html import Html, element, join
from stratagem.show.reports.page import page, summary
from stratagem.show.reports.section import Section, fold_element, table

FILES = "_files"
"""End of the name of the folder beside the page, as browsers name it."""
_TITLE = "Board of agents"
_GAIN = "How much an opponent gains who knows the strategy of an agent: less is better, and 0 is an equilibrium."
_DEFAULT_SEED = 0
_HEADINGS = ("decisions", "calls", "tokens", "money", "date", "seed")
"""Headings of what an audit took."""


@dataclass(frozen=True)
class BoardEntry:
    """Audit on the page, with its files."""

    audit: AuditSource
    card: LinkedFile
    record: LinkedFile | None


def write_board(path: Path, places: Sequence[LeaderboardPlace], audits: Sequence[AuditSource]) -> list[Path]:
    """Write the page, and the folder beside it with the cards and the records; return the page and the folder."""
    for audit in audits:
        audit.refuse_link()
    folder = path.with_name(f"{path.stem}{FILES}")
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
    entries = [BoardEntry(audit, copy_card(audit, folder), pack_record(audit, folder)) for audit in audits]
    write_file(path, board_page(places, entries, folder.name))
    return [path, folder]


def board_page(places: Sequence[LeaderboardPlace], entries: Sequence[BoardEntry], folder: str) -> str:
    """Write the page of a board; equal cards give equal bytes."""
    names = list(dict.fromkeys(place.figure.name for place in places))
    numbers = {id(entry.audit.card): row for row, entry in enumerate(entries, 1)}
    told = ["A rank is an interval: the limits of the figures allow each rank in it."]
    if all(name.endswith(".exploitability") for name in names):
        told = [_GAIN, *told, "Each limit of an exploitability holds with 95 %, both together with 90 %."]
    tiles = [("audits", f"{len(entries)}"), ("tables", f"{len(names)}")]
    sections = [
        _ranking(f"figure-{at}", [place for place in places if place.figure.name == name], numbers)
        for at, name in enumerate(names, 1)
    ]
    shows = "How each agent is exploited, the command that audited it, and its files with their SHA-256."
    articles = element("div", *(_article(entry, row, folder) for row, entry in enumerate(entries, 1)), class_="cards")
    top = element("header", element("h1", _TITLE), summary("", told, tiles, Html("")), class_="top")
    return page(_TITLE, top, [*sections, Section("agents", "Agents", shows, articles)], pictures=False, of="audits")


def _ranking(anchor: str, places: Sequence[LeaderboardPlace], numbers: Mapping[int, int]) -> Section:
    """Return the section of a figure: the agents by rank, between them the level of random play, and the picture."""
    name, unit = places[0].figure.name, places[0].figure.unit
    figure, game = audit_figure(name), name.rpartition(".")[0]
    rows = [(centre_of(place.figure) or 0.0, _row(place, numbers[id(place.card)]), "") for place in places]
    rows += [(value, [text, NONE, number(value), *[""] * len(_HEADINGS)], "chance") for text, value in _levels(places)]
    rows.sort(key=lambda row: (-row[0] if figure.better == "higher" else row[0], row[2] == ""))
    body = table(
        ["agent", "rank", figure.label, *_HEADINGS],
        [cells for _, cells, _ in rows],
        classes=[kind for _, _, kind in rows],
    )
    drawn = intervals_picture(f"{figure.label}, {unit}", {place.agent: place.figure for place in places})
    shows = f"In {unit}: {figure.explanation}." if figure.explanation else f"In {unit}."
    return Section(anchor, f"{game}: {figure.label}", shows, join(body, drawn))


def _levels(places: Sequence[LeaderboardPlace]) -> Iterator[tuple[str, float]]:
    """Yield the levels that agents are held against."""
    for text, values in (
        ("random play", [place.figure.chance for place in places]),
        ("an equilibrium, or perfect play", [place.figure.best for place in places]),
    ):
        if (value := next((value for value in values if value is not None), None)) is not None:
            yield text, value


def _row(place: LeaderboardPlace, row: int) -> list[str]:
    card, figure = place.card, place.figure
    value = NONE if figure.value is None else number(figure.value)
    shown = element("td", value, element("small", ends(figure)))
    return [element("a", place.agent, href=f"#agent-{row}"), rank_text(place), shown, *_took(card)]


def _took(card: Card) -> list[str]:
    """Return what an audit took, its day, and whether whoever made it chose the seed."""
    cost = card.cost
    money = NONE if cost.money is None else f"{cost.money:.4f} {cost.currency}".strip()
    seed = f"{card.seed}, {'the default' if card.seed == _DEFAULT_SEED else 'own choice'}"
    if card.draws:
        seed += ", games by a nonce" if card.draws.get("identity_bound") else ", games not bound to the agent"
    tokens = cost.prompt_tokens + cost.reply_tokens
    return [f"{cost.decisions:,}", f"{cost.calls:,}", f"{tokens:,}", money, str(card.made_by.get("date") or NONE), seed]


def _article(entry: BoardEntry, row: int, folder: str) -> Html:
    """Return what is behind the rows of an agent."""
    card, command = entry.audit.card, entry.audit.command
    made = " ".join(str(part) for part in (card.made_by.get("stratagem"), card.made_by.get("commit")) if part)
    if card.made_by.get("dirty"):
        made += ", with uncommitted changes"
    facts = [
        ("command", element("code", command) if command else "not given"),
        ("card", _link(entry.card, folder)),
        ("record", _link(entry.record, folder) if entry.record else "not given"),
        ("program", made or NONE),
    ]
    facts += [(heading, value) for heading, value in zip(_HEADINGS, _took(card), strict=True)]
    found = element("table", element("tbody", *(_fact(name, value) for name, value in facts)), class_="facts")
    sentences = [element("p", line) for line in summarise(card)]
    notes = fold_element("Alarms and notes", *(element("p", line) for line in verdict(card)))
    moves = [
        fold_element(f"How to exploit it in {game}", strategy_table(lines)) for game, lines in card.strategies.items()
    ]
    return element("article", element("h3", card.agent), *sentences, *moves, notes, found, id=f"agent-{row}")


def _fact(name: str, value: str) -> Html:
    return element("tr", element("th", name, scope="row"), element("td", value))


def _link(file: LinkedFile, folder: str) -> Html:
    """Return the link to a file beside the page, with its digest."""
    size = f"{file.size / 1e3:,.0f} kB" if file.size < 1e6 else f"{file.size / 1e6:,.1f} MB"
    link = element("a", file.name, href=f"{quote(folder)}/{file.name}", download=file.name)
    return join(link, f", {size}", element("br"), "SHA-256 ", element("code", file.digest))
