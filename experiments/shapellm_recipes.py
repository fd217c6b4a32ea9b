"""Runs of recipes/shapellm by the names of docs/results/shapellm.json, each as recipes and changed settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

RECIPES, PAPER = Path("recipes/shapellm"), Path("recipes/papers/shapellm")
GAMES = ("ipd", "icg", "imp", "c-ipd", "ish")
SHAPERS = ("lola", "sos", "mfos", "advantage-alignment")
"""Kinds of learners that shape an opponent by exact values."""
VARIED = ("ipd", "icg", "imp")
"""Games in which the paper varies opponents, memory and prompts."""
VARIANTS = {"25": "25-shaper", "50": "50-shaper", "75": "75-shaper", "switched": "switched", "table": "table"}
"""Variants of a game, with the ends of their names here."""
STYLE_OPTIONS = {"switched": "switched=True", "table": "payoffs=matrix"}
"""Options of the prompts of a variant; in the others the second seat has labels of its own."""
ENRICHED_LABELS = "enriched-labels"
"""Variant of chicken between two naive learners (appendix A.4)."""
ABLATIONS: Mapping[str, Mapping[str, str]] = {
    "episode-only": {"seats.shaper.memory": "episode"},
    "state-only": {"seats.shaper.memory": "last", "seats.shaper.style": "shapellm-state"},
    "sum": {"seats.shaper.reward": "sum"},
}
"""Settings of a shaper's ablations in the prisoner's dilemma (Table 16, and footnote 5)."""


@dataclass(frozen=True)
class Composed:
    """Recipes that are composed, and the settings that are changed in them."""

    recipes: tuple[Path, ...]
    changes: Mapping[str, str] = field(default_factory=dict)


def composed(folder: str) -> dict[str, Composed]:
    """Compositions by name: of a model of recipes/shapellm/models, or the tables of recipes/shapellm/tabular."""
    if folder == "tabular":
        return dict(_tabular())
    if folder in ("llama", "smollm2"):
        return {f"ipd-{pair}": of_pair("ipd", pair, folder) for pair in ("baseline", "shaper")}
    return dict(_paper(folder)) | (dict(_tiny()) if folder == "tiny" else {})


FOLDERS = ("gemma", "llama", "smollm2", "tabular", "tiny")


def start(game: str, *, reciprocal: bool, together: bool = True) -> str:
    """Target policies as TOML: the second seat's, and the first one's, which is told counts."""
    even = f"{game}-cooperative" if game in ("ipd", "c-ipd") else f"{game}-even"
    counts = f"{game}-reciprocal" if reciprocal else even
    seats = (0,) if game in ("ipd", "icg", "ish") else (0, 1)
    if counts == even and together:
        first = _target(even, 0, "shapellm-state", "shapellm-occurrence")
        return f"[{', '.join([first, *_aims(even, seats[1:])])}]"
    return f"[{', '.join([*_aims(even, seats), _target(counts, 0, 'shapellm-occurrence')])}]"


def _aims(policy: str, seats: tuple[int, ...]) -> list[str]:
    return [_target(policy, seat) for seat in seats]


def of_preset(game: str, pair: str, changes: Mapping[str, str], model: str = "") -> Composed:
    """Compose a run of the paper at the scale `tiny` of `stratagem reproduce`, with rates of another model if named."""
    rates = RECIPES / "models" / f"{model}.toml" if model else _model(game, "tiny")
    return Composed((PAPER / f"{game}.toml", RECIPES / "pairs" / f"{pair}.toml", rates, PAPER / "tiny.toml"), changes)


def start_of_preset(policy: str, counts: str) -> str:
    """Target policies of a symmetric game in the paper's prompts: of all seats, and of the one that is told counts."""
    return f"[{_target(policy, 0, 'shapellm-paper-state')}, {_target(counts, 0, 'shapellm-paper-occurrence')}]"


def _model(game: str, model: str) -> Path:
    """Recipe of a model; tiny has rates of its own in matching pennies."""
    name = "tiny-imp" if (model, game) == ("tiny", "imp") else model
    return RECIPES / "models" / f"{name}.toml"


def of_pair(game: str, pair: str, model: str, changes: Mapping[str, str] | None = None) -> Composed:
    """Compose a game, a pair of learners and a model."""
    parts = (RECIPES / "games" / f"{game}.toml", RECIPES / "pairs" / f"{pair}.toml", _model(game, model))
    return Composed(parts, changes or {})


def of_variant(game: str, name: str, model: str) -> Composed:
    """Compose a variant of the paper and a model, in the prompts of the other runs, and without dropout."""
    option = f"({STYLE_OPTIONS.get(name, 'own_labels=True')})"
    first = "enriched" if name == ENRICHED_LABELS else "shaper"
    changes = {
        "target_policies": _variant_targets(game, name),
        f"seats.{first}.style": f"shapellm-occurrence{option}",
        "seats.naive.style": f"shapellm-state{option}",
        **{f"seats.{seat}.adapter.dropout": "0.0" for seat in (first, "naive") if model != "gemma"},
    }
    return Composed((PAPER / f"{game}-{name}.toml", _model(game, model)), changes)


