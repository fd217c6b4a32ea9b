"""Tables of experiments/drawn_agents.py: ratios to random play, their intervals over games, and the correlation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dots import Dot, picture
from numpy.typing import NDArray
from result_tables import DASH, check_nothing_lost, markdown, number
from scipy.stats import kendalltau, spearmanr

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.sweeps.comparison import paired_tests, sign_flips

Floats = NDArray[np.float64]
FAMILIES = ("cards", "dice", "auction", "bargaining", "matrix", "signals", "mixed")
KNOWN: Mapping[str, str] = {
    "kuhn": "kuhn",
    "leduc": "leduc",
    "spiel:liars_dice(dice_sides=4)": "dice",
    "ipd(rounds=3)": "ipd",
    "icg(rounds=2)": "chicken",
    "blind-auction": "auction",
    "sender-receiver": "sender",
    "public-goods(rounds=2)": "goods",
}
"""Known games, with the head of their column."""
RANDOM, SOLUTION = "random", "solution"
CONTROLS = (SOLUTION, "noise 0.2", "noise 0.5", RANDOM)
"""Agents that are not correlated: they know the solution, or have the ratio 1 by definition."""
SCRIPTS = (*CONTROLS, "first-legal", "last-legal", "myopic")
MODELS = ("tiny", "kuhn-sepo", "kuhn-sepo@start", "ipd-sepo", "leduc-sepo", "liars-dice-sepo", "smollm2", "gemma")
PRETRAINED = ("smollm2", "gemma")
"""Models that are asked in fewer games, as each takes long."""
UNSEEN = Family("unseen", MODELS)
ROUNDS = 2_000
"""Samples of the bootstrap over games."""
PERMUTATIONS = 10_000
Rows = Mapping[str, Mapping[str, Any]]
"""Rows of an agent by the name of the game."""


def ratio(own: Rows, chance: Rows, names: Sequence[str]) -> float:
    """Return the sum of an agent's exploitability over games, by random play's sum."""
    return float(sum(own[name]["exploitability"] for name in names) / _sum(chance, names))


def _sum(rows: Rows, names: Sequence[str]) -> float:
    return float(sum(rows[name]["exploitability"] for name in names))


def drawn_again(names: Sequence[str], rows: Rows, generator: np.random.Generator) -> list[str]:
    """Return games drawn with replacement within each family."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(rows[name]["family"], []).append(name)
    return [own[i] for own in families.values() for i in generator.integers(len(own), size=len(own))]


def quantiles(values: Sequence[float]) -> list[float]:
    """Return the middle 95 % of the values that are numbers."""
    found = [value for value in values if np.isfinite(value)]
    return [float(value) for value in np.quantile(found, (0.025, 0.975))]


def ratio_with_interval(own: Rows, chance: Rows, names: Sequence[str]) -> dict[str, Any]:
    """Return the ratio over games with its interval; without one where a family has a single game."""
    found: dict[str, Any] = {"games": len(names)}
    if not names:
        return found
    found["ratio"] = ratio(own, chance, names)
    found["exploitability"] = _sum(own, names) / len(names)
    if min(Counter(own[name]["family"] for name in names).values()) > 1:
        generator = np.random.default_rng(0)
        samples = [drawn_again(names, own, generator) for _ in range(ROUNDS)]
        found["interval"] = quantiles([ratio(own, chance, sample) for sample in samples])
    return found


def correlation(agents: Mapping[str, Rows], known: Sequence[str], drawn: Sequence[str]) -> dict[str, Any]:
    """Return the rank correlations of the ratios, with a p by permutation and intervals by bootstraps."""
    names, chance = [name for name in agents if name not in CONTROLS], agents[RANDOM]
    generator = np.random.default_rng(0)

    def points(first: Sequence[str], second: Sequence[str]) -> Floats:
        return np.array([[ratio(agents[name], chance, games) for games in (first, second)] for name in names])

    def tau(table: Floats) -> float:
        return float(kendalltau(table[:, 0], table[:, 1]).statistic)

    def rho(table: Floats) -> float:
        return float(spearmanr(table[:, 0], table[:, 1]).statistic)

    whole = points(known, drawn)
    found: dict[str, Any] = {"agents": names, "known": len(known), "drawn": len(drawn)}
    resampled = [
        points(drawn_again(known, chance, generator), drawn_again(drawn, chance, generator)) for _ in range(ROUNDS)
    ]
    both = [table[generator.integers(len(names), size=len(names))] for table in resampled]
    kinds: tuple[tuple[str, Callable[[Floats], float]], ...] = (("Kendall", tau), ("Spearman", rho))
    for name, figure in kinds:
        value = figure(whole)
        shuffled = [
            figure(np.column_stack([whole[:, 0], generator.permutation(whole[:, 1])])) for _ in range(PERMUTATIONS)
        ]
        found[name] = {
            "value": value,
            "p": (1 + sum(abs(one) >= abs(value) - 1e-12 for one in shuffled)) / (1 + PERMUTATIONS),
            "over games": quantiles([figure(table) for table in resampled]),
            "over games and agents": quantiles([figure(table) for table in both if len(np.unique(table, axis=0)) > 2]),
        }
    return found


