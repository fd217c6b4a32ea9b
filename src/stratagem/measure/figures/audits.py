"""Figures of audits, by quantity: those that are also measured elsewhere, and those of probes and checks alone.

The card of an audit names a figure by its game and its quantity, as in `kuhn.exploitability`; GAME stands for the game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stratagem.measure.figures.declared import OF_EXPLOITABILITY, OF_REPLIES
from stratagem.measure.figures.figure import OF_GAME, PAYOFF, Figure
from stratagem.measure.metrics import METRICS

AGAINST = ".against"
"""End of the name of a difference from another agent."""
_OF_RANGE = "share of the payoff range"
_VARIATION, _QUESTIONS = "total variation", "share of questions"
_OBEYED = "rate of the commanded action, less that after silence"
_BY_KEY = {figure.key: figure for figure in (*OF_EXPLOITABILITY, *OF_REPLIES)}
_SHARED = {
    "exploitability": _BY_KEY["exploitability"],
    "illegal": _BY_KEY["replies/illegal"],
    **{name: METRICS[name].declaration() for name in ("pool_advantage", "collusion", "externality", "safety")},
    **{name: METRICS[name].declaration() for name in ("honesty", "kept", "betrayal")},
}
"""Figures of the catalogue by their quantity in an audit."""
_OWN = (
    Figure(
        "exploiter",
        "gain of the written exploiter",
        PAYOFF,
        "lower",
        "gain a round of a short list of rules over the agent itself, the mean over the seats",
    ),
    Figure(
        "exploitability_ratio",
        "exploitability by random play's",
        "random play's",
        "lower",
        "sum over drawn games of the exploitability in shares of the payoff range, by that of random play",
    ),
    Figure(
        "exploitability_share",
        "exploitability over drawn games",
        _OF_RANGE,
        "lower",
        "mean over drawn games of the exploitability",
    ),
    Figure(
        "worst_share",
        "exploitability in the worst game",
        _OF_RANGE,
        "lower",
        "exploitability in the drawn game with the highest lower limit",
    ),
    Figure(
        "known_ratio",
        "exploitability in known games, by random play's",
        "random play's",
        "lower",
        "sum over kuhn and leduc of the exploitability in shares of the payoff range, by that of random play",
    ),
    Figure(
        "unseen_gap",
        "gap between drawn and known games",
        "random play's",
        "lower",
        "exploitability by random play's in drawn games, less that in known games",
    ),
    Figure(
        "dominated",
        "dominated actions",
        "share of replies",
        "lower",
        "actions that another one never falls behind and sometimes beats, where there are any",
    ),
    Figure(
        "change",
        "change in the course of the audit",
        _VARIATION,
        "lower",
        "early replies to each question against late ones, for the best of five places to cut",
    ),
    Figure(
        "sequence",
        "dependence on earlier replies",
        "share of equal neighbours, less chance",
        "lower",
        "each reply against earlier ones to the same question",
    ),
    Figure("words", "change under other words", _VARIATION, "lower", "replies in plain words against a disguise"),
    Figure("style", "change under another style", _VARIATION, "lower", "replies to prompts of one style and another"),
    Figure(
        "repeat",
        "repeated replies",
        "share of situations",
        "higher",
        "situations in which temperature 0 always gives the same action",
    ),
    Figure("rules", "knowledge of the rules", _QUESTIONS, "higher", "right answers to questions about the rules"),
    Figure("rules_legal", "knowledge of legal actions", _QUESTIONS, "higher", "right answers on what is legal"),
    Figure("rules_payoffs", "knowledge of payoffs", _QUESTIONS, "higher", "right answers on what a round pays"),
    Figure("rules_turns", "knowledge of turns", _QUESTIONS, "higher", "right answers on who moves next"),
    Figure("payoff_random", "payoff against random play", PAYOFF, "higher", "mean payoff a round against random play"),
    Figure(
        "payoff_strong",
        "payoff against strong play",
        PAYOFF,
        "higher",
        "mean payoff a round against the strongest player at hand",
    ),
    Figure(
        "gullibility",
        "loss to a liar",
        PAYOFF,
        "lower",
        "payoff a round against a silent player less that against a liar that moves alike",
    ),
    Figure("injection", "obedience to a command", _OBEYED, "lower", "what a message that commands an action changes"),
    Figure("neutral_text", "effect of a neutral text", _OBEYED, "lower", "what a message about something else changes"),
    Figure(
        "played",
        "play against answers",
        _VARIATION,
        "lower",
        "decisions in play against replies to questions about the same situations",
    ),
    Figure(
        "excess_loss",
        "excess loss",
        PAYOFF,
        "lower",
        "loss to a fixed opponent beyond the exploitability; above 0 the two figures are impossible together",
    ),
)
_BY_QUANTITY: Mapping[str, Figure] = {**_SHARED, **{figure.key: figure for figure in _OWN}}
OF_AUDITS: tuple[Figure, ...] = tuple(
    replace(figure, key=OF_GAME + quantity) for quantity, figure in _BY_QUANTITY.items()
)
"""Figures of audits under the names that the card has."""
_BY_NAME = {figure.key: figure for figure in OF_AUDITS}


def audit_figure(name: str) -> Figure:
    """Return the figure of a number of a card by its name; that of a further probe has its name alone."""
    quantity = name.removesuffix(AGAINST).rpartition(".")[2]
    return _BY_NAME.get(OF_GAME + quantity) or Figure(OF_GAME + quantity, quantity)
