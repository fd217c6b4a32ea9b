"""SEPO: be paid, and be neither exploitable nor collusive nor harmful (Safe Equilibrium Policy Optimization).

The objective is `J = U - a E - b C - g X`: pay, exploitability, the risk of collusion, harm to others. Rollouts against
the train pool bring U and X; E and C show only against adversaries, in probes. A rollout's advantage is taken round by
round against the other rollouts of its group, each term centred by itself.

What differs from the paper: it estimates E in episodes apart from rollout i and subtracts it from rollout i's reward.
Those episodes are independent of the rollout's own tokens, so that penalty has no expected gradient: it adds noise and
no direction. With `penalty_credit: probe`, the default, the decisions of the probes themselves are taught, with the
advantage of the penalty that they caused; `penalty_credit: rollout` is the paper's. What an adversary of the pool
charges counts only while the hero's mean loss to it is positive, so that noise in a game of chance is not taken for
exploitability.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from stratagem.algorithms.sepo.best_responder import BestResponder, best_responder
from stratagem.algorithms.sepo.penalties import colluded, mean_pay, paid, penalty, shortfall, signalled, told
from stratagem.algorithms.sepo.settings import SEPOSettings
from stratagem.evaluation.best_response import BUDGET
from stratagem.games.base import Game, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.learning.advantages.base import FRESH, State
from stratagem.learning.example import Example
from stratagem.play.match import Match, Setup
from stratagem.play.records import Episode
from stratagem.play.scheduler import played
from stratagem.players.base import Player
from stratagem.players.pools import pools
from stratagem.training.online import Collected
from stratagem.training.rollouts import Term, decisions_of, examples_of, grouped, taken


class SEPO:
    """Collects what each iteration teaches one hero in one game."""

    def __init__(self, settings: SEPOSettings, game: Game[Any], hero: Player, key: Key, budget: int = BUDGET) -> None:
        """`budget` situations may be walked to find a best response."""
        self.settings = settings
        self.game = game
        self.hero = hero
        self.key = key.at(describe(game))
        self.budget = budget
        self.costs = settings.weights(game.spec.family)
        self._pools = {name: pool.make(game) for name, pool in pools(game).items()}
        self._responder: BestResponder | None = None
        self._counts: Counter[str] = Counter()
        self._carried: dict[str, State] = {}

    def collect(self, iteration: int) -> Collected:
        """The rollouts and probes of one iteration, and what they teach."""
        key = self.key.at("iteration", iteration)
        self._counts.clear()
        asked = [("train", opponent) for opponent in self._pools["train"]]
        asked += self._probes(iteration) if self.settings.penalty_credit != "none" else []
        bouts = self._bouts(asked, key, iteration)
        trained = [bout for bout in bouts if bout.kind == "train"]
        probed = [bout for bout in bouts if bout.kind != "train"]
        parts = [*self._rollouts(trained, probed), *(self._answers(probed) if self._by_probe else ())]
        episodes = [episode for bout in (*trained, *probed) for episode in bout.episodes]
        examples = [example for part in parts for example in part]
        figures = self._figures(trained, probed)
        return Collected(examples, figures, episodes, dict(self._counts), self.terms, self._uncharged(probed))

    def state(self) -> dict[str, Any]:
        """What a later iteration depends on.

        It is the best response of an earlier one, which may not be due again yet, and what the estimator of the
        advantage carries over against each opponent.
        """
        table = None if self._responder is None else dict(self._responder.table)
        return {"responder": table, "advantage": {name: dict(carried) for name, carried in self._carried.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._responder = None if state["responder"] is None else BestResponder(state["responder"])
        self._carried = {name: dict(carried) for name, carried in state.get("advantage", {}).items()}

    @property
    def terms(self) -> frozenset[str]:
        """What is paid and charged for."""
        costly = {name for name, cost in self.costs.items() if cost}
        return frozenset({"payoff"} | (costly & {"externality"} if self.settings.penalty_credit == "none" else costly))

    @property
    def _by_probe(self) -> bool:
        return self.settings.penalty_credit == "probe"

    def _bouts(self, asked: Sequence[tuple[str, Player]], key: Key, iteration: int) -> list[_Bout]:
        """Groups of episodes against each, all played at once."""
        setups = [list(self._setups(kind, opponent, key, iteration)) for kind, opponent in asked]
        over = iter(played(chain.from_iterable(setups)))
        return [
            _Bout(kind, opponent.name, list(islice(over, len(some))))
            for (kind, opponent), some in zip(asked, setups, strict=True)
        ]

    def _setups(self, kind: str, opponent: Player, key: Key, iteration: int) -> Iterator[Setup]:
        match = Match(self.game, [self.hero, *[opponent] * (self.game.spec.seats - 1)])
        name = f"{self.game.spec.name}/{iteration}/{kind}/{opponent.name}"
        at = key.at(kind, opponent.name)
        groups, rollouts = self.settings.groups_per_batch, self.settings.group_size
        return grouped(match, groups, rollouts, at, name=name, before=iteration * groups)

    def _probes(self, iteration: int) -> list[tuple[str, Player]]:
        """Those who would exploit the hero, and those who would collude with it."""
        found: list[tuple[str, Player]] = []
        if self.costs["exploit"]:
            found += [("exploit", one) for one in self._adversaries(iteration)]
        if self.costs["collusion"]:
            found += [("collusion", one) for one in self._pools["collusive"]]
        return found

    def _adversaries(self, iteration: int) -> Sequence[Player]:
        if self.settings.penalty_source == "pool":
            return self._pools["exploit"]
        if self._responder is None or iteration % self.settings.best_response_every == 0:
            self._responder = best_responder(self.game, self.hero, self.budget)
        return [self._responder]

    def _rollouts(self, trained: Sequence[_Bout], probed: Sequence[_Bout]) -> Iterator[list[Example]]:
        """What pay and externality teach, and the penalties where they are charged to rollouts."""
        for bout in trained:
            terms: dict[str, Term] = {"payoff": paid}
            weights = {"payoff": 1.0}
            if self.costs["externality"]:
                terms["externality"], weights["externality"] = signalled("externality"), -self.costs["externality"]
            if self.settings.penalty_credit in ("rollout", "shared"):
                for kind in ("exploit", "collusion"):
                    if charged := self._charged(bout, [probe for probe in probed if probe.kind == kind], kind):
                        terms[kind], weights[kind] = charged, -self.costs[kind]
            yield self._taught(bout, terms, weights)

    def _charged(self, bout: _Bout, probes: Sequence[_Bout], kind: str) -> Term | None:
        """Rollout i answers for the i-th episode of every probe, or all rollouts for the mean of all."""
        if not probes:
            return None
        each = [[penalty(kind, episode) for episode in probe.episodes] for probe in probes]
        by_rollout = [math.fsum(column) / len(column) for column in zip(*each, strict=True)]
        mean = math.fsum(by_rollout) / len(by_rollout)
        shared = self.settings.penalty_credit == "shared"
        charge = {e.id: mean if shared else own for e, own in zip(bout.episodes, by_rollout, strict=True)}

        def term(episode: Episode, seat: Seat) -> Mapping[int, float]:
            return dict.fromkeys(range(len(episode.rounds)), charge[episode.id])

        return term

    def _answers(self, probed: Sequence[_Bout]) -> Iterator[list[Example]]:
        """What the probes' own decisions are taught; each adversary's share of the penalty is the same."""
        for bout in probed:
            alike = sum(one.kind == bout.kind for one in probed)
            cost = self.costs[bout.kind] / alike
            term = paid if bout.kind == "exploit" else signalled("collusion")
            sign = 1.0 if bout.kind == "exploit" else -1.0
            if self._bites(bout):
                yield self._taught(bout, {bout.kind: term}, {bout.kind: sign}, cost)

    def _bites(self, bout: _Bout) -> bool:
        """Whether the penalty is above nothing on average: an adversary that gains nothing teaches nothing.

        A best response never gains less than nothing, so where a few episodes say so, that is their noise.
        """
        if bout.kind != "exploit" or self.settings.penalty_source == "best_response":
            return True
        return math.fsum(shortfall(episode) for episode in bout.episodes) > 0.0

    def _uncharged(self, probed: Sequence[_Bout]) -> frozenset[str]:
        """The penalties that no adversary brought this time."""
        if not self._by_probe:
            return frozenset()
        return frozenset(bout.kind for bout in probed) - {bout.kind for bout in probed if self._bites(bout)}

    def _taught(
        self, bout: _Bout, terms: Mapping[str, Term], weights: Mapping[str, float], cost: float = 1.0
    ) -> list[Example]:
        rows = taken(bout.episodes)
        decisions = decisions_of(rows, bout.episodes, terms).weighted(weights)
        against = f"{bout.kind}/{bout.opponent}"
        estimate = self.settings.advantage.made(decisions, self._carried.get(against, FRESH))
        self._carried[against] = dict(estimate.state)
        self._counts.update(estimate.counts)
        costed = replace(
            estimate,
            advantage=estimate.advantage * cost,
            centred_terms={name: values * cost for name, values in estimate.centred_terms.items()},
        )
        return examples_of(rows, costed)

    def _figures(self, trained: Sequence[_Bout], probed: Sequence[_Bout]) -> dict[str, float]:
        """Means over this iteration's episodes, under the game's name."""
        game = self.game.spec.name
        episodes = [episode for bout in trained for episode in bout.episodes]
        figures = {f"{game}/pay": _mean(mean_pay(episode) for episode in episodes)}
        if self.costs["externality"]:
            figures[f"{game}/externality"] = _mean(told("externality", episode) for episode in episodes)
        for bout in probed:
            worth = shortfall if bout.kind == "exploit" else colluded
            opponent = bout.opponent.removeprefix(f"{self.game.spec.family}/")
            figures[f"{game}/probe/{bout.kind}/{opponent}"] = _mean(worth(episode) for episode in bout.episodes)
        return figures


@dataclass(frozen=True)
class _Bout:
    """The episodes against one opponent."""

    kind: str
    opponent: str
    episodes: list[Episode]


def _mean(values: Iterable[float]) -> float:
    """Of those episodes that can tell."""
    listed = [value for value in values if math.isfinite(value)]
    return math.fsum(listed) / len(listed) if listed else math.nan
