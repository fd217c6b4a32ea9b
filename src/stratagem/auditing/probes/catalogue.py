"""Every probe, in the order in which an audit asks."""

from __future__ import annotations

from typing import Any

from stratagem.auditing.probes.base import Probe
from stratagem.auditing.probes.bound import BoundProbe
from stratagem.auditing.probes.injection import InjectionProbe
from stratagem.auditing.probes.matches import MatchesProbe
from stratagem.auditing.probes.replies import RepliesProbe
from stratagem.auditing.probes.rules import RulesProbe
from stratagem.auditing.probes.talking import TalkProbe
from stratagem.auditing.probes.words import RepeatProbe, StyleProbe, WordsProbe
from stratagem.games.base import Game

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
TALK_PROBES: tuple[Probe, ...] = (TalkProbe(), InjectionProbe())
"""Probes of games with talk alone."""


def probes_of(game: Game[Any]) -> tuple[Probe, ...]:
    """Return the probes that a game has, whether or not they apply to an agent."""
    return (*PROBES, *TALK_PROBES) if game.has_talk else PROBES
