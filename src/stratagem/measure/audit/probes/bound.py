"""Probe of an exploiter: a lower bound on exploitability in games that are too large to ask about every situation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.measure.agent_model import Frequencies, model_of
from stratagem.measure.audit.measurement import Measurement, of_exploitability
from stratagem.measure.audit.probes.base import ProbeFindings, Task, strongest
from stratagem.measure.audit.probes.replies import askable
from stratagem.measure.deal_means import lower_mean
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.exploitability.search import Exploiter
from stratagem.measure.matchups import Evaluator, Matchup, payoff_of
from stratagem.measure.statistics import Estimate
from stratagem.players.base import Player
from stratagem.players.catalogue import patterns
from stratagem.players.solvers import Perfect
from stratagem.players.tree_search import searchable
from stratagem.playing.records import Episode
from stratagem.verifier.audit_plan import SHARES

SIMULATIONS = 100
"""Simulations a decision of the exploiter; `eval --exploitability search` has as many by default."""
LEAST_DEALS = 5
"""Smallest number of deals: of fewer no p is at most 5 %, even if each is won and the others might be lost."""


class BoundProbe:
    """Gain of perfect play, or of search against recorded moves, over the agent itself on the same deals."""

    name: ClassVar[str] = "bound"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {"exploitability": "exploitability"}

    def why_not(self, task: Task) -> str:
        if task.game.spec.seats < 2:
            return f"{task.text} has one seat."
        if not askable(task):
            return "Every situation is asked about."
        if "perfect" not in patterns(task.game) and not searchable(task.game):
            return f"No search plays {task.text}."
        return "" if self._deals(task) >= LEAST_DEALS else f"{task.text} is too long for {task.decisions} decisions."

    def _deals(self, task: Task) -> int:
        """Return the number of deals: each takes play against itself and against the exploiter, at every seat."""
        seats = task.game.spec.seats
        return int(task.decisions / (task.decisions_an_episode * seats * (2 * seats - 1)))

    def measure(self, task: Task) -> ProbeFindings:
        seats, deals = task.game.spec.seats, self._deals(task)
        evaluator = Evaluator(
            episodes=deals * seats, key=task.key, queue=task.queue, record=task.record, budget=0, exact_budget=0
        )
        known = self._known_exploiter(task)
        # what an exploiter learns from must be other deals than those by which it is judged: dice and cards are keyed
        recorded = evaluator if known else replace(evaluator, key=task.key.at("recorded"))
        (itself,) = recorded.meet(task.game, [(task.agent, task.agent, ())])
        exploiter = known or Exploiter(task.agent, Frequencies(itself.episodes), SIMULATIONS)
        (against,) = evaluator.meet(task.game, [(exploiter, task.agent, ())])
        gains = gains_by_deal(task.game, itself, against)
        limit = lower_mean(gains, gain_range(task.game, [*itself.episodes, *against.episodes])[0], task.key)
        best = max(against.episodes, key=lambda episode: payoff_of(episode, episode.seat_of(0), scaled=False))
        estimate = Estimate(math.nan, n=len(gains), low=max(0.0, limit.lower))
        found = Exploitability(
            method="player", unit=task.unit("exploitability"), estimate=estimate, exploiter=exploiter
        )
        how = f"Lower bound: gain of {exploiter.name} over the agent itself, on {len(gains)} deals at every seat."
        figure = Measurement(
            name=task.name("exploitability"),
            group="exploitability",
            interval="one-sided 95 %",
            method=how,
            p=limit.p,
            episode=best.id,
        )
        return ProbeFindings([of_exploitability(figure, found)], won=against.episodes)

    def _known_exploiter(self, task: Task) -> Player | None:
        """Return an exploiter that needs no record of the agent; None where there is none."""
        best = strongest(task.game)
        if isinstance(best, Perfect):
            return best
        try:
            # a model would be asked about each situation that the search meets, one by one and beside the plan
            cheap = task.agent.traits.repeats and not task.agent.traits.reads_words
            model = model_of(task.game, task.agent) if cheap else None
        except CannotCompute:
            model = None
        return Exploiter(task.agent, model, SIMULATIONS) if model else None


def gains_by_deal(game: Game[Any], itself: Matchup, against: Matchup) -> Sequence[float]:
    """Return the gain of the exploiter over the agent itself by number of the deal.

    Where the payoffs of the seats add up to zero, the agent's own payoff is zero on average over the seats.
    """
    own, won = (_by_deal(one) for one in (itself, against))
    known = dict.fromkeys(won, 0.0) if game.spec.utility == "zero-sum" else own
    return [won[deal] - known[deal] for deal in sorted(won.keys() & known.keys())]


def gain_range(game: Game[Any], episodes: Sequence[Episode]) -> tuple[float, float]:
    """Return the smallest and the largest gain a round that the rules allow, around 0."""
    spec = game.spec
    low, high = min(0.0, spec.bounds[0]), max(0.0, spec.bounds[1])
    least, most = (low, high) if spec.utility == "zero-sum" else (low - high, high - low)
    fixed = {len(episode.rounds) for episode in episodes} == {spec.rounds}
    shared = spec.rounds if fixed and spec.rounds else 1
    return least / shared, most / shared


def _by_deal(matchup: Matchup) -> dict[str, float]:
    """Return the payoff of slot 0 by the number of the deal."""
    paid = matchup.by_deal(lambda episode: payoff_of(episode, episode.seat_of(0), scaled=False))
    return {deal.rpartition("/")[2]: payoff for deal, payoff in paid.items()}
