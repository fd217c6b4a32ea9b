"""Headlines of README and of its results pages as a published table: `python experiments/headlines.py`.

It writes `experiments/headlines/published.toml`. `make headlines` makes one seed of each run at the head, prints its
figures beside the printed ones, and fails where one is outside of its range. That range is the one of the stored seeds,
widened to the 99 % prediction interval of one more seed (Student's t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from result_tables import read_results
from scipy.stats import t

from stratagem.training.runs.config_file import toml_value

RESULTS = Path("docs/results")
TARGET = Path("experiments/headlines/published.toml")
LEVEL = 0.99
EVEN = [
    {"policy": "icg-even", "seat": 0},
    {"policy": "icg-even", "seat": 0, "styles": ["shapellm-occurrence"]},
]
"""Target policies of chicken: both seats begin even."""
CHICKEN = ["shapellm/games/icg", "shapellm/pairs/shaper", "shapellm/models/tiny"]
_ARM = {"sft.epochs": 0, "sepo.advantage.return_to_go": True}
_BEST = {**_ARM, "sepo.penalty_credit": "probe", "sepo.penalty_source": "best_response"}
_POOL = {**_ARM, "sepo.penalty_credit": "probe", "sepo.penalty_source": "pool"}
_NONE = {**_ARM, "sepo.penalty_credit": "none"}
_EVERY = {"sepo.signal_every": 1, "sepo.best_response_every": 1}
RUNS: dict[str, dict[str, Any]] = {
    "kuhn-sft": {"recipes": ["sepo/kuhn-tiny"], "set": {"sepo.iterations": 1}},
    "kuhn-none": {"recipes": ["sepo/kuhn-tiny"], "after": "kuhn-sft", "set": _NONE | _EVERY},
    "kuhn-best": {"recipes": ["sepo/kuhn-tiny"], "after": "kuhn-sft", "set": _BEST | _EVERY},
    "kuhn-pool": {"recipes": ["sepo/kuhn-tiny"], "after": "kuhn-sft", "set": _POOL | _EVERY},
    "leduc-sft": {"recipes": ["sepo/leduc-tiny"], "set": {"sepo.iterations": 1}},
    "leduc-none": {"recipes": ["sepo/leduc-tiny"], "after": "leduc-sft", "set": _NONE},
    "leduc-best": {"recipes": ["sepo/leduc-tiny"], "after": "leduc-sft", "set": _BEST},
    "dice-sft": {"recipes": ["sepo/dice-tiny"], "set": {"sepo.iterations": 1}},
    "dice-none": {"recipes": ["sepo/dice-tiny"], "after": "dice-sft", "set": _NONE},
    "dice-best": {"recipes": ["sepo/dice-tiny"], "after": "dice-sft", "set": _BEST},
    "chicken-shaper": {"recipes": CHICKEN, "set": {"target_policies": EVEN}},
    "chicken-alone": {"recipes": CHICKEN, "set": {"target_policies": EVEN, "seats.shaper.update_every": 1}},
    "scopal-start": {"recipes": ["scopal/tiny-start"]},
    "scopal": {"recipes": ["scopal/tiny"], "after": "scopal-start", "start": "last"},
}


class Headline(NamedTuple):
    """Headline: its name, its run, the path of its figure, and the stored value of each seed."""

    label: str
    run: str
    at: str
    values: Sequence[float]


def headlines() -> list[Headline]:
    """Return the headlines of README with the stored values of their seeds."""
    play, sepo, shaping, scopal = (_json(name) for name in ("sepo-play", "sepo", "shapellm", "sco-pal"))
    kuhn = play["kuhn"]
    base, last = "evaluation/kuhn/base/exact/exploitability", "metrics/{}/exact/exploitability"
    rows = [Headline("Kuhn, SFT", "kuhn-best", base, _stage(kuhn["best-togo"], "Base"))]
    for label, run, arm in (("control", "none", "none"), ("best response", "best", "best"), ("pool", "pool", "probe")):
        rows.append(Headline(f"Kuhn, {label}", f"kuhn-{run}", last.format("kuhn"), _stage(kuhn[f"{arm}-togo"], "last")))
    for game, title, spec in (("leduc", "Leduc", "leduc"), ("dice", "liar's dice", "spiel:liars_dice(dice_sides=4)")):
        for label, run in (("control", "none"), ("best response", "best")):
            values = _stage(sepo[game][f"{run}-togo"], "last")
            rows.append(Headline(f"{title}, {label}", f"{game}-{run}", last.format(spec), values))
    pays = {name: _pays(shaping[f"tiny/icg-{name}-even"]) for name in ("trial", "alone")}
    rows.append(Headline("chicken, shaper", "chicken-shaper", "outcome/20/shaper/payoff", pays["trial"]))
    rows.append(Headline("chicken, every episode", "chicken-alone", "outcome/20/shaper/payoff", pays["alone"]))
    for label, stage, name in (("base", "start", "Base"), ("cloning + KTO", "trained", "BC + KTO")):
        rates = [_rate(run["stages"][name]) for run in scopal["self"]]
        rows.append(Headline(f"six games, {label}", "scopal", f"evaluation/all/{stage}/win_rate", rates))
    return rows


def _json(name: str) -> Any:
    return read_results(RESULTS / f"{name}.json")


def _stage(runs: Sequence[dict[str, Any]], stage: str) -> list[float]:
    return [run["stages"][stage]["exact"] for run in runs]


def _pays(runs: Sequence[dict[str, Any]]) -> list[float]:
    """Return the payoff of the first seat over 20 rounds in each seed."""
    return [run["rows"][0]["figures"][f"{run['seats'][0]}/payoff"] for run in runs]


def _rate(stage: dict[str, Any]) -> float:
    return fmean(game["mean"] for game in stage["games"].values())


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the range in which the figure of one more seed is expected."""
    quantile = float(t.ppf((1.0 + LEVEL) / 2.0, len(values) - 1))
    half = quantile * stdev(values) * math.sqrt(1.0 + 1.0 / len(values))
    return min(*values, fmean(values) - half), max(*values, fmean(values) + half)


def text() -> str:
    """Return the file of the headlines."""
    lines = [
        "# Headlines of README with the range of one seed, written by `python experiments/headlines.py`.",
        'name = "Stratagem"',
        'title = "Headlines of README"',
        "[models]",
        "[scales.tiny]",
        "recipes = []",
        "differs = []",
    ]
    for name, run in RUNS.items():
        lines += [f"[runs.{name}]", *(f"{key} = {toml_value(value)}" for key, value in run.items())]
    lines += ["[[tables]]", 'id = "1"', 'title = "Headlines"', 'place = "README"']
    lines += ['columns = [{ name = "figure", at = "{path}" }]', "rows = ["]
    for row in headlines():
        low, high = spread(row.values)
        given = {"label": row.label, "run": row.run, "at": {"path": row.at}, "published": [f"{fmean(row.values):.3f}"]}
        lines.append(f"  {toml_value({**given, 'spread': [[round(low, 4), round(high, 4)]]})},")
    lines += [
        '  { label = "Diplomacy, trained", published = ["0.139"], cannot = "A run takes two hours: '
        '`stratagem train diplomacy/small`." },',
        '  { label = "Diplomacy, search", published = ["0.381"], cannot = "It is play without training: '
        'docs/results/diplomacy-search.md has its command." },',
        "]",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
