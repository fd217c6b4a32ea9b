"""Studio: what goes on in the pages of one folder, and what one request brings to it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stratagem.language.engines.remote.tally import PriceList
from stratagem.playing.workers.limited import ProcessLimits
from stratagem.show.viewer.jobs import LIMITS, JobQueue
from stratagem.show.viewer.library import Library, read_library
from stratagem.show.viewer.links import Link, Links
from stratagem.show.viewer.tables import Tables


class Studio:
    """Jobs, tables with their links, and the file of demonstrations of one folder."""

    def __init__(self, root: Path, prices: PriceList | None = None, limits: ProcessLimits = LIMITS) -> None:
        """`prices` are those of models behind servers, by model; `limits` are those of a job."""
        self.root = root.resolve()
        self.prices: PriceList = prices or {}
        self.jobs = JobQueue(limits)
        self.links = Links()
        self.tables = Tables(self.root, self.links)
        self.teaching = threading.Lock()

    def read(self) -> Library:
        """Return what is in the folder now."""
        return read_library(self.root)

    def close(self) -> None:
        """End all jobs and games."""
        self.jobs.close()
        self.tables.close()


@dataclass(frozen=True)
class Visit:
    """Request about what goes on: the studio, and the link that the guard has let in."""

    studio: Studio
    link: Link

    @cached_property
    def library(self) -> Library:
        """The folder at the time of the request; it is not read for those who only follow a table."""
        return self.studio.read()
