"""Do the labels of SCO-PAL's samples say which actions are optimal? By exact solution of small games.

A sample is desirable if its action won more than half of the games in which it was played. In a game of perfect
information that is solved, an action is optimal if it loses nothing of the value of its situation. The share of optimal
actions among the desirable and among the undesirable samples, each counted as often as it was played:
experiments/scopal_table.py prints them for the runs that played such a game. The share among all samples is the null of
both: what labels that know nothing would have.

`relabel` labels the samples of a situation by their own mean win rate, in the place of one half.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from result_tables import DASH, markdown

from stratagem.algorithms.scopal.steps import SCHEMA, Steps, read_steps, write_steps
from stratagem.games.base import State
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.solver import solve

SOLVED = ("tic-tac-toe", "nim")
"""Games of these experiments that are solved in seconds."""
_NOTHING = 1e-9


def labels(steps: Path) -> dict[str, Any]:
    """By solved game, the samples of each label and how many of their actions are optimal."""
    if not steps.is_file():
        return {}
    rows = pq.read_table(steps, columns=["game", "state_key", "action", "count", "desirable"]).to_pylist()
    played = {game: [row for row in rows if row["game"] == game and row["action"] is not None] for game in SOLVED}
    return {game: counted(own, optimal(game)) for game, own in played.items() if own}


def counted(rows: Iterable[Mapping[str, Any]], best: Mapping[str, frozenset[str]]) -> dict[str, dict[str, int]]:
    """Count the samples by label, and those of them whose action is among the best of its situation."""
    samples, good = Counter[str](), Counter[str]()
    for row in rows:
        label = "desirable" if row["desirable"] else "undesirable"
        samples[label] += row["count"]
        good[label] += row["count"] * (row["action"] in best[row["state_key"]])
    return {label: {"samples": samples[label], "optimal": good[label]} for label in sorted(samples)}


@cache
def optimal(name: str) -> dict[str, frozenset[str]]:
    """Return the optimal actions of every situation of a game without chance, by state key."""
    game = make_game(name)
    values, best = solve(game), dict[str, frozenset[str]]()
    waiting: list[State[Any]] = [game.start(Key(0))]
    while waiting:
        state = waiting.pop()
        if state.over or (key := (view := state.view(state.to_act[0])).state_key) in best:
            continue
        regrets = values.regrets(state)
        best[key] = frozenset(action for action, regret in regrets.items() if regret < _NOTHING)
        for action in regrets:
            later = state.fork()
            later.play({view.seat: action})
            waiting.append(later)
    return best


def relabel(steps: Path, out: Path) -> Path:
    """Write the table anew: an action is desirable if it won more often than the actions of its situation together.

    What won exactly as often, as an only action, has no label, and is left out.
    """
    table = read_steps(steps)
    rows, sums = table.rows.to_pylist(), defaultdict[Any, list[float]](lambda: [0.0, 0.0])
    for row in rows:
        own = sums[_situation(row)]
        own[0] += row["reward"] * row["count"]
        own[1] += row["count"]
    for row in rows:
        won, count = sums[_situation(row)]
        row["advantage"] = row["reward"] - won / count
        row["desirable"] = row["advantage"] > 0.0
    labelled = [row for row in rows if abs(row["advantage"]) > _NOTHING]
    write_steps(Steps(pa.Table.from_pylist(labelled, schema=SCHEMA), table.folders), out)
    return out


def _situation(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["game"], row["role"], row["state_key"]


def label_table(runs: Sequence[Mapping[str, Any]]) -> str:
    """Format the shares of optimal actions by game and label, over the runs of all seeds."""
    rows = []
    for game in SOLVED:
        found = [run["labels"][game] for run in runs if game in run.get("labels", {})]
        sums = {label: _sum(found, label) for label in ("desirable", "undesirable")}
        if found:
            sums["all"] = (sum(samples for samples, _ in sums.values()), sum(good for _, good in sums.values()))
            cells = (f"{good / samples:.3f} of {samples:,}" if samples else DASH for samples, good in sums.values())
            rows.append([game, *cells])
    return markdown(["optimal actions among samples", "desirable", "undesirable", "all, the null"], rows)


def _sum(found: Sequence[Mapping[str, Mapping[str, int]]], label: str) -> tuple[int, int]:
    own = [counts[label] for counts in found if label in counts]
    return sum(row["samples"] for row in own), sum(row["optimal"] for row in own)
