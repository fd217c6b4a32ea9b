"""Every probe, in the order in which an audit asks."""

from __future__ import annotations

from stratagem.auditing.probes.base import Probe
from stratagem.auditing.probes.bound import BoundProbe
from stratagem.auditing.probes.matches import MatchesProbe
from stratagem.auditing.probes.replies import RepliesProbe
from stratagem.auditing.probes.rules import RulesProbe
from stratagem.auditing.probes.words import RepeatProbe, StyleProbe, WordsProbe

PROBES: tuple[Probe, ...] = (
    RepliesProbe(),
    BoundProbe(),
    WordsProbe(),
    StyleProbe(),
    RepeatProbe(),
    RulesProbe(),
    MatchesProbe(),
)
"""Probes by name, once each."""
