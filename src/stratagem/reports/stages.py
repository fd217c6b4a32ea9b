"""The policies that are compared: at the start, at the chosen checkpoint, and at the last."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.reports.files import Policy

Stages = dict[str, Policy]
"""By start, chosen and last, as far as they are there and not the same."""


def stages_of(policies: Sequence[Policy], chosen: int | None) -> Stages:
    """Those that are shown of a game's policies, which are in the order of steps."""
    first, last = policies[0], policies[-1]
    best = next((policy for policy in policies if policy.step == chosen), None)
    named = {"start": first, "chosen": best, "last": last if last is not first else None}
    return {name: policy for name, policy in named.items() if policy is not None}


def titles(stages: Stages) -> list[str]:
    """What a table calls them."""
    return [f"{name} (step {policy.step})" for name, policy in stages.items()]
