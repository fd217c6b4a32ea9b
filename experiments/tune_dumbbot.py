"""Weights of DumbBot, tuned against six original DumbBots: `python experiments/tune_dumbbot.py FOLDER`.

A separable CMA evolution strategy (Ros and Hansen 2008) over the logarithms of 26 factors: for each season the weights
of DumbBot's terms, and the percentage with which it strays. A candidate's fitness is the mean share of the sum of
squares of one seat over games on the fast board, seats rotated, on deals that all candidates of a generation share.
What comes out is a best response to DumbBot and not a better player in general.

`--measure FILE` plays the registered `dumbbot-tuned`, and DumbBot itself as the control, on deals that no tuning has
seen, in games to 1905 and to 1908, and writes the shares.

After each generation the folder has its state, from which the program goes on. `--print` writes the weights as they
stand in `players/diplomacy/tuned.py`. Needs the extra `fast`; a generation takes about 15 seconds of one core.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.diplomacy.engine import STANDARD, engine_at, position_of
from stratagem.games.diplomacy.fast.chart import chart
from stratagem.games.diplomacy.fast.compiled import is_compiled
from stratagem.games.diplomacy.fast.text import board_array
from stratagem.games.key import Key
from stratagem.players.diplomacy.appraisal import SEASONS, AppraisalWeights
from stratagem.players.diplomacy.fast.rollouts import play_games
from stratagem.players.diplomacy.fast.values import neighbourhood, weights_array
from stratagem.players.diplomacy.tuned import STRAYS, TUNED

Floats = NDArray[np.float64]
SEATS, FINE, PASSES = 7, 10, 50
"""Number of seats; factor that leaves small weights room for change; DumbBot's percentage of the next best."""
TERMS: Mapping[str, tuple[str, ...]] = {
    "S": ("attack", "vacant", "defence", "strength", "competition", "near", "next", "second", "far"),
    "F": ("attack", "vacant", "defence", "strength", "competition", "near", "next", "second", "far"),
    "W": ("attack", "vacant", "defence", "guard", "near", "next", "far"),
}
NAMES = (*(f"{season} {term}" for season, terms in TERMS.items() for term in terms), "strays")


class Bot(NamedTuple):
    """A variant of DumbBot."""

    weights: dict[str, AppraisalWeights]
    strays: int
    """Percentage of the next best candidate."""


def bot_of(logs: Floats) -> Bot:
    """Return the DumbBot whose weights are the original ones times these factors."""
    factor = dict(zip(NAMES, np.exp(logs).tolist(), strict=True))
    return Bot({s: _scaled(w, s, factor) for s, w in SEASONS.items()}, min(100, round(PASSES * factor["strays"])))


def _scaled(weights: AppraisalWeights, season: str, factor: Mapping[str, float]) -> AppraisalWeights:
    def of(term: str) -> float:
        return factor.get(f"{season} {term}", 1.0)

    far = [FINE * of("far") * w for w in weights.proximity[3:]]
    second = FINE * of("second" if season != "W" else "far") * weights.proximity[2]
    near = [FINE * of("near") * weights.proximity[0], FINE * of("next") * weights.proximity[1], second]
    attack = weights.attack * of("attack")
    return replace(
        weights,
        attack=round(attack),
        vacant=round(attack * (of("vacant") - 1.0)),
        defence=round(weights.defence * of("defence")),
        strength=round(FINE * weights.strength * of("strength")),
        competition=round(FINE * weights.competition * of("competition")),
        guard=round(FINE * weights.guard * of("guard")),
        proximity=tuple(round(w) for w in (*near, *far)),
    )


ORIGINAL = Bot(dict(SEASONS), PASSES)


