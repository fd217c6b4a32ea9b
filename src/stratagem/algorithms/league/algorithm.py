"""League training (AlphaStar, Vinyals et al. 2019) with GRPO on branched rollouts as the learners' update.

In every iteration each learner plays opponents that its matchmaking rule draws, such as prioritised fictitious
self-play, and is updated. All learners' games of an iteration are played in parallel, so their adapters share batches.
At intervals a snapshot of each learner joins the population as a frozen member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.algorithms.league.crossplay import TABLE, cross_play_evaluation
from stratagem.algorithms.league.ratings import MEAN, elo_among
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.roles import is_ready, is_reset
from stratagem.algorithms.league.state import POPULATION, LeagueState
from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.language.engines.caches import reset_caches
from stratagem.language.models.run_models import RunModel
from stratagem.playing.match import Setup
from stratagem.playing.records import Episode
from stratagem.playing.workers.shards import play_setups
from stratagem.training.algorithm import PolicyAlgorithm, check_opponents
from stratagem.training.artifacts import Artifacts, SavedModels, artifacts_of, label_models, publish
from stratagem.training.branch_groups import Lineup, Opponents
from stratagem.training.branched_rollouts import BranchedRollouts, check_game
from stratagem.training.collector import merge
from stratagem.training.evaluation import Final, Validation, save_policies
from stratagem.training.learner_models import LearnerBase
from stratagem.training.message_branches import check_messages
from stratagem.training.online import decoding_settings, training_data
from stratagem.training.opponents.booking import baseline, book
from stratagem.training.opponents.matchmaking import Lot, Matchmaker, Situation, effective_number
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.member_players import MemberPlayers
from stratagem.training.runs.files import write_json_once
from stratagem.training.runs.folder import RunFolder
from stratagem.training.stage import Metrics, Stage, State, TrainingBatch


class PopulationOpponents(Opponents):
    """Opponents with the probabilities that a rule gives the members; computed once an iteration."""

    def __init__(
        self, rule: Matchmaker, learner: Member, situation: Situation, players: MemberPlayers, others: int
    ) -> None:
        """`others` is the number of seats beside the learner's."""
        self.population = situation.population
        self.players = players
        self.others = others
        self.odds = rule.odds(learner, situation)
        self._lot = Lot(self.odds)

    def draw(self, key: Key) -> Lineup:
        """Draw a member for each other seat; only the learner's own seat is trained, also against itself."""
        names = tuple(self._lot.draw(key.at(seat)) for seat in range(self.others))
        return Lineup(names, tuple(self.players.player(self.population[name]) for name in names))


