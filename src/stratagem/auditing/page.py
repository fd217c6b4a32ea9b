"""Card as one HTML page without scripts, which needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stratagem.auditing.card import Card
from stratagem.auditing.condition import Outcome
from stratagem.auditing.figure import GROUPS, Figure
from stratagem.auditing.words import ends, sentence, told, verdict
from stratagem.reports.numbers import number
from stratagem.reports.page import header, page
from stratagem.reports.section import Section, folded, table
from stratagem.show.html import Html, element, join

_SHOWS = {
    "exploitability": "How much an opponent gains by leaving the agent's own play, where it knows the agent.",
    "safety": "What fixed opponents win from the agent, and what it does to partners and outsiders.",
    "competence": "Whether the agent knows the rules, and what it earns.",
    "consistency": "Whether the agent answers alike at other times and in other words.",
    "talk": "Whether what it says is true and is kept, and whether it can be steered by what others say.",
    "cost": "What was asked.",
    "against": "Differences from another agent that was asked the same: this one less that one.",
}
_MOST_LINES = 200


def card_page(card: Card, outcomes: Mapping[str, Outcome] | None = None) -> str:
    """Write the page of a card; equal cards give equal bytes."""
    tiles = [
        ("games", ", ".join(card.games)),
        ("decisions", f"{card.cost.decisions:,}"),
        ("calls", f"{card.cost.calls:,}"),
        ("seed", str(card.seed)),
        ("alarms", str(len(card.alarms))),
    ]
    top = header(card.agent, "alarm" if card.alarms else "no alarm", "", verdict(card), tiles)
    return page(f"Audit of {card.agent}", top, list(_sections(card, outcomes or {})), pictures=False, of="an audit")


def _sections(card: Card, outcomes: Mapping[str, Outcome]) -> Iterator[Section]:
    if outcomes:
        rows = [[text, told(card, text, outcome)] for text, outcome in outcomes.items()]
        yield Section(
            "conditions", "Conditions", "A condition that holds fails the audit.", table(["condition", "outcome"], rows)
        )
    for group in GROUPS:
        figures = [figure for figure in card.figures if figure.group == group]
        if figures:
            title = f"Against {card.baseline}" if group == "against" else group.capitalize()
            yield Section(group, title, _SHOWS[group], _figures(figures))
    for game, lines in card.strategies.items():
        rows = [[f"seat {line.seat}", element("td", line.situation, class_="words"), line.action] for line in lines]
        body = table(["seat", "where", "play"], rows[:_MOST_LINES])
        shows = f"The strategy behind the lower limit in {game}, where it is reached against the agent."
        yield Section(f"strategy-{game}", f"How to exploit it in {game}", shows, body)
    yield Section("cost", "Cost", _SHOWS["cost"], _cost(card))
    if card.not_measured:
        rows = [[name, element("td", reason, class_="words")] for name, reason in card.not_measured.items()]
        yield Section(
            "not-measured", "Not measured", "What does not apply, with the reason.", table(["probe", "why"], rows)
        )


def _figures(figures: Sequence[Figure]) -> Html:
    rows = [
        [
            figure.name,
            _mark(figure),
            number(figure.value),
            ends(figure),
            number(figure.chance),
            number(figure.best),
            number(figure.holm_p),
            str(figure.n or "–"),
            element("td", figure.unit, class_="unit"),
        ]
        for figure in figures
    ]
    headings = ["figure", "", "value", "limits", "random play", "best", "Holm p", "n", "unit"]
    notes = [folded(figure.name, element("p", line)) for figure in figures if (line := sentence(figure))]
    return join(table(headings, rows), *notes)


def _mark(figure: Figure) -> Html:
    if figure.alarm:
        return element("span", "alarm", class_="bad")
    if figure.differs:
        return element("span", "differs", class_="doubt")
    return element("span", "not measured", class_="doubt") if figure.why_not else Html("")


def _cost(card: Card) -> Html:
    cost = card.cost
    money = "–" if cost.money is None else f"{cost.money:.4f} {cost.currency}".strip()
    headings = ["", "decisions", "calls", "prompt tokens", "reply tokens", "seconds of engines", "money"]
    counts = (cost.decisions, cost.calls, cost.prompt_tokens, cost.reply_tokens)
    return table(headings, [["the agent", *(f"{count:,}" for count in counts), f"{cost.seconds:.1f}", money]])
