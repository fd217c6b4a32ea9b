"""Do step rewards tell the value of a step? SCO-PAL's Table 5, for any player and any small game.

`python experiments/step_rewards.py cfr:2000 random --out docs/results/step-rewards.json` lets each player play itself,
estimates the values of its steps, and compares them with the values of the same actions between equilibrium players,
which OpenSpiel's CFR+ finds. Every situation and action counts once, however often it was met; the paper pools those of
one card, so both are printed. The seed is that of the games.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from scipy.stats import pearsonr, spearmanr

from stratagem.algorithms.scopal.decision_table import read_decisions
from stratagem.algorithms.scopal.steps import make_steps
from stratagem.base.provenance import provenance, source
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.measure.action_values import action_values
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import record

Pairs = dict[tuple[str, str], tuple[float, float, int]]
"""By state and action: the step reward, the equilibrium value, and how often it was met."""


def compared(game: str, player: str, solver: str, episodes: int, seed: int) -> Pairs:
    """Both figures of everything that the player was seen to do."""
    made = make_game(game)
    one, solved = make_player(player, made), make_player(solver, made)
    values = {(state, action): value for (_, state, action), value in action_values(made, [solved, solved]).items()}
    with tempfile.TemporaryDirectory() as folder:
        setups = rotate_seats(Match(made, [one, one]), episodes, Key(seed), name=player)
        for _ in record(play(setups), Path(folder)):
            pass
        rows = make_steps(
            read_decisions([Path(folder)]), [Path(folder)], read_advantage("step_win_rate").value
        ).rows.to_pylist()
    return {
        (row["state_key"], row["action"]): (row["reward"], values[row["state_key"], row["action"]], row["count"])
        for row in rows
        if row["action"] is not None
    }


def by_card(pairs: Pairs) -> Pairs:
    """The same by card and by betting or not, weighed by how often, as the paper's table has it."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for (state, action), (reward, value, count) in pairs.items():
        kind = "bet" if action in ("BET", "CALL") else "pass"
        for place, add in enumerate((reward * count, value * count, count)):
            sums[state.partition(":")[0], kind][place] += add
    return {pair: (reward / n, value / n, int(n)) for pair, (reward, value, n) in sums.items()}


def told(pairs: Pairs) -> dict[str, Any]:
    """Correlations over the pairs."""
    rewards, values, _ = zip(*pairs.values(), strict=True)
    return {
        "pairs": len(pairs),
        "pearson": float(pearsonr(rewards, values).statistic),
        "spearman": float(spearmanr(rewards, values).statistic),
        "rows": [[*pair, *figures] for pair, figures in sorted(pairs.items())],
    }


def main() -> None:
    """Print both correlations for every player, and write all that they are made of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="+")
    parser.add_argument("--game", default="kuhn(hands=1)")
    parser.add_argument("--solver", default="cfr:2000")
    parser.add_argument("--episodes", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    found: dict[str, Any] = {}
    for player in asked.players:
        pairs = compared(asked.game, player, asked.solver, asked.episodes, asked.seed)
        found[player] = {"by_situation": told(pairs)}
        if make_game(asked.game).spec.name == "kuhn":
            found[player]["by_card"] = told(by_card(pairs))
        for name, one in found[player].items():
            print(f"{player}, {name}: {one['pairs']} pairs, r {one['pearson']:.3f}, rho {one['spearman']:.3f}")
    if asked.out:
        about = {
            "game": asked.game,
            "episodes": asked.episodes,
            "seed": asked.seed,
            **source(),
            "made_by": provenance(),
        }
        asked.out.write_text(json.dumps({**about, "players": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
