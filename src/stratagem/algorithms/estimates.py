"""Estimate of the run of a recipe: the models that it holds at once, and the tokens of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.sepo.recipe import SEPOSettings
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import ModelSettings, PPOLearnerSettings
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.safety.base import Pools
from stratagem.language.models.known_shapes import locate_model, shape_of
from stratagem.language.models.reference import AUTO, NAMED
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.example import Example
from stratagem.learn.pass_sizes import MICROBATCH, PackSize, pack_size, planned_packs
from stratagem.players.modes import MODES
from stratagem.players.pools import pools
from stratagem.playing.memory import memory_of
from stratagem.training.branched_rollouts import BranchedRolloutSettings
from stratagem.training.estimate import EpisodeSize, ProcessMemory, RunEstimate, Workload, episode_size, sample_batch
from stratagem.training.game_lists import named_games
from stratagem.training.learner_models import LearnerBase
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.recipe_file import AnyRecipe, RecipeWork
from stratagem.training.sft import AdapterSettings

_FULL_PACKS = 3
"""Full packs that the examples of a step are looked at for."""
_DRAWS = 3
"""Steps that are looked at; the estimate is that of the largest."""


def estimate_run(recipe: AnyRecipe, devices: int = 1) -> RunEstimate | None:
    """Estimate the run of a recipe on so many devices; None where its algorithm does not say what is counted."""
    if (made := _estimate_of(recipe)) is None or devices == 1:
        return made
    memory = {
        text: replace(one, devices=devices, packs=_packs(replace(one, devices=devices), recipe, made.batches[text]))
        for text, one in made.memory.items()
    }
    return replace(made, memory=memory)


def _estimate_of(recipe: AnyRecipe) -> RunEstimate | None:
    if (work := recipe.workload()) is not None:
        return _of_work(recipe, work)
    if isinstance(recipe, PolicyRecipe):
        return _of_policy(recipe)
    if isinstance(recipe, ScopalRecipe):
        return _of_scopal(recipe)
    if isinstance(recipe, ShapeLLMRecipe):
        return _of_shapellm(recipe)
    if isinstance(recipe, KLSFTRecipe):
        return _of_kl_sft(recipe)
    return None


def _dtype(text: str) -> str:
    """Return the number format of a model; where it names none, that of a GPU, and of a model from here its own."""
    ref = locate_model(text)
    stated = None if ref.dtype == AUTO else ref.dtype
    return stated or ("fp32" if ref.kind in NAMED else "bf16")


def _estimate(
    recipe: AnyRecipe, models: Sequence[str], size: EpisodeSize, work: Workload, batch: float, **held: Any
) -> RunEstimate:
    """Count the memory of every model of a run, all with the same adapters and settings.

    An optimizer step reads `batch` examples.
    """
    estimate, drawn = RunEstimate({}, [], work, {}), _examples(recipe, size, work, batch)
    checkpointed = getattr(recipe, "gradient_checkpointing", False) is True
    for text in models:
        ref, shape = locate_model(text), shape_of(text)
        if shape is None:
            estimate.unknown.append(text)
            continue
        memory = ProcessMemory(
            shape,
            _dtype(text),
            four_bit=ref.four_bit,
            rows=int(getattr(recipe.engine.value, "rows", 0) or recipe.shard),
            context=round(size.longest + work.reply),
            checkpointed=checkpointed,
            logits_chunk_mib=recipe.logits_chunk_mib,
            on_gpu=ref.kind not in NAMED,
            **held,
        )
        steps = [(replace(memory, packs=_packs(memory, recipe, examples)), examples) for examples in drawn]
        largest, read = max(steps, key=lambda step: step[0].total())
        estimate.memory[text], estimate.batches[text] = largest, read
    return estimate


def _packs(memory: ProcessMemory, recipe: AnyRecipe, examples: Sequence[Example]) -> tuple[PackSize, ...]:
    """Return the sizes of the packs of examples; with layers of linear attention texts share no prefixes."""
    share = memory.shape.linear is None
    ways = {"share": share, "prefix_batches": share and not memory.checkpointed and not memory.is_sharded}
    packs = planned_packs(examples, recipe.max_tokens_per_microbatch or MICROBATCH, **ways)
    device = "cuda" if memory.on_gpu else "cpu"
    return tuple(pack_size(pack, examples, **ways, device=device) for pack in packs)


def _examples(recipe: AnyRecipe, size: EpisodeSize, work: Workload, batch: float) -> list[list[Example]]:
    """Return the examples of several optimizer steps; of a large batch no more than fill some packs."""
    reply = max(1, round(work.reply))
    enough = _FULL_PACKS * -(-(recipe.max_tokens_per_microbatch or MICROBATCH) // reply)
    number = max(1, min(round(batch), enough))
    return [sample_batch(size.prompts, reply, number, draw) for draw in range(_DRAWS)]


def _mean(sizes: Sequence[EpisodeSize]) -> EpisodeSize:
    """Return the mean over games; of the longest prompts, the longest."""
    columns = zip(*((size.decisions, size.prompt, size.longest, size.action) for size in sizes), strict=True)
    decisions, prompt, longest, action = (list(column) for column in columns)
    count, turns = len(sizes), zip_longest(*(size.prompts for size in sizes))
    kept = tuple(text for texts in turns for text in texts if text is not None)
    return EpisodeSize(sum(decisions) / count, sum(prompt) / count, max(longest), sum(action) / count, kept)


def _reply(mode: str, size: EpisodeSize, max_new_tokens: int) -> float:
    """Return the tokens of a reply: an action alone, or as many as may be."""
    return min(size.action, max_new_tokens) if MODES[mode].exact else float(max_new_tokens)


def _of_work(recipe: AnyRecipe, own: RecipeWork) -> RunEstimate:
    """Estimate the run of an algorithm that says its work."""
    size = _mean([episode_size(make_bounded_game(text), make_style(own.style)) for text in own.games])
    replies = own.episodes * size.decisions
    work = Workload(
        steps=own.steps,
        replies=replies,
        learnt=replies,
        passes=own.passes,
        prompt=size.prompt,
        reply=_reply(own.mode, size, own.max_new_tokens),
    )
    held = {"adapter": own.adapter, "learners": own.learners, "reference": own.reference}
    return _estimate(recipe, recipe.bases, size, work, replies if own.batch is None else own.batch, **held)


def _of_policy(recipe: PolicyRecipe) -> RunEstimate:
    games, stage = named_games(recipe.games), recipe.stage
    size = _mean([episode_size(game, make_style(recipe.style)) for game in games])
    episodes = sum(_episodes(stage, game, recipe.pools_of(game)) for game in games)
    seats = recipe.seats_of_learners
    shares = {name: len(seats.get(name, (0,))) for name in recipe.bases_by_learner}
    replies = episodes * sum(shares.values()) * size.decisions
    sft = recipe.sft
    work = Workload(
        steps=stage.iterations,
        replies=replies,
        learnt=replies,
        prompt=size.prompt,
        reply=_reply(recipe.mode, size, recipe.max_new_tokens),
        sft_examples=float(recipe.sft_steps * sft.batch_size) if sft else 0.0,
    )
    if horizon := getattr(stage, "horizon_phases", None):
        work = replace(work, replies=replies * min(1.0, horizon / size.decisions))
        work = replace(work, learnt=work.replies)
    members = recipe.league.max_loaded_adapters if isinstance(recipe, LeagueRecipe) else 0
    each: list[tuple[LearnerBase, RunEstimate]] = []
    for base in recipe.learner_bases:
        names = [name for name, own in recipe.bases_by_learner.items() if own == base]
        follows = recipe.reference.follows or bool(locate_model(base.model).four_bit and recipe.sft_steps)
        copy = recipe.reference.dtype or _dtype(base.model)
        made = _estimate(
            recipe,
            [base.model],
            size,
            work,
            episodes * max(shares[name] for name in names) * size.decisions / stage.optimizer_steps,
            adapter=recipe.of_learner(names[0]).adapter if recipe.train == "adapter" else None,
            learners=len(names),
            frozen=members + follows,
            reference=copy if recipe.reference.type == "copy" else "",
        )
        each.append((base, made))
    found = _together(work, each)
    if sft is None or not recipe.sft_steps:
        return found
    one = replace(work, reply=min(work.reply, size.action))
    for base in recipe.learner_bases:
        taught = _estimate(recipe, [base.model], size, one, float(sft.batch_size), adapter=sft.adapter)
        before = {f"{base}, SFT": replace(memory, rows=0) for memory in taught.memory.values()}
        batches = {f"{base}, SFT": examples for examples in taught.batches.values()}
        found = replace(found, memory={**before, **found.memory}, batches={**batches, **found.batches})
    return found


def _together(work: Workload, each: Sequence[tuple[LearnerBase, RunEstimate]]) -> RunEstimate:
    """Join the estimates of bases that are loaded at once, each on its device."""
    by_device: dict[str, tuple[str, ...]] = {}
    for base, made in each:
        by_device[base.device] = (*by_device.get(base.device, ()), *(str(base) for _ in made.memory))
    return RunEstimate(
        {str(base): memory for base, made in each for memory in made.memory.values()},
        [text for _, made in each for text in made.unknown],
        work,
        {str(base): examples for base, made in each for examples in made.batches.values()},
        {device: names for device, names in by_device.items() if len(names) > 1},
    )


def _episodes(stage: Any, game: Game[Any], own: Pools) -> float:
    """Return the episodes of one learner in an iteration of a game, each seat of self-play counted."""
    if isinstance(stage, SEPOSettings):
        kinds = pools(game, own)
        count = len(kinds["train"].players)
        if stage.penalty_credit != "none":
            count += len(kinds["exploit"].players) + len(kinds["collusive"].players)
        return count * stage.groups_per_batch * stage.group_size
    if isinstance(stage, BranchedRolloutSettings):
        return stage.groups_per_batch * stage.group_size
    return float(getattr(stage, "episodes_per_batch", 1) * game.spec.seats)


def _of_scopal(recipe: ScopalRecipe) -> RunEstimate:
    games = named_games(recipe.games)
    size = _mean([episode_size(game, make_style(recipe.style)) for game in games])
    settings = recipe.interaction
    played = 0 if settings.records or recipe.reward.table or settings.teachers else settings.episodes
    replies = len(games) * settings.episodes * size.decisions * 2
    epochs = sum(recipe.stage(method).epochs for method in recipe.refine)
    work = Workload(
        steps=recipe.iterations,
        replies=replies if played else 0.0,
        learnt=float(recipe.samples.max_samples or replies),
        passes=float(epochs),
        prompt=size.prompt,
        reply=_reply(recipe.mode, size, recipe.max_new_tokens),
    )
    whole = recipe.train == "all"
    reads = whole and any(method not in ("bc", "imitate", "winning") for method in recipe.refine)
    copy = recipe.reference.dtype or _dtype(recipe.model)
    adapter = None if whole else recipe.adapter
    reference = copy if reads else ""
    batch = float(max((recipe.stage(method).batch_size for method in recipe.refine), default=0))
    return _estimate(recipe, [recipe.model], size, work, batch, adapter=adapter, frozen=1, reference=reference)


def _of_shapellm(recipe: ShapeLLMRecipe) -> RunEstimate:
    game = make_bounded_game(recipe.game)
    seats = [seat for seat in recipe.seats.values() if isinstance(seat, ModelSettings)]
    learners = [seat for seat in seats if isinstance(seat, PPOLearnerSettings)]
    styles = [make_style(seat.style) for seat in seats if memory_of(seat.memory) is not None] or [make_style("plain")]
    size = _mean([episode_size(game, style) for style in styles])
    replies = recipe.environments * recipe.episodes * size.decisions
    reply = 1.0 if all(seat.mode == "single" for seat in seats) else _reply("direct", size, 256)
    work = Workload(
        steps=recipe.trials,
        replies=replies * len(seats),
        learnt=replies * len(learners),
        passes=max((seat.ppo.batches.epochs for seat in learners), default=1),
        prompt=size.prompt,
        reply=reply,
        sft_examples=float(recipe.sft_steps * recipe.kl_sft.batch_size),
    )
    batch = float(max((seat.ppo.batches.mini_batch_size for seat in learners), default=1))
    each: list[tuple[LearnerBase, RunEstimate]] = []
    for base in recipe.learner_bases:
        adapters = recipe.adapters_on(base)
        adapter, count = (adapters or [AdapterSettings()])[0], len(adapters)
        made = _estimate(recipe, [base.model], size, work, batch, adapter=adapter, learners=count)
        each.append((base, made))
    return _together(work, each)


def _of_kl_sft(recipe: KLSFTRecipe) -> RunEstimate:
    targets = [(target, style) for target in recipe.target_policies for style in target.styles]
    sizes = [episode_size(target.scene(style).game, make_style(style)) for target, style in targets]
    size = _mean(sizes)
    examples = float(recipe.steps * recipe.kl_sft.batch_size)
    work = Workload(prompt=size.prompt, reply=1.0, sft_examples=examples)
    return _estimate(recipe, [recipe.model], size, work, float(recipe.kl_sft.batch_size), adapter=recipe.kl_sft.adapter)
