"""Every probe, in the order in which an audit asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.registry import Registry, parse_call
from stratagem.games.base import Game
from stratagem.measure.audit.measurement import GROUPS
from stratagem.measure.audit.probes.base import Probe
from stratagem.measure.audit.probes.bound import BoundProbe
from stratagem.measure.audit.probes.draws import DrawsProbe
from stratagem.measure.audit.probes.injection import InjectionProbe
from stratagem.measure.audit.probes.matches import MatchesProbe
from stratagem.measure.audit.probes.replies import RepliesProbe
from stratagem.measure.audit.probes.rules import RulesProbe
from stratagem.measure.audit.probes.talking import TalkProbe
from stratagem.measure.audit.probes.words import RepeatProbe, StyleProbe, WordsProbe

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
DRAWS = DrawsProbe()
"""Probe of several drawn games, which has all decisions that they get."""


_registry: Registry[Probe] = Registry("probe", {}, "stratagem.probes")
"""Probes of other packages; ours are in the tables above."""


def probes_of(game: Game[Any], further: Sequence[str] = ()) -> tuple[Probe, ...]:
    """Return the probes that a game has, whether or not they apply to an agent, and further ones by their names."""
    ours = (*PROBES, *TALK_PROBES) if game.has_talk else PROBES
    return (*ours, *(_make_probe(name) for name in _registry.names()), *(_make_probe(name) for name in further))


def _make_probe(name: str) -> Probe:
    """Make a probe of another package or of a file; refused where it lacks a declaration."""
    probe: object = _registry.make(parse_call(name))
    lacking = [part for part in _DECLARED if not hasattr(probe, part)]
    if lacking:
        raise BadParameter(f"The probe {name} lacks {', '.join(lacking)}: it needs {', '.join(_DECLARED)}.")
    assert isinstance(probe, Probe)
    if not isinstance(probe.share, int | float) or not 0.0 < probe.share <= 1.0:
        raise BadParameter(f"The probe {name} needs `share` as a number above 0, at most 1, not {probe.share!r}.")
    if wrong := sorted({*probe.quantities.values()} - {*GROUPS}):
        raise BadParameter(f"The probe {name} has the group {wrong[0]!r}: there are {', '.join(GROUPS)}.")
    if taken := sorted({*probe.quantities} & _QUANTITIES) or (probe.name in NAMES and [probe.name]):
        raise BadParameter(f"The probe {name} has the name {taken[0]}, which a probe of ours has.")
    return probe


_DECLARED = ("name", "share", "quantities", "why_not", "measure")
NAMES = {probe.name for probe in (*PROBES, *TALK_PROBES, DRAWS)}
_QUANTITIES = {quantity for probe in (*PROBES, *TALK_PROBES, DRAWS) for quantity in probe.quantities}
