"""Data set of the atlas: `python experiments/atlas_dataset.py runs/atlas runs/data/policies.json.gz`.

It is compressed JSON, a line for each game and for each policy in it, and has a card beside it. The figures of the
adversaries are with each policy where they were measured.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atlas import AtlasPolicy, read_policies, scaled_oracle
from atlas_adversaries import FOLDER

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.tree import GameTree
from stratagem.training.runs.folder import RunFolder

PLACES = 6
"""Decimal places of a probability."""
CARD = """---
license: mit
pretty_name: Policies of the atlas
tags: [game-theory, exploitability, reinforcement-learning]
---

# Policies of the atlas

{policies} policies of language models in {games} games, as tables of probabilities, with their exact exploitability and
what adversaries under a budget see of it. {commit}

The file is gzip of JSON lines. The first line says who made it. A line with `game` has the information sets of a game:
seat, key and actions of each, in the order of its tree. A line with `policy` belongs to the game above it:

| field | content |
| --- | --- |
| `policy` | run and stage: GAME-METHOD-SEED@STAGE |
| `family` | SFT model that the run starts from; policies of one family are no independent observations |
| `probabilities` | one number an action, information set by information set |
| `exact`, `random` | exploitability of the policy and of random play, in shares of the payoff range, an episode |
| `distance` | mean total variation from random play |
| `seen` | by adversary and size: what it gains, by draw; below 0 where it loses |
| `command`, `commit` | how the run was made |

Limits: small games and small models; `experiments/declared/atlas.toml` has the design. Names of drawn games, such as
`drawn(seed=0, family=cards)`, are functions of the version of the generator.
"""
"""Card of the data set."""


def game_line(game: str, text: str, tree: GameTree) -> dict[str, Any]:
    """Return the line of a game."""
    sets = [[known.seat, known.view.info_key, known.actions] for known in tree.information_sets]
    return {"game": game, "text": text, "sets": sets}


def policy_line(folder: Path, one: AtlasPolicy) -> dict[str, Any]:
    """Return the line of a policy, with what adversaries saw of it."""
    info = RunFolder.open(folder / one.name.partition("@")[0]).info()
    path = folder / FOLDER / f"{one.name}.json"
    measured = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return {
        "policy": one.name,
        **{name: getattr(one, name) for name in ("family", "model", "method", "seed", "stage")},
        **{name: measured[name] for name in ("exact", "random", "distance", "seen") if name in measured},
        "command": info.command,
        "commit": info.commit,
        "probabilities": [round(float(p), PLACES) for p in one.policy],
    }


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield all lines."""
    yield {"made_by": provenance(), "format": 1}
    for game, policies in read_policies(folder).items():
        yield game_line(game, policies[0].text, scaled_oracle(policies[0].text).tree)
        yield from (policy_line(folder, one) for one in policies)


def main() -> None:
    """Write the data set and its card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the runs")
    parser.add_argument("out", type=Path, help="file of the data set, .json.gz")
    asked = parser.parse_args()
    made = list(lines(asked.folder))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in made).encode(), mtime=0))
    games, policies = (sum(name in line for line in made) for name in ("game", "policy"))
    commit = f"Commit {made[0]['made_by']['commit']}."
    write_file(asked.out.with_name("README.md"), CARD.format(policies=policies, games=games, commit=commit))


if __name__ == "__main__":
    main()
