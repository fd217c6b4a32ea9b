"""What the runs of a sweep say of its hypothesis: every arm with its interval, a verdict on every expected order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from stratagem.errors import StratagemError
from stratagem.evaluation.family import Family
from stratagem.evaluation.statistics import Estimate, students_p, with_interval
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import Curve, read_metrics
from stratagem.sweeps.plan import Plan

FAMILY = "every order that the sweep expects"
LEVEL = 0.05
Word = Literal["supported", "contradicted", "undecided", "not run", "nothing expected"]


@dataclass(frozen=True)
class ArmFigures:
    """An arm's figure in every seed whose run is finished."""

    name: str
    by_seed: dict[int, float]
    curves: dict[int, Curve]
    unfinished: tuple[int, ...] = ()
    """Seeds whose runs were begun and are not over: they do not count."""
    diverged: tuple[int, ...] = ()
    """Seeds in which the figure is no number at some step: they cannot be counted, and are told."""
    sources: frozenset[str] = frozenset()
    """The commits of its runs, with a + where the program differed from them."""

    def left_out(self) -> str:
        """What does not count, in words; empty where all does."""
        parts = [("unfinished", self.unfinished), ("no number", self.diverged)]
        said = [f"{what} in seed {', '.join(map(str, seeds))}" for what, seeds in parts if seeds]
        return f"{self.name}: {'; '.join(said)}." if said else ""

    def estimate(self) -> Estimate:
        """Its mean with a 95 % interval over seeds, by Student's t."""
        return with_interval(list(self.by_seed.values()))


@dataclass(frozen=True)
class Verdict:
    """One expected order: the better arm's figure less the worse one's, seed by seed; above 0 is as expected."""

    better: str
    worse: str
    difference: Estimate
    word: Word
    p: float | None = None
    """Of Student's t-test over seeds; None where fewer than two seeds have both."""
    holm_p: float | None = None
    """The same, corrected for all orders that the sweep expects (Holm 1979)."""

    def sentence(self) -> str:
        """The verdict in words."""
        if self.word == "not run":
            return f"{self.better} before {self.worse}: no seed has both yet."
        said = f"{self.difference.mean:+.4g}"
        if self.difference.low is not None:
            said += f" [{self.difference.low:+.4g}, {self.difference.high:+.4g}]"
        told = "" if self.p is None or self.holm_p is None else f", p = {self.p:.4f}, Holm p = {self.holm_p:.4f}"
        return f"{self.better} before {self.worse}: {self.word}, by {said} over {self.difference.n} of the seeds{told}."


@dataclass(frozen=True)
class Comparison:
    """All arms, and the verdicts on what was expected."""

    plan: Plan
    arms: tuple[ArmFigures, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def word(self) -> Word:
        """On the whole hypothesis: supported if every order is, contradicted if any is."""
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
        """The commits that made the runs."""
        return ", ".join(sorted(frozenset().union(*(arm.sources for arm in self.arms))))

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "hypothesis": self.plan.hypothesis,
            "metric": self.plan.metric,
            "better": self.plan.better,
            "at": self.plan.at,
            "verdict": self.word,
            "commits": self.sources,
            "arms": [_arm(arm) for arm in self.arms],
            "family": {"name": FAMILY, "comparisons": list(_orders(self.plan))},
            "orders": [_finite(asdict(verdict)) for verdict in self.verdicts],
        }


def compared(plan: Plan, folder: Path) -> Comparison:
    """The runs in a folder as they are now."""
    arms = {arm.name: _figures(plan, folder, arm.name) for arm in plan.all_arms()}
    sign = 1.0 if plan.better == "higher" else -1.0
    found = {name: _difference(arms[a], arms[b], sign) for name, (a, b) in _orders(plan).items()}
    p = {name: students_p(difference) for name, difference in found.items()}
    adjusted = Family(FAMILY, tuple(found)).holm(p)
    verdicts = []
    for name, (better, worse) in _orders(plan).items():
        word = _word(arms[better], arms[worse], found[name], adjusted.get(name))
        verdicts.append(Verdict(better, worse, found[name], word, p[name], adjusted.get(name)))
    return Comparison(plan, tuple(arms.values()), tuple(verdicts))


def _orders(plan: Plan) -> dict[str, tuple[str, str]]:
    """Every expected order by name: the better arm and the next worse one."""
    return {f"{a} before {b}": (a, b) for a, b in pairwise(plan.expect)}


def _arm(arm: ArmFigures) -> dict[str, Any]:
    left_out = {"unfinished": list(arm.unfinished), "diverged": list(arm.diverged)}
    return {"name": arm.name, "by_seed": arm.by_seed, "estimate": _finite(asdict(arm.estimate())), **left_out}


def _figures(plan: Plan, folder: Path, arm: str) -> ArmFigures:
    found: dict[int, Curve] = {}
    unfinished, diverged, sources = list[int](), list[int](), set[str]()
    for seed in plan.seeds:
        try:
            run = RunFolder.open(folder / f"{arm}-{seed}")
            info, state, curve = run.info(), run.status().state, read_metrics(run).get(plan.metric)
        except StratagemError:
            continue
        sources.add(f"{str(info.commit)[:12]}{'+' if info.dirty else ''}")
        if state != "finished":
            unfinished.append(seed)
        elif curve is not None and all(map(math.isfinite, curve.values)):
            found[seed] = curve
        elif curve is not None:
            diverged.append(seed)
    values = {seed: _at(plan, curve) for seed, curve in found.items()}
    return ArmFigures(arm, values, found, tuple(unfinished), tuple(diverged), frozenset(sources))


def _at(plan: Plan, curve: Curve) -> float:
    return curve.values[-1] if plan.at == "last" else math.fsum(curve.values) / len(curve.values)


def _difference(better: ArmFigures, worse: ArmFigures, sign: float) -> Estimate:
    """Paired by seed: what seeds have in common, such as their deals, is no noise of the difference."""
    seeds = sorted(better.by_seed.keys() & worse.by_seed.keys())
    return with_interval([sign * (better.by_seed[seed] - worse.by_seed[seed]) for seed in seeds])


def _word(better: ArmFigures, worse: ArmFigures, difference: Estimate, holm_p: float | None) -> Word:
    """What the seeds say of one expected order, at 5 % over all orders."""
    if not difference.n:
        return "not run"
    if better.diverged or worse.diverged or holm_p is None or holm_p >= LEVEL:
        return "undecided"
    return "supported" if difference.mean > 0.0 else "contradicted"


def _finite(data: Mapping[str, Any]) -> dict[str, Any]:
    """What JSON has no number for is null."""
    return {
        name: _finite(value)
        if isinstance(value, dict)
        else None
        if isinstance(value, float) and not math.isfinite(value)
        else value
        for name, value in data.items()
    }
