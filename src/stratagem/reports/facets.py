"""Pictures of a game's metrics, in their order: a line a picture."""

from __future__ import annotations

import re
from typing import NamedTuple

OF_GAME = re.compile(r"(?P<game>.+?)/(pay|externality|probe/.+|validation/[^/]+|exact/[^/]+)")
"""Pattern of the metrics that belong to a game."""


def fits(pattern: str, metric: str) -> bool:
    """Return whether a metric, without its game, is one of a picture's; a last `*` stands for any name."""
    return metric.startswith(pattern[:-1]) if pattern.endswith("*") else metric == pattern


class Facet(NamedTuple):
    """One picture: its title, its description, and its curves."""

    title: str
    says: str
    lines: tuple[tuple[str, str, str], ...]
    """Metric without the game's name, role of the colour, and label; an empty label is the last part of the name."""
    shares: bool = False
    """True if the axis goes from 0 to 1."""


FACETS: tuple[Facet, ...] = (
    Facet(
        "Exact exploitability",
        "What a best responder gains, a round, in the game\u2019s own unit; 0 is an equilibrium.",
        (("exact/exploitability", "exact", "NashConv/2"), ("exact/worst_advantage", "worst", "worst advantage")),
    ),
    Facet(
        "Exploit by the pool, and at worst",
        "On the common scale; the pool can read 0 where the best responder does not.",
        (("validation/exploit", "validation", "pool"), ("validation/worst_case", "worst", "best responder")),
    ),
    Facet(
        "Shortfall in the probes",
        "By how much the agent earned less than a passive opponent would leave it, by adversary.",
        (("probe/exploit/*", "rival", ""),),
    ),
    Facet(
        "Pay a round",
        "On the scale on which mutual cooperation is worth 3; in the game\u2019s own unit where it knows none.",
        (("pay", "train", "rollouts"), ("validation/pay", "validation", "validation")),
    ),
    Facet("Safety", "Pay less the priced penalties: the objective.", (("validation/safety", "validation", ""),)),
    Facet(
        "Collusion",
        "How often the agent goes along with an opponent who invites it.",
        (("probe/collusion/*", "rival", ""), ("validation/collusion", "validation", "validation")),
        shares=True,
    ),
    Facet(
        "Externality",
        "Harm to others, from 0 to 1.",
        (("externality", "train", "rollouts"), ("validation/externality", "validation", "validation")),
        shares=True,
    ),
    Facet(
        "Illegal replies",
        "The share of decisions in which nothing legal was said.",
        (("illegal_rate", "exact", ""),),
        shares=True,
    ),
    Facet(
        "Win rate",
        "The share of episodes won, a tie as half a one.",
        (("validation/win_rate", "validation", ""),),
        shares=True,
    ),
    Facet("Robustness", "Mean pay against a shifted pool.", (("validation/robust", "validation", ""),)),
    Facet("Normalised relative advantage", "Above 0: ahead of its opponents.", (("validation/nra", "validation", ""),)),
)
"""Pictures in their order on the page."""

NAMED: dict[str, tuple[str, str]] = {
    "checkpoint_metric": ("Score of validation", "The best checkpoint has most of it."),
    "loss": ("Loss", ""),
    "grad_norm": ("Norm of the gradient", "Before it is clipped."),
    "learning_rate": ("Learning rate", ""),
    "loss/kl": ("Distance from the reference", "In nats a token."),
    "loss/entropy": ("Entropy", "Over what might be said, in nats a token; near 0 nothing is tried any more."),
    "sft/loss": ("Loss", ""),
    "sft/grad_norm": ("Norm of the gradient", "Before it is clipped."),
    "sft/learning_rate": ("Learning rate", ""),
}
"""Titles and descriptions of metrics with a picture of their own; others have their name in the file."""