def shares(bot: Bot, key: Key, games: int, until: int = 1905) -> tuple[Floats, NDArray[np.bool_]]:
    """Return by game the share of the sum of squares of one bot among six DumbBots, and whether it is first or ties."""
    start = board_array(position_of(engine_at(STANDARD)))
    keys = np.array([key.at(game // SEATS).at("player").value for game in range(games)], np.uint64)
    seats = np.arange(games, dtype=np.int32) % SEATS
    scores = play_games(
        chart(),
        neighbourhood(),
        start,
        keys,
        seats,
        np.full(games, until, np.int32),
        np.stack([weights_array(bot.weights), weights_array(ORIGINAL.weights)]),
        np.array([bot.strays, ORIGINAL.strays]),
    )
    centers, winner = scores[:, :SEATS].astype(float), scores[:, SEATS]
    own = centers[np.arange(games), seats]
    share = np.where(winner >= 0, winner == seats, own**2 / (centers**2).sum(axis=1))
    return share, np.where(winner >= 0, winner == seats, own == centers.max(axis=1))


class Strategy:
    """Separable CMA-ES: the mean, the step size, and the variance of each coordinate."""

    def __init__(self, size: int, step: float, population: int) -> None:
        self.mean, self.step = np.zeros(size), step
        self.variance, self.path, self.path_step = np.ones(size), np.zeros(size), np.zeros(size)
        self.generation = 0
        self.population = population
        weights = np.log(population / 2 + 0.5) - np.log(np.arange(1, population // 2 + 1))
        self._weights = weights / weights.sum()
        self._mass = 1.0 / (self._weights**2).sum()

    def ask(self, seed: int) -> Floats:
        """Draw the candidates of this generation."""
        noise = np.random.default_rng([seed, self.generation]).standard_normal((self.population, len(self.mean)))
        return self.mean + self.step * np.sqrt(self.variance) * noise

    def tell(self, candidates: Floats, fitness: Floats) -> None:
        """Move towards the better half, and adapt step and variances."""
        size, mass = len(self.mean), self._mass
        best = candidates[np.argsort(-fitness)][: len(self._weights)]
        steps = (best - self.mean) / self.step
        move = self._weights @ steps
        rate_step = (mass + 2) / (size + mass + 5)
        damping = 1 + rate_step + 2 * max(0.0, np.sqrt((mass - 1) / (size + 1)) - 1)
        rate_path = 4 / (size + 4)
        faster = (size + 2) / 3
        rate_one = faster * 2 / ((size + 1.3) ** 2 + mass)
        rate_many = min(1 - rate_one, faster * 2 * (mass - 2 + 1 / mass) / ((size + 2) ** 2 + mass))
        self.path_step *= 1 - rate_step
        self.path_step += np.sqrt(rate_step * (2 - rate_step) * mass) * move / np.sqrt(self.variance)
        self.path = (1 - rate_path) * self.path + np.sqrt(rate_path * (2 - rate_path) * mass) * move
        spread = self._weights @ steps**2
        self.variance = (1 - rate_one - rate_many) * self.variance + rate_one * self.path**2 + rate_many * spread
        self.mean = self.mean + self.step * move
        expected = np.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
        self.step *= float(np.exp(rate_step / damping * (np.linalg.norm(self.path_step) / expected - 1)))
        self.generation += 1

    def save(self, path: Path) -> None:
        """Write everything that a later generation depends on."""
        state = {name: getattr(self, name) for name in ("generation", "step")}
        state |= {name: getattr(self, name).tolist() for name in ("mean", "variance", "path", "path_step")}
        write_file(path, json.dumps(state, indent=1))

    def load(self, path: Path) -> None:
        """Go on from a saved state."""
        for name, value in json.loads(path.read_text()).items():
            setattr(self, name, np.array(value) if isinstance(value, list) else value)


def measured(bot: Bot, until: int, games: int) -> dict[str, Any]:
    """Return the share and the first places of a bot among six DumbBots, with standard errors over deals."""
    share, first = shares(bot, Key(1).at("measure", until), games, until)
    deals = games // SEATS

    def estimate(values: Floats | NDArray[np.bool_]) -> dict[str, float]:
        by_deal = values.astype(float).reshape(deals, SEATS).mean(axis=1)
        return {"mean": float(by_deal.mean()), "se": float(by_deal.std(ddof=1) / np.sqrt(deals))}

    return {"until": until, "games": games, "sum of squares": estimate(share), "first": estimate(first)}


def measure(path: Path, games: int) -> None:
    """Measure `dumbbot-tuned` and DumbBot, print the figures, and write them."""
    bots = {"dumbbot-tuned": Bot(dict(TUNED), STRAYS), "dumbbot": ORIGINAL}
    rows = [
        {"player": name, "opponents": "six of dumbbot", **measured(bot, until, games)}
        for until in (1905, 1908)
        for name, bot in bots.items()
    ]
    for row in rows:
        share, first = row["sum of squares"], row["first"]
        print(
            row["until"],
            row["player"],
            f"{share['mean']:.3f} ± {share['se']:.3f}  {first['mean']:.3f} ± {first['se']:.3f}",
        )
    command = f"python experiments/tune_dumbbot.py --measure docs/results/{path.name} --games {games}"
    write_file(path, json.dumps({**provenance(), "command": command, "null": 1 / SEATS, "rows": rows}, indent=1) + "\n")


def main() -> None:
    """Run the generations that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/tune"))
    parser.add_argument("--measure", type=Path, metavar="FILE", help="measure the registered player and stop")
    parser.add_argument("--generations", type=int, default=25)
    parser.add_argument("--population", type=int, default=16)
    parser.add_argument("--games", type=int, default=420, help="games a candidate")
    parser.add_argument("--step", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print", action="store_true", help="print the weights of the saved state and stop")
    arguments = parser.parse_args()
    strategy = Strategy(len(NAMES), arguments.step, arguments.population)
    path = arguments.folder / "strategy.json"
    if path.exists():
        strategy.load(path)
    if arguments.print:
        print(bot_of(strategy.mean), dict(zip(NAMES, np.exp(strategy.mean).round(2).tolist(), strict=True)), sep="\n")
        return
    if not is_compiled():
        raise SystemExit("The fast board needs numba: pip install 'stratagem[fast]'.")
    if arguments.measure is not None:
        measure(arguments.measure, arguments.games - arguments.games % SEATS)
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    key = Key(arguments.seed).at("tune")
    while strategy.generation < arguments.generations:
        deals = key.at("generation", strategy.generation)
        candidates = strategy.ask(arguments.seed)
        fitness = np.array([shares(bot_of(logs), deals, arguments.games)[0].mean() for logs in candidates])
        strategy.tell(candidates, fitness)
        strategy.save(path)
        share, first = shares(bot_of(strategy.mean), key.at("validation"), 700)
        print(
            f"{strategy.generation:3d}  candidates {fitness.mean():.3f}, best {fitness.max():.3f}  "
            f"mean {share.mean():.3f} first {first.mean():.3f}  step {strategy.step:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
