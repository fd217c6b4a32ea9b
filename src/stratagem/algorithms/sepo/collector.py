"""Rollouts of SEPO (Safe Equilibrium Policy Optimization) in one game.

The objective is

    J = U - alpha E - beta C - gamma X - delta D

with payoff U, exploitability E, collusion risk C, externality X and deception D. U, X and D are measured in rollouts
against the train pool, E and C in probes: episodes against adversaries. The advantage of a rollout is estimated by
round over the other rollouts of its group, each reward term centred by itself.

Difference from the paper: it estimates E in episodes apart from rollout i, and subtracts it from the reward of rollout
i. Those episodes are independent of the rollout's tokens, so that penalty has no expected gradient and adds only noise.
With `penalty_credit: probe`, the default, the policy is trained on the decisions of the probes, with the advantage of
their own penalty; `penalty_credit: rollout` is the paper's. The penalty of an adversary of the pool is inactive while
the policy's mean loss to it is not positive, so that noise in a game of chance is not taken for exploitability.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any

from stratagem.algorithms.sepo.deception import Deceptions, deceptions
from stratagem.algorithms.sepo.penalties import colluded, mean_pay, paid, penalty, shortfall, signalled, told
from stratagem.algorithms.sepo.settings import SEPOSettings
from stratagem.evaluation.best_response import BUDGET
from stratagem.evaluation.exploitability.best_responder import BestResponder, StatedPolicy, best_responder, mean_kl
from stratagem.evaluation.exploitability.exact import exact
from stratagem.evaluation.openings import opening_policy
from stratagem.evaluation.sampled.counted import stating
from stratagem.games.base import Game, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.safety.base import Pools
from stratagem.learning.advantages.base import FRESH, State
from stratagem.learning.example import Example
from stratagem.play.match import Match, Setup
from stratagem.play.records import Episode
from stratagem.players.base import Player
from stratagem.players.pools import NONE, pools
from stratagem.training.collector import RolloutBatch
from stratagem.training.message_branches import NO_BRANCHES, MessageBranches, play_branches
from stratagem.training.rollouts import Term, decision_columns, group_setups, select_decisions, training_examples
from stratagem.workers.shards import played

_OF_ROLLOUTS = frozenset({"externality", "deception"})
"""Penalties that are measured in the rollouts themselves."""


class SEPOCollector:
    """Collector of one agent's rollouts and probes in one game."""

    def __init__(
        self,
        settings: SEPOSettings,
        game: Game[Any],
        agent: Player,
        key: Key,
        budget: int = BUDGET,
        own_pools: Pools = NONE,
        policy_replies: int = 0,
    ) -> None:
        """`budget` is the number of states that may be visited to compute a best response.

        `policy_replies` is the number of replies in a situation that are counted where a model states no probabilities.
        """
        self.settings = settings
        self.game = game
        self.agent = agent
        self.key = key.at(describe(game))
        self.budget = budget
        self.policy_replies = policy_replies
        self.weights = settings.weights(game, own_pools)
        self._pools = {name: pool.make(game) for name, pool in pools(game, own_pools).items()}
        self._responder: BestResponder | None = None
        self._at_response: StatedPolicy = {}
        """Policy at the last best response, for `best_response_kl`."""
        self._kl: float | None = None
        self._worst_seat: Seat = 0
        """Seat of the best response, where there are more than two."""
        self._gain: float | None = None
        """Gain of the best response there, a round, where it was computed in this iteration."""
        self._branches = NO_BRANCHES
        """Branches at the messages of this iteration, for an estimator that compares messages."""
        self._deceptions = Deceptions()
        """Deceptive statements of this iteration."""
        self._counts: Counter[str] = Counter()
        self._estimator_states: dict[str, State] = {}

    def collect(self, iteration: int) -> RolloutBatch:
        """Play the rollouts and probes of an iteration, and estimate their advantages."""
        key = self.key.at("iteration", iteration)
        self._counts.clear()
        self._kl = self._gain = None
        opponents = [("train", opponent) for opponent in self._pools["train"]]
        opponents += self._adversaries(iteration) if self.settings.penalty_credit != "none" else []
        matches = self._play(opponents, key, iteration)
        self._branches = self._play_branches(matches)
        self._deceptions = self._find_deceptions(matches, key)
        rollouts = [match for match in matches if match.kind == "train"]
        probes = [match for match in matches if match.kind != "train"]
        parts = [*self._rollout_examples(rollouts, probes), *(self._probe_examples(probes) if self._by_probe else ())]
        episodes = [episode for match in (*rollouts, *probes) for episode in match.episodes]
        episodes += self._branches.episodes.values()
        examples = [example for part in parts for example in part]
        metrics, inactive = self._metrics(rollouts, probes), self._inactive(probes)
        return RolloutBatch(examples, metrics, episodes, dict(self._counts), self.terms, inactive)

    def state(self) -> dict[str, Any]:
        """All that a later iteration depends on.

        It is the table of the last best response with the policy that it answers, and the state of the advantage
        estimator by opponent.
        """
        table = None if self._responder is None else dict(self._responder.table)
        estimators = {name: dict(state) for name, state in self._estimator_states.items()}
        found = {"responder": table, "at_response": self._at_response, "worst_seat": self._worst_seat}
        return found | {"advantage": estimators}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._responder = None if state["responder"] is None else BestResponder(state["responder"])
        self._at_response = state.get("at_response", {})
        self._worst_seat = state.get("worst_seat", 0)
        self._estimator_states = {name: dict(own) for name, own in state.get("advantage", {}).items()}

    @property
    def terms(self) -> frozenset[str]:
        """Reward terms with a weight."""
        weighted = {name for name, weight in self.weights.items() if weight}
        without_probes = self.settings.penalty_credit == "none"
        return frozenset({"payoff"} | (weighted & _OF_ROLLOUTS if without_probes else weighted))

    @property
    def _by_probe(self) -> bool:
        return self.settings.penalty_credit == "probe"

    def _play(self, opponents: Sequence[tuple[str, Player]], key: Key, iteration: int) -> list[_OpponentEpisodes]:
        """Play groups of episodes against each opponent, all in parallel."""
        setups = [list(self._setups(kind, opponent, key, iteration)) for kind, opponent in opponents]
        finished = iter(played(chain.from_iterable(setups)))
        return [
            _OpponentEpisodes(kind, opponent.name, own, list(islice(finished, len(own))))
            for (kind, opponent), own in zip(opponents, setups, strict=True)
        ]

    def _play_branches(self, matches: Sequence[_OpponentEpisodes]) -> MessageBranches:
        """Play the branches at messages of all rollouts and probes, if the estimator asks for them."""
        plays = ((setup, episode, (0,)) for match in matches for setup, episode in match.plays)
        return play_branches(self.settings.advantage.value.columns, plays, self.settings.message_alternatives)

    def _find_deceptions(self, matches: Sequence[_OpponentEpisodes], key: Key) -> Deceptions:
        """Find the deceptive statements of the rollouts and their branches; none without a weight."""
        if not self.weights["deception"]:
            return Deceptions()
        plays = [play for match in matches if match.kind == "train" for play in match.plays]
        return deceptions(plays, self.settings.deception_pairs, key.at("deception"), self.budget)

    def _setups(self, kind: str, opponent: Player, key: Key, iteration: int) -> Iterator[Setup]:
        seats = self.game.spec.seats
        others = [opponent] * (seats - 1)
        slots_of = None
        if isinstance(opponent, BestResponder) and seats > 2:  # it answers the policy at all other seats
            others[1:] = [self.agent] * (seats - 2)
            slots_of = partial(seated_beside, seats, self._worst_seat)
        match = Match(self.game, [self.agent, *others])
        name = f"{self.game.spec.name}/{iteration}/{kind}/{opponent.name}"
        at = key.at(kind, opponent.name)
        groups, rollouts = self.settings.groups_per_batch, self.settings.group_size
        return group_setups(match, groups, rollouts, at, name=name, before=iteration * groups, slots_of=slots_of)

    def _adversaries(self, iteration: int) -> list[tuple[str, Player]]:
        """Return the adversaries of the exploitability and the collusion penalty."""
        adversaries: list[tuple[str, Player]] = []
        if self.weights["exploit"]:
            adversaries += [("exploit", player) for player in self._exploiters(iteration)]
        if self.weights["collusion"]:
            adversaries += [("collusion", player) for player in self._pools["collusive"]]
        return adversaries

    def _exploiters(self, iteration: int) -> Sequence[Player]:
        if self.settings.penalty_source == "pool":
            return self._pools["exploit"]
        if self._responder is None or iteration % self.settings.best_response_every == 0 or self._moved():
            policy = stating(self.agent, self.policy_replies, self.key.at("replies", iteration))
            self._responder = best_responder(self.game, policy, self.budget)
            self._worst_seat = self._seat_of_largest_gain(policy)
            self._at_response = self._opening()
        return [self._responder]

    def _seat_of_largest_gain(self, policy: Player) -> Seat:
        """Return the seat at which a best response gains most; with two seats it has both in turn."""
        if self.game.spec.seats == 2:
            return 0
        gains = exact(self.game, policy, self.budget).gains
        self._gain = max(gains)
        return gains.index(self._gain)

    def _opening(self) -> StatedPolicy:
        """Return the policy at the first information sets, where its divergence is measured."""
        return {} if self.settings.best_response_kl is None else opening_policy(self.game, self.agent)

    def _moved(self) -> bool:
        """True if the policy is farther from that of the last best response than `best_response_kl`."""
        if self.settings.best_response_kl is None:
            return False
        self._kl = mean_kl(self._opening(), self._at_response)
        return self._kl > self.settings.best_response_kl

    def _rollout_examples(
        self, rollouts: Sequence[_OpponentEpisodes], probes: Sequence[_OpponentEpisodes]
    ) -> Iterator[list[Example]]:
        """Yield examples with payoff and externality, and with the penalties where rollouts bear them."""
        for group in rollouts:
            terms: dict[str, Term] = {"payoff": paid}
            weights = {"payoff": 1.0}
            if self.weights["externality"]:
                terms["externality"], weights["externality"] = signalled("externality"), -self.weights["externality"]
            if self.weights["deception"]:
                terms["deception"], weights["deception"] = self._deceptions.term, -self.weights["deception"]
            if self.settings.penalty_credit in ("rollout", "shared"):
                for kind in ("exploit", "collusion"):
                    if term := self._penalty_term(group, [probe for probe in probes if probe.kind == kind], kind):
                        terms[kind], weights[kind] = term, -self.weights[kind]
            yield self._examples(group, terms, weights)

    def _penalty_term(self, rollouts: _OpponentEpisodes, probes: Sequence[_OpponentEpisodes], kind: str) -> Term | None:
        """Return the penalty of rollout i: that of the i-th episode of each probe, or with `shared` the mean of all."""
        if not probes:
            return None
        by_probe = [[penalty(kind, episode) for episode in probe.episodes] for probe in probes]
        by_rollout = [math.fsum(column) / len(column) for column in zip(*by_probe, strict=True)]
        mean = math.fsum(by_rollout) / len(by_rollout)
        shared = self.settings.penalty_credit == "shared"
        penalties = {e.id: mean if shared else own for e, own in zip(rollouts.episodes, by_rollout, strict=True)}

        def term(episode: Episode, seat: Seat) -> Mapping[int, float]:
            return dict.fromkeys(range(len(episode.rounds)), penalties[episode.probe_of or episode.id])

        return term

    def _probe_examples(self, probes: Sequence[_OpponentEpisodes]) -> Iterator[list[Example]]:
        """Yield examples of the probes' own decisions; adversaries of one kind share the weight of its penalty."""
        for probe in probes:
            num_probes = sum(other.kind == probe.kind for other in probes)
            weight = self.weights[probe.kind] / num_probes
            term = paid if probe.kind == "exploit" else signalled("collusion")
            sign = 1.0 if probe.kind == "exploit" else -1.0
            if self._is_active(probe):
                yield self._examples(probe, {probe.kind: term}, {probe.kind: sign}, weight)

    def _is_active(self, probe: _OpponentEpisodes) -> bool:
        """False for an adversary of the pool that gains nothing on average.

        A best response never gains less than 0 in expectation, so its penalty is always active.
        """
        if probe.kind != "exploit" or self.settings.penalty_source == "best_response":
            return True
        return math.fsum(shortfall(episode) for episode in probe.episodes) > 0.0

    def _inactive(self, probes: Sequence[_OpponentEpisodes]) -> frozenset[str]:
        """Return the penalty terms without an active adversary in this iteration."""
        if not self._by_probe:
            return frozenset()
        return frozenset(probe.kind for probe in probes) - {probe.kind for probe in probes if self._is_active(probe)}

    def _examples(
        self,
        group: _OpponentEpisodes,
        terms: Mapping[str, Term],
        weights: Mapping[str, float],
        advantage_weight: float = 1.0,
    ) -> list[Example]:
        rows = select_decisions(group.episodes)
        decisions = decision_columns(rows, group.episodes, terms, self._branches).weighted(weights)
        against = f"{group.kind}/{group.opponent}"
        estimate = self.settings.advantage.value(decisions, self._estimator_states.get(against, FRESH))
        self._estimator_states[against] = dict(estimate.state)
        self._counts.update(estimate.counts)
        weighted = replace(
            estimate,
            advantage=estimate.advantage * advantage_weight,
            centred_terms={name: values * advantage_weight for name, values in estimate.centred_terms.items()},
        )
        return training_examples(rows, weighted)

    def _metrics(self, rollouts: Sequence[_OpponentEpisodes], probes: Sequence[_OpponentEpisodes]) -> dict[str, float]:
        """Return means over the iteration's episodes, under the game's name."""
        game = self.game.spec.name
        episodes = [episode for group in rollouts for episode in group.episodes]
        metrics = {f"{game}/pay": _mean(mean_pay(episode) for episode in episodes)}
        if self.weights["externality"]:
            metrics[f"{game}/externality"] = _mean(told("externality", episode) for episode in episodes)
        if self.weights["deception"]:
            metrics[f"{game}/deception"] = self._deceptions.rate
        if self._gain is not None:
            metrics[f"{game}/best_response_gain"] = self._gain
        if self._kl is not None:
            metrics[f"{game}/best_response_kl"] = self._kl
        for probe in probes:
            gain = shortfall if probe.kind == "exploit" else colluded
            metrics[f"{game}/probe/{probe.kind}/{self._metric_name(probe.opponent)}"] = _mean(
                gain(episode) for episode in probe.episodes
            )
        return metrics

    def _metric_name(self, opponent: str) -> str:
        """Return the name of an opponent as one part of a path, without the family."""
        return "".join(opponent.replace(f"{self.game.spec.family}/", "").split()).replace("/", ":")


def seated_beside(seats: int, worst: Seat, group: int) -> tuple[int, ...]:
    """Seat the responder, slot 1, at the seat where it gains most; the agent, slot 0, has the others in turn."""
    others = [seat for seat in range(seats) if seat != worst]
    agent = others[group % len(others)]
    rest = iter(range(2, seats))
    return tuple(0 if seat == agent else 1 if seat == worst else next(rest) for seat in range(seats))


@dataclass(frozen=True)
class _OpponentEpisodes:
    """Episodes against one opponent."""

    kind: str
    opponent: str
    setups: list[Setup]
    episodes: list[Episode]

    @property
    def plays(self) -> Iterator[tuple[Setup, Episode]]:
        """Each episode with its setup."""
        return zip(self.setups, self.episodes, strict=True)


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the finite values; NaN without any."""
    finite = [value for value in values if math.isfinite(value)]
    return math.fsum(finite) / len(finite) if finite else math.nan
