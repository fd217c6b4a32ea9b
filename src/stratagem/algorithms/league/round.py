"""Iteration of a league: all learners' games are played in parallel, and then each learner is updated on its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stratagem.algorithms.grpo.collector import GRPOCollector
from stratagem.algorithms.league.booking import baseline, book
from stratagem.algorithms.league.member_players import MemberPlayers
from stratagem.algorithms.league.opponents import PopulationOpponents
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.engines.caches import reset_caches
from stratagem.games.base import Game
from stratagem.league.matchmaking import Situation
from stratagem.league.ratings import MEAN, elo_among
from stratagem.league.weights import effective_number
from stratagem.play.match import Setup
from stratagem.training.collector import merge
from stratagem.training.online import training_data
from stratagem.training.stage import Batch
from stratagem.workers.shards import played


class Round:
    """Play of the iterations of a league."""

    def __init__(self, recipe: LeagueRecipe, league: LeagueState, players: MemberPlayers, game: Game[Any]) -> None:
        self.recipe = recipe
        self.league = league
        self.players = players
        self.game = game
        self.rules = {name: one.match.make(one.role) for name, one in recipe.learners.items()}

    def batches(self, number: int) -> Iterator[Batch]:
        """Play an iteration; yield a batch for each learner."""
        reset_caches()
        situation = self._situation()
        opponents = {name: self._opponents(name, situation) for name in self.rules}
        collectors = {name: self._collector(name, own) for name, own in opponents.items()}
        groups = {name: collector.groups(number) for name, collector in collectors.items()}
        setups = {name: list(collector.setups(groups[name])) for name, collector in collectors.items()}
        finished = iter(played(setup for own in setups.values() for setup in own))
        for name, collector in collectors.items():
            episodes = [next(finished) for _ in setups[name]]
            baselines = self._baselines(setups[name])
            booked = book(self.league.results, name, groups[name], baselines, episodes)
            rollouts = collector.make_batch(groups[name], episodes)
            self.league.collectors[name] = collector.state()
            metrics = {"effective": effective_number(np.array(list(opponents[name].odds.values())))}
            metrics |= {"points": booked.points, "pay": booked.pay}
            metrics |= {metric.partition("/")[2]: value for metric, value in rollouts.metrics.items()}
            named = {f"{name}/{metric}": value for metric, value in metrics.items()}
            yield Batch(rollouts.episodes, name, training_data(merge([rollouts])), named)
        self.players.trim()

    def _opponents(self, name: str, situation: Situation) -> PopulationOpponents:
        learner, others = situation.population[name], self.game.spec.seats - 1
        return PopulationOpponents(self.rules[name], learner, situation, self.players, others)

    def _collector(self, name: str, opponents: PopulationOpponents) -> GRPOCollector:
        agent, key = self.league.learners[name].player, self.league.key().at(name)
        collector = GRPOCollector(self.recipe.league, self.game, agent, key, opponents, name)
        collector.restore(self.league.collectors.get(name, {}))
        return collector

    def _baselines(self, setups: Sequence[Setup]) -> list[tuple[float, ...]]:
        """Return the baselines of each group, whose rollouts start from one position."""
        settings = self.recipe.league
        return [baseline(setup.begin(), settings.match_score) for setup in setups[:: settings.group_size]]

    def _situation(self) -> Situation:
        return Situation(self.league.population, self.league.results, self._ratings() if self.recipe.rated else {})

    def _ratings(self) -> dict[str, float]:
        """Return the last ratings of frozen members, and of the rated learners those by their own games since."""
        results, rated = self.league.results, self.league.ratings
        others = [member.name for member in self.league.population.of(learns=False)]
        frozen = {name: rated.get(name, MEAN) for name in others}
        known = np.array(list(frozen.values()))
        return frozen | {name: elo_among(*results.counts(name, others), known) for name in self.recipe.rated}
