"""SEPO (Safe Equilibrium Policy Optimization): the objective, its reward terms, and the rollouts that estimate it.

    J = U - alpha E - beta C - gamma X - delta D

with payoff U, exploitability E, collusion risk C, externality X and deception D. U, X and D are measured in rollouts
against the train pool, E and C in probes: episodes against adversaries. The advantage of a rollout is estimated by
round over the other rollouts of its group, each reward term centred by itself.

Reference: Safe Equilibrium Policy Optimization for Strategic Agent Policies.
What differs: the paper estimates E in episodes apart from rollout i, and subtracts it from the reward of rollout i.
Those episodes are independent of the rollout's tokens, so that penalty has no expected gradient and adds only noise.
With `penalty_credit: probe`, the default, the policy is trained on the decisions of the probes, with the advantage of
their own penalty; `penalty_credit: rollout` is the paper's. The penalty of an adversary of the pool is inactive while
the policy's mean loss to it is not positive, so that noise in a game of chance is not taken for exploitability. D is
not in the paper.
When not: where the game has no pools or safety signals and only the payoff counts, take GRPO or REINFORCE; for
self-play, too, since the opponents here are players of pools and best responses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

from stratagem.algorithms.sepo.deception import Deceptions, deceptions
from stratagem.algorithms.sepo.opponents import Opposition, SEPOOpponents
from stratagem.algorithms.sepo.recipe import SEPORecipe, SEPOSettings, check_games
from stratagem.games.base import Game, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.safety.base import Pools
from stratagem.learn.advantages.base import FRESH, State
from stratagem.learn.example import Example
from stratagem.measure.best_response import BUDGET
from stratagem.measure.expectation import SCALE
from stratagem.players.base import Player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.pools import NONE, pools
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.workers.shards import play_setups
from stratagem.training.algorithm import OnlineAlgorithm, check_overlap
from stratagem.training.collector import RolloutBatch
from stratagem.training.message_branches import NO_BRANCHES, MessageBranches, play_branches
from stratagem.training.opponents.pool import OpponentPool, PoolSettings, Snapshots, check_snapshots
from stratagem.training.rollouts import (
    Term,
    decision_columns,
    group_setups,
    round_payoffs,
    select_decisions,
    training_examples,
)

_OF_ROLLOUTS = frozenset({"externality", "deception"})
"""Penalties that are measured in the rollouts themselves."""
PLAYED = ("train", "exploit", "collusive")
"""Pools that are played against in training."""


def scaled_payoffs(episode: Episode, seat: Seat) -> Mapping[int, float]:
    """Return the payoff of each round, on the scale on which mutual cooperation has the value 3, as in every report."""
    stakes = episode.stakes[seat]
    unit = SCALE / stakes.cooperative if stakes else 1.0
    return {number: unit * value for number, value in round_payoffs(episode, seat).items()}


def signal_term(name: str) -> Term:
    """Return the reward term of a safety signal: its value at a seat in each round."""

    def term(episode: Episode, seat: Seat) -> Mapping[int, float]:
        values = episode.signals.get(name, ())
        return {number: value for number, row in enumerate(values) if (value := row[seat]) is not None}

    return term


def mean_pay(episode: Episode) -> float:
    """Return the agent's mean payoff per round."""
    return math.fsum(scaled_payoffs(episode, episode.seat_of(0)).values()) / max(1, len(episode.rounds))


def mean_signal(name: str, episode: Episode) -> float:
    """Return the mean of a safety signal over the rounds in which it is defined; NaN without any."""
    values = signal_term(name)(episode, episode.seat_of(0))
    return math.fsum(values.values()) / len(values) if values else math.nan


def shortfall(episode: Episode) -> float:
    """Return the payoff against a passive opponent less the agent's mean payoff per round; may be negative.

    In a game without yardsticks the others' mean payoff stands for that against a passive opponent.
    """
    seat = episode.seat_of(0)
    stakes = episode.stakes[seat]
    if stakes is None:
        others = [payoff for other, payoff in enumerate(episode.payoffs) if other != seat]
        return math.fsum(others) / len(others) / max(1, len(episode.rounds)) - mean_pay(episode)
    return stakes.passive * SCALE / stakes.cooperative - mean_pay(episode)


def collusion_rate(episode: Episode) -> float:
    """Return the share of rounds with collusion, over rounds in which it is defined."""
    return mean_signal("collusion", episode)


def penalty(kind: str, episode: Episode) -> float:
    """Return the penalty of one probe episode: at least 0 (the paper's), and 0 where it is not defined."""
    value = shortfall(episode) if kind == "exploit" else collusion_rate(episode)
    return max(0.0, value) if math.isfinite(value) else 0.0


