"""One iteration of a league: all learners' games are played at once, and then each learner is updated on its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stratagem.algorithms.grpo.collector import GRPO
from stratagem.algorithms.league.booking import baseline, book
from stratagem.algorithms.league.matched import Matched
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.seats import Seats
from stratagem.algorithms.league.standing import Standing
from stratagem.engines.caches import reset_caches
from stratagem.games.base import Game
from stratagem.league.matchmaking import Situation
from stratagem.league.ratings import MEAN, elo_among
from stratagem.league.weights import effective_number
from stratagem.play.match import Setup
from stratagem.play.scheduler import played
from stratagem.training.online import joined, training_data
from stratagem.training.stage import Batch


class Round:
    """Plays the iterations of a league."""

    def __init__(self, recipe: LeagueRecipe, standing: Standing, seats: Seats, game: Game[Any]) -> None:
        self.recipe = recipe
        self.standing = standing
        self.seats = seats
        self.game = game
        self.rules = {name: one.match.make(one.role) for name, one in recipe.learners.items()}

    def batches(self, number: int) -> Iterator[Batch]:
        """Play one iteration; then a batch for each learner."""
        reset_caches()
        situation = self._situation()
        matched = {name: self._matched(name, situation) for name in self.rules}
        collectors = {name: self._collector(name, opponents) for name, opponents in matched.items()}
        groups = {name: collector.groups(number) for name, collector in collectors.items()}
        setups = {name: list(collector.setups(groups[name])) for name, collector in collectors.items()}
        over = iter(played(setup for some in setups.values() for setup in some))
        for name, collector in collectors.items():
            episodes = [next(over) for _ in setups[name]]
            worth = self._baselines(setups[name])
            booked = book(self.standing.results, name, groups[name], worth, episodes)
            collected = collector.credited(groups[name], episodes)
            self.standing.collectors[name] = collector.state()
            metrics = {"effective": effective_number(np.array(list(matched[name].odds.values())))}
            metrics |= {"points": booked.points, "pay": booked.pay}
            metrics |= {what.partition("/")[2]: value for what, value in collected.figures.items()}
            named = {f"{name}/{metric}": value for metric, value in metrics.items()}
            yield Batch(collected.episodes, name, training_data(joined([collected])), named)
        self.seats.trim()

    def _matched(self, name: str, situation: Situation) -> Matched:
        learner, others = situation.population[name], self.game.spec.seats - 1
        return Matched(self.rules[name], learner, situation, self.seats, others)

    def _collector(self, name: str, matched: Matched) -> GRPO:
        hero = self.standing.learners[name].player
        collector = GRPO(self.recipe.league, self.game, hero, self.standing.key().at(name), matched, name)
        collector.restore(self.standing.collectors.get(name, {}))
        return collector

    def _baselines(self, setups: Sequence[Setup]) -> list[tuple[float, ...]]:
        """The baseline of each group, whose rollouts start from one position."""
        league = self.recipe.league
        return [baseline(setup.begin(), league.match_score) for setup in setups[:: league.group_size]]

    def _situation(self) -> Situation:
        return Situation(self.standing.population, self.standing.results, self._ratings() if self.recipe.rated else {})

    def _ratings(self) -> dict[str, float]:
        """Those who do not change as they were rated last, and who is matched by ratings by its own games since."""
        results, rated = self.standing.results, self.standing.ratings
        others = [member.name for member in self.standing.population.of(learns=False)]
        theirs = {name: rated.get(name, MEAN) for name in others}
        known = np.array(list(theirs.values()))
        return theirs | {name: elo_among(*results.counts(name, others), known) for name in self.recipe.rated}
