"""Algorithm that a recipe names: it checks the recipe, and makes the stages of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.language.engines.open import served_by
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.modes import check_style
from stratagem.players.pools import make_bot
from stratagem.playing.match import Match
from stratagem.playing.workers.plan import change_plan, current
from stratagem.playing.workers.threads import threads
from stratagem.training.artifacts import artifacts_of
from stratagem.training.by_game import check_names, warn_of_broken_rules
from stratagem.training.collector import Collector, SeatedCollector
from stratagem.training.game_lists import named_games
from stratagem.training.learner_models import LearnerBase, check_devices
from stratagem.training.loop import train
from stratagem.training.online import Online
from stratagem.training.recipe import OpponentsRecipe, PolicyRecipe
from stratagem.training.recipe_file import AnyRecipe
from stratagem.training.runs.folder import RunFolder
from stratagem.training.stage import Progress, Stage, no_progress
from stratagem.training.supervised import check_imitated, sft

R = TypeVar("R", bound=AnyRecipe)
P = TypeVar("P", bound=PolicyRecipe)


class Algorithm(ABC, Generic[R]):
    """Algorithm with its recipe, bound to the folder of a run; the constructor refuses what cannot be trained."""

    recipe_type: ClassVar[type[AnyRecipe]]
    """Class of its recipes."""

    def __init__(self, recipe: R, run: RunFolder, *, strict: bool = False) -> None:
        """`strict` stops a run at the first fault that a check finds; by default it is warned of once and counted."""
        self.recipe = recipe
        self.run = run
        self.strict = strict
        with served_by(recipe.engine.value):
            self.check()

    @abstractmethod
    def check(self) -> None:
        """Refuse a recipe that cannot be trained, before anything is played or written."""

    @property
    @abstractmethod
    def num_steps(self) -> int:
        """Number of steps of all stages; 0 if only the stages know it."""

    @abstractmethod
    def stages(self) -> Sequence[Callable[[], Stage]]:
        """Return functions that make the stages, in order; each loads the outcome of earlier stages."""

    def train(self, progress: Progress = no_progress) -> None:
        """Begin the run, or continue it from its newest checkpoint."""
        number = self.run.settle_threads(self.recipe.num_threads or current().threads_per_worker)
        plan = change_plan(tables_per_shard=self.recipe.shard, num_threads=number)
        with served_by(self.recipe.engine.value), plan, threads(number):
            train(self, progress)


class PolicyAlgorithm(Algorithm[P]):
    """SFT of the base where the recipe has it, and then a stage of reinforcement learning."""

    @cached_property
    def games(self) -> list[Game[Any]]:
        """Games of the recipe; of a stream those of its first iteration."""
        return named_games(self.recipe.games, self.recipe.held_out_games)

    @property
    def num_steps(self) -> int:
        return self.recipe.steps

    def check(self) -> None:
        self.recipe.reference.check_device()
        check_devices(self.recipe.learners_table, self.recipe.learners_by_name)
        check_names(self.games, "train in one of them, and imitate play of the others by `[[sft.sources]]`")
        check_imitated(self.recipe, self.games, self.run)
        warn_of_broken_rules(self.games)
        for game in self.games:  # a style that the mode or a game does not admit, before any model is loaded
            state = game.start(Key(0))
            check_style(self.recipe.mode, make_style(self.recipe.style), state.view(state.to_act[0]))

    def stages(self) -> Sequence[Callable[[], Stage]]:
        bases = self.recipe.learner_bases if self.recipe.sft_steps else ()
        return [*(partial(self._sft, base) for base in bases), self._main]

    def _sft(self, base: LearnerBase) -> Stage:
        return sft(self.recipe, self.run, self.games, base, strict=self.strict)

    def _main(self) -> Stage:
        for artifacts in artifacts_of(self.run, self.recipe.learner_bases, part=False).values():
            artifacts.merge_base()
        return self.main_stage()

    @abstractmethod
    def main_stage(self) -> Stage:
        """Make the stage of reinforcement learning."""


class OnlineAlgorithm(PolicyAlgorithm[P]):
    """Algorithm of one policy, defined by its collector of rollouts."""

    @abstractmethod
    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> Collector:
        """Make the collector of one game's rollouts."""

    def seated_collector(self, game: Game[Any], players: Mapping[str, ModelPlayer], key: Key) -> SeatedCollector:
        """Make the collector of the rollouts of several policies, where a recipe has one for each seat."""
        raise BadParameter(f"The algorithm {type(self).__name__} trains one policy, which plays all seats.")

    def main_stage(self) -> Stage:
        return Online(self.recipe, self.run, self.games, self.collector, self.seated_collector, strict=self.strict)


def check_opponents(recipe: OpponentsRecipe, game: Game[Any], *others: str, exact: bool = False) -> None:
    """Refuse players that a game does not know, and a `checkpoint_metric` that it does not have.

    `exact` allows exploitability as the metric, where the recipe has a budget for it.
    """
    for name in (*recipe.opponents, *others):
        make_bot(name, game)
    metrics = (*recipe.suite(game).metrics, *(["exploitability"] if exact and recipe.exact_budget else []))
    if recipe.checkpoint_metric not in metrics:
        raise CannotCompute(
            f"`checkpoint_metric` cannot be {recipe.checkpoint_metric} in {game.spec.name}: "
            f"there are {', '.join(metrics)}."
        )


def check_overlap(recipe: PolicyRecipe, game: Game[Any], opponents: Iterable[Player]) -> None:
    """Refuse `overlap` with opponents whose games are played in this process: the engine there learns meanwhile."""
    for player in opponents if recipe.overlap else ():
        if not Match(game, [player, *[None] * (game.spec.seats - 1)]).repeats:
            raise BadParameter(
                f"Games with {player.name}, which does not repeat itself, are played in this process by the policy's "
                "engine, which learns at the same time: leave `overlap` at 0, or take other opponents."
            )


__all__ = ["Algorithm", "OnlineAlgorithm", "PolicyAlgorithm", "check_opponents", "check_overlap"]
