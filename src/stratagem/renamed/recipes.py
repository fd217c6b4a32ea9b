"""Table of renamed algorithms and of removed recipes: what is written in their place.

An entry stays until the release in `UNTIL`: then it is deleted here, and the old name is a name like any unknown one.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

UNTIL = "0.4.0"
"""Release from which on the old names are unknown."""
RENAMED_ALGORITHMS = {"shaping": "shapellm"}
"""Old names of algorithms, each with the new one."""


@dataclass(frozen=True)
class Successor:
    """Recipes that have the settings of a removed one, and settings that are changed in them."""

    recipes: tuple[str, ...]
    """Names of shipped recipes, a later one over an earlier."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Values by the places of settings, as `--set` takes them."""

    def __str__(self) -> str:
        """Return the arguments of `stratagem train`."""
        changes = (f"--set {shlex.quote(f'{place}={value}')}" for place, value in self.changes.items())
        return " ".join([*self.recipes, *changes])


def successor_of(name: str) -> Successor | None:
    """Return what is written in place of a recipe, by its name or its path; None where it is unknown."""
    return SUCCESSORS.get(name.rpartition("recipes/")[2].removesuffix(".toml"))


_BIASED = {
    "target_policies": '[{ policy = "imp-75", game = "imp(labels=(H, T))", seat = 0, styles = ["shapellm-state", '
    '"shapellm-occurrence"] }, { policy = "imp-75", game = "imp(labels=(H, T))", seat = 1 }]',
    "defaults.naive.optimizer.learning_rate": "3e-4",
    "defaults.shaper.optimizer.learning_rate": "1e-3",
}
"""Another start in matching pennies: both seats play heads in about 70 %."""
_TABLE = '{ learner = "tabular", learning_rate = 30.0, initial_probability = 0.85 }'
"""A table in place of the naive learner."""
SUCCESSORS: Mapping[str, Successor] = {
    "league/diplomacy-14b": Successor(("papers/diplomacy/league",)),
    "league/diplomacy-pfsp": Successor(("league/diplomacy", "league/learners/pfsp")),
    "league/diplomacy-rating-near": Successor(("league/diplomacy", "league/learners/near")),
    "league/diplomacy-small": Successor(("league/diplomacy", "league/learners/main-exploiter")),
    "league/kuhn-fixed": Successor(("league/kuhn", "league/learners/fixed")),
    "league/kuhn-held": Successor(("league/kuhn", "league/learners/held")),
    "league/kuhn-league": Successor(("league/kuhn", "league/learners/league")),
    "league/kuhn-near": Successor(("league/kuhn", "league/learners/near")),
    "league/kuhn-pfsp": Successor(("league/kuhn", "league/learners/pfsp")),
    "league/kuhn-self": Successor(("league/kuhn", "league/learners/self")),
    "league/leduc-fixed": Successor(("league/leduc", "league/learners/fixed")),
    "league/leduc-held": Successor(("league/leduc", "league/learners/held")),
    "league/leduc-league": Successor(("league/leduc", "league/learners/league")),
    "league/leduc-self": Successor(("league/leduc", "league/learners/self")),
    "scopal/qwen": Successor(("papers/scopal/self-play", "papers/scopal/qwen2")),
    "scopal/qwen-all": Successor(("papers/scopal/self-play", "papers/scopal/qwen2", "papers/scopal/all-weights")),
    "sepo/auction-gemma": Successor(("sepo/auction", "models/gemma")),
    "sepo/auction-qwen": Successor(("sepo/auction", "models/qwen")),
    "sepo/auction-smollm2": Successor(("sepo/auction", "models/smollm2")),
    "sepo/auction-tiny": Successor(("sepo/auction", "models/tiny")),
    "sepo/ipd-gemma": Successor(("sepo/ipd", "models/gemma")),
    "sepo/ipd-qwen": Successor(("sepo/ipd", "models/qwen")),
    "sepo/ipd-smollm2": Successor(("sepo/ipd", "models/smollm2")),
    "sepo/ipd-tiny": Successor(("sepo/ipd", "models/tiny")),
    "sepo/kuhn-gemma": Successor(("sepo/kuhn", "models/gemma")),
    "sepo/kuhn-qwen": Successor(("sepo/kuhn", "models/qwen")),
    "sepo/multi-gemma": Successor(("sepo/multi", "models/gemma")),
    "sepo/multi-qwen": Successor(("sepo/multi", "models/qwen")),
    "sepo/multi-smollm2": Successor(("sepo/multi", "models/smollm2")),
    "sepo/multi-tiny": Successor(("sepo/multi", "models/tiny")),
    "sepo/negotiation-v1-gemma": Successor(("sepo/negotiation-v1", "models/gemma")),
    "sepo/negotiation-v1-qwen": Successor(("sepo/negotiation-v1", "models/qwen")),
    "sepo/negotiation-v1-smollm2": Successor(("sepo/negotiation-v1", "models/smollm2")),
    "sepo/negotiation-v1-tiny": Successor(("sepo/negotiation-v1", "models/tiny")),
    "sepo/negotiation-v2-gemma": Successor(("sepo/negotiation-v2", "models/gemma")),
    "sepo/negotiation-v2-qwen": Successor(("sepo/negotiation-v2", "models/qwen")),
    "sepo/negotiation-v2-smollm2": Successor(("sepo/negotiation-v2", "models/smollm2")),
    "shapellm/gemma/c-ipd-baseline": Successor(
        ("shapellm/games/c-ipd", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/c-ipd-shaper": Successor(
        ("shapellm/games/c-ipd", "shapellm/pairs/shaper", "shapellm/models/gemma")
    ),
    "shapellm/gemma/icg-25-shaper": Successor(("shapellm/variants/icg-25", "shapellm/models/gemma")),
    "shapellm/gemma/icg-50-shaper": Successor(("shapellm/variants/icg-50", "shapellm/models/gemma")),
    "shapellm/gemma/icg-75-shaper": Successor(("shapellm/variants/icg-75", "shapellm/models/gemma")),
    "shapellm/gemma/icg-baseline": Successor(
        ("shapellm/games/icg", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/icg-enriched": Successor(
        ("shapellm/games/icg", "shapellm/pairs/enriched", "shapellm/models/gemma")
    ),
    "shapellm/gemma/icg-enriched-labels": Successor(("shapellm/variants/icg-enriched-labels", "shapellm/models/gemma")),
    "shapellm/gemma/icg-shaper": Successor(("shapellm/games/icg", "shapellm/pairs/shaper", "shapellm/models/gemma")),
    "shapellm/gemma/icg-switched": Successor(("shapellm/variants/icg-switched", "shapellm/models/gemma")),
    "shapellm/gemma/icg-table": Successor(("shapellm/variants/icg-table", "shapellm/models/gemma")),
    "shapellm/gemma/imp-25-shaper": Successor(("shapellm/variants/imp-25", "shapellm/models/gemma")),
    "shapellm/gemma/imp-50-shaper": Successor(("shapellm/variants/imp-50", "shapellm/models/gemma")),
    "shapellm/gemma/imp-75-shaper": Successor(("shapellm/variants/imp-75", "shapellm/models/gemma")),
    "shapellm/gemma/imp-baseline": Successor(
        ("shapellm/games/imp", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/imp-enriched": Successor(
        ("shapellm/games/imp", "shapellm/pairs/enriched", "shapellm/models/gemma")
    ),
    "shapellm/gemma/imp-shaper": Successor(("shapellm/games/imp", "shapellm/pairs/shaper", "shapellm/models/gemma")),
    "shapellm/gemma/imp-switched": Successor(("shapellm/variants/imp-switched", "shapellm/models/gemma")),
    "shapellm/gemma/imp-table": Successor(("shapellm/variants/imp-table", "shapellm/models/gemma")),
    "shapellm/gemma/ipd-25-shaper": Successor(("shapellm/variants/ipd-25", "shapellm/models/gemma")),
    "shapellm/gemma/ipd-50-shaper": Successor(("shapellm/variants/ipd-50", "shapellm/models/gemma")),
    "shapellm/gemma/ipd-75-shaper": Successor(("shapellm/variants/ipd-75", "shapellm/models/gemma")),
    "shapellm/gemma/ipd-baseline": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/ipd-enriched": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/enriched", "shapellm/models/gemma")
    ),
    "shapellm/gemma/ipd-episode-only": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/gemma"), {"seats.shaper.memory": "episode"}
    ),
    "shapellm/gemma/ipd-shaper": Successor(("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/gemma")),
    "shapellm/gemma/ipd-state-only": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/gemma"),
        {"seats.shaper.memory": "last", "seats.shaper.style": "shapellm-state"},
    ),
    "shapellm/gemma/ipd-sum": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/gemma"), {"seats.shaper.reward": "sum"}
    ),
    "shapellm/gemma/ipd-switched": Successor(("shapellm/variants/ipd-switched", "shapellm/models/gemma")),
    "shapellm/gemma/ipd-table": Successor(("shapellm/variants/ipd-table", "shapellm/models/gemma")),
    "shapellm/gemma/ish-baseline": Successor(
        ("shapellm/games/ish", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/ish-shaper": Successor(("shapellm/games/ish", "shapellm/pairs/shaper", "shapellm/models/gemma")),
    "shapellm/llama/ipd-baseline": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/baseline", "shapellm/models/llama")
    ),
    "shapellm/llama/ipd-shaper": Successor(("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/llama")),
    "shapellm/smollm2/ipd-baseline": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/baseline", "shapellm/models/smollm2")
    ),
    "shapellm/smollm2/ipd-shaper": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/smollm2")
    ),
    "shapellm/tabular/imp-slow": Successor(("shapellm/tabular/imp",), {"seats.naive.learning_rate": "5.0"}),
    "shapellm/tabular/ipd-baseline-slow": Successor(
        ("shapellm/tabular/ipd-baseline",), {"seats.one.learning_rate": "5.0", "seats.two.learning_rate": "5.0"}
    ),
    "shapellm/tabular/ipd-reciprocal": Successor(("shapellm/tabular/ipd", "shapellm/tabular/reciprocal")),
    "shapellm/tabular/ipd-reciprocal-slow": Successor(
        ("shapellm/tabular/ipd", "shapellm/tabular/slow", "shapellm/tabular/reciprocal")
    ),
    "shapellm/tabular/ipd-slow": Successor(("shapellm/tabular/ipd", "shapellm/tabular/slow")),
    "shapellm/tabular/public-goods-baseline": Successor(
        ("shapellm/tabular/public-goods",), {"seats.shaper.update_every": "1"}
    ),
    "shapellm/tiny/c-ipd-alike": Successor(
        ("shapellm/games/c-ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"),
        {
            "target_policies": '[{ policy = "c-ipd-cooperative", seat = 0, styles = ["shapellm-state", '
            '"shapellm-occurrence"] }, '
            '{ policy = "c-ipd-cooperative", seat = 1 }]'
        },
    ),
    "shapellm/tiny/c-ipd-baseline": Successor(
        ("shapellm/games/c-ipd", "shapellm/pairs/baseline", "shapellm/models/tiny")
    ),
    "shapellm/tiny/c-ipd-shaper": Successor(("shapellm/games/c-ipd", "shapellm/pairs/shaper", "shapellm/models/tiny")),
    "shapellm/tiny/icg-25-shaper": Successor(("shapellm/variants/icg-25", "shapellm/models/tiny")),
    "shapellm/tiny/icg-50-shaper": Successor(("shapellm/variants/icg-50", "shapellm/models/tiny")),
    "shapellm/tiny/icg-75-shaper": Successor(("shapellm/variants/icg-75", "shapellm/models/tiny")),
    "shapellm/tiny/icg-baseline": Successor(("shapellm/games/icg", "shapellm/pairs/baseline", "shapellm/models/tiny")),
    "shapellm/tiny/icg-enriched": Successor(("shapellm/games/icg", "shapellm/pairs/enriched", "shapellm/models/tiny")),
    "shapellm/tiny/icg-enriched-labels": Successor(("shapellm/variants/icg-enriched-labels", "shapellm/models/tiny")),
    "shapellm/tiny/icg-reciprocal": Successor(
        ("shapellm/games/icg", "shapellm/pairs/shaper", "shapellm/models/tiny"),
        {
            "target_policies": '[{ policy = "icg-even", seat = 0 }, '
            '{ policy = "icg-reciprocal", seat = 0, styles = ["shapellm-occurrence"] }]'
        },
    ),
    "shapellm/tiny/icg-shaper": Successor(("shapellm/games/icg", "shapellm/pairs/shaper", "shapellm/models/tiny")),
    "shapellm/tiny/icg-switched": Successor(("shapellm/variants/icg-switched", "shapellm/models/tiny")),
    "shapellm/tiny/icg-table": Successor(("shapellm/variants/icg-table", "shapellm/models/tiny")),
    "shapellm/tiny/imp-25-shaper": Successor(("shapellm/variants/imp-25", "shapellm/models/tiny-imp")),
    "shapellm/tiny/imp-50-shaper": Successor(("shapellm/variants/imp-50", "shapellm/models/tiny-imp")),
    "shapellm/tiny/imp-75-shaper": Successor(("shapellm/variants/imp-75", "shapellm/models/tiny-imp")),
    "shapellm/tiny/imp-alike": Successor(
        ("shapellm/games/imp", "shapellm/pairs/shaper", "shapellm/models/tiny-imp"),
        {
            "target_policies": '[{ policy = "imp-even", seat = 0, styles = ["shapellm-state", '
            '"shapellm-occurrence"] }, '
            '{ policy = "imp-even", seat = 1 }]'
        },
    ),
    "shapellm/tiny/imp-baseline": Successor(
        ("shapellm/games/imp", "shapellm/pairs/baseline", "shapellm/models/tiny-imp")
    ),
    "shapellm/tiny/imp-biased-baseline": Successor(
        ("shapellm/games/imp", "shapellm/pairs/baseline", "shapellm/models/tiny"), _BIASED
    ),
    "shapellm/tiny/imp-biased-shaper": Successor(
        ("shapellm/games/imp", "shapellm/pairs/shaper", "shapellm/models/tiny"), _BIASED
    ),
    "shapellm/tiny/imp-enriched": Successor(
        ("shapellm/games/imp", "shapellm/pairs/enriched", "shapellm/models/tiny-imp")
    ),
    "shapellm/tiny/imp-shaper": Successor(("shapellm/games/imp", "shapellm/pairs/shaper", "shapellm/models/tiny-imp")),
    "shapellm/tiny/imp-switched": Successor(("shapellm/variants/imp-switched", "shapellm/models/tiny-imp")),
    "shapellm/tiny/imp-table": Successor(("shapellm/variants/imp-table", "shapellm/models/tiny-imp")),
    "shapellm/tiny/ipd-25-shaper": Successor(("shapellm/variants/ipd-25", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-50-shaper": Successor(("shapellm/variants/ipd-50", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-75-shaper": Successor(("shapellm/variants/ipd-75", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-alike": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"),
        {
            "target_policies": '[{ policy = "ipd-cooperative", seat = 0, styles = ["shapellm-state", '
            '"shapellm-occurrence"] }]'
        },
    ),
    "shapellm/tiny/ipd-baseline": Successor(("shapellm/games/ipd", "shapellm/pairs/baseline", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-clear-baseline": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/baseline", "shapellm/models/tiny"),
        {"defaults.naive.ppo.advantage_mean_over": "turn"},
    ),
    "shapellm/tiny/ipd-clear-shaper": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"),
        {"defaults.naive.ppo.advantage_mean_over": "turn"},
    ),
    "shapellm/tiny/ipd-enriched": Successor(("shapellm/games/ipd", "shapellm/pairs/enriched", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-episode-only": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"), {"seats.shaper.memory": "episode"}
    ),
    "shapellm/tiny/ipd-qwen-naive": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"), {"seats.naive.model": "tiny-qwen"}
    ),
    "shapellm/tiny/ipd-qwen-shaper": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"), {"seats.shaper.model": "tiny-qwen"}
    ),
    "shapellm/tiny/ipd-shaper": Successor(("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-state-only": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"),
        {"seats.shaper.memory": "last", "seats.shaper.style": "shapellm-state"},
    ),
    "shapellm/tiny/ipd-sum": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"), {"seats.shaper.reward": "sum"}
    ),
    "shapellm/tiny/ipd-switched": Successor(("shapellm/variants/ipd-switched", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-table": Successor(("shapellm/variants/ipd-table", "shapellm/models/tiny")),
    "shapellm/tiny/ipd-tabular": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/tiny"), {"seats.naive": _TABLE}
    ),
    "shapellm/tiny/ish-alike": Successor(
        ("shapellm/games/ish", "shapellm/pairs/shaper", "shapellm/models/tiny"),
        {"target_policies": '[{ policy = "ish-even", seat = 0, styles = ["shapellm-state", "shapellm-occurrence"] }]'},
    ),
    "shapellm/tiny/ish-baseline": Successor(("shapellm/games/ish", "shapellm/pairs/baseline", "shapellm/models/tiny")),
    "shapellm/tiny/ish-shaper": Successor(("shapellm/games/ish", "shapellm/pairs/shaper", "shapellm/models/tiny")),
    "kuhn-tiny": Successor(("sepo/kuhn-tiny",)),
}
"""Removed recipes by their names."""
