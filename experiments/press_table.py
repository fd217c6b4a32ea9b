"""Tables of docs/results/press.md: figures of the last policy of each run, and the tests of the declared families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from press_negotiation import READER, negotiation_figures
from result_tables import FinishedRun, Row, finished, markdown, merged, read_results, write_results

from stratagem.api.talks import talk
from stratagem.base.provenance import provenance
from stratagem.games.key import Key
from stratagem.games.sender_receiver import SENDER
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import with_interval
from stratagem.sweeps.comparison import BySeed, PairedTest, pair_seeds, paired_tests, sign_flips
from stratagem.training.runs.metrics import read_metrics

OUT = Path("docs/results/press.json")
READERS = {"self": "", "untrained": "", "believer": "Honest", "sepo": "Honest", "items": READER}
"""Reader of the sender's messages by kind of run; empty for the policy itself."""
STARTS = ("honest", "claims")
"""Runs whose SFT model the others begin from."""
LAST = 10
"""Iterations at the end of a run whose mean is its final return."""
LIFT, RETURN, GAP = "honesty less chance", "final return", "payoff of the shaper less the other's"
PAIRS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "honesty": {
        "honesty less chance, b = .5": ("self-0.5", "", LIFT),
        "honesty less chance, b = 1": ("self-1", "", LIFT),
        "honesty less chance, b = 2": ("self-2", "", LIFT),
        "information, b = 0": ("", "", ""),
        "return with talk less in silence, stag hunt": ("stag-talk", "stag-silent", RETURN),
        "return with talk less in silence, prisoner's dilemma": ("dilemma-talk", "dilemma-silent", RETURN),
    },
    "deception": {
        "rate of deception, with less without": ("sepo-with", "sepo-without", "deception"),
        "return of the sender, with less without": ("sepo-with", "sepo-without", "sender's return"),
    },
    "negotiation": {
        "rate of deception over items, with less without": ("items-with", "items-without", "deception"),
        "return of the sender over items, with less without": ("items-with", "items-without", "sender's return"),
    },
    "shaping": {
        "shaper's payoff less the other's in chicken, words less silence": (
            "shaping-chicken-words",
            "shaping-chicken-silent",
            GAP,
        ),
        "shaper's payoff in the stag hunt, words less silence": (
            "shaping-stag-words",
            "shaping-stag-silent",
            "shaper's payoff",
        ),
    },
    "credit": {
        "mean return, effect against silence less episode": ("credit-silence", "credit-episode", "mean return"),
        "mean return, effect against alternatives less episode": (
            "credit-alternatives",
            "credit-episode",
            "mean return",
        ),
    },
}
"""Arm, control (none: 0) and figure of every declared test; information cannot be negative, so it is not tested."""
SHOWN = (
    "honesty",
    "chance",
    "information",
    "deception",
    "sender's return",
    "receiver's return",
    RETURN,
    "mean return",
    "shaper's payoff",
    "naive payoff",
    GAP,
)


def figures(run: FinishedRun) -> Row:
    """Return the figures of the last policy, exact in the sender-receiver game of one round."""
    kind, _, rest = run.stem.partition("-")
    if kind == "shaping":
        return shaping_figures(run)
    if kind not in READERS:
        values = next(curve.values for name, curve in read_metrics(run.folder).items() if name.endswith("/payoff"))
        return {RETURN: fmean(values[-LAST:]), "mean return": fmean(values)}
    player, bias = f"run:{run.path.resolve()}@last", "1" if kind == "sepo" else rest
    if kind == "items":
        of = negotiation_figures(player)
    else:
        of = talk(f"sender-receiver(bias={bias})", player, READERS[kind] or player).figures[SENDER]
    told, chance = of.honesty or 0.0, of.honesty_by_chance or 0.0
    returns = of.returns or (0.0, 0.0)
    return {
        "honesty": told,
        "chance": chance,
        LIFT: told - chance,
        "silence": 1.0 - (of.messages or 0.0),
        "information": of.state_information,
        "deception": of.deception or 0.0,
        "sender's return": returns[0],
        "receiver's return": returns[1],
    }


def shaping_figures(run: FinishedRun) -> Row:
    """Return the payoff of each seat in the final games, and the difference."""
    (row,) = run.read("outcome.json")["rows"]
    first, second = (row["figures"][f"{seat}/payoff"] for seat in ("shaper", "naive"))
    return {"shaper's payoff": first, "naive payoff": second, GAP: first - second}


def collected(folder: Path) -> Iterator[Row]:
    """Yield the figures of every finished run."""
    for run in finished(folder):
        if run.stem not in STARTS:
            yield {"arm": run.stem, "seed": run.seed, **figures(run), **run.provenance()}


def by_seed(rows: Sequence[Row], arm: str, figure: str) -> BySeed:
    """Return a figure of an arm by seed."""
    return {row["seed"]: row[figure] for row in rows if row["arm"] == arm}


def tested(rows: Sequence[Row]) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family, where at least two seeds are there."""
    for name, pairs in PAIRS.items():
        family, differences = Family(name, tuple(pairs)), {}
        for test, (arm, control, figure) in pairs.items():
            own = by_seed(rows, arm, figure) if arm else {}
            gap = pair_seeds(own, by_seed(rows, control, figure)) if control else own
            if len(gap) > 1:
                differences[test] = gap
        tests = paired_tests(family, differences, sign_flips(Key(0).at("experiments", "press", name)))
        yield from ((name, test) for test in tests.values())


def table(folder: Path) -> None:
    """Add the runs of a folder to the JSON, and print the tables of the page."""
    old: dict[str, list[Row]] = {}
    for row in read_results(OUT).get("runs", []):
        old.setdefault(row["arm"], []).append(row)
    by_arm = merged(old, ((row["arm"], row) for row in collected(folder)))
    rows = [row for arm in sorted(by_arm) for row in by_arm[arm]]
    tests = list(tested(rows))
    found = [
        {"family": name, "test": test.name, "seeds": len(test.by_seed), "difference": test.estimate.mean,
         "low": test.estimate.low, "high": test.estimate.high, "p": test.p, "p (Holm)": test.holm_p}
        for name, test in tests
    ]  # fmt: skip
    write_results(OUT, {"made by": provenance(), "tests": found, "runs": rows})
    arms = sorted({row["arm"] for row in rows})
    print(markdown(["arm", "seeds", *SHOWN], (_arm(rows, arm) for arm in arms)))
    print()
    print(markdown(["family", "test", "seeds", "difference [95 %]", "p", "p (Holm)"], map(_cells, found)))


def _arm(rows: Sequence[Row], arm: str) -> list[str]:
    own = [row for row in rows if row["arm"] == arm]
    return [arm, str(len(own)), *(_mean([row[name] for row in own if name in row]) for name in SHOWN)]


def _mean(values: Sequence[float]) -> str:
    """Write a mean with its standard error over seeds."""
    if not values:
        return "\u2013"
    if len(values) == 1:
        return f"{values[0]:.2f}"
    estimate = with_interval(values)
    return f"{estimate.mean:.2f} \u00b1 {estimate.se:.2f}"


def _cells(row: Row) -> list[str]:
    difference = f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"
    p = [f"{row[name]:.3f}" if row[name] is not None else "\u2013" for name in ("p", "p (Holm)")]
    return [row["family"], row["test"], str(row["seeds"]), difference, *p]
