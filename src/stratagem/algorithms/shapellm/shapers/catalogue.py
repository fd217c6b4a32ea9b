"""Shapers by their settings; a new one is a file of this folder, a line here, and its settings in `kinds.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratagem.algorithms.shapellm.shapers.advantage_alignment import AdvantageAlignmentSeat, AdvantageAlignmentSettings
from stratagem.algorithms.shapellm.shapers.lola import LOLASeat, LOLASettings
from stratagem.algorithms.shapellm.shapers.mfos import MFOSSeat, MFOSSettings
from stratagem.algorithms.shapellm.shapers.seat import ExactSeat, ExactSettings, MemoryOneSeat, MemoryOneSettings
from stratagem.algorithms.shapellm.shapers.sos import SOSSeat, SOSSettings

SHAPERS: Mapping[type[MemoryOneSettings], type[MemoryOneSeat[Any]]] = {
    ExactSettings: ExactSeat,
    LOLASettings: LOLASeat,
    SOSSettings: SOSSeat,
    MFOSSettings: MFOSSeat,
    AdvantageAlignmentSettings: AdvantageAlignmentSeat,
}
"""Seat of each kind of learner with exact values."""
