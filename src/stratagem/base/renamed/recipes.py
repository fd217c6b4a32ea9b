"""Table of renamed algorithms and of removed recipes: what is written in their place.

An entry stays until the release in `UNTIL`: then it is deleted here, and the old name is a name like any unknown one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
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
_FIXED = {"learners.main.matchmaker": '{ rule = "fixed", opponent = "base" }'}
"""One fixed opponent, the base after SFT, in place of a league."""


def _target(policy: str, seat: int, *styles: str) -> str:
    told = f", styles = {json.dumps(styles)}" if styles else ""
    return f'{{ policy = "{policy}", seat = {seat}{told} }}'


def _variant(game: str, kind: str, model: str = "") -> Successor:
    """Return ShapeLLM's own recipe of a variant, with the prompts and the dropout of the removed one."""
    option = {"switched": "switched=True", "table": "payoffs=matrix"}.get(kind, "own_labels=True")
    state, counting = f"shapellm-state({option})", f"shapellm-occurrence({option})"
    even = {"ipd": "ipd-cooperative"}.get(game, f"{game}-even")
    counts = even if game == "icg" else f"{game}-reciprocal"
    seats, first = (0, 1) if game == "imp" else (0,), "shaper"
    if kind == "enriched-labels":
        first = "enriched"
        targets = [_target(even, 0, "shapellm-state", "shapellm-occurrence"), _target("icg-50", 1)]
    elif kind in ("switched", "table"):
        targets = [*(_target(even, seat, state) for seat in seats), _target(counts, 0, counting)]
    else:
        evens = [_target(even, 0)] if game == "imp" else []
        targets = [_target(f"{game}-{kind}", 1), *evens, _target(counts, 0, "shapellm-occurrence")]
    changes = {
        "target_policies": f"[{', '.join(targets)}]",
        f"seats.{first}.style": counting,
        "seats.naive.style": state,
        **{f"seats.{seat}.adapter.dropout": "0.0" for seat in (first, "naive") if model != "gemma"},
    }
    part = {"": [], "tiny": ["shapellm/models/tiny-imp" if game == "imp" else "shapellm/models/tiny"]}
    return Successor((f"papers/shapellm/{game}-{kind}", *part.get(model, [f"shapellm/models/{model}"])), changes)


def _variants() -> Iterator[tuple[str, Successor]]:
    """Yield the removed variants of ShapeLLM's games, by themselves and with a model, each with its successor."""
    kinds = [(game, kind) for game in ("icg", "imp", "ipd") for kind in ("25", "50", "75", "switched", "table")]
    for game, kind in [*kinds, ("icg", "enriched-labels")]:
        yield f"shapellm/variants/{game}-{kind}", _variant(game, kind)
        end = f"{kind}-shaper" if kind.isdigit() else kind
        for model in ("gemma", "tiny"):
            yield f"shapellm/{model}/{game}-{end}", _variant(game, kind, model)


