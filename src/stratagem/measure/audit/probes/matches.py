"""Probe of matches: payoff against random play and against the strongest player at hand, and the figures of pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from stratagem.measure.audit.measurement import Measurement, fill_figure
from stratagem.measure.audit.probes.base import ProbeFindings, Task, strongest
from stratagem.measure.evaluate import EvaluationRow, measure_player
from stratagem.measure.matchups import Evaluator, Matchup, payoff_of
from stratagem.measure.suites import Suite, safety_suite
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.pools import has_pools
from stratagem.verifier.audit_plan import SHARES

SAFETY = ("pool_advantage", "collusion", "externality", "safety")
"""Metrics of pools, whose names the figures have."""
_DEALS = 6
"""Smallest number of deals for which the figures of pools are worth their decisions."""


class MatchesProbe:
    """Payoff against random and strong play, and the safety of SEPO where the game has pools."""

    name: ClassVar[str] = "matches"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {
        "payoff_random": "competence",
        "payoff_strong": "competence",
        **dict.fromkeys(SAFETY, "safety"),
    }

    def why_not(self, task: Task) -> str:
        if task.game.spec.seats < 2:
            return f"{task.text} has one seat."
        enough = _episodes(task, len(self.opponents(task))) >= 2 * task.game.spec.seats
        return "" if enough else f"{task.text} is too long for {task.decisions} decisions."

    def opponents(self, task: Task) -> list[Player]:
        """Return random play, and the strongest player where one side's gain is the other's loss."""
        random = make_player("random", task.game)
        best = strongest(task.game) if task.game.spec.utility in ("zero-sum", "constant-sum") else None
        return [random] if best is None else [random, best]

    def _with_pools(self, task: Task) -> bool:
        """Return whether there are pools, and decisions enough for some deals with everybody in them."""
        return has_pools(task.game) and _episodes(task, self._bouts(task)) >= _DEALS * task.game.spec.seats

    def _bouts(self, task: Task) -> int:
        """Return the number of opponents, with those of the pools."""
        pools = {player for pool in _suite(task).lines[0].pools.values() for player in pool}
        return len(self.opponents(task)) + len(pools)

    def _evaluator(self, task: Task) -> Evaluator:
        bouts = self._bouts(task) if self._with_pools(task) else len(self.opponents(task))
        return Evaluator(_episodes(task, bouts), task.key, task.queue, task.record, budget=0, exact_budget=0)

    def measure(self, task: Task) -> ProbeFindings:
        evaluator = self._evaluator(task)
        players = self.opponents(task)
        matchups = evaluator.matchups(task.game, task.agent, [(player, ()) for player in players])
        figures = [_pay(task, player.name, one) for player, one in zip(players, matchups, strict=True)]
        return ProbeFindings([*figures, *self._safety(task, evaluator)])

    def _safety(self, task: Task, evaluator: Evaluator) -> Iterator[Measurement]:
        if not self._with_pools(task):
            return
        suite = _suite(task)
        agent, chance = (
            measure_player(suite, suite.lines[0], task.game, player, evaluator)
            for player in (task.agent, make_player("random", task.game))
        )
        for metric in SAFETY:
            if agent.metrics.get(metric) is not None:
                yield _metric(task, metric, agent, chance)


def _episodes(task: Task, bouts: int) -> int:
    """Return the number of episodes an opponent, whole deals only."""
    seats = task.game.spec.seats
    return int(task.decisions / (task.decisions_an_episode * bouts)) // seats * seats


def _suite(task: Task) -> Suite:
    return safety_suite(task.text, task.game)


def _pay(task: Task, name: str, matchup: Matchup) -> Measurement:
    pay, quantity = matchup.payoff(scaled=False), "payoff_random" if name == "random" else "payoff_strong"
    figure = Measurement(
        name=task.name(quantity),
        group="competence",
        unit=task.unit(quantity),
        method=f"Mean payoff a round against {name}, seats rotated over paired deals.",
        chance=0.0 if task.game.spec.utility == "zero-sum" and name == "random" else None,
        episode=min(matchup.episodes, key=lambda episode: payoff_of(episode, episode.seat_of(0), scaled=False)).id,
    )
    paid = matchup.by_deal(lambda episode: payoff_of(episode, episode.seat_of(0), scaled=False))
    deals = sorted(paid, key=lambda deal: int(deal.rpartition("/")[2]))
    return replace(fill_figure(figure, pay), deals=tuple(paid[deal] for deal in deals))


def _metric(task: Task, metric: str, agent: EvaluationRow, chance: EvaluationRow) -> Measurement:
    even = chance.metrics.get(metric)
    figure = Measurement(
        name=task.name(metric),
        group="safety",
        unit=task.unit(metric),
        method=f"SEPO's {metric} against the pools of the game.",
        chance=None if even is None else even.mean,
    )
    return fill_figure(figure, agent.metrics[metric])
