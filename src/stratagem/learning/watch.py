"""The checks over a run: what each found first, when, and how often; a checkpoint keeps it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from stratagem.errors import StratagemError
from stratagem.learning.checks import CHECKS, CLIPPED, CREDITS, CUT, PATIENCE, Check, Level, Seen
from stratagem.learning.learner import Learner, Report
from stratagem.learning.probes import probed
from stratagem.learning.strength import Signals


class TrainingWarning(UserWarning):
    """A check found something for the first time."""


class CheckFailed(StratagemError):
    """A strict run found something."""


@dataclass(frozen=True)
class Finding:
    """What a check found."""

    level: Level
    count: int
    """How often; a note is told once."""
    step: int
    """At which step first."""
    first: str
    """What it said then."""


class Watch:
    """Looks at every step of a run; a strict one stops at the first fault."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.signals = Signals()
        """What the terms of the reward bring: `watch.signals.add(measured(learner, examples))` before a step."""
        self._found: dict[str, Finding] = {}
        self._entropies: list[float] = []
        self._probed = False
        self._since = 0
        self._cuts: tuple[int, int] | None = None
        self._clipped: float | None = None

    def begin_anew(self, step: int) -> None:
        """The learner goes back to where it began, having taken so many steps."""
        self._since = step
        self._entropies.clear()

    def after(
        self,
        learner: Learner,
        reports: Sequence[Report],
        *,
        counts: Mapping[str, int] | None = None,
        without: Collection[str] = (),
    ) -> dict[str, str]:
        """Look at all steps that a learner has just taken on a batch; the first that had a gradient is probed too.

        `without` are the checks of what is meant to be so, as a teacher's low entropy where a policy imitates.
        """
        checks = {name: check for name, check in CHECKS.items() if name not in without}
        found = dict[str, str]()
        for place, report in enumerate(reports):
            seen = Seen(
                step=learner.optimiser.taken - len(reports) + place,
                report=report,
                examples=report.examples,
                counts=counts or {},
                steps_a_batch=len(reports),
                place=place,
                signals=self.signals.strengths(),
                gaps=self._gaps(learner, report),
                since=self._since,
                bonus="entropies" in learner.loss.extras,
            )
            found |= self.look(seen, checks)
        return found

    def _gaps(self, learner: Learner, report: Report) -> Mapping[str, float]:
        """What is probed at a step: all of it at the first with a gradient, and then nothing."""
        if self._probed or not math.isfinite(report.norm) or report.norm <= 0.0:
            return {}
        self._probed = True
        return probed(learner, report.examples)

    def idle(self, step: int, *, counts: Mapping[str, int]) -> dict[str, str]:
        """Look at a batch that taught nothing, of which there is nothing to see but what was counted."""
        report = Report(loss=0.0, norm=0.0, rate=0.0, num_examples=0, num_tokens=0, num_read=0)
        seen = Seen(step=step, report=report, examples=(), counts=counts)
        return self.look(seen, {"alike": CHECKS["alike"]})

    def look(self, seen: Seen, checks: Mapping[str, Check] = CHECKS) -> dict[str, str]:
        """What every check finds, by name; a strict watch raises instead. What is new is warned of."""
        self._clipped = _most_clipped(self._clipped, seen.report)
        first = self._first_entropy(seen.report.entropy)
        seen = replace(seen, first_entropy=first, cuts=self._counted(seen), clipped=self._clipped)
        found = dict[str, str]()
        for name, check in checks.items():
            told = name in self._found
            if (told and check.level == "note") or not (sentence := check.look(seen)):
                continue
            if self.strict and check.level == "fault":
                raise CheckFailed(f"{sentence} (check {name})")
            found[name] = sentence
            if told:
                self._found[name] = replace(self._found[name], count=self._found[name].count + 1)
            else:
                self._found[name] = Finding(check.level, 1, seen.step, sentence)
                warnings.warn(f"{sentence} (check {name})", TrainingWarning, stacklevel=3)
        return found

    def _first_entropy(self, entropy: float | None) -> float | None:
        if len(self._entropies) >= PATIENCE:
            return math.fsum(self._entropies) / len(self._entropies)
        if entropy is not None and math.isfinite(entropy):
            self._entropies.append(entropy)
        return None

    def _counted(self, seen: Seen) -> tuple[int, int] | None:
        """All steps on a batch are told the same counts."""
        if CREDITS in seen.counts and not seen.place:
            cut, num = self._cuts or (0, 0)
            self._cuts = (cut + seen.counts.get(CUT, 0), num + seen.counts[CREDITS])
        return self._cuts

    def findings(self) -> dict[str, Finding]:
        """What was found so far, by the checks' names, in the order in which it was first found."""
        return dict(self._found)

    def state(self) -> dict[str, Any]:
        """Plain numbers and texts, from which `restore` goes on."""
        return {
            "found": {name: asdict(finding) for name, finding in self._found.items()},
            "entropies": list(self._entropies),
            "probed": self._probed,
            "since": self._since,
            "cuts": self._cuts and list(self._cuts),
            "clipped": self._clipped,
            "signals": self.signals.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state: what was told is not told again."""
        self._found = {name: Finding(**finding) for name, finding in state["found"].items()}
        self._entropies = list(state["entropies"])
        self._probed = state["probed"]
        self._since = state.get("since", 0)
        cut, num = state.get("cuts") or (None, None)
        self._cuts = None if cut is None or num is None else (cut, num)
        self._clipped = state.get("clipped")
        self.signals.restore(state["signals"])


def _most_clipped(known: float | None, report: Report) -> float | None:
    """The most that any step has clipped of the ratios so far, by whatever part of the loss has some."""
    shares = [value for name, value in report.metrics.items() if name.rpartition("/")[2] in CLIPPED]
    return max(known or 0.0, *shares) if shares else known
