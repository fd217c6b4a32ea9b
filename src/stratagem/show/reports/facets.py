"""Pictures of a game's metrics, in their order: a line a picture."""

from __future__ import annotations

import re
from typing import NamedTuple

OF_GAME = re.compile(
    r"(?P<game>.+?)/(payoff|externality|illegal_rate|probe/.+|validation/[^/]+|exact/[^/]+|replies/[^/]+)"
)
"""Pattern of the metrics that belong to a game."""


class Facet(NamedTuple):
    """One picture: its title, its description, and its curves."""

    title: str
    caption: str
    lines: tuple[tuple[str, str, str], ...]
    """Metric without the game's name, role of the colour, and label; an empty label is the last part of the name."""
    shares: bool = False
    """True if the axis goes from 0 to 1."""


FACETS: tuple[Facet, ...] = (
    Facet(
        "Exact exploitability",
        "Gain of a best responder per round, in the game\u2019s own unit. 0 is an equilibrium.",
        (
            ("exact/exploitability", "exact", "exploitability"),
            ("exact/worst_advantage", "worst", "worst-case advantage"),
        ),
    ),
    Facet(
        "Exploitability from replies",
        "Gain of a best responder per round to a model that states no probabilities; limits of 95 % each.",
        (
            ("replies/exploitability", "exact", "estimate"),
            ("replies/lower", "rival", "lower limit"),
            ("replies/upper", "rival", "upper limit"),
        ),
    ),
    Facet(
        "Advantage of the pool, and of the best responder",
        "On the common scale. The pool can read 0 where the best responder does not.",
        (
            ("validation/pool_advantage", "validation", "pool advantage"),
            ("validation/worst_case", "worst", "worst-case advantage"),
        ),
    ),
    Facet(
        "Shortfall in the probes",
        "Payoff against a passive opponent less payoff against the adversary, by adversary.",
        (("probe/exploit/*", "rival", ""),),
    ),
    Facet(
        "Payoff per round",
        "On the common scale, on which mutual cooperation has payoff 3; else in the game\u2019s own unit.",
        (("payoff", "train", "rollouts"), ("validation/payoff", "validation", "validation")),
    ),
    Facet("Safety", "Objective: payoff less the weighted penalties.", (("validation/safety", "validation", ""),)),
    Facet(
        "Collusion",
        "Share of invitations to collude that the agent accepts.",
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
        "Share of decisions with an illegal reply.",
        (("illegal_rate", "exact", ""),),
        shares=True,
    ),
    Facet(
        "Win rate",
        "Share of episodes won. A tie counts as half a win.",
        (("validation/win_rate", "validation", ""),),
        shares=True,
    ),
    Facet("Robustness", "Mean payoff against a shifted pool.", (("validation/shifted_payoff", "validation", ""),)),
    Facet(
        "Normalised relative advantage",
        "Above 0 the agent is ahead of its opponents.",
        (("validation/nra", "validation", ""),),
    ),
)
"""Pictures in their order on the page."""
