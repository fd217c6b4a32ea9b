"""Seats of a run: their construction from the recipe, and the checks before anything is played.

Impossible seats are refused. A base that begins far from the target policies of the recipe is warned of: KL-SFT may be
too short, or left out where a model is said to have the policies by itself. The labels of a published table were found
with the prompts of its paper, and have other policies under other prompts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from torch import Tensor

from stratagem.algorithms.kl_sft.target_policies import LabelScorer, TargetPolicy
from stratagem.algorithms.shapellm.language_seat import Base, LanguageSeat, decoding_settings
from stratagem.algorithms.shapellm.recipe import SeatSettings, ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import (
    FrozenSettings,
    ModelSettings,
    PPOLearnerSettings,
    PromptSettings,
    ScriptedSettings,
    Seat,
    TabularSettings,
    episodes_between,
)
from stratagem.algorithms.shapellm.shapers.gradient_shapers import (
    AdvantageAlignmentSeat,
    AdvantageAlignmentSettings,
    LOLASeat,
    LOLASettings,
    SOSSeat,
    SOSSettings,
)
from stratagem.algorithms.shapellm.shapers.memory_one import (
    ExactSeat,
    ExactSettings,
    MemoryOneGame,
    MemoryOneSeat,
    MemoryOneSettings,
    two_by_two,
)
from stratagem.algorithms.shapellm.shapers.mfos import MetaLearner, MFOSSeat, MFOSSettings
from stratagem.algorithms.shapellm.tabular_seat import TabularLearner, TabularSeat
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame
from stratagem.games.random_play import acting_view
from stratagem.language.decoding.spelling import Unspellable
from stratagem.language.engines.base import Engine
from stratagem.language.engines.open import AdaptedEngine, engine_for
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.monitor import TrainingWarning
from stratagem.measure.labels import LabelReading, divergence
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.modes import check_mode
from stratagem.players.pools import make_bot
from stratagem.playing.memory import check_memory
from stratagem.training.learner_models import LearnerBase, check_devices
from stratagem.training.policy import model_player, speaker

SHAPERS: Mapping[type[MemoryOneSettings], type[MemoryOneSeat[Any]]] = {
    ExactSettings: ExactSeat,
    LOLASettings: LOLASeat,
    SOSSettings: SOSSeat,
    MFOSSettings: MFOSSeat,
    AdvantageAlignmentSettings: AdvantageAlignmentSeat,
}
"""Seat of each kind of learner with exact values."""
LIMIT = 0.05
"""Largest KL divergence in nats, mean over the five states: .25 in place of .40, or .75 in place of .60."""
LEAST_LEGAL = 0.95
"""Least probability of both labels together, mean over the five states; other replies are null actions."""
_PROMPTS = 25
"""Number of prompts of a target policy, five of each state: a style with counts has other counts in each."""


def check_seats(recipe: ShapeLLMRecipe, game: Game[Any]) -> None:
    """Refuse seats that the game does not admit, as far as can be checked without a model."""
    if len(recipe.seats) != game.spec.seats:
        raise BadParameter(
            f"{game.spec.name} has {game.spec.seats} seats, and the recipe has {len(recipe.seats)}: "
            f"{', '.join(recipe.seats)}."
        )
    if recipe.final_evaluation.rounds and not hasattr(game, "rounds"):
        raise BadParameter(
            f"{game.spec.name} has no parameter `rounds`, so its games have one length: leave "
            "`final_evaluation.rounds` out."
        )
    check_devices("seats", {n: seat for n, seat in recipe.seats.items() if isinstance(seat, PPOLearnerSettings)})
    for slot, (name, seat) in enumerate(recipe.seats.items()):
        try:
            if isinstance(seat, PromptSettings):
                check_memory(seat.memory, make_style(seat.style), game)
                make_style(seat.style).messages(acting_view(game, slot))
            if isinstance(seat, TabularSettings):
                _check_returns(seat, recipe, game)
                initial, first = initial_player(seat, game), seat.initial_probability
                TabularLearner(make_style(seat.style), first, initial=initial).row(acting_view(game, slot))
            if isinstance(seat, ScriptedSettings):
                make_bot(seat.player, game)
            if isinstance(seat, MemoryOneSettings):
                two_by_two(game)
                _check_opponent(list(recipe.seats)[1 - slot], list(recipe.seats.values())[1 - slot], game)
        except (BadParameter, CannotCompute) as error:
            raise BadParameter(f"The seat {name}: {error}") from error


def _check_returns(seat: TabularSettings, recipe: ShapeLLMRecipe, game: Game[Any]) -> None:
    """Refuse a single return an update, which is its own mean, so all advantages would be 0."""
    episodes = recipe.environments * episodes_between(seat.update_every, recipe.episodes)
    alike = seat.discount == 1.0 or isinstance(game, MatrixGame)  # a round of another game has several decisions
    if episodes == 1 and game.spec.rounds == 1 and alike and not seat.entropy_coef:
        raise BadParameter(
            "it has one return an update, which is compared with itself, so all advantages are 0: take more "
            "`environments`, a longer `update_every` or a game of more rounds."
        )


def initial_player(seat: TabularSettings, game: Game[Any]) -> Player | None:
    """Make the player that a table begins as; None where it begins by a probability."""
    return make_bot(seat.initial_player, game) if seat.initial_player else None


def _check_opponent(name: str, opponent: SeatSettings, game: Game[Any]) -> None:
    """Refuse an opponent whose policy is not one probability for each last joint action."""
    match opponent:
        case MemoryOneSettings():
            known = True
        case TabularSettings() | ModelSettings():
            known = opponent.memory in ("none", "last")
        case ScriptedSettings():
            traits = make_player(opponent.player, game).traits
            known = traits.exact and traits.memory in (0, 1)
    if not known:
        raise BadParameter(
            f"it learns from the opponent's five probabilities, and {name} has none: give {name} a learner with "
            "exact values, a model or a table with the memory last, or a scripted player that remembers one round."
        )


def check_speech(recipe: ShapeLLMRecipe, game: Game[Any], bases: Mapping[LearnerBase, Base]) -> None:
    """Refuse actions that a model cannot output in its mode, such as labels of two tokens in `single`."""
    for slot, (name, seat) in enumerate(recipe.seats.items()):
        if isinstance(seat, ModelSettings):
            engine = engine_of(recipe, seat, bases).engine
            state = game.start(Key(0))
            view = state.view(slot if slot in state.to_act else state.to_act[0])
            try:
                check_mode(seat.mode, speaker(decoding_settings(seat), engine), view)
            except BadParameter as error:
                raise BadParameter(f"The seat {name}, with {engine.name}: {error}") from error


def engine_of(recipe: ShapeLLMRecipe, seat: ModelSettings, bases: Mapping[LearnerBase, Base]) -> AdaptedEngine:
    """Return the engine of a seat: that of a base of the run, or of the model that a frozen seat names."""
    if recipe.has_own_model(seat):
        return engine_for(seat.model)
    return AdaptedEngine(bases[recipe.base_of(seat)].engine, "")


@dataclass(frozen=True)
class SeatFactory:
    """Factory of the seats of a run."""

    recipe: ShapeLLMRecipe
    game: Game[Any]
    bases: Mapping[LearnerBase, Base]
    """Loaded bases."""
    strict: bool = False
    meta_policies: Mapping[str, Tensor] = field(default_factory=dict)
    """Weights of the trained meta-policies of M-FOS by seat."""

    def seats(self) -> dict[str, Seat]:
        """Make the seats by name, in their state before the first trial."""
        return {name: self._seat(name, seat, slot) for slot, (name, seat) in enumerate(self.recipe.seats.items())}

    def _seat(self, name: str, seat: SeatSettings, slot: int) -> Seat:
        if isinstance(seat, ScriptedSettings):
            return Seat(make_player(seat.player, self.game))
        if isinstance(seat, FrozenSettings):
            return Seat(self._frozen(name, seat), seat.memory)
        if isinstance(seat, MemoryOneSettings):
            return self._exact(name, seat, slot)
        every = episodes_between(seat.update_every, self.recipe.episodes)
        if isinstance(seat, TabularSettings):
            return TabularSeat(name, seat, every, self._key(name), initial_player(seat, self.game))
        return self._learning(name, seat, every)

    def _key(self, name: str) -> Key:
        return Key(self.recipe.seed).at("seat", name)

    def _exact(self, name: str, seat: MemoryOneSettings, slot: int) -> MemoryOneSeat[Any]:
        if isinstance(seat, MFOSSettings):
            return MFOSSeat(name, seat, self.game, slot, self._key(name), self.meta_policies.get(name))
        return SHAPERS[type(seat)](name, seat, self.game, slot, self._key(name))

    def _frozen(self, name: str, seat: FrozenSettings) -> ModelPlayer:
        engine, adapter = engine_of(self.recipe, seat, self.bases)
        return model_player(decoding_settings(seat), engine, adapter, name)

    def _learning(self, name: str, seat: PPOLearnerSettings, every: int) -> LanguageSeat:
        base = self.bases[self.recipe.base_of(seat)]
        return LanguageSeat(name, seat, base, every, self._key(name), strict=self.strict)


def meta_learners(recipe: ShapeLLMRecipe, game: Game[Any]) -> dict[str, MetaLearner]:
    """Make the learners of the meta-policies of all M-FOS seats."""
    return {
        name: MetaLearner(seat, MemoryOneGame.of(game, slot, seat.discount), Key(recipe.seed).at("meta", name))
        for slot, (name, seat) in enumerate(recipe.seats.items())
        if isinstance(seat, MFOSSettings)
    }


def check_initial_policies(
    game: Game[Any],
    bases: Mapping[LearnerBase, Base],
    targets: Sequence[TargetPolicy],
    open_bases: Collection[LearnerBase],
) -> None:
    """Warn of every base that begins far from a target policy under the labels of the game.

    `open_bases` are those with a seat whose replies are any tokens; their other replies than labels count, too.
    """
    own = [target for target in targets if _plays_with_labels(game, target)]
    for name, base in bases.items():
        for sentence in distant(base.engine, name.model, own, LEAST_LEGAL if name in open_bases else 0.0):
            warnings.warn(sentence, TrainingWarning, stacklevel=2)


def _plays_with_labels(game: Game[Any], target: TargetPolicy) -> bool:
    """Return whether the seat of a target policy plays with its labels."""
    return isinstance(game, MatrixGame) and tuple(game.seat_labels(target.seat)) == tuple(target.labels)


def distant(
    engine: Engine, model: str, targets: Sequence[TargetPolicy], least_legal: float = LEAST_LEGAL
) -> Iterator[str]:
    """Yield a sentence for every target table that a model is far from, where its engine tells probabilities."""
    for target in targets if engine.capabilities.scores else ():
        try:
            if target.table and (sentence := _distance(engine, model, target, target.table.first, least_legal)):
                yield sentence
        except (BadParameter, Unspellable):  # labels that this model cannot write as one token
            continue


def _distance(engine: Engine, model: str, target: TargetPolicy, wanted: Sequence[float], least_legal: float) -> str:
    """Say how far the model is from the target; empty where it is near."""
    reading = policy_after_prompts(engine, target)
    distance = divergence(wanted, reading)
    if distance <= LIMIT:
        return "" if fmean(reading.legal) >= least_legal else _null_actions(model, target, fmean(reading.legal))
    return (
        f"{model} begins at seat {target.seat} with the probabilities {_list_shares(reading.share)} of "
        f"{target.labels[0]}, and the target policy {target.policy} has {_list_shares(wanted)}: {distance:.2f} nats "
        "between them. Raise `kl_sft.epochs`, or choose labels for this model and these prompts by "
        "experiments/label_scan.py."
    )


def _null_actions(model: str, target: TargetPolicy, legal: float) -> str:
    """Say how often the model plays neither label."""
    first, second = target.labels
    return (
        f"{model} begins at seat {target.seat} with a probability of {1.0 - legal:.2f} of a reply that is neither "
        f"{first} nor {second}, and such a reply is a null action. Raise `kl_sft.epochs`, or choose labels for this "
        "model and these prompts by experiments/label_scan.py."
    )


def policy_after_prompts(engine: Engine, target: TargetPolicy) -> LabelReading:
    """Return the probabilities of both labels in the five states, each the mean over prompts of all styles."""
    prompts = list(target.prompts(_PROMPTS, Key(0).at("initial check")))
    told = list(zip(prompts, LabelScorer.of(engine).logprobs(prompts), strict=True))
    by_state = [[pair for prompt, pair in told if prompt.state == state] for state in range(5)]
    first, second = ([fmean(math.exp(pair[n]) for pair in own) for own in by_state] for n in (0, 1))
    return LabelReading(tuple(first), tuple(second))


def _list_shares(probabilities: Sequence[float]) -> str:
    return ", ".join(f"{p:.2f}" for p in probabilities)
