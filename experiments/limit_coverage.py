"""Coverage of the limits of a sampled exploitability.

`python experiments/limit_coverage.py docs/results/coverage.json` runs it.

Replies are drawn from policies whose exploitability is known, and the measurement is repeated. A one-sided 95 % limit
ought to hold in 95 % of the repetitions. Each repetition also reports what other procedures say of the same replies.
Rows that stand in the file are not measured again. `--table` prints the file as tables and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.base.provenance import provenance, source
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.exploitability.replies import legal_only
from stratagem.measure.sampled.drawn import Memory, MemorySource, ReplySource
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import ExploitabilityLimits, Z, measured_limits, point, standard_error
from stratagem.measure.sampled.permutation import DEPENDENT, dependence_p
from stratagem.measure.sampled.questions import Floats, questions_of
from stratagem.measure.sampled.tally import ReplyTally, frequencies
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.catalogue import make_player

KUHN = (
    "NashApprox",
    "NashApprox(alpha=0)",
    "NashApprox(alpha=0.15)",
    "noise(NashApprox, p=0.1)",
    "noise(NashApprox, p=0.3)",
    "AlwaysPassQueen",
    "noise(TightPassive, p=0.2)",
    "noise(Bluffer, p=0.2)",
    "noise(Suspicious, p=0.4)",
    "random",
)
IPD = ("GenerousTFT", "Joss", "FirmButFair", "noise(TitForTat, p=0.1)", "random")
LIMITS = {
    "lower": "lower limit",
    "upper": "upper limit",
    "plug_in_lower": "maximum less 1.645 errors",
    "cross_fit_lower": "halves less 1.645 errors",
    "bootstrap_lower": "5th percentile of a bootstrap",
    "bootstrap_upper": "95th percentile",
}
"""Limits by name, and what they are called in a table; the last four are not offered."""
_BOOTSTRAPS = 100
"""Resamples of a bootstrap."""


@dataclass(frozen=True)
class Study:
    """Players of a game, numbers of replies, and defects of the replies."""

    name: str
    game: str
    players: Sequence[str]
    replies: Sequence[int]
    repetitions: int
    illegal_rate: float = 0.0
    cache_rate: float = 0.0
    memory: Memory | None = None
    """Memory of earlier replies, by which each is drawn; the limits are of what was played then."""
    memory_rate: float = 0.0
    num_bootstrapped: int = 0
    """Repetitions that are also bootstrapped."""


STUDIES = (
    Study("kuhn", "kuhn", KUHN, (100, 400, 1700), 1000, num_bootstrapped=50),
    Study("illegal", "kuhn", KUHN[:4], (1700,), 500, illegal_rate=0.2),
    Study("ipd", "ipd(rounds=4)", IPD, (600, 2000), 200),
    Study("three", "spiel:kuhn_poker(players=3)", ("random", "noise(first-legal, p=0.4)"), (1000, 4000), 200),
    Study("leduc", "leduc", ("random", "cfr:100"), (8000, 20000), 100),
    Study("cache", "kuhn", KUHN, (1700,), 300, cache_rate=0.75),
    Study("more", "kuhn", KUHN[:3], (5000,), 500),
    Study("copies", "kuhn", KUHN, (360, 1700), 300, memory="all", memory_rate=0.75),
    Study("repeats", "kuhn", KUHN, (360, 1700), 300, memory="last", memory_rate=0.5),
    Study("drifts", "kuhn", KUHN, (360, 1700), 300, memory="drift", memory_rate=0.95),
)


class Known:
    """Policy of a player on a tree, with its exploitability."""

    def __init__(self, study: Study, name: str) -> None:
        game = make_game(study.game)
        oracle = oracle_of(game)
        player = make_player(name, game)
        self.questions = questions_of(oracle.tree, player)
        self.gain = ResponseGain(oracle, self.questions)
        self.rows = np.zeros(int(self.questions.slots[-1]))
        self.rows[self.questions.in_tree] = policy_on(oracle.tree, player)
        self.study = study
        self.truth = self.value(self.rows if study.memory else self.source(Key(0)).played)
        """Exploitability, without a memory of earlier replies."""

    def source(self, key: Key) -> ReplySource | MemorySource:
        """Return a source of replies."""
        study = self.study
        if study.memory:
            return MemorySource(self.questions, self.rows, key, study.memory, study.memory_rate)
        return ReplySource(self.questions, self.rows, key, illegal_rate=study.illegal_rate, cache_rate=study.cache_rate)

    def value(self, rows: Floats) -> float:
        """Return the exploitability of a policy."""
        return self.gain(rows, self.gain.best_responses(rows))[0]


def repetition(known: Known, replies: int, key: Key, *, bootstrapped: bool) -> dict[str, float]:
    """Measure once: lower and upper limits and points by procedure."""
    source = known.source(key)
    limits = measured_limits(known.gain, source, replies, key)
    figures = {"lower": limits.lower, "upper": limits.upper, "truth": known.truth}
    if isinstance(source, MemorySource):
        figures["truth"] = known.value(source.played)
        figures["dependence_p"] = dependence_p(source.replies, key, rounds=199)
    if limits.point is not None:
        figures["point"] = limits.point
    figures |= _others(known, limits)
    if known.study.illegal_rate:
        figures["legal_only"] = point(known.gain, legal_only(limits.tally))
    if bootstrapped:
        figures |= _bootstrap(known, limits.tally, key)
    return figures


def _others(known: Known, limits: ExploitabilityLimits) -> dict[str, float]:
    """Return the lower limits of procedures that are not offered, on the same replies."""
    gain, tally = known.gain, limits.tally
    rows = frequencies(known.questions, tally.counts)
    value, slopes = gain(rows, gain.best_responses(rows))
    error = standard_error(gain, tally, slopes)
    halves = [frequencies(known.questions, half) for half in tally.halves]
    responses = [gain.best_responses(half) for half in halves]
    crossed = (gain(halves[1], responses[0])[0] + gain(halves[0], responses[1])[0]) / 2
    return {"plug_in": value, "plug_in_lower": value - Z * error, "cross_fit_lower": crossed - Z * error}


def _bootstrap(known: Known, tally: ReplyTally, key: Key) -> dict[str, float]:
    """Return the percentiles of the plug-in of resampled replies."""
    generator, slots = np.random.default_rng(key.at("bootstrap").value), known.questions.slots
    totals = known.questions.sums(tally.counts).astype(int)
    shares = frequencies(known.questions, tally.counts)
    pairs = list(zip(slots[:-1], slots[1:], totals, strict=True))
    values = []
    for _ in range(_BOOTSTRAPS):
        counts = [generator.multinomial(total, shares[first:after]) for first, after, total in pairs]
        values.append(known.value(frequencies(known.questions, np.concatenate(counts).astype(float))))
    low, high = np.quantile(values, [0.05, 0.95])
    return {"bootstrap_lower": float(low), "bootstrap_upper": float(high)}


def measured(study: Study, player: str, replies: int) -> dict[str, Any]:
    """Repeat the measurement, and return how often each limit holds."""
    known, began = Known(study, player), time.perf_counter()
    keys = [Key(number).at("coverage", study.name, player, replies) for number in range(study.repetitions)]
    found = [
        repetition(known, replies, key, bootstrapped=number < study.num_bootstrapped) for number, key in enumerate(keys)
    ]
    columns = {name: np.array([row[name] for row in found if name in row]) for name in found[0]}
    ends = {name: column for name, column in columns.items() if name.endswith(("lower", "upper"))}
    covered = {name: _share(name, column, columns["truth"][: len(column)]) for name, column in ends.items()}
    forgetful = {name: _share(name, ends[name], known.truth) for name in ("lower", "upper")}
    memory = (
        {"without_memory": forgetful, "dependence_found": float((columns["dependence_p"] <= DEPENDENT).mean())}
        if study.memory
        else {}
    )
    return {
        **source(),
        "study": study.name,
        "player": player,
        "replies": replies,
        "questions": len(known.questions),
        "repetitions": study.repetitions,
        "illegal_rate": study.illegal_rate,
        "cache_rate": study.cache_rate,
        "exploitability": known.truth,
        "covers": covered,
        **memory,
        "means": {name: float(column.mean()) for name, column in columns.items()},
        "rmse": {
            name: float(np.sqrt(np.mean((columns[name] - columns["truth"]) ** 2)))
            for name in ("point", "plug_in")
            if name in columns
        },
        "ms": 1000.0 * (time.perf_counter() - began) / study.repetitions,
    }


def _share(name: str, column: Floats, truth: Floats | float) -> float:
    """Return the share of repetitions in which a limit holds."""
    held = column <= truth + 1e-9 if name.endswith("lower") else column >= truth - 1e-9
    return float(held.mean())


def tables(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of all studies: over the players the smallest coverage, and the errors."""
    heads = (*LIMITS.values(), "width", "error of the estimate", "of the plug-in")
    yield "| study | replies | players x repetitions | " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * (2 + len(heads))
    for study, replies in dict.fromkeys((row["study"], row["replies"]) for row in rows):
        some = [row for row in rows if (row["study"], row["replies"]) == (study, replies)]
        width = np.mean([row["means"]["upper"] - row["means"]["lower"] for row in some])
        cells = [_worst(some, name) for name in LIMITS]
        errors = [_mean_error(some, name) for name in ("point", "plug_in")]
        size = f"{len(some)} x {some[0]['repetitions']}"
        yield f"| {study} | {replies:,} | {size} | " + " | ".join([*cells, f"{width:.3f}", *errors]) + " |"