class Round:
    """Play of the iterations of a league."""

    def __init__(self, recipe: LeagueRecipe, league: LeagueState, players: MemberPlayers, game: Game[Any]) -> None:
        self.recipe = recipe
        self.league = league
        self.players = players
        self.game = game
        self.rules = {name: one.matchmaker.value for name, one in recipe.learners.items()}

    def batches(self, number: int) -> Iterator[TrainingBatch]:
        """Play an iteration; yield a batch for each learner."""
        reset_caches()
        situation = self._situation(number)
        opponents = {name: self._opponents(name, situation) for name in self.rules}
        collectors = {name: self._collector(name, own) for name, own in opponents.items()}
        groups = {name: collector.groups(number) for name, collector in collectors.items()}
        setups = {name: list(collector.setups(groups[name])) for name, collector in collectors.items()}
        finished = iter(play_setups(setup for own in setups.values() for setup in own))
        for name, collector in collectors.items():
            episodes = [next(finished) for _ in setups[name]]
            baselines = self._baselines(setups[name])
            booked = book(self.league.results, name, groups[name], baselines, episodes)
            rollouts = collector.make_batch(groups[name], episodes)
            self.league.collectors[name] = collector.state()
            metrics = {"effective": effective_number(np.array(list(opponents[name].odds.values())))}
            metrics |= {"points": booked.points, "payoff": booked.payoff}
            metrics |= {metric.partition("/")[2]: value for metric, value in rollouts.metrics.items()}
            named = {f"{name}/{metric}": value for metric, value in metrics.items()}
            yield TrainingBatch(rollouts.episodes, name, training_data(merge([rollouts])), named)
        self.players.trim()

    def _opponents(self, name: str, situation: Situation) -> PopulationOpponents:
        learner, others = situation.population[name], self.game.spec.seats - 1
        return PopulationOpponents(self.rules[name], learner, situation, self.players, others)

    def _collector(self, name: str, opponents: PopulationOpponents) -> BranchedRollouts:
        agent, key = self.league.learners[name].player, self.league.key().at(name)
        collector = BranchedRollouts(self.recipe.league, self.game, agent, key, opponents, name)
        collector.restore(self.league.collectors.get(name, {}))
        return collector

    def _baselines(self, setups: Sequence[Setup]) -> list[tuple[float, ...]]:
        """Return the baselines of each group, whose rollouts start from one position."""
        settings = self.recipe.league
        return [baseline(setup.begin(), settings.match_score) for setup in setups[:: settings.group_size]]

    def _situation(self, iteration: int) -> Situation:
        ratings = self._ratings() if self.recipe.rated else {}
        return Situation(self.league.population, self.league.results, ratings, iteration)

    def _ratings(self) -> dict[str, float]:
        """Return the last ratings of frozen members, and of the rated learners those by their own games since."""
        results, rated = self.league.results, self.league.ratings
        others = [member.name for member in self.league.population.of(learns=False)]
        frozen = {name: rated.get(name, MEAN) for name in others}
        known = np.array(list(frozen.values()))
        return frozen | {name: elo_among(*results.counts(name, others), known) for name in self.recipe.rated}


def league_models(
    recipe: LeagueRecipe, artifacts: Mapping[LearnerBase, Artifacts], population: Population, best: str
) -> dict[str, RunModel]:
    """Return the models by label; `base`, `start`, `best` and `last` alone are the first learner's.

    Only learners on another base than the first have `base` and `start` of their own.
    """
    bases = recipe.bases_by_learner
    base, start = artifacts[bases[recipe.first]].base_and_start()
    members = [member for member in population.of(learns=False) if member.parent and member.adapter]
    models = {"base": base, "start": start}
    for learner in dict.fromkeys(member.parent for member in members):
        saved = artifacts[bases[learner]].base_and_start()
        steps = {m.step: saved[1].model_copy(update={"adapter": m.adapter}) for m in members if m.parent == learner}
        own = label_models(SavedModels(*saved, steps), learner)
        common = ("base/", "start/") if bases[learner] == bases[recipe.first] else ()
        models |= {label: model for label, model in own.items() if not label.startswith(common)}
    if best in population:
        models["best"] = start.model_copy(update={"adapter": population[best].adapter})
    if f"last/{recipe.first}" in models:
        models["last"] = models[f"last/{recipe.first}"]
    return models


class LeagueAlgorithm(PolicyAlgorithm[LeagueRecipe]):
    """SFT of the base, then rounds of the league."""

    recipe_type = LeagueRecipe

    def check(self) -> None:
        recipe, game = self.recipe, self.games[0]
        if game.spec.seats < 2:
            raise CannotCompute(f"{game.spec.name} has one seat, so nobody can meet anybody in it.")
        check_game(recipe.league, game)
        check_messages(recipe.league.advantage, game)
        super().check()
        check_opponents(recipe, game, *recipe.members.values(), recipe.league.prefix_player, exact=True)

    def main_stage(self) -> Stage:
        return Rounds(self.recipe, self.run, strict=self.strict)


