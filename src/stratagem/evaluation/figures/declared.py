"""Figures that are no metric of a suite: exploitability, costs of replies, matches, tournaments, audits and tables."""

from __future__ import annotations

from stratagem.evaluation.figures.figure import PAYOFF, Figure

OF_EXPLOITABILITY = (
    Figure(
        "exploitability",
        "exploitability",
        PAYOFF,
        "lower",
        "gain a round of a best response, the mean over the seats; 0 in an equilibrium",
        main=True,
    ),
    Figure("nash_conv", "NashConv", PAYOFF, "lower", "sum over the seats of the gain of a best response"),
    Figure(
        "worst_advantage",
        "worst-case advantage",
        PAYOFF,
        "lower",
        "largest mean advantage a round that any opponent can have over the player",
    ),
    Figure("value", "own value", PAYOFF, explanation="value a round of the player against itself, by seat"),
    Figure("best_response", "best response", PAYOFF, explanation="value a round of a best response, by seat"),
    Figure("gain", "gain", PAYOFF, "lower", "gain a round of a best response over the player's own value, by seat"),
)
OF_REPLIES = (
    Figure("decisions", "decisions", "decisions", explanation="number of times that the player was asked"),
    Figure("replies/free", "free", "share", explanation="replies without a constraint that are a legal action"),
    Figure("replies/recovered", "recovered", "share", explanation="legal replies after an illegal one"),
    Figure("replies/constrained", "constrained", "share", explanation="replies of legal tokens only"),
    Figure("replies/illegal", "illegal", "share", "lower", "replies without a legal action"),
    Figure("replies/error", "error", "share", "lower", "missing replies, since the model or its server failed"),
    Figure("replies/length", "cut off", "share", "lower", "replies that were cut off at the token limit"),
    Figure("replies/refusal", "refusal", "share", explanation="replies in which the model refused"),
    Figure("replies/filter", "filter", "share", explanation="replies that the server filtered"),
    Figure("replies/timeout", "timeout", "share", "lower", "replies that took too long"),
    Figure("replies/exit", "exit", "share", "lower", "replies that are missing, since the agent's program ended"),
    Figure("replies/malformed", "malformed", "share", "lower", "replies without the form of the agent's protocol"),
    Figure("prompt_tokens", "prompt tokens", "tokens a decision", digits=0),
    Figure("reply_tokens", "reply tokens", "tokens a decision", digits=1),
    Figure("ms", "ms", "milliseconds a decision", digits=1),
)
OF_MATCHES = (
    Figure("advantage", "advantage", PAYOFF, "higher", "payoff a round less that of the others"),
    Figure(
        "opponent_advantage",
        "their advantage",
        PAYOFF,
        "lower",
        "the opponent's payoff a round less the player's",
    ),
    Figure("wins", "wins", "episodes", "higher", "episodes in which nobody had more, and somebody had less"),
    Figure("illegal_turns", "illegal turns", "turns", "lower", "turns that ended without a legal action"),
    Figure(
        "mean_against_others", "mean against others", PAYOFF, "higher", "mean payoff a round against the other players"
    ),
)
OF_DATA = (
    Figure("samples", "samples", explanation="decisions of the record, with repetitions"),
    Figure("valid", "valid", "share", "higher", "samples whose reply was a legal action"),
    Figure("rows", "rows", explanation="distinct samples"),
    Figure("unique_actions", "actions", explanation="distinct actions"),
    Figure("advantageous", "advantageous", explanation="rows whose step reward is above the mean of their situation"),
    Figure("ratio", "ratio", explanation="advantageous rows to other rows", digits=2),
    Figure("train", "train", explanation="examples to train on"),
    Figure("held_out", "validation", explanation="examples that are held out"),
    Figure("repeated", "repeated", explanation="examples that repeat a decision, where decisions are few"),
    Figure("episodes", "episodes", explanation="recorded episodes"),
    Figure("characters", "characters", explanation="median length of a reply", digits=0),
    Figure("longest", "longest", "characters", explanation="length of the longest reply"),
)
"""Counts of training data."""
DECLARED: tuple[Figure, ...] = (*OF_EXPLOITABILITY, *OF_REPLIES, *OF_MATCHES, *OF_DATA)