def _worst(rows: Sequence[dict[str, Any]], name: str) -> str:
    """Return the smallest and the largest coverage over players, in per cent."""
    shares = [100.0 * row["covers"][name] for row in rows if name in row["covers"]]
    return f"{min(shares):.0f} to {max(shares):.0f}" if shares else "–"


def _mean_error(rows: Sequence[dict[str, Any]], name: str) -> str:
    errors = [row["rmse"][name] for row in rows if name in row["rmse"]]
    return f"{np.mean(errors):.3f}" if errors else "–"


def main() -> None:
    """Measure the rows that the file lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", default=[study.name for study in STUDIES], metavar="STUDY")
    parser.add_argument("--table", action="store_true", help="print the tables of the file")
    options = parser.parse_args()
    if options.table:
        print("\n".join(tables(json.loads(options.out.read_text("utf-8"))["rows"])))
        return
    rows = json.loads(options.out.read_text("utf-8"))["rows"] if options.out.exists() else []
    for study, player, replies in _todo(options.only, rows):
        rows.append(measured(study, player, replies))
        print(_line(rows[-1]), flush=True)
        data = {"made_by": provenance(), "rows": rows}
        options.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _todo(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> Iterator[tuple[Study, str, int]]:
    done = {(row["study"], row["player"], row["replies"]) for row in rows}
    for study in STUDIES:
        for replies in study.replies:
            for player in study.players:
                if study.name in names and (study.name, player, replies) not in done:
                    yield study, player, replies


def _line(row: dict[str, Any]) -> str:
    held = "  ".join(f"{name} {share:.3f}" for name, share in row["covers"].items())
    errors = "  ".join(f"rmse of {name} {error:.4f}" for name, error in row["rmse"].items())
    title = f"{row['study']:8} {row['player']:26} {row['replies']:6}  true {row['exploitability']:.4f}"
    return f"{title}  {held}  {errors}  {row['ms']:.0f} ms"


if __name__ == "__main__":
    main()
