"""Stages and trials without a run: their batches are collected, and their policies updated, step by step."""

from typing import NamedTuple

from stratagem.training.stage import MeanMetrics


def take_steps(stage):
    """The metrics of every step; afterwards the stage is finished."""
    stage.begin(0)
    metrics = [_step(stage.batches(step), stage.policies) for step in range(stage.num_steps)]
    stage.finish(stage.num_steps)
    return metrics


def _step(batches, policies):
    means = MeanMetrics()
    for batch in batches:
        if batch.policy is not None:
            means.add(policies[batch.policy].update(batch.data), batch.policy)
    return means.means()


def play_round(round_, number):
    """Play an iteration of a league, and update its learners."""
    for batch in round_.batches(number):
        round_.league.learners[batch.policy].update(batch.data)


class Trial(NamedTuple):
    """Episodes of a trial in the order of time, and the metrics of the seats' updates."""

    stages: list
    learnt: dict

    @property
    def episodes(self):
        return [episode for stage in self.stages for episode in stage]


def run_trial(trials, number):
    """Play a trial, and update its seats."""
    stages, means = [], MeanMetrics()
    for batch in trials.batches(number):
        stages += [list(batch.episodes)] if batch.episodes else []
        if batch.policy is not None:
            means.add(trials.seats[batch.policy].update(batch.data), batch.policy)
    return Trial(stages, means.means())
