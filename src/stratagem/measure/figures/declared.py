"""Figures that are no metric of a suite: exploitability, costs of replies, matches, tournaments, talk and data."""

from __future__ import annotations

from collections.abc import Iterator

from stratagem.measure.figures.figure import PAYOFF, RETURN, Figure

_VARIATION = "total variation"


def _of_side(who: str, name: str) -> Iterator[Figure]:
    """Yield the figures of the speaker, or of the readers."""
    yield Figure(f"{who}_return", f"return of the {name}", RETURN, "higher", f"expected return of the {name}")
    yield Figure(
        f"{who}_gain_by_reader",
        f"gain of the {name}, reader responding",
        RETURN,
        explanation=f"return of the {name} less that after silence in place of a message, which the reader alone "
        "knows of; the mean over what is said",
        null="0",
    )
    yield Figure(
        f"{who}_gain_by_table",
        f"gain of the {name}, table responding",
        RETURN,
        explanation=f"return of the {name} less that after silence to which all seats respond",
        null="0",
    )
    yield Figure(
        f"{who}_gain_by_lie",
        f"gain of the {name} by a lie",
        RETURN,
        explanation=f"return of the {name} after a false statement less that after a true one of its form; a lie "
        "deceives if the speaker gains and the readers lose",
        null="0",
    )
    yield Figure(
        f"{who}_jammed",
        f"return of the {name}, channels jammed",
        RETURN,
        explanation=f"return of the {name} if nothing that anybody says arrives",
    )
    yield Figure(
        f"{who}_worth",
        f"worth of talk for the {name}",
        RETURN,
        explanation=f"return of the {name} less that with all channels jammed",
    )


OF_MESSAGES = (
    Figure(
        "state_information",
        "state information",
        "nats",
        explanation="mutual information of what the speaker sees and what it says",
        null="0",
    ),
    Figure(
        "action_information",
        "action information",
        "nats",
        explanation="mutual information of what is said, drawn independently of the deal, and the reader's first move",
        null="0",
    ),
    Figure(
        "deception",
        "deception",
        "share of statements",
        "lower",
        "deceptive statements, of those that the speaker knew to be true or false",
        "the same statements shuffled over deals",
    ),
    Figure(
        "effect",
        "effect on the reader",
        _VARIATION,
        explanation="total variation of the reader's first move, against silence in its view alone, less the placebo",
        null="0",
    ),
    Figure("placebo", "placebo", _VARIATION, explanation="total variation between replies to the same message"),
    Figure(
        "effect_on_table",
        "effect on the table",
        _VARIATION,
        explanation="total variation of all seats' first moves, against silence to which all respond",
        null="0",
    ),
    *_of_side("speaker", "speaker"),
    *_of_side("reader", "reader"),
    Figure(
        "gullibility",
        "gullibility",
        RETURN,
        "lower",
        "return of the reader if nothing of what the speaker says arrives, less its return; 0 for one that does not "
        "listen",
        "0",
    ),
)
"""Figures of the messages of a speaker to its readers, beside the metrics of talk."""


def _of_arms(who: str, name: str) -> Iterator[Figure]:
    """Yield the returns of the pair, or of the others, with talk and without."""
    yield Figure(f"{who}/talk", f"{name}, with talk", RETURN, "higher", f"return of {name} together, with talk")
    yield Figure(
        f"{who}/jammed",
        f"{name}, channel jammed",
        RETURN,
        "higher",
        f"return of {name} together, where the channel delivers silence to all",
    )
    yield Figure(
        f"{who}/gain", f"{name}, talk less jammed", RETURN, explanation=f"what {name} gain by the talk of the pair"
    )
    yield Figure(
        f"{who}/null",
        f"{name}, shuffled less jammed",
        RETURN,
        explanation=f"what {name} gain by the pair's messages of another deal, which have no meaning",
    )


OF_COLLUSION = (*_of_arms("pair", "the pair"), *_of_arms("others", "the others"))
"""Figures of a pair that talks, by channel."""
OF_TALK = (*OF_MESSAGES, *OF_COLLUSION)


OF_EXPLOITABILITY = (
    Figure(
        "exploitability",
        "exploitability",
        PAYOFF,
        "lower",
        "gain a round of a best response, the mean over the seats; 0 in an equilibrium",
        main=True,
    ),
    Figure(
        "exploitability_lower_bound",
        "lower bound on exploitability",
        PAYOFF,
        "lower",
        "gain a round of an exploiter, the mean over the seats; the exploitability is at least as large",
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
    Figure(
        "replies/free", "free", "share of replies", explanation="replies without a constraint that are a legal action"
    ),
    Figure("replies/recovered", "recovered", "share of replies", explanation="legal replies after an illegal one"),
    Figure("replies/constrained", "constrained", "share of replies", explanation="replies of legal tokens only"),
    Figure("replies/illegal", "illegal", "share of replies", "lower", "replies without a legal action"),
    Figure(
        "replies/error", "error", "share of replies", "lower", "missing replies, since the model or its server failed"
    ),
    Figure("replies/length", "cut off", "share of replies", "lower", "replies that were cut off at the token limit"),
    Figure("replies/refusal", "refusal", "share of replies", explanation="replies in which the model refused"),
    Figure("replies/filter", "filter", "share of replies", explanation="replies that the server filtered"),
    Figure("replies/timeout", "timeout", "share of replies", "lower", "replies that took too long"),
    Figure(
        "replies/exit", "exit", "share of replies", "lower", "replies that are missing, since the agent's program ended"
    ),
    Figure(
        "replies/malformed",
        "malformed",
        "share of replies",
        "lower",
        "replies without the form of the agent's protocol",
    ),
    Figure("prompt_tokens", "prompt tokens", "tokens a decision", digits=0),
    Figure("reply_tokens", "reply tokens", "tokens a decision", digits=1),
    Figure("ms", "ms", "milliseconds a decision", digits=1),
)
OF_MATCHES = (
    Figure("unscaled_payoff", "unscaled payoff", PAYOFF, "higher", "mean payoff a round in the unit of the game"),
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
OF_LABELS = (
    Figure(
        "kl",
        "KL",
        "nats",
        "lower",
        "divergence from the target to the policy given the labels, the mean over states",
        digits=5,
    ),
    Figure(
        "legal",
        "legal",
        "probability",
        "higher",
        "probability of the two labels among all tokens, the mean over states",
    ),
)
"""Figures of names of actions under which a model starts near a target policy."""
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
OF_LOGS = (
    Figure("first_score", "mean of the first", "score", explanation="mean score over these items"),
    Figure("second_score", "mean of the second", "score", explanation="that of the second system"),
    Figure(
        "score_difference",
        "second less first",
        "score",
        explanation="mean difference over items; repeats of an item are averaged before",
        null="0",
    ),
    Figure(
        "score_holm_p", "Holm p", explanation="p of no difference, after Holm's correction over the table", digits=4
    ),
    Figure("paired_items", "items", "items", explanation="those that both systems have, and their clusters"),
    Figure(
        "detectable_difference",
        "could show",
        "score",
        explanation="smallest difference that these items would show four times in five, corrected for the table",
    ),
    Figure("needed_items", "items needed", "items", explanation="number that would show the wished difference so"),
)
"""Figures of systems that are compared by the logs of evaluations."""
DECLARED: tuple[Figure, ...] = (*OF_EXPLOITABILITY, *OF_REPLIES, *OF_MATCHES, *OF_TALK, *OF_LABELS, *OF_DATA, *OF_LOGS)