@dataclass(frozen=True)
class OpponentEpisodes:
    """Episodes of an iteration against one opponent."""

    kind: str
    opponent: str
    setups: list[Setup]
    episodes: list[Episode]

    @property
    def plays(self) -> Iterator[tuple[Setup, Episode]]:
        """Each episode with its setup."""
        return zip(self.setups, self.episodes, strict=True)


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
        drawn: OpponentPool | None = None,
    ) -> None:
        """`budget` is the number of states that may be visited to compute a best response.

        `policy_replies` is the number of replies in a situation that are counted where a model states no probabilities.
        `drawn` are opponents for the rollouts that a matchmaker draws; without them all of the train pool are met.
        """
        self.settings = settings
        self.game = game
        self.agent = agent
        self.key = key.at(describe(game))
        self.budget = budget
        self.opponents = SEPOOpponents(settings, game, agent, self.key, budget, own_pools, policy_replies, drawn)
        self.weights = self.opponents.weights
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
        matches = self._play(self.opponents.choose(iteration, key), key, iteration)
        self.opponents.record((match.setups, match.episodes) for match in matches)
        self._branches = self._play_branches(matches)
        self._deceptions = self._find_deceptions(matches, key)
        rollouts = [match for match in matches if match.kind == "train"]
        probes = [match for match in matches if match.kind != "train"]
        parts = [*self._rollout_examples(rollouts, probes), *(self._probe_examples(probes) if self._by_probe else ())]
        episodes = [episode for match in (*rollouts, *probes) for episode in match.episodes]
        episodes += self._branches.episodes.values()
        examples = [example for part in parts for example in part]
        metrics, inactive = self._metrics(rollouts, probes), self.inactive_terms(probes)
        return RolloutBatch(examples, metrics, episodes, dict(self._counts), self.terms, inactive)

    def state(self) -> dict[str, Any]:
        """All that a later iteration depends on: the last best response, and the estimator's state by opponent."""
        estimators = {name: dict(state) for name, state in self._estimator_states.items()}
        return self.opponents.state() | {"advantage": estimators}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.opponents.restore(state)
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

    def _play(self, opponents: Sequence[Opposition], key: Key, iteration: int) -> list[OpponentEpisodes]:
        """Play groups of episodes against each opponent, all in parallel."""
        setups = [list(self._setups(opponent, key, iteration)) for opponent in opponents]
        finished = iter(play_setups(chain.from_iterable(setups)))
        return [
            OpponentEpisodes(opponent.kind, opponent.player.name, own, list(islice(finished, len(own))))
            for opponent, own in zip(opponents, setups, strict=True)
        ]

    def _play_branches(self, matches: Sequence[OpponentEpisodes]) -> MessageBranches:
        """Play the branches at messages of all rollouts and probes, if the estimator asks for them."""
        plays = ((setup, episode, (0,)) for match in matches for setup, episode in match.plays)
        return play_branches(self.settings.advantage.value.columns, plays, self.settings.message_alternatives)

    def _find_deceptions(self, matches: Sequence[OpponentEpisodes], key: Key) -> Deceptions:
        """Find the deceptive statements of the rollouts and their branches; none without a weight."""
        if not self.weights["deception"]:
            return Deceptions()
        plays = [play for match in matches if match.kind == "train" for play in match.plays]
        return deceptions(plays, self.settings.deception_pairs, key.at("deception"), self.budget)

    def _setups(self, opponent: Opposition, key: Key, iteration: int) -> Iterator[Setup]:
        others, slots_of = self.opponents.lineup(opponent.player)
        match, kind, name = Match(self.game, [self.agent, *others]), opponent.kind, opponent.player.name
        at, path = key.at(kind, name), f"{self.game.figure_name}/{iteration}/{kind}/{name}"
        size, groups = self.settings.group_size, opponent.groups
        return group_setups(match, len(groups), size, at, name=path, before=groups.start, slots_of=slots_of)

    def _rollout_examples(
        self, rollouts: Sequence[OpponentEpisodes], probes: Sequence[OpponentEpisodes]
    ) -> Iterator[list[Example]]:
        """Yield examples with payoff and externality, and with the penalties where rollouts bear them."""
        for group in rollouts:
            terms: dict[str, Term] = {"payoff": scaled_payoffs}
            weights = {"payoff": 1.0}
            if self.weights["externality"]:
                terms["externality"], weights["externality"] = signal_term("externality"), -self.weights["externality"]
            if self.weights["deception"]:
                terms["deception"], weights["deception"] = self._deceptions.term, -self.weights["deception"]
            if self.settings.penalty_credit in ("rollout", "shared"):
                for kind in ("exploit", "collusion"):
                    if term := self._penalty_term(group, [probe for probe in probes if probe.kind == kind], kind):
                        terms[kind], weights[kind] = term, -self.weights[kind]
            yield self._examples(group, terms, weights)

    def _penalty_term(self, rollouts: OpponentEpisodes, probes: Sequence[OpponentEpisodes], kind: str) -> Term | None:
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

    def _probe_examples(self, probes: Sequence[OpponentEpisodes]) -> Iterator[list[Example]]:
        """Yield examples of the probes' own decisions; adversaries of one kind share the weight of its penalty."""
        for probe in probes:
            num_probes = sum(other.kind == probe.kind for other in probes)
            weight = self.weights[probe.kind] / num_probes
            term = scaled_payoffs if probe.kind == "exploit" else signal_term("collusion")
            # a shortfall is made good by payoff, and collusion is left off
            sign = 1.0 if probe.kind == "exploit" else -1.0
            if self.is_active(probe):
                yield self._examples(probe, {probe.kind: term}, {probe.kind: sign}, weight)

    def is_active(self, probe: OpponentEpisodes) -> bool:
        """False for an adversary of the pool that gains nothing on average.

        A best response never gains less than 0 in expectation, so its penalty is always active.
        """
        if probe.kind != "exploit" or self.settings.penalty_source == "best_response":
            return True
        return math.fsum(shortfall(episode) for episode in probe.episodes) > 0.0

    def inactive_terms(self, probes: Sequence[OpponentEpisodes]) -> frozenset[str]:
        """Return the penalty terms without an active adversary in this iteration."""
        if not self._by_probe:
            return frozenset()
        return frozenset(probe.kind for probe in probes) - {probe.kind for probe in probes if self.is_active(probe)}

    def _examples(
        self,
        group: OpponentEpisodes,
        terms: Mapping[str, Term],
        weights: Mapping[str, float],
        advantage_weight: float = 1.0,
    ) -> list[Example]:
        rows = select_decisions(group.episodes)
        decisions = decision_columns(rows, group.episodes, terms, self._branches).weigh_terms(weights)
        against = f"{group.kind}/{group.opponent}"
        estimate = self.settings.advantage.value(decisions, self._estimator_states.get(against, FRESH))
        self._estimator_states[against] = dict(estimate.state)
        self._counts.update(estimate.counts)
        # not before the estimate, where a division by the standard deviation would cancel the weight of a probe
        weighted = replace(
            estimate,
            advantage=estimate.advantage * advantage_weight,
            centred_terms={name: values * advantage_weight for name, values in estimate.centred_terms.items()},
        )
        return training_examples(rows, weighted)

    def _metrics(self, rollouts: Sequence[OpponentEpisodes], probes: Sequence[OpponentEpisodes]) -> dict[str, float]:
        """Return means over the iteration's episodes, under the game's name."""
        game = self.game.figure_name
        episodes = [episode for group in rollouts for episode in group.episodes]
        metrics = {f"{game}/payoff": _mean(mean_pay(episode) for episode in episodes)}
        if self.weights["externality"]:
            metrics[f"{game}/externality"] = _mean(mean_signal("externality", episode) for episode in episodes)
        if self.weights["deception"]:
            metrics[f"{game}/deception"] = self._deceptions.rate
        metrics |= {f"{game}/{name}": value for name, value in sorted(self.opponents.metrics.items())}
        for probe in probes:
            gain = shortfall if probe.kind == "exploit" else collusion_rate
            name = f"{game}/probe/{probe.kind}/{self._metric_name(probe.opponent)}"
            metrics[name] = _mean(map(gain, probe.episodes))
        return metrics

    def _metric_name(self, opponent: str) -> str:
        """Return the name of an opponent as one part of a path, without the family."""
        return "".join(opponent.replace(f"{self.game.spec.family}/", "").split()).replace("/", ":")