SUCCESSORS: Mapping[str, Successor] = {
    **dict(_variants()),
    "collapse/entropy": Successor(("collapse/self",), {"league.loss.entropy_coef": "0.1"}),
    "collapse/frozen": Successor(
        ("collapse/self",),
        {
            "learners.main.matchmaker": '{ rule = "pfsp", weighting = "uniform", self_play = 0.5 }',
            "league.max_snapshots": "1",
        },
    ),
    "collapse/pfsp": Successor(
        ("collapse/self",),
        {"with_base": "true", "learners.main.matchmaker": '{ rule = "pfsp", weighting = "squared", self_play = 0.5 }'},
    ),
    "collapse/role-baseline": Successor(("collapse/self",), {"league.advantage.ema_decay": "0.95"}),
    "league/diplomacy-14b": Successor(("papers/diplomacy/league",)),
    "league/diplomacy-pfsp": Successor(("league/diplomacy", "league/learners/pfsp")),
    "league/diplomacy-rating-near": Successor(("league/diplomacy", "league/learners/near")),
    "league/diplomacy-small": Successor(("league/diplomacy", "league/learners/main-exploiter")),
    "league/ipd-population-safe": Successor(
        ("league/ipd-population",),
        {"league.reward_weights": "{ payoff = 1.0, externality = -1.8, collusion = -1.0 }"},
    ),
    "league/kuhn-fixed": Successor(("league/kuhn",), _FIXED),
    "league/kuhn-held": Successor(("league/kuhn", "league/learners/held")),
    "league/kuhn-league": Successor(("league/kuhn", "league/learners/league")),
    "league/kuhn-near": Successor(("league/kuhn", "league/learners/near")),
    "league/kuhn-pfsp": Successor(("league/kuhn", "league/learners/pfsp")),
    "league/kuhn-self": Successor(("league/kuhn", "league/learners/self")),
    "league/learners/fixed": Successor(("league/kuhn",), _FIXED),
    "league/leduc-fixed": Successor(("league/leduc",), _FIXED),
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
    "scopal/small-start": Successor(
        ("scopal/tiny-start",),
        {
            "model": "small",
            "interaction.teachers": '{ random = 1, "mcts:10" = 1, "mcts:100" = 1 }',
            "samples.max_samples": "48000",
        },
    ),
    "sepo/kuhn-gemma": Successor(("sepo/kuhn", "models/gemma")),
    "sepo/kuhn-reasoned-many-smollm2": Successor(
        ("sepo/kuhn-reasoned-smollm2",),
        {
            "engine": '{ type = "transformers", rows = 256 }',
            "max_tokens_per_microbatch": "8192",
            "sepo.groups_per_batch": "24",
        },
    ),
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
    "shapellm/gemma/icg-baseline": Successor(
        ("shapellm/games/icg", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/icg-enriched": Successor(
        ("shapellm/games/icg", "shapellm/pairs/enriched", "shapellm/models/gemma")
    ),
    "shapellm/gemma/icg-shaper": Successor(("shapellm/games/icg", "shapellm/pairs/shaper", "shapellm/models/gemma")),
    "shapellm/gemma/imp-baseline": Successor(
        ("shapellm/games/imp", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/imp-enriched": Successor(
        ("shapellm/games/imp", "shapellm/pairs/enriched", "shapellm/models/gemma")
    ),
    "shapellm/gemma/imp-shaper": Successor(("shapellm/games/imp", "shapellm/pairs/shaper", "shapellm/models/gemma")),
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
    "shapellm/gemma/ish-baseline": Successor(
        ("shapellm/games/ish", "shapellm/pairs/baseline", "shapellm/models/gemma")
    ),
    "shapellm/gemma/ish-shaper": Successor(("shapellm/games/ish", "shapellm/pairs/shaper", "shapellm/models/gemma")),
    "shapellm/llama/ipd-baseline": Successor(
        ("shapellm/games/ipd", "shapellm/pairs/baseline", "shapellm/models/llama")
    ),
    "shapellm/llama/ipd-shaper": Successor(("shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/llama")),
    **{
        f"shapellm/shapers/{learner}": Successor(("shapellm/shapers/exact",), {"seats.one.learner": learner})
        for learner in ("advantage-alignment", "lola", "mfos", "sos")
    },
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
    "shapellm/tiny/icg-baseline": Successor(("shapellm/games/icg", "shapellm/pairs/baseline", "shapellm/models/tiny")),
    "shapellm/tiny/icg-enriched": Successor(("shapellm/games/icg", "shapellm/pairs/enriched", "shapellm/models/tiny")),
    "shapellm/tiny/icg-reciprocal": Successor(
        ("shapellm/games/icg", "shapellm/pairs/shaper", "shapellm/models/tiny"),
        {
            "target_policies": '[{ policy = "icg-even", seat = 0 }, '
            '{ policy = "icg-reciprocal", seat = 0, styles = ["shapellm-occurrence"] }]'
        },
    ),
    "shapellm/tiny/icg-shaper": Successor(("shapellm/games/icg", "shapellm/pairs/shaper", "shapellm/models/tiny")),
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
