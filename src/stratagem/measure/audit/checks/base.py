"""Check of an audit: declared data, a test whether it applies, and one method from results of probes to a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import describe
from stratagem.measure.audit.measurement import Group, Measurement
from stratagem.measure.audit.probes.base import ProbeFindings, Task
from stratagem.measure.audit.probes.replies import RepliesProbe
from stratagem.playing.records import Decision, Episode

QUESTIONS = RepliesProbe.name
"""Name of the probe that asks about every situation."""


@dataclass(frozen=True)
class ProbeResult:
    """Probe that was run in a game, with its task and its measurement."""

    probe: str
    """Name of the probe."""
    task: Task
    measured: ProbeFindings
    record: str
    """Folder of its episodes in the folder of the audit."""

    def played_episodes(self) -> Iterator[Episode]:
        """Yield the episodes of the audited game that were played and not asked."""
        text = describe(self.task.game)
        return (one for one in self.task.record.finished.values() if one.purpose != "probe" and one.game == text)

    def question_episodes(self) -> Iterator[Episode]:
        """Yield the questions."""
        return (one for one in self.task.record.finished.values() if one.purpose == "probe")


class AuditCheck(Protocol):
    """Test of what the probes of one game have measured together."""

    quantities: ClassVar[Mapping[str, Group]]
    """Group of figures by quantity, without the name of the game: one a check."""

    def measure(self, results: Sequence[ProbeResult]) -> Measurement:
        """Return the figure; raises `CannotCompute` with the reason where it does not apply."""
        ...


def questions_among(results: Sequence[ProbeResult]) -> ProbeResult:
    """Return the result of the probe that asks about every situation."""
    for result in results:
        if result.probe == QUESTIONS:
            return result
    raise CannotCompute("Not every situation is asked about.")


def last_attempts(episode: Episode) -> Iterator[Decision]:
    """Yield the decisions that were played: of several attempts at a turn the last."""
    last = {(row.turn, row.seat): row for row in episode.decisions}
    return iter(last.values())
