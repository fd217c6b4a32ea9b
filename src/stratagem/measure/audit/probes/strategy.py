"""Strategy that exploits an agent: its moves in words, and a game in which it is played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratagem.games.sequence_form import moves_of
from stratagem.games.spec import GameSpec
from stratagem.measure.audit.probes.base import StrategyLine, Task
from stratagem.measure.exploitability.best_responder import BestResponder
from stratagem.measure.matchups import Evaluator
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import ExploitabilityLimits
from stratagem.measure.sampled.tally import frequencies

_DEALS = 5
"""Number of deals, or of rounds that know nothing of each other."""


def strategy(gain: ResponseGain, limits: ExploitabilityLimits) -> Sequence[StrategyLine]:
    """Return the exploiting moves where they can be reached against the agent."""
    tree = gain.tree
    rows = frequencies(gain.questions, limits.tally.counts)
    lines: list[StrategyLine] = []
    for seat, slots in enumerate(limits.exploiter):
        seats = np.array([known.seat for known in tree.information_sets])[tree.set_of_slot]
        policy = np.where(seats == seat, 0.0, rows[gain.questions.in_tree])
        policy[slots] = 1.0
        reach = tree.reach(policy)
        met = tree.information_set[reach > 0.0]
        reached = np.isin(tree.set_of_slot[slots], met)
        moves = moves_of(tree, sorted(slots[reached].tolist()))
        lines += [StrategyLine(seat, known.view.situation, action) for known, action in moves]
    return lines


def replay_strategy(task: Task, gain: ResponseGain, limits: ExploitabilityLimits) -> str:
    """Play the strategy against the agent for some deals, and return the id of the episode that it wins most in."""
    tree, table = gain.tree, dict[str, str]()
    for slots in limits.exploiter:
        table |= {known.view.info_key: action for known, action in moves_of(tree, slots.tolist())}
    spec = tree.game.spec
    evaluator = Evaluator(_num_deals(spec) * spec.seats, task.key, task.queue, task.record, budget=0, exact_budget=0)
    (matchup,) = evaluator.meet(tree.game, [(BestResponder(table), task.agent, ())])
    return max(matchup.episodes, key=lambda episode: episode.payoffs[episode.seat_of(0)]).id


def most_replayed(gain: ResponseGain) -> int:
    """Return the largest number of decisions of the agent in these games: it has every seat but one."""
    tree, spec = gain.tree, gain.tree.game.spec
    columns = tree.information_sets.columns
    lengths = np.ones(len(columns.seat), dtype=np.int64)
    for number, slot in enumerate(columns.before):  # a set is met after the one before it
        if slot >= 0:
            lengths[number] += lengths[tree.set_of_slot[slot]]
    longest = sum(int(lengths[columns.seat == seat].max(initial=0)) for seat in range(spec.seats))
    rounds = (spec.rounds or 1) if spec.independent_rounds else 1
    return _num_deals(spec) * (spec.seats - 1) * longest * rounds


def _num_deals(spec: GameSpec) -> int:
    return -(-_DEALS // (spec.rounds or 1)) if spec.independent_rounds else _DEALS