class SEPOAlgorithm(OnlineAlgorithm[SEPORecipe]):
    """SEPO: rollouts against the train pool, and probes by adversaries."""

    recipe_type = SEPORecipe

    def check(self) -> None:
        check_games(self.recipe, self.games)
        super().check()
        check_snapshots(self.recipe, self.recipe.sepo)
        for game in self.games:
            named = pools(game, self.recipe.pools_of(game))
            check_overlap(self.recipe, game, (one for pool in PLAYED for one in named[pool].make(game)))

    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> SEPOCollector:
        recipe, own = self.recipe, self.recipe.pools_of(game)
        drawn = self._list_opponents(game, player)
        return SEPOCollector(recipe.sepo, game, player, key, recipe.exact_budget, own, recipe.policy_replies, drawn)

    def _list_opponents(self, game: Game[Any], player: ModelPlayer) -> OpponentPool | None:
        """Return the opponents of the pool `train` as its matchmaker draws them; None without one."""
        sepo = self.recipe.sepo
        if sepo.matchmaker is None:
            return None
        settings = PoolSettings(
            opponents=dict.fromkeys(pools(game, self.recipe.pools_of(game))["train"].players, 1.0),
            matchmaker=sepo.matchmaker,
            snapshot_every=sepo.snapshot_every,
            max_snapshots=sepo.max_snapshots,
        )
        return OpponentPool(settings, game, player, self.snapshots)

    @cached_property
    def snapshots(self) -> Snapshots:
        """Snapshots of the policy, which the opponents of all games share."""
        return Snapshots(self.run.path, self.recipe.sepo)


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the finite values; NaN without any."""
    finite = [value for value in values if math.isfinite(value)]
    return math.fsum(finite) / len(finite) if finite else math.nan
