"""State of a league: population, match results, ratings, and learners with their weights; saved in checkpoints."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from stratagem.algorithms.league.ratings import Score, elo_by_name
from stratagem.algorithms.league.recipe import BASE, LeagueRecipe
from stratagem.base.errors import BadRecord
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.language.engines.open import open_engine
from stratagem.language.models.adapters import check_loadable, save_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.learn.monitor import TrainingWarning
from stratagem.players.pools import make_bot
from stratagem.training.learner_models import LearnerBase
from stratagem.training.online import policy_of
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.member_players import MemberPlayers
from stratagem.training.opponents.results import Results
from stratagem.training.policy import TrainablePolicy
from stratagem.training.runs.files import remove_folder, write_file
from stratagem.training.runs.folder import RunFolder


def admit(recipe: LeagueRecipe, member: Member) -> None:
    """Refuse a member that says otherwise than the recipe who learns, or that cannot play its game."""
    _check_learner(recipe, member)
    _check_snapshot(recipe, member)
    if member.player:
        make_bot(member.player, make_bounded_game(recipe.games[0]))


def _check_learner(recipe: LeagueRecipe, member: Member) -> None:
    """Refuse a row that learns, unless the recipe has that learner in that role."""
    if not member.learns:
        return
    if member.name not in recipe.learners:
        raise BadRecord(f"It learns, and the learners of the recipe are {', '.join(recipe.learners)}.")
    if member.role != (role := recipe.learners[member.name].role):
        raise BadRecord(f"Its role is {member.role}, and the recipe says {role}.")


def _check_snapshot(recipe: LeagueRecipe, member: Member) -> None:
    """Refuse a snapshot of nobody, which no table would show, and the name of a snapshot that is still to come."""
    if member.parent and member.parent not in recipe.learners:
        known = ", ".join(recipe.learners)
        raise BadRecord(
            f"Its parent is {member.parent}, and the learners of the recipe are {known}: leave `parent` out."
        )
    if not member.parent and member.name.rpartition("-")[0] in recipe.learners:
        raise BadRecord("A snapshot of a learner has such a name: give it another.")


FOLDER, POPULATION, RESULTS = "league", "population.json", "results.json"
"""Folder of a run's members, and files of the population and of the win rates."""
OTHER_SCORE = (
    "The results of this checkpoint were not booked by `league.match_score` = {}, so they are dropped: every pair "
    "counts as not met, and every rating as 1500."
)


