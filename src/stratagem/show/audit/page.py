"""Card as one HTML page without scripts, which needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stratagem.measure.audit.card import Card
from stratagem.measure.audit.condition import Outcome
from stratagem.measure.audit.probes.base import StrategyLine
from stratagem.show.audit.card_tables import ALL, drawn_tables, group_tables
from stratagem.show.audit.picture import interval_picture
from stratagem.show.audit.words import describe_outcome, sentence, summarise, verdict
from stratagem.show.html import Html, element, join
from stratagem.show.markup import table_html
from stratagem.show.reports.page import header, page
from stratagem.show.reports.section import Section, fold_element, table

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
    top = header(card.agent, "alarm" if card.alarms else "no alarm", "", [*summarise(card), *verdict(card)], tiles)
    return page(f"Audit of {card.agent}", top, list(_sections(card, outcomes or {})), pictures=False, of="an audit")


def _sections(card: Card, outcomes: Mapping[str, Outcome]) -> Iterator[Section]:
    if outcomes:
        rows = [[text, describe_outcome(card, text, outcome)] for text, outcome in outcomes.items()]
        yield Section(
            "conditions", "Conditions", "A condition that holds fails the audit.", table(["condition", "outcome"], rows)
        )
    for group, of_group in group_tables(card, ALL):
        title = f"Against {card.baseline}" if group == "against" else group.capitalize()
        figures = [figure for figure in card.figures if figure.group == group]
        notes = [fold_element(figure.name, element("p", line)) for figure in figures if (line := sentence(figure))]
        pictures = map(interval_picture, figures) if group == "exploitability" else ()
        yield Section(group, title, _SHOWS[group], join(*pictures, table_html(replace(of_group, title="")), *notes))
    for number, of_games in enumerate(drawn_tables(card), 1):
        shows = "Each game of the figures over drawn games, with the limits of its replies alone."
        yield Section(f"drawn-{number}", of_games.title, shows, table_html(replace(of_games, title="")))
    for game, lines in card.strategies.items():
        shows = f"The strategy behind the lower limit in {game}, where it is reached against the agent."
        yield Section(f"strategy-{game}", f"How to exploit it in {game}", shows, strategy_table(lines))
    yield Section("cost", "Cost", _SHOWS["cost"], _cost(card))
    if card.not_measured:
        rows = [[name, element("td", reason, class_="words")] for name, reason in card.not_measured.items()]
        yield Section(
            "not-measured", "Not measured", "What does not apply, with the reason.", table(["probe", "why"], rows)
        )


def strategy_table(lines: Sequence[StrategyLine]) -> Html:
    """Write the moves of a strategy that exploits an agent."""
    rows = [[f"seat {line.seat}", element("td", line.situation, class_="words"), line.action] for line in lines]
    return table(["seat", "where", "play"], rows[:_MOST_LINES])


def _cost(card: Card) -> Html:
    cost = card.cost
    money = "–" if cost.money is None else f"{cost.money:.4f} {cost.currency}".strip()
    headings = ["", "decisions", "calls", "prompt tokens", "reply tokens", "seconds of engines", "money"]
    counts = (cost.decisions, cost.calls, cost.prompt_tokens, cost.reply_tokens)
    return table(headings, [["the agent", *(f"{count:,}" for count in counts), f"{cost.seconds:.1f}", money]])
