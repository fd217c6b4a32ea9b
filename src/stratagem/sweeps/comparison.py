"""Comparison of a sweep's runs: every arm with its interval, and a test of every expected order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from stratagem.base.files import finite
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import Estimate, sign_flip_p, students_p, with_interval
from stratagem.sweeps.plan import SweepPlan
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import Curve, read_metrics

BySeed = Mapping[int, float]
PValue = Callable[[str, Sequence[float]], float | None]
"""Function from a comparison's name and its differences to a p-value; None where they are too few."""


@dataclass(frozen=True)
class PairedTest:
    """Test of one comparison over the seeds that both arms have."""

    name: str
    by_seed: BySeed
    """Difference of each seed."""
    p: float | None
    """P-value of this comparison alone; None where it was not tested."""
    holm_p: float | None
    """The same p, corrected for all comparisons of the family (Holm 1979)."""

    @property
    def estimate(self) -> Estimate:
        """Mean difference with a 95 % interval over seeds, by Student's t."""
        return with_interval([*self.by_seed.values()])


def by_seed(rows: Iterable[tuple[int, float | None]]) -> dict[int, float]:
    """Collect the values by seed; seeds without a value are left out."""
    return {seed: value for seed, value in rows if value is not None}


def pair_seeds(first: BySeed, second: BySeed) -> dict[int, float]:
    """Return `first` less `second` in every seed that both have."""
    return {seed: first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())}


def paired_tests(family: Family, differences: Mapping[str, BySeed], p_value: PValue) -> dict[str, PairedTest]:
    """Test every comparison that was run. The others of the family count as p = 1 in Holm's correction."""
    p = {name: p_value(name, [*own.values()]) for name, own in differences.items()}
    adjusted = family.holm(p)
    return {name: PairedTest(name, own, p[name], adjusted.get(name)) for name, own in differences.items()}


def students(name: str, differences: Sequence[float]) -> float | None:
    """Compute the two-sided p of Student's t-test over seeds."""
    return students_p(with_interval(differences))


def sign_flips(key: Key, min_seeds: int = 2, rounds: int = 10_000) -> PValue:
    """Return the two-sided sign-flip test over seeds: exact up to `rounds` patterns, and not made below `min_seeds`."""

    def p_value(name: str, differences: Sequence[float]) -> float | None:
        return sign_flip_p(differences, key.at(name), rounds) if len(differences) >= min_seeds else None

    return p_value


FAMILY = "every order that the sweep expects"
LEVEL = 0.05
Word = Literal["supported", "contradicted", "undecided", "not run", "nothing expected"]


@dataclass(frozen=True)
class ArmFigures:
    """Figure of an arm in every seed whose run is finished."""

    name: str
    by_seed: dict[int, float]
    curves: dict[int, Curve]
    not_run: tuple[int, ...] = ()
    """Seeds without a run."""
    unfinished: tuple[int, ...] = ()
    """Seeds whose runs are not finished: they do not count."""
    diverged: tuple[int, ...] = ()
    """Seeds in which the figure is not finite at some step: they do not count, and are reported."""
    unmeasured: tuple[int, ...] = ()
    """Seeds whose runs are finished and have no such figure: they do not count."""
    sources: frozenset[str] = frozenset()
    """Commits of its runs, with a + where the program differed from them."""

    def left_out(self) -> str:
        """Describe the seeds that do not count; empty where all do."""
        parts = [("not run", self.not_run), ("unfinished", self.unfinished)]
        parts += [("no number", self.diverged), ("no figure", self.unmeasured)]
        text = [f"{what} in seed {', '.join(map(str, seeds))}" for what, seeds in parts if seeds]
        return f"{self.name}: {'; '.join(text)}." if text else ""

    def estimate(self) -> Estimate:
        """Return the mean with a 95 % interval over seeds, by Student's t."""
        return with_interval(list(self.by_seed.values()))


@dataclass(frozen=True)
class Verdict:
    """Test of one expected order: the better arm's figure less the worse one's, seed by seed; positive as expected."""

    better: str
    worse: str
    difference: Estimate
    word: Word
    p: float | None = None
    """P-value of Student's t-test over seeds; None where fewer than two seeds have both."""
    holm_p: float | None = None
    """The same p, corrected for all orders that the sweep expects (Holm 1979)."""

    def sentence(self) -> str:
        """Describe the verdict in words."""
        if self.word == "not run":
            return f"{self.better} before {self.worse}: no seed has both yet."
        text = f"{self.difference.mean:+.4g}"
        if self.difference.low is not None:
            text += f" [{self.difference.low:+.4g}, {self.difference.high:+.4g}]"
        p_text = "" if self.p is None or self.holm_p is None else f", p = {self.p:.4f}, Holm p = {self.holm_p:.4f}"
        return (
            f"{self.better} before {self.worse}: {self.word}, by {text} over {self.difference.n} of the seeds{p_text}."
        )