def summarise(files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return all figures of the page."""
    agents: dict[str, Rows] = {
        one["agent"]: {row["game"]: row for row in one["rows"]}
        for one in sorted(files, key=lambda one: (*SCRIPTS, *MODELS).index(one["agent"]))
    }
    chance = agents[RANDOM]
    found: dict[str, Any] = {"agents": {}, "unseen": {}, "correlation": {}}
    differences: dict[str, dict[int, float]] = {}
    for agent, own in agents.items():
        drawn = [name for name in own if own[name]["family"] != "known" and name in chance]
        known = [name for name in KNOWN if name in own]
        found["agents"][agent] = {
            "drawn": ratio_with_interval(own, chance, drawn),
            "known": ratio_with_interval(own, chance, known),
            "families": {
                family: ratio_with_interval(own, chance, [n for n in drawn if own[n]["family"] == family])
                for family in FAMILIES
            },
            "known games": {name: ratio_with_interval(own, chance, [name]) for name in known},
            "seconds": round(sum(row["seconds"] for row in own.values()), 1),
            "information_sets": sum(row["information_sets"] for row in own.values()),
        }
        if agent in MODELS:
            gaps = [own[name]["exploitability"] - chance[name]["exploitability"] for name in drawn]
            differences[agent] = dict(enumerate(gaps))
    for name, test in paired_tests(UNSEEN, differences, sign_flips(Key(0).at("unseen"))).items():
        estimate = test.estimate
        found["unseen"][name] = {
            "difference": estimate.mean,
            "interval": [estimate.low, estimate.high],
            "games": estimate.n,
            "p": test.p,
            "holm_p": test.holm_p,
        }
    solved = [row["exploitability"] for row in agents[SOLUTION].values() if row["family"] != "known"]
    constant = [
        row["exploitability"] for row in agents[SOLUTION].values() if row["family"] != "known" and row["constant_sum"]
    ]
    found["control"] = {"games": len(solved), "largest": max(solved), "largest, constant sum": max(constant)}
    sizes = {
        "all agents": list(agents),
        "all but pretrained": [agent for agent in agents if agent not in PRETRAINED],
        "agents in all games": [agent for agent, own in agents.items() if set(own) >= set(chance)],
    }
    for name, chosen in sizes.items():
        rows = {agent: agents[agent] for agent in chosen}
        shared = set.intersection(*(set(own) for own in rows.values()))
        known = [game for game in KNOWN if game in shared]
        drawn = [game for game in chance if game in shared and chance[game]["family"] != "known"]
        if len(known) > 1 and drawn and len(chosen) > len(CONTROLS) + 2:
            found["correlation"][name] = correlation(rows, known, drawn)
    return found


def figure_cell(cell: Mapping[str, Any]) -> str:
    """Format a ratio with its interval."""
    if "ratio" not in cell:
        return DASH
    text = number(cell["ratio"], 2)
    return text + (
        f" [{number(cell['interval'][0], 2)}, {number(cell['interval'][1], 2)}]" if "interval" in cell else ""
    )


def games_of(table: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of games of each agent."""
    return {name: own["drawn"]["games"] + len(own["known games"]) for name, own in table["agents"].items()}


def write_tables(files: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Write the JSON of the page and its picture, and print its tables."""
    found = summarise(files)
    sources = {one["agent"]: one["made_by"] for one in files}
    data = {"made_by": provenance(), "measured_by": sources, **found}
    check_nothing_lost(out, data, games_of)
    write_file(out, json.dumps(data, indent=1) + "\n")
    agents = found["agents"]
    rows = []
    for agent, own in agents.items():
        test = found["unseen"].get(agent, {})
        cells = [str(own["drawn"]["games"]), figure_cell(own["drawn"]), figure_cell(own["known"])]
        rows.append([f"`{agent}`", *cells, number(test.get("holm_p")) if test else DASH, f"{own['seconds']:,.0f}"])
    print(markdown(["agent", "draws", "ratio in draws", "ratio in known games", "Holm p", "seconds"], rows), end="\n\n")
    names = [
        [f"`{agent}`", *(number(own["families"][f].get("ratio"), 2) for f in FAMILIES)] for agent, own in agents.items()
    ]
    print(markdown(["agent", *FAMILIES], names), end="\n\n")
    names = [
        [f"`{agent}`", *(number(own["known games"].get(game, {}).get("ratio"), 2) for game in KNOWN)]
        for agent, own in agents.items()
    ]
    print(markdown(["agent", *KNOWN.values()], names), end="\n\n")
    print(json.dumps(found["correlation"], indent=1), json.dumps(found["control"]), sep="\n")
    dots = [
        Dot(agent, cell["ratio"], cell["interval"][0], cell["interval"][1], agent == RANDOM)
        for agent, own in agents.items()
        if "interval" in (cell := own["drawn"])
    ]
    top = 1.1 * max(dot.high for dot in dots)
    write_file(out.with_suffix(".svg"), picture(dots, "Exploitability in drawn games, random play's is 1", 0.0, top))
