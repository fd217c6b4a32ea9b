"""A run of a league: in every iteration each learner plays whom its rule draws, and learns; now and then all are kept.

All learners' games of an iteration are played at once, so their adapters share the batches.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from stratagem.algorithms.grpo.collector import check_game
from stratagem.algorithms.kept_policies import keep_policies
from stratagem.algorithms.league.last_table import TABLE, last_table
from stratagem.algorithms.league.models import league_models
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.round import Round
from stratagem.algorithms.league.seats import Seats
from stratagem.algorithms.league.standing import POPULATION, Standing
from stratagem.algorithms.own_base import BASE, load_own, make_own_base
from stratagem.algorithms.possible import check_prompts
from stratagem.algorithms.progress import Progress, nobody
from stratagem.algorithms.trainer import EVALUATION, FINDINGS
from stratagem.algorithms.validation import Validation, judged
from stratagem.algorithms.warm_start import WarmStart, check_teacher
from stratagem.engines.renewal import renew
from stratagem.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.league.matchmaking import Situation
from stratagem.league.roles import is_ready, is_reset
from stratagem.models.reference import parse_model
from stratagem.models.run_models import own_name, own_text, write_run_models
from stratagem.play.store import write_shard
from stratagem.players.catalogue import make_player
from stratagem.players.language import language_player
from stratagem.runs.checkpoint import Checkpoint, keep, latest, save_checkpoint
from stratagem.runs.files import write_file
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import MetricLog
from stratagem.runs.resume import resume
from stratagem.runs.weights import MODEL

KEPT = 2
"""How many of the newest checkpoints are kept."""
Figures = dict[str, float]


class LeagueTrainer:
    """One run of one recipe."""

    def __init__(
        self, recipe: LeagueRecipe, run: RunFolder, progress: Progress = nobody, *, strict: bool = False
    ) -> None:
        """`strict` stops at what a check finds; by default it is warned of once and counted."""
        self.recipe = recipe
        self.run = run
        self.progress = progress
        self.strict = strict
        self.game = make_game(recipe.games[0])
        if self.game.spec.seats < 2:
            raise CannotCompute(f"{self.game.spec.name} has one seat, so nobody can meet anybody in it.")
        for name in (*recipe.members.values(), *recipe.opponents, recipe.league.prefix_player):
            make_player(name, self.game)
        check_game(recipe.league, self.game)
        check_teacher(recipe.sft, [self.game])
        check_prompts(recipe, [self.game])
        metrics = (*recipe.suite(self.game).metrics, *(["exploitability"] if recipe.exact_budget else []))
        if recipe.checkpoint_metric not in metrics:
            raise CannotCompute(
                f"`checkpoint_metric` cannot be {recipe.checkpoint_metric} in {self.game.spec.name}: "
                f"there are {', '.join(metrics)}."
            )
        self.validation = Validation(recipe, [self.game])

    def train(self) -> None:
        """Begin, or go on from the newest checkpoint."""
        with self.run.at_work():
            start = resume(self.run, self.recipe)
            keep(self.run, last=KEPT)
            with MetricLog(self.run) as log:
                self._warm_start(start, log)
                standing = Standing(self.recipe, self.run, load_own(self.run, self._base()), strict=self.strict)
                self._iterations(standing, log)
            self._judge(standing)

    def _base(self) -> str:
        made = self.run.path / BASE / MODEL
        return f"dir:{made}{parse_model(self.recipe.model).options}" if made.is_dir() else self.recipe.model

    def _warm_start(self, start: Checkpoint | None, log: MetricLog) -> None:
        settings = self.recipe.sft
        if (self.run.path / BASE).is_dir():
            return
        if settings is not None and self.recipe.sft_steps:
            told = lambda step, figures: self.progress(step, self.recipe.steps, figures)  # noqa: E731
            WarmStart(self.recipe, settings, self.run, [self.game]).make(start, log, told)
        else:
            make_own_base(self.run, self.recipe.model)

    def _iterations(self, standing: Standing, log: MetricLog) -> None:
        recipe, start = self.recipe, latest(self.run)
        done = 0
        if start is not None and start.step > recipe.sft_steps:
            standing.restore(start)
            done = start.step - recipe.sft_steps
        league = Round(recipe, standing, Seats.of(standing, self.game), self.game)
        if done:
            self._publish(standing)  # it may have been broken off between a checkpoint and this
        else:
            standing.publish()
            log.write(recipe.sft_steps, self._validated(standing, 0))
        for number in range(done, recipe.league.iterations):
            figures, episodes = league.play(number)
            write_shard(self.run.record, number, episodes)
            kept = self._ready(standing, number + 1)
            figures |= self._after(standing, number + 1, kept)
            log.write(recipe.sft_steps + number + 1, figures)
            if self._due(number + 1, kept) or recipe.keeps(number + 1):
                self._keep(standing, recipe.sft_steps + number + 1)
            self.progress(recipe.sft_steps + number + 1, recipe.steps, figures)

    def _ready(self, standing: Standing, done: int) -> list[str]:
        """The learners that are kept now."""
        league, names = self.recipe.league, list(standing.learners)
        if not league.snapshot_latest or done == league.iterations:
            return names if done % league.snapshot_every == 0 or done == league.iterations else []
        situation, members = Situation(standing.population, standing.results), standing.population
        return [
            name
            for name in names
            if (since := done - members[name].step) >= league.snapshot_latest
            or (since >= league.snapshot_every and is_ready(members[name], situation))
        ]

    def _due(self, done: int, kept: Sequence[str]) -> bool:
        return bool(kept) or done % self.recipe.evaluate_every == 0

    def _after(self, standing: Standing, done: int, kept: Sequence[str]) -> Figures:
        """Measure the first learner and keep whom it is time to keep; afterwards some begin anew."""
        due = self._due(done, kept)
        figures = self._validated(standing, done) if due else {}
        for name in kept:
            member = standing.keep(name, done)
            if name == self.recipe.first:
                standing.scores[member.name] = figures["checkpoint_metric"]
            standing.forget_oldest(name)
            learner, last = standing.population[name], done == self.recipe.league.iterations
            if not last and is_reset(learner, standing.key().at("anew", name, done)):
                standing.renew(name)
                figures[f"{name}/anew"] = 1.0
        if due and self.recipe.rated:
            standing.rate()
        return figures | ({"members": float(len(standing.population))} if kept else {})

    def _validated(self, standing: Standing, done: int) -> Figures:
        renew()
        hero = standing.learners[self.recipe.first].hero
        keep_policies(self.run.path, self.validation.games, self.recipe.sft_steps + done, hero)
        return self.validation.figures(hero)

    def _keep(self, standing: Standing, step: int) -> None:
        save_checkpoint(self.run, step, standing.state(), write=standing.writes(), loose=[POPULATION])
        keep(self.run, last=KEPT)
        self._publish(standing)

    def _publish(self, standing: Standing) -> None:
        """What follows from a checkpoint and lies beside it."""
        standing.publish()
        write_run_models(self.run.path, league_models(self.recipe, self.run, standing.population, standing.best))
        write_file(self.run.path / FINDINGS, json.dumps(standing.findings(), indent=1) + "\n")

    def _judge(self, standing: Standing) -> None:
        """The last tables: the first learner against the frozen pool, and everybody against everybody."""
        if not (self.run.path / EVALUATION).is_file():
            renew()
            rows = self._rows(standing)
            players = {label: language_player(own_text(self.run.path, label)).name for label in rows}
            told = {
                "rows": {own_name(label): title for label, title in rows.items()},
                "evaluation": judged(self.recipe, [self.game], players),
            }
            write_file(self.run.path / EVALUATION, json.dumps(told, indent=1) + "\n")
        if not (self.run.path / TABLE).is_file():
            seats = Seats.of(standing, self.game)
            renew()
            table = last_table(self.recipe, self.game, standing.population, seats)
            write_file(self.run.path / TABLE, json.dumps(table, indent=1) + "\n")

    def _rows(self, standing: Standing) -> dict[str, str]:
        """The models of the table on the pool by their labels, each with what it is called there."""
        population, first = standing.population, self.recipe.first
        rows = {"base": "Base"} | ({"start": "SFT"} if self.recipe.sft_steps else {})
        there = {member.step: member.name for member in population.of(learns=False) if member.parent == first}
        if standing.best:
            rows["best"] = f"{self.recipe.title} (step {population[standing.best].step})"
        if there and there[max(there)] != standing.best:
            rows["last"] = f"{self.recipe.title}, last (step {max(there)})"
        return rows
