"""Time of a search for decisions in a generated record of a million, and of the list of its 75,000 episodes.

Times of the list and of `stratagem show` are by processor time, with their goals. Run with
`python benchmarks/view_decisions.py`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.schemas import CALLS, SCHEMAS
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_columns, write_shard
from stratagem.show.viewer.decision_index import _index
from stratagem.show.viewer.listing import Filter, list_episodes
from stratagem.show.viewer.searching import ReplaySearch, search_record

SHARDS, EPISODES = 100, 1500
"""About 20,000 decisions a shard, as records are written."""
SEARCHES: dict[str, dict[str, Any]] = {
    "every decision": {},
    "player and outcome": {"player": "kuhn/NashApprox@1", "outcome": "lost"},
    "surprise at most 1 %": {"surprise": 0.01},
    "least probable first": {"order": "surprise"},
    "illegal replies": {"illegal": True},
    "signal `collusion`": {"signal": "collusion"},
    "regret of at least .5": {"regret": 0.5},
    "largest regret first": {"order": "regret"},
}


FILTERS: dict[str, dict[str, Any]] = {
    "every episode": {},
    "player and outcome": {"player": "kuhn/NashApprox@1", "outcome": "lost"},
    "both players": {"player": "kuhn/NashApprox@1", "opponent": "random@1"},
    "part of an id": {"text": "-99/7"},
    "illegal replies": {"illegal": True},
}
FIRST_LIST = "first list, which reads the record"
FIRST_GOAL, FILTER_GOAL = 1.0, 0.2
"""Seconds of the first list, and of each filter."""
SHOW = """
import atexit, re, sys, time
peak = lambda: re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1]
atexit.register(lambda: print(time.process_time(), peak(), file=sys.stderr))
from stratagem.cli.main import main
main()
"""
"""Program of the command that prints its seconds and its largest number of KiB."""


def generate(folder: Path) -> int:
    """Write the record: one shard that was played, and copies of it with other ids; each decision has a call."""
    game = make_game("kuhn")
    match = Match(game, [make_player(name, game) for name in ("random", "NashApprox")])
    write_shard(folder, 0, list(play(rotate_seats(match, EPISODES // 2, Key(0), name="shard-0"))))
    tables = {name: read_columns(folder, name, 0, SCHEMAS[name].names) for name in SCHEMAS}
    tables["calls"] = calls(tables["decisions"])
    for number in range(SHARDS):
        for name, table in tables.items():
            key = "id" if name == "episodes" else "episode"
            if name != "prompts":
                ids = [f"shard-{number}{text[len('shard-0') :]}" for text in tables[name][key].to_pylist()]
                table = table.set_column(table.column_names.index(key), key, pa.array(ids))
            pq.write_table(
                table.replace_schema_metadata(SCHEMAS[name].metadata), folder / name / f"{number:06d}.parquet"
            )
    return SHARDS * len(tables["decisions"])


def calls(decisions: pa.Table) -> pa.Table:
    """Return a call of four tokens behind each decision."""
    count = len(decisions)
    generator = np.random.default_rng(0)
    empty: dict[pa.DataType, Any] = {pa.string(): "", pa.int32(): 0, pa.int64(): 0, pa.float64(): 0.0}
    columns: dict[str, Any] = {field.name: [empty.get(field.type, [])] * count for field in CALLS}
    columns |= {name: decisions[name] for name in ("episode", "turn", "seat", "attempt")}
    columns["tokens"] = [[1, 2, 3, 4]] * count
    columns["sampler_logprobs"] = np.log(generator.uniform(0.2, 1.0, (count, 4))).tolist()
    return pa.table(columns, schema=CALLS)


def print_lists(folder: Path) -> None:
    """Print the time of the first list of episodes, and of each filter."""
    for text, options in {FIRST_LIST: {}, **FILTERS}.items():
        start = process_time()
        found = list_episodes(folder, Filter(**options), offset=0, limit=50, newest=False)["found"]
        seconds, goal = process_time() - start, FIRST_GOAL if text == FIRST_LIST else FILTER_GOAL
        print(f"episodes, {text}: {found:,} found, {seconds:.3f} s, goal {goal:g} s")


def print_show(folder: Path) -> None:
    """Print the time and the peak memory of `stratagem show`."""
    for _ in range(2):  # the first time compiles what it imports
        command = [sys.executable, "-c", SHOW, "show", str(folder)]
        ended = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, kilobytes = map(float, ended.stderr.split())
    print(f"stratagem show: {seconds:.2f} s, goal .3 s; {kilobytes / 1024:.0f} MB, goal 100 MB")


def main() -> None:
    """Print the time of each search: of its first page, and the median of the next five."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(name)
        print(f"{generate(folder):,} decisions in {SHARDS} shards")
        _index.cache_clear()
        start = perf_counter()
        search_record(folder, ReplaySearch(), offset=0, limit=50)
        print(f"first search, which reads the record: {perf_counter() - start:.2f} s")
        for text, search in SEARCHES.items():
            wanted, times = ReplaySearch(**search), []
            for number in range(6):
                start = perf_counter()
                page = search_record(folder, wanted, offset=50 * number, limit=50)
                times.append(perf_counter() - start)
            found = page["found"]
            print(f"{text}: {found:,} found, first page {times[0]:.3f} s, next pages {median(times[1:]):.3f} s")
        print_lists(folder)
        print_show(folder)


if __name__ == "__main__":
    main()