@dataclass(frozen=True)
class ArmsComparison:
    """All arms, and the tests of the expected orders."""

    plan: SweepPlan
    arms: tuple[ArmFigures, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def word(self) -> Word:
        """Verdict on the whole hypothesis: supported if every order is, contradicted if any is."""
        words: list[Word] = [verdict.word for verdict in self.verdicts]
        if "contradicted" in words:
            return "contradicted"
        if not words:
            return "nothing expected"
        if "not run" in words:
            return "not run"
        return "supported" if set(words) == {"supported"} else "undecided"

    @property
    def sources(self) -> str:
        """Commits that made the runs."""
        return ", ".join(sorted(frozenset().union(*(arm.sources for arm in self.arms))))

    def data(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        return {
            "hypothesis": self.plan.hypothesis,
            "metric": self.plan.metric,
            "direction": self.plan.direction,
            "aggregate": self.plan.aggregate,
            "verdict": self.word,
            "commits": self.sources,
            "arms": [_arm(arm) for arm in self.arms],
            "family": {"name": FAMILY, "comparisons": list(_orders(self.plan))},
            "orders": [finite(asdict(verdict)) for verdict in self.verdicts],
        }


def compare_runs(plan: SweepPlan, folder: Path) -> ArmsComparison:
    """Compare the runs in a folder as they are now."""
    arms = {arm.name: _figures(plan, folder, arm.name) for arm in plan.all_arms()}
    orders = _orders(plan)
    differences = {name: _difference(plan, arms[better], arms[worse]) for name, (better, worse) in orders.items()}
    tests = paired_tests(Family(FAMILY, tuple(orders)), differences, students)
    verdicts = [_verdict(arms[better], arms[worse], tests[name]) for name, (better, worse) in orders.items()]
    return ArmsComparison(plan, tuple(arms.values()), tuple(verdicts))


def _orders(plan: SweepPlan) -> dict[str, tuple[str, str]]:
    """Return every expected order by name: the better arm and the next worse one."""
    return {f"{a} before {b}": (a, b) for a, b in pairwise(plan.expect)}


def _arm(arm: ArmFigures) -> dict[str, Any]:
    left_out = {name: list(getattr(arm, name)) for name in ("not_run", "unfinished", "diverged", "unmeasured")}
    return {"name": arm.name, "by_seed": arm.by_seed, "estimate": finite(asdict(arm.estimate())), **left_out}


def _figures(plan: SweepPlan, folder: Path, arm: str) -> ArmFigures:
    result: dict[int, Curve] = {}
    left_out: dict[str, list[int]] = {"not_run": [], "unfinished": [], "diverged": [], "unmeasured": []}
    sources = set[str]()
    for seed in plan.seeds:
        path = folder / f"{arm}-{seed}"
        if not (path / "run.json").is_file():
            left_out["not_run"].append(seed)
            continue
        run = RunFolder.open(path)
        info, state, curve = run.info(), run.status().state, read_metrics(run).get(plan.metric)
        sources.add(f"{str(info.commit)[:12]}{'+' if info.dirty else ''}")
        if state != "finished":
            left_out["unfinished"].append(seed)
        elif curve is None:
            left_out["unmeasured"].append(seed)
        elif all(map(math.isfinite, curve.values)):
            result[seed] = curve
        else:
            left_out["diverged"].append(seed)
    values = {seed: _at(plan, curve) for seed, curve in result.items()}
    seeds = {why: tuple(found) for why, found in left_out.items()}
    return ArmFigures(arm, values, result, **seeds, sources=frozenset(sources))


def _at(plan: SweepPlan, curve: Curve) -> float:
    return curve.values[-1] if plan.aggregate == "last" else math.fsum(curve.values) / len(curve.values)


def _difference(plan: SweepPlan, better: ArmFigures, worse: ArmFigures) -> dict[int, float]:
    """Return the difference paired by seed, so that common factors such as deals cancel; positive as expected."""
    higher, lower = (better, worse) if plan.direction == "maximize" else (worse, better)
    return pair_seeds(higher.by_seed, lower.by_seed)


def _verdict(better: ArmFigures, worse: ArmFigures, test: PairedTest) -> Verdict:
    """Return the verdict on one expected order, at 5 % over all orders."""
    word: Word = "supported" if test.estimate.mean > 0.0 else "contradicted"
    if not test.by_seed:
        word = "not run"
    elif better.diverged or worse.diverged or test.holm_p is None or test.holm_p >= LEVEL:
        word = "undecided"
    return Verdict(better.name, worse.name, test.estimate, word, test.p, test.holm_p)