class Rounds(Stage):
    """Stage of the iterations of a league."""

    def __init__(self, recipe: LeagueRecipe, run: RunFolder, *, strict: bool = False) -> None:
        """`strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.game: Game[Any] = make_bounded_game(recipe.games[0])
        self.artifacts = artifacts_of(run, recipe.learner_bases, part=False)
        models = {base: own.load() for base, own in self.artifacts.items()}
        self.league = LeagueState(recipe, run, models, strict=strict)
        self.policies = self.league.learners
        self.num_steps = recipe.league.iterations
        self.validation = Validation(recipe, [self.game])
        self.round = Round(recipe, self.league, self.league.member_players(self.game), self.game)
        self._saved: tuple[int, list[str]] = (0, [])
        """Iteration of the last snapshots, and the learners that had one."""

    def begin(self, step: int) -> Metrics:
        return self.evaluate(0) if not step else {}

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        yield from self.round.batches(step)

    def evaluates(self, step: int) -> bool:
        return bool(self._due(step)) or step % self.recipe.evaluate_every == 0

    def _due(self, step: int) -> list[str]:
        """Return the learners of which a snapshot is due; the answer for a step stays the same while they are saved."""
        if self._saved[0] != step:
            self._saved = (step, self._ready(step))
        return self._saved[1]

    def _ready(self, done: int) -> list[str]:
        settings, names, members = self.recipe.league, list(self.league.learners), self.league.population
        if not settings.snapshot_latest or done == settings.iterations:
            return names if done % settings.snapshot_every == 0 or done == settings.iterations else []
        situation = Situation(members, self.league.results)
        return [
            name
            for name in names
            if (since := done - members[name].step) >= settings.snapshot_latest
            or (since >= settings.snapshot_every and is_ready(members[name], situation))
        ]

    def evaluate(self, step: int) -> Metrics:
        reset_caches()
        player = self.league.learners[self.recipe.first].player
        save_policies(self.run, [self.game], self.recipe.sft_steps + step, player)
        return self.validation.metrics(player)

    def failed_validation(self) -> Sequence[Episode]:
        return self.validation.failed

    def after_step(self, step: int, metrics: Mapping[str, float]) -> Metrics:
        """Add the snapshots that are due as members, and reset learners whose role asks for it."""
        league, logged = self.league, Metrics()
        for name in self._due(step):
            member = league.add_snapshot(name, step)
            if name == self.recipe.first:
                league.scores[member.name] = metrics["checkpoint_metric"]
            league.remove_oldest(name)
            learner, last = league.population[name], step == self.num_steps
            if not last and is_reset(learner, league.key().at("anew", name, step)):
                league.reset(name)
                logged[f"{name}/anew"] = 1.0
        if self.evaluates(step) and self.recipe.rated:
            league.rate()
        return logged | ({"members": float(len(league.population))} if self._due(step) else {})

    def saves(self, step: int) -> bool:
        return self.evaluates(step) or self.recipe.checkpoint_due(step)

    def state(self) -> dict[str, Any]:
        return self.league.state()

    def restore(self, state: State, folder: Path) -> None:
        self.league.restore(state, folder)

    def write(self, folder: Path) -> None:
        self.league.write(folder)

    def loose_files(self) -> Sequence[str]:
        return [POPULATION]

    def publish(self, run: RunFolder, best: int | None) -> None:
        self.league.publish()
        models = league_models(self.recipe, self.artifacts, self.league.population, self.league.best)
        publish(run, models, decoding_settings(self.recipe))

    def final_evaluation(self, best: int | None) -> None:
        """Evaluate the first learner against the frozen pool, and cross-play of all members."""
        first = self.league.learners[self.recipe.first]
        Final.of(self.recipe, [self.game]).write(self.run, self._titles(), policies={"": first})
        write_json_once(self.run.path / TABLE, self._cross_play)

    def _cross_play(self) -> dict[str, Any]:
        reset_caches()
        players = self.league.member_players(self.game)
        return cross_play_evaluation(self.recipe, self.game, self.league.population, players)

    def _titles(self) -> dict[str, str]:
        """Return the labels of the evaluated models, each with its title in reports."""
        population, best, title = self.league.population, self.league.best, self.recipe.title
        titles = {"base": "Base"} | ({"start": "SFT"} if self.recipe.sft_steps else {})
        snapshots = {m.step: m.name for m in population.of(learns=False) if m.parent == self.recipe.first}
        if best:
            titles["best"] = f"{title} (step {population[best].step})"
        if snapshots and snapshots[max(snapshots)] != best:
            titles["last"] = f"{title}, last (step {max(snapshots)})"
        return titles
