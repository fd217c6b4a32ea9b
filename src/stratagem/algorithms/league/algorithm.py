"""League training as an algorithm: in every iteration each learner meets whom its rule draws, and is updated.

All learners' games of an iteration are played at once, so their adapters share the batches. Now and then the learners
are saved as members that do not change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stratagem.algorithms.grpo.collector import check_game
from stratagem.algorithms.league.crossplay import TABLE, last_table
from stratagem.algorithms.league.models import league_models
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.round import Round
from stratagem.algorithms.league.seats import Seats
from stratagem.algorithms.league.standing import POPULATION, Standing
from stratagem.engines.caches import reset_caches
from stratagem.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.games.catalogue import make_game
from stratagem.league.matchmaking import Situation
from stratagem.league.roles import is_ready, is_reset
from stratagem.runs.files import write_file
from stratagem.runs.folder import RunFolder
from stratagem.training.algorithm import PolicyAlgorithm, check_opponents
from stratagem.training.artifacts import Artifacts, publish
from stratagem.training.evaluation import Final, Validation, save_policies
from stratagem.training.online import speaks_of
from stratagem.training.stage import Batch, Metrics, Stage, State


class LeagueAlgorithm(PolicyAlgorithm[LeagueRecipe]):
    """SFT of the base, then rounds of the league."""

    recipe_type = LeagueRecipe

    def check(self) -> None:
        recipe, game = self.recipe, self.games[0]
        if game.spec.seats < 2:
            raise CannotCompute(f"{game.spec.name} has one seat, so nobody can meet anybody in it.")
        check_game(recipe.league, game)
        super().check()
        check_opponents(recipe, game, *recipe.members.values(), recipe.league.prefix_player, exact=True)

    def main_stage(self) -> Stage:
        return Rounds(self.recipe, self.run, strict=self.strict)


class Rounds(Stage):
    """The iterations of a league."""

    def __init__(self, recipe: LeagueRecipe, run: RunFolder, *, strict: bool = False) -> None:
        """`strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.game: Game[Any] = make_game(recipe.games[0])
        self.artifacts = Artifacts(run, recipe.model)
        self.standing = Standing(recipe, run, self.artifacts.load(), strict=strict)
        self.policies = self.standing.learners
        self.num_steps = recipe.league.iterations
        self.validation = Validation(recipe, [self.game])
        self.round = Round(recipe, self.standing, Seats.of(self.standing, self.game), self.game)
        self._saved: tuple[int, list[str]] = (0, [])
        """After how many iterations which learners were saved last."""

    def begin(self, step: int) -> Metrics:
        return self.evaluate(0) if not step else {}

    def batches(self, step: int) -> Iterator[Batch]:
        yield from self.round.batches(step)

    def evaluates(self, step: int) -> bool:
        return bool(self._due(step)) or step % self.recipe.evaluate_every == 0

    def _due(self, step: int) -> list[str]:
        """The learners that are saved as members after so many iterations; it stays so while they are saved."""
        if self._saved[0] != step:
            self._saved = (step, self._ready(step))
        return self._saved[1]

    def _ready(self, done: int) -> list[str]:
        league, names, standing = self.recipe.league, list(self.standing.learners), self.standing
        if not league.snapshot_latest or done == league.iterations:
            return names if done % league.snapshot_every == 0 or done == league.iterations else []
        situation, members = Situation(standing.population, standing.results), standing.population
        return [
            name
            for name in names
            if (since := done - members[name].step) >= league.snapshot_latest
            or (since >= league.snapshot_every and is_ready(members[name], situation))
        ]

    def evaluate(self, step: int) -> Metrics:
        reset_caches()
        player = self.standing.learners[self.recipe.first].player
        save_policies(self.run, [self.game], self.recipe.sft_steps + step, player)
        return self.validation.figures(player)

    def after_step(self, step: int, metrics: Mapping[str, float]) -> Metrics:
        """Save whom it is time to save; afterwards some are reset."""
        standing, logged = self.standing, Metrics()
        for name in self._due(step):
            member = standing.keep(name, step)
            if name == self.recipe.first:
                standing.scores[member.name] = metrics["checkpoint_metric"]
            standing.forget_oldest(name)
            learner, last = standing.population[name], step == self.num_steps
            if not last and is_reset(learner, standing.key().at("anew", name, step)):
                standing.renew(name)
                logged[f"{name}/anew"] = 1.0
        if self.evaluates(step) and self.recipe.rated:
            standing.rate()
        return logged | ({"members": float(len(standing.population))} if self._due(step) else {})

    def saves(self, step: int) -> bool:
        return self.evaluates(step) or self.recipe.keeps(step)

    def state(self) -> dict[str, Any]:
        return self.standing.state()

    def restore(self, state: State, folder: Path) -> None:
        self.standing.restore(state, folder)

    def write(self, folder: Path) -> None:
        self.standing.write(folder)

    def loose_files(self) -> Sequence[str]:
        return [POPULATION]

    def publish(self, run: RunFolder, best: int | None) -> None:
        self.standing.publish()
        models = league_models(self.recipe, self.artifacts, self.standing.population, self.standing.best)
        publish(run, models, speaks_of(self.recipe))

    def final_evaluation(self, best: int | None) -> None:
        """The first learner against the frozen pool, and everybody against everybody."""
        Final.of(self.recipe, [self.game]).write(self.run, self._titles())
        path = self.run.path / TABLE
        if not path.is_file():
            reset_caches()
            table = last_table(self.recipe, self.game, self.standing.population, Seats.of(self.standing, self.game))
            write_file(path, json.dumps(table, indent=1) + "\n")

    def _titles(self) -> dict[str, str]:
        """The models to evaluate by label, each with its title in reports."""
        population, standing, title = self.standing.population, self.standing, self.recipe.title
        titles = {"base": "Base"} | ({"start": "SFT"} if self.recipe.sft_steps else {})
        there = {m.step: m.name for m in population.of(learns=False) if m.parent == self.recipe.first}
        if standing.best:
            titles["best"] = f"{title} (step {population[standing.best].step})"
        if there and there[max(there)] != standing.best:
            titles["last"] = f"{title}, last (step {max(there)})"
        return titles