def _variant_targets(game: str, name: str) -> str:
    """Target policies of a variant: those of the game, and of a naive seat with own labels its own."""
    even = f"{game}-cooperative" if game == "ipd" else f"{game}-even"
    counts = even if game == "icg" else f"{game}-reciprocal"
    if name == ENRICHED_LABELS:
        return f"[{_target(even, 0, 'shapellm-state', 'shapellm-occurrence')}, {_target('icg-50', 1)}]"
    if option := STYLE_OPTIONS.get(name):
        state, occurrence = (f"shapellm-{prompt}({option})" for prompt in ("state", "occurrence"))
        evens = [_target(even, seat, state) for seat in ((0, 1) if game == "imp" else (0,))]
        return f"[{', '.join([*evens, _target(counts, 0, occurrence)])}]"
    evens = [_target(even, 0)] if game == "imp" else []
    return f"[{', '.join([_target(f'{game}-{name}', 1), *evens, _target(counts, 0, 'shapellm-occurrence')])}]"


def _target(policy: str, seat: int, *styles: str) -> str:
    told = f", styles = {json.dumps(styles)}" if styles else ""
    return f'{{ policy = "{policy}", seat = {seat}{told} }}'


def _paper(model: str) -> Iterator[tuple[str, Composed]]:
    """All experiments of the paper with one model."""
    for game in GAMES:
        for pair in ("baseline", "shaper"):
            yield f"{game}-{pair}", of_pair(game, pair, model)
    for game in VARIED:
        yield f"{game}-enriched", of_pair(game, "enriched", model)
        for name, end in VARIANTS.items():
            yield f"{game}-{end}", of_variant(game, name, model)
    yield f"icg-{ENRICHED_LABELS}", of_variant("icg", ENRICHED_LABELS, model)
    for name, changes in ABLATIONS.items():
        yield f"ipd-{name}", of_pair("ipd", "shaper", model, changes)


def _tiny() -> Iterator[tuple[str, Composed]]:
    """Experiments that are not in the paper."""
    for game in ("c-ipd", "imp", "ipd", "ish"):
        alike = {"target_policies": start(game, reciprocal=False)}
        yield f"{game}-alike", of_pair(game, "shaper", "tiny", alike)
    yield "icg-reciprocal", of_pair("icg", "shaper", "tiny", {"target_policies": start("icg", reciprocal=True)})
    for pair in ("baseline", "shaper"):
        clear = {"defaults.naive.ppo.advantage_mean_over": "turn"}
        yield f"ipd-clear-{pair}", of_pair("ipd", pair, "tiny", clear)
        parts = tuple(RECIPES / part for part in ("games/imp.toml", f"pairs/{pair}.toml", "models/tiny.toml"))
        yield f"imp-biased-{pair}", Composed(parts, BIASED)
    for seat in ("naive", "shaper"):
        yield f"ipd-qwen-{seat}", of_pair("ipd", "shaper", "tiny", {f"seats.{seat}.model": "tiny-qwen"})
    yield "ipd-tabular", of_pair("ipd", "shaper", "tiny", {"seats.naive": TABLE})


BIASED: Mapping[str, str] = {
    "target_policies": '[{ policy = "imp-75", game = "imp(labels=(H, T))", seat = 0, styles = ["shapellm-state", '
    '"shapellm-occurrence"] }, { policy = "imp-75", game = "imp(labels=(H, T))", seat = 1 }]',
    "defaults.naive.optimizer.learning_rate": "3e-4",
    "defaults.shaper.optimizer.learning_rate": "1e-3",
}
"""Another start in matching pennies: both seats play heads in about 70 %, as Table 14 has an opponent under S/Y."""
TABLE = '{ learner = "tabular", learning_rate = 30.0, initial_probability = 0.85 }'
"""An exact table of five rows, which learns by the policy gradient, in the place of the naive learner."""


def _tabular() -> Iterator[tuple[str, Composed]]:
    """Two exact tables, or three."""

    def tables(*names: str, **changes: str) -> Composed:
        settings = {key.replace("__", "."): value for key, value in changes.items()}
        return Composed(tuple(RECIPES / "tabular" / f"{name}.toml" for name in names), settings)

    yield "imp", tables("imp")
    yield "imp-baseline", tables("imp-baseline")
    yield "imp-slow", tables("imp", seats__naive__learning_rate="5.0")
    yield "ipd", tables("ipd")
    yield "ipd-baseline", tables("ipd-baseline")
    slow = {"seats__one__learning_rate": "5.0", "seats__two__learning_rate": "5.0"}
    yield "ipd-baseline-slow", tables("ipd-baseline", **slow)
    yield "ipd-reciprocal", tables("ipd", "reciprocal")
    yield "ipd-reciprocal-slow", tables("ipd", "slow", "reciprocal")
    yield "ipd-slow", tables("ipd", "slow")
    yield "public-goods", tables("public-goods")
    yield "public-goods-baseline", tables("public-goods", seats__shaper__update_every="1")
