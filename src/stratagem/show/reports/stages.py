"""Policies to compare: the start, the chosen checkpoint and the last, with their titles in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stratagem.show.reports.files import PolicySchema
from stratagem.show.reports.run_data import RunData

Stages = dict[str, PolicySchema]
"""Steps of the start, the chosen and the last policy, as far as they exist and differ."""
TITLES: Mapping[str, str] = {"sepo": "SEPO", "grpo": "GRPO", "reinforce": "REINFORCE", "league": "League"}
"""Titles of a run's checkpoints by algorithm."""


def stages_of(policies: Sequence[PolicySchema], chosen: int | None) -> Stages:
    """Return the stages to show of a game's policies, which are in the order of steps."""
    first, last = policies[0], policies[-1]
    best = next((policy for policy in policies if policy.step == chosen and policy is not first), None)
    stages = {"start": first, "chosen": best, "last": last if last not in (first, best) else None}
    return {name: policy for name, policy in stages.items() if policy is not None}


def titles(data: RunData, stages: Stages) -> dict[str, str]:
    """Return the titles of stages in tables, as in the final evaluation."""
    return {name: stage_title(data, policy.step, last=name == "last") for name, policy in stages.items()}


def stage_title(data: RunData, step: int, *, last: bool = False) -> str:
    """Write a title such as `SFT`, `SEPO (step 10)`, `SEPO, last (step 60)` or `BC + KTO`.

    Steps are counted from the end of SFT.
    """
    if step == 0:
        return data.beginning
    if step in data.titles:
        return data.titles[step]
    title = TITLES.get(data.algorithm)
    if title is None:
        return f"last (step {step})" if last else f"step {step}"
    return f"{title}, last (step {step})" if last else f"{title} (step {step})"


def played_by(data: RunData, shard: int, episode: str) -> str:
    """Name the policy that played an episode of a shard, as tables do: the policy before the update with that shard.

    The number of a shard is a step of the run, counted from its start.
    """
    step = shard - data.sft_steps
    if data.algorithm == "shapellm":
        return f"trial {step}"
    if data.algorithm == "scopal":
        return _after_iterations(data, episode.partition("/")[0])
    return stage_title(data, step)


def _after_iterations(data: RunData, iteration: str) -> str:
    """Name the policy after so many iterations of stages."""
    stages = len(data.settings.get("refine", ()))
    steps = [0, *sorted(data.titles)][:: stages or 1]
    index = int(iteration) if iteration.isdecimal() else 0
    return stage_title(data, steps[min(index, len(steps) - 1)])
