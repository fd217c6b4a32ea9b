"""What a league is at a moment: members, results, and learners with their weights; saved whole, and gone on with."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from stratagem.algorithms.league.recipe import BASE, LeagueRecipe
from stratagem.engines.open import open_engine
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.league.member import Member, Population
from stratagem.league.ratings import Score, elo_by_name
from stratagem.league.results import Results
from stratagem.learning.monitor import TrainingWarning
from stratagem.models.adapters import check_loadable, save_adapter
from stratagem.models.language_model import LanguageModel
from stratagem.runs.files import remove_folder, write_file
from stratagem.runs.folder import RunFolder
from stratagem.runs.weights import writes_adapters
from stratagem.training.online import policy_of
from stratagem.training.policy import TrainablePolicy

FOLDER, POPULATION, RESULTS = "league", "population.json", "results.json"
"""Where a run keeps its members, and what is known of them."""
OTHER_SCORE = (
    "The results of this checkpoint were not booked by `league.match_score` = {}, so they are dropped: every pair "
    "counts as not met, and every rating as 1500."
)


class Standing:
    """The population, what is known of it, and those who learn."""

    def __init__(self, recipe: LeagueRecipe, run: RunFolder, lm: LanguageModel, *, strict: bool = False) -> None:
        """`strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.lm = lm
        self.engine = open_engine(lm, recipe.engine.made)
        self.population = Population()
        self.results = Results(decay=recipe.league.results_decay)
        self.learners: dict[str, TrainablePolicy] = {}
        self._first: dict[str, Sequence[torch.Tensor]] = {}
        """Every learner's weights as they were drawn, to which it goes back when it begins anew."""
        self.collectors: dict[str, Mapping[str, Any]] = {}
        """What each learner's play carries from iteration to iteration."""
        self.scores: dict[str, float] = {}
        """What the first learner's kept checkpoints were worth in validation."""
        self.ratings: dict[str, float] = {}
        """As `rate` found them last."""
        for number, name in enumerate(recipe.learners):
            seed, games = recipe.seed * 1000 + number, [make_game(recipe.games[0])]
            policy = policy_of(recipe, lm, self.engine, name=name, seed=seed, strict=strict, games=games)
            self.learners[name] = policy
            self._first[name] = [weight.detach().clone() for weight in policy.learner.optimizer.weights]
        for member in self._founders():
            self.population.add(member)
            self.results.add(member.name)

    def _founders(self) -> list[Member]:
        recipe, base = self.recipe, self.lm.fingerprint
        founders = [Member(name=BASE, role="base")] if recipe.with_base else []
        founders += [Member(name=name, role="bot", player=player) for name, player in recipe.members.items()]
        learners = recipe.learners.items()
        return founders + [Member(name=n, role=one.role, learns=True, base=base) for n, one in learners]

    def keep(self, learner: str, step: int) -> Member:
        """The learner as it is now becomes a member that does not change."""
        now = self.population[learner]
        name = f"{learner}-{step:06d}"
        adapter = f"{FOLDER}/members/{name}"
        folder = self.run.path / adapter
        if folder.is_dir():  # of a run that was broken off after it was written
            remove_folder(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        save_adapter(self.lm, learner, folder)
        kept = replace(now.checkpoint(name, step, adapter), version=now.version)
        self.population.add(kept)
        self.results.copy(learner, name)
        self.population.replace(replace(now, version=now.version + 1, step=step))
        return kept

    def rate(self) -> None:
        """Rate all who have met anybody by the results as they are, for the rule that goes by ratings."""
        every, population = self.results.names, self.population
        scores = [
            Score(every[one], every[other], points, games)
            for one, other, games, points in self.results.met()
            if other < one and every[one] in population and every[other] in population
        ]
        self.ratings = elo_by_name(scores)

    def forget_oldest(self, learner: str) -> None:
        """Where only so many checkpoints stay, the oldest leave; their folders stay."""
        most = self.recipe.league.max_snapshots
        kept = [
            member
            for member in self.population.of(learns=False)
            if member.parent == learner and member.name != self.best
        ]
        for member in kept[: max(0, len(kept) - most)] if most else ():
            self.population.remove(member.name)

    @property
    def best(self) -> str:
        """The kept checkpoint of the first learner that was worth most and is still there; of equals the first."""
        there = [name for name in self.scores if name in self.population]
        return max(there, key=self.scores.__getitem__, default="")

    def renew(self, learner: str) -> None:
        """The learner goes back to where it began, and nothing is known of it."""
        self.learners[learner].reset(self._first[learner])
        self.results.forget(learner)
        self.collectors.pop(learner, None)

    def state(self) -> dict[str, Any]:
        """All that a later iteration depends on, but for weights and population."""
        return {
            "results": self.results.state(),
            "match_score": self.recipe.league.match_score,
            "collectors": dict(self.collectors),
            "scores": dict(self.scores),
            "ratings": dict(self.ratings),
            "learners": {name: trained.state() for name, trained in self.learners.items()},
        }

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Continue from a checkpoint; members that cannot be loaded any more are set aside."""
        self.population = Population.load(
            folder / POPULATION, self.run.path, self.lm.fingerprint, partial(check_loadable, self.lm)
        )
        if state.get("match_score") == self.recipe.league.match_score:
            self.results = Results.of(state["results"])
            self.ratings = dict(state["ratings"])
        else:
            warnings.warn(OTHER_SCORE.format(self.recipe.league.match_score), TrainingWarning, stacklevel=2)
        self._complete()
        self.collectors = dict(state.get("collectors", {}))
        self.scores = dict(state["scores"])
        for name, trained in self.learners.items():
            trained.restore(state["learners"][name], folder)

    def _complete(self) -> None:
        """People may have edited the file: who learns is said by the recipe, and who is new has met nobody."""
        for learner in (member for member in self._founders() if member.learns):
            if learner.name not in self.population:
                kept = [member for member in self.population if member.parent == learner.name]
                last = max((member.step for member in kept), default=0)
                self.population.add(replace(learner, version=len(kept), step=last))
        for member in self.population:
            self.results.add(member.name)

    def write(self, folder: Path) -> None:
        """Write weights and population into the folder of a checkpoint."""
        names = [name for policy in self.learners.values() for name in policy.adapters]
        writes_adapters(self.lm, names)(folder)
        self.population.save(folder / POPULATION)

    def publish(self) -> None:
        """Write the population and what is known of it where people look."""
        folder = self.run.path / FOLDER
        folder.mkdir(exist_ok=True)
        self.population.save(folder / POPULATION)
        names, rates = self.results.names, dict[str, dict[str, float]]()
        for one, other, games, points in self.results.met():
            if names[one] in self.population and names[other] in self.population:
                rates.setdefault(names[one], {})[names[other]] = round(points / games, 3)
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rates.items())
        write_file(folder / RESULTS, f'{{"win rates": {{\n{lines}\n}}}}\n')

    def key(self) -> Key:
        """What the iterations' draws follow from."""
        return Key(self.recipe.seed).at(self.recipe.stage_name)
