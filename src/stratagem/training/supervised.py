"""Supervised fine-tuning as a stage: the base is trained on examples, and saved as the base of the run.

All weights are trained, or an adapter that is merged into the base at the end. An adapter on a base in 4 bits (QLoRA,
Dettmers et al. 2023) stays an adapter: rounding the merged weights to 4 bits would lose most of SFT. SFT uses
demonstrations and the cross-entropy loss; KL-SFT uses target policies and the KL divergence
(`algorithms/kl_sft/algorithm.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.engines.base import Engine
from stratagem.language.engines.open import open_engine
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations.imitation import ImitatedPlayer, TeacherDecision, teacher_decisions
from stratagem.learn.demonstrations.scripted import Cast, cast_of, demonstrations, shuffle_items
from stratagem.learn.demonstrations.taught import read_demonstrations
from stratagem.learn.example import Example
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.players.asked_agent import AskedAgent
from stratagem.players.pools import make_bot
from stratagem.training.artifacts import Artifacts, SavedModels, artifacts_of, label_models, publish
from stratagem.training.by_game import check_games_of, demonstrators_of
from stratagem.training.learner_models import SFT, LearnerBase
from stratagem.training.online import decoding_settings
from stratagem.training.policy import TrainablePolicy, TrainingData, learner_policy, model_player
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.runs.files import telling, write_file
from stratagem.training.runs.folder import RunFolder
from stratagem.training.sft import SFTSettings, SFTStageSettings, SourceSettings, batches, example_of_demonstration
from stratagem.training.stage import Stage, State, TrainingBatch, TrainingSubject

COPY = Path("files") / "demonstrations.jsonl"
"""Copy of the file in the folder of the run."""


def check_demonstrations(file: str, games: Sequence[Game[Any]], run: RunFolder) -> None:
    """Refuse a file that cannot be read, or that has no example of one of the games."""
    for game in games:
        _of_game(_path(file, run), game)


def keep_demonstrations(file: str, run: RunFolder) -> None:
    """Copy the file into the folder of the run, unless it has one."""
    path = _path(file, run)
    if path != run.path / COPY:
        with telling(run.path / COPY):
            (run.path / COPY).parent.mkdir(exist_ok=True)
        write_file(run.path / COPY, path.read_text("utf-8"))


def file_decisions(file: str, game: Game[Any], examples: int, key: Key, run: RunFolder) -> Iterator[TeacherDecision]:
    """Yield so many examples of a game, each once before any is repeated, in an order that follows from the key."""
    known = shuffle_items(_of_game(_path(file, run), game), key.at("file", describe(game)))
    yield from (known[number % len(known)] for number in range(examples))


def _path(file: str, run: RunFolder) -> Path:
    copy = run.path / COPY
    return copy if copy.is_file() else Path(file).expanduser()


def _of_game(path: Path, game: Game[Any]) -> list[TeacherDecision]:
    """Return the examples of a game; those with other parameters count, since the texts say what is played."""
    every = read_demonstrations(path)
    found = [
        TeacherDecision(messages, reply) for name, messages, reply in every if _kind(name) == _kind(describe(game))
    ]
    if not found:
        games = ", ".join(dict.fromkeys(name for name, _, _ in every))
        raise BadParameter(f"{str(path)!r} has no demonstration of {describe(game)}: it has those of {games}.")
    return found


def _kind(game: str) -> str:
    """Return the name of a game without its parameters."""
    return game.partition("(")[0].strip()


SKIPPED_CHECKS = ("collapse", "inert_clip", "stuck_ratio")
"""Checks of sampled policies; an imitating policy may have as little entropy as its teacher."""


class SupervisedStage(Stage):
    """Training on fixed examples, in an order that follows from the key."""

    saves_outcome = True

    def __init__(
        self,
        name: str,
        artifacts: Artifacts,
        policy: TrainablePolicy,
        examples: Sequence[Sequence[Example]],
        settings: SFTSettings,
        key: Key,
        decoding: DecodingSettings,
        save_every: int,
    ) -> None:
        """`name` is the prefix of the metrics; a checkpoint is saved every `save_every` steps."""
        self.name = name
        self.artifacts = artifacts
        self.policy = policy
        self.policies = {name: policy}
        self.policy.skipped_checks = SKIPPED_CHECKS
        self.decoding = decoding
        self.save_every = save_every
        self._batches = list(batches(examples, settings, key))
        self.num_steps = len(self._batches)

    def subjects(self) -> list[TrainingSubject]:
        """Return nothing: the stage does not play."""
        return []

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        yield TrainingBatch(policy=self.name, data=TrainingData(self._batches[step]))

    def saves(self, step: int) -> bool:
        return step % self.save_every == 0

    def finish(self, step: int) -> None:
        if self.artifacts.finished:
            return
        lm = self.policy.lm
        lm.model.requires_grad_(False)
        if self.policy.adapter is None:
            self.artifacts.save_base(lm)
        else:
            self.artifacts.save_start(lm, self.policy.adapter)

    def publish(self, run: RunFolder, best: int | None) -> None:
        if self.artifacts.finished:
            base, start = self.artifacts.base_and_start()
            publish(run, label_models(SavedModels(base, start, {})) | {"best": start}, self.decoding)

    def state(self) -> dict[str, Any]:
        return self.policy.state()

    def restore(self, state: State, folder: Path) -> None:
        if not self.artifacts.finished:
            self.policy.restore(state, folder)

    def write(self, folder: Path) -> None:
        if not self.artifacts.finished:  # else its adapter is merged, and the model saved
            self.policy.write(folder)


def check_imitated(recipe: PolicyRecipe, games: Sequence[Game[Any]], run: RunFolder) -> None:
    """Refuse a source of examples that does not exist or does not fit these games, before anything is trained."""
    settings = recipe.sft
    if settings is None or not recipe.sft_steps:
        return
    check_games_of("sft.demonstrators", settings.demonstrators, games)
    if settings.file:
        check_demonstrations(settings.file, games, run)
        return
    if settings.sources:
        _check_sources(recipe, settings.sources)
        return
    for game in games:
        if settings.teacher:
            make_bot(settings.teacher, game)
        else:
            _cast(recipe, settings, game).make(game)


def _check_sources(recipe: PolicyRecipe, sources: Sequence[SourceSettings]) -> None:
    """Refuse games, players and styles that do not exist or do not fit each other."""
    for source in sources:
        for game in map(make_bounded_game, source.games):
            state, teacher = game.start(Key(recipe.seed)), make_bot(source.teacher, game)
            if source.records:
                next(teacher_decisions(game, _imitated_source(source), 1, Key(recipe.seed), [make_style(recipe.style)]))
            if source.played_by:
                make_bot(source.played_by, game)
                AskedAgent(teacher).draw(state, state.to_act[0], Key(recipe.seed))
            for style in source.styles or (recipe.style,):
                make_style(style).messages(state.view(state.to_act[0]))


def _imitated_source(source: SourceSettings) -> ImitatedPlayer:
    return ImitatedPlayer(source.teacher, source.played_by, source.held_out, source.records)


def _cast(recipe: PolicyRecipe, settings: SFTStageSettings, game: Game[Any]) -> Cast:
    return cast_of(game, demonstrators_of(settings.demonstrators, game), recipe.pools_of(game))


def sft(
    recipe: PolicyRecipe,
    run: RunFolder,
    games: Sequence[Game[Any]],
    base: LearnerBase | None = None,
    *,
    strict: bool = False,
) -> SupervisedStage:
    """Make the SFT stage of a recipe, of one `base` of several: cross-entropy on demonstrators or on a teacher."""
    settings, key, bases = recipe.sft, Key(recipe.seed), recipe.learner_bases
    assert settings is not None
    base = base or bases[0]
    name = f"{SFT}-{bases.index(base)}" if len(bases) > 1 else SFT
    artifacts = artifacts_of(run, bases, part=False)[base]
    lm = artifacts.load_given()
    engine = open_engine(lm, recipe.engine.value)
    model_player(decoding_settings(recipe), engine, games=games)  # which refuses what it could not play afterwards
    if recipe.train == "adapter":
        for learner, own in recipe.bases_by_learner.items():
            if own == base and (adapter := recipe.of_learner(learner).adapter) is not None:
                adapter.check(lm)
    policy = TrainablePolicy(
        lm,
        engine,
        decoding_settings(recipe),
        name="sft",
        adapter=settings.adapter,
        seed=recipe.seed,
        policy=learner_policy(lm, recipe),
        strict=strict,
    )
    if settings.file:
        keep_demonstrations(settings.file, run)
    examples = list(_examples(recipe, settings, games, engine, key, run))
    policy.assign(CrossEntropy(), settings.optimizer, recipe.sft_steps_of_base, key=key.at("dropout"))
    order, every = key.at("warm start"), 10 * recipe.evaluate_every
    return SupervisedStage(name, artifacts, policy, examples, settings, order, decoding_settings(recipe), every)


def _self_play(settings: SFTStageSettings, games: tuple[str, ...]) -> Sequence[SourceSettings]:
    """Return the self-play of the teacher as a source; nothing without one."""
    if not settings.teacher:
        return ()
    return (SourceSettings(games=games, teacher=settings.teacher, num_examples=settings.num_examples),)


def _examples(
    recipe: PolicyRecipe,
    settings: SFTStageSettings,
    games: Sequence[Game[Any]],
    engine: Engine,
    key: Key,
    run: RunFolder,
) -> Iterator[list[Example]]:
    """Yield the training examples of every game in units with a common prefix; held-out demonstrations are left out."""
    for source in settings.sources or _self_play(settings, recipe.games):
        imitated = _imitated_source(source)
        styles = [make_style(style) for style in source.styles or (recipe.style,)]
        for game in map(make_bounded_game, source.games):
            for unit in teacher_decisions(game, imitated, source.num_examples, key, styles):
                yield [example_of_demonstration(engine, example.messages, example.reply) for example in unit]
    if settings.sources or settings.teacher:
        return
    for game in games:
        if settings.file:
            for taught in file_decisions(settings.file, game, settings.num_examples, key, run):
                yield [example_of_demonstration(engine, taught.messages, taught.reply)]
            continue
        cast = _cast(recipe, settings, game)
        for example in demonstrations(game, settings.num_examples, key, style=recipe.style, cast=cast):
            if not example.held_out:
                yield [example_of_demonstration(engine, example.messages, example.reply)]
