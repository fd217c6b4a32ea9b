"""Kinds of seats, by `learner`: a seat of a recipe is one of these settings."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from stratagem.algorithms.shapellm.seat_settings import (
    FrozenSettings,
    NaiveSettings,
    ScriptedSettings,
    ShaperSettings,
    TabularSettings,
)
from stratagem.algorithms.shapellm.shapers.advantage_alignment import AdvantageAlignmentSettings
from stratagem.algorithms.shapellm.shapers.lola import LOLASettings
from stratagem.algorithms.shapellm.shapers.mfos import MFOSSettings
from stratagem.algorithms.shapellm.shapers.seat import ExactSettings
from stratagem.algorithms.shapellm.shapers.sos import SOSSettings

AnySeat = (
    NaiveSettings
    | ShaperSettings
    | FrozenSettings
    | ScriptedSettings
    | TabularSettings
    | ExactSettings
    | LOLASettings
    | SOSSettings
    | MFOSSettings
    | AdvantageAlignmentSettings
)
SeatSettings = Annotated[AnySeat, Field(discriminator="learner")]
KINDS: tuple[str, ...] = tuple(str(kind.model_fields["learner"].default) for kind in get_args(AnySeat))
"""Names of the kinds of learners."""