class LeagueState:
    """Population with its results and ratings, and the learners' policies."""

    def __init__(
        self, recipe: LeagueRecipe, run: RunFolder, models: Mapping[LearnerBase, LanguageModel], *, strict: bool = False
    ) -> None:
        """`models` are the loaded bases of the learners; `strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.models = models
        self.engines = {base: open_engine(lm, recipe.engine.value) for base, lm in models.items()}
        self.population = Population()
        self.results = Results(decay=recipe.league.results_decay)
        self.learners: dict[str, TrainablePolicy] = {}
        self._first: dict[str, Sequence[torch.Tensor]] = {}
        """Initial weights of every learner, which a reset restores."""
        self.collectors: dict[str, Mapping[str, Any]] = {}
        """States of the learners' collectors, carried over to the next iteration."""
        self.scores: dict[str, float] = {}
        """Validation scores of the first learner's snapshots."""
        self.ratings: dict[str, float] = {}
        """Last Elo ratings by member."""
        for number, (name, own) in enumerate(recipe.bases_by_learner.items()):
            seed, games = recipe.seed * 1000 + number, [make_bounded_game(recipe.games[0])]
            policy = policy_of(recipe, models[own], self.engines[own], name=name, seed=seed, strict=strict, games=games)
            self.learners[name] = policy
            self._first[name] = [weight.detach().clone() for weight in policy.learner.optimizer.weights]
        for member in self._founders():
            self.population.add(member)
            self.results.add(member.name)

    def _founders(self) -> list[Member]:
        recipe = self.recipe
        prints = {base: lm.fingerprint for base, lm in self.models.items()}
        bases = recipe.base_members.items() if recipe.with_base else ()
        founders = [Member(name=name, role="base", base="" if name == BASE else prints[own]) for name, own in bases]
        founders += [Member(name=name, role="bot", player=player) for name, player in recipe.members.items()]
        base_of, learners = recipe.bases_by_learner, recipe.learners.items()
        return founders + [
            Member(name=name, role=one.role, learns=True, base=prints[base_of[name]]) for name, one in learners
        ]

    def add_snapshot(self, learner: str, step: int) -> Member:
        """Add a snapshot of a learner as a frozen member."""
        current = self.population[learner]
        name = f"{learner}-{step:06d}"
        adapter = f"{FOLDER}/members/{name}"
        folder = self.run.path / adapter
        if folder.is_dir():  # of a run that was broken off after it was written
            remove_folder(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        save_adapter(self.learners[learner].lm, learner, folder)
        snapshot = replace(current.checkpoint(name, step, adapter), version=current.version)
        self.population.add(snapshot)
        self.results.copy(learner, name)
        self.population.replace(replace(current, version=current.version + 1, step=step))
        return snapshot

    def rate(self) -> None:
        """Fit Elo ratings of all members with results, for the rule `rating_near`."""
        every, population = self.results.names, self.population
        scores = [
            Score(every[row], every[column], points, games)
            for row, column, games, points in self.results.pairs()
            if column < row and every[row] in population and every[column] in population
        ]
        self.ratings = elo_by_name(scores)

    def remove_oldest(self, learner: str) -> None:
        """Remove the oldest snapshots of a learner beyond `max_snapshots`; their folders stay."""
        most = self.recipe.league.max_snapshots
        snapshots = [
            member
            for member in self.population.of(learns=False)
            if member.parent == learner and member.name != self.best
        ]
        for member in snapshots[: max(0, len(snapshots) - most)] if most else ():
            self.population.remove(member.name)

    @property
    def best(self) -> str:
        """Member with the best validation score among the first learner's snapshots; of equals the first.

        A score that is no number, of a step without a finite loss, is none.
        """
        present = [name for name, score in self.scores.items() if name in self.population and not math.isnan(score)]
        return max(present, key=self.scores.__getitem__, default="")

    def reset(self, learner: str) -> None:
        """Restore a learner's initial weights, and remove its results."""
        self.learners[learner].reset(self._first[learner])
        self.results.forget(learner)
        self.collectors.pop(learner, None)

    def state(self) -> dict[str, Any]:
        """All that a later iteration depends on, except weights and population."""
        return {
            "results": self.results.state(),
            "match_score": self.recipe.league.match_score,
            "collectors": dict(self.collectors),
            "scores": dict(self.scores),
            "ratings": dict(self.ratings),
            "learners": {name: policy.state() for name, policy in self.learners.items()},
        }

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Continue from a checkpoint; members that cannot be loaded any more are disabled, with a warning."""
        self.population = self._load_population(folder / POPULATION)
        if state.get("match_score") == self.recipe.league.match_score:
            self.results = Results.of(state["results"])
            self.ratings = dict(state["ratings"])
        else:
            warnings.warn(OTHER_SCORE.format(self.recipe.league.match_score), TrainingWarning, stacklevel=2)
        self._complete()
        self.collectors = dict(state.get("collectors", {}))
        self.scores = dict(state["scores"])
        for name, policy in self.learners.items():
            policy.restore(state["learners"][name], folder)

    def _load_population(self, path: Path) -> Population:
        """Load the population, and name the members that do not play."""
        checks = {lm.fingerprint: partial(check_loadable, lm) for lm in self.models.values()}
        population = Population.load(path, self.run.path, checks, partial(admit, self.recipe))
        for name, why in population.disabled.items():
            warnings.warn(f"The member {name} of the league is disabled: {why}", TrainingWarning, stacklevel=3)
        return population

    def _complete(self) -> None:
        """Add the recipe's learners to a population file that was edited; new members have no results."""
        for learner in (member for member in self._founders() if member.learns):
            if learner.name not in self.population:
                snapshots = [member for member in self.population if member.parent == learner.name]
                last = max((member.step for member in snapshots), default=0)
                self.population.add(replace(learner, version=len(snapshots), step=last))
        for member in self.population:
            self.results.add(member.name)

    def write(self, folder: Path) -> None:
        """Write weights and population into the folder of a checkpoint."""
        for policy in self.learners.values():
            policy.write(folder)
        self.population.save(folder / POPULATION)

    def publish(self) -> None:
        """Write the population and the win rates into the run's folder."""
        folder = self.run.path / FOLDER
        folder.mkdir(exist_ok=True)
        self.population.save(folder / POPULATION)
        names, rates = self.results.names, dict[str, dict[str, float]]()
        for row, column, games, points in self.results.pairs():
            if names[row] in self.population and names[column] in self.population:
                rates.setdefault(names[row], {})[names[column]] = round(points / games, 3)
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(rate)}" for name, rate in rates.items())
        write_file(folder / RESULTS, f'{{"win rates": {{\n{lines}\n}}}}\n')

    def member_players(self, game: Game[Any]) -> MemberPlayers:
        """Make the players of the members in a game."""
        learners = {name: policy.player for name, policy in self.learners.items()}
        on_base = {policy.lm.fingerprint: policy.player for policy in reversed(self.learners.values())}
        return MemberPlayers(self.run.path, game, learners, self.recipe.league.max_loaded_adapters, on_base)

    def key(self) -> Key:
        """Key of all draws of the iterations."""
        return Key(self.recipe.seed).at(self.recipe.stage_name)
