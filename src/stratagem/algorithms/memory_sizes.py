"""Sizes that a recipe leaves to free memory: tokens of a pass, rows of decoding, logits at once, kept CUDA graphs.

They are chosen when a run is made, and stored in it, so that a resumed run keeps them. A size that the recipe states is
never changed. On a processor sizes are the usual ones unless these do not fit, so results do not depend on the machine;
in fp32 other sizes move last bits alone. On a GPU they grow while the estimate fits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from stratagem.algorithms.estimates import estimate_run
from stratagem.base.named import NamedObject
from stratagem.language.engines.transformers_settings import ROWS, TransformersSettings
from stratagem.learn.logprobs import ON_GPU, ON_PROCESSOR
from stratagem.learn.pass_sizes import MICROBATCH
from stratagem.training.estimate import RunEstimate
from stratagem.training.recipe_file import AnyRecipe

USED = 0.85
"""Share of free memory that an estimate may take: totals are within 15 % of what was measured."""
R = TypeVar("R", bound=AnyRecipe)
TOKENS, LOGITS, KEPT = "max_tokens_per_microbatch", "logits_chunk_mib", "kept_graphs"
ENGINE_ROWS = "rows"
_GIB = 2.0**30
_FEWEST = {TOKENS: 1024, ENGINE_ROWS: 16}
"""Sizes below which nothing is gained: passes would take as long as larger ones."""
_MOST = {TOKENS: 16384, ENGINE_ROWS: 256}
"""Sizes from which on more gains little on a GPU; 256 rows decode 1.8 to 2 times as fast as 64."""
_LOGITS_SHARE = 1.0 / 64.0
"""Share of a GPU's free memory that the logits of a chunk may take; four tensors of their size are alive at once."""


@dataclass(frozen=True)
class SizeChoice:
    """Sizes that were chosen, with the bytes that they rest on."""

    sizes: Mapping[str, int | bool]
    total: float
    """Estimate of the largest model with them, or of the models on one device together."""
    free: float
    """Free memory of the device."""
    estimate: RunEstimate = field(repr=False, compare=False)
    changed: bool = True
    """True if some size is not the usual one."""

    def __str__(self) -> str:
        """Say what was chosen, and why."""
        known, parts = self.sizes, list[str]()
        if TOKENS in known:
            parts.append(f"{known[TOKENS]:,} tokens a pass of training")
        if LOGITS in known:
            parts.append(f"{known[LOGITS]} MiB of logits at once")
        if ENGINE_ROWS in known:
            parts.append(f"{known[ENGINE_ROWS]} replies decoded together")
        if known.get(KEPT):
            parts.append("kept CUDA graphs")
        estimate, free = self.total / _GIB, self.free / _GIB
        return f"Sizes by memory: {', '.join(parts)}; the estimate is {estimate:.1f} GiB, and {free:.1f} GiB are free."


def open_sizes(recipe: AnyRecipe) -> frozenset[str]:
    """Return the sizes that a recipe leaves open."""
    found = {name for name in (TOKENS, LOGITS) if not getattr(recipe, name)}
    if (engine := _engine(recipe)) is not None:
        found |= {ENGINE_ROWS} if not engine.rows else set()
        found |= {KEPT} if engine.kept_graphs == "auto" else set()
    return frozenset(found)


def with_usual_sizes(recipe: R, names: Collection[str], free: float, *, on_gpu: bool) -> R:
    """Return the recipe with the usual sizes in place of those that are open."""
    logits = ON_PROCESSOR
    while on_gpu and logits < ON_GPU and (not free or 2 * logits * 2**20 <= _LOGITS_SHARE * free):
        logits *= 2
    usual: dict[str, int | bool] = {TOKENS: MICROBATCH, LOGITS: logits, ENGINE_ROWS: ROWS, KEPT: False}
    return _with_sizes(recipe, {name: usual[name] for name in names})


def choose_sizes(
    recipe: R, names: Collection[str], free: float, known: RunEstimate | None, *, on_gpu: bool, devices: int = 1
) -> tuple[R, SizeChoice | None]:
    """Return the recipe with sizes that fit, and the choice; None where none was open, or the memory is unknown.

    `known` is the estimate of the recipe, if there is one. `free` is the memory of each of the devices.
    """
    estimate = known or (estimate_run(recipe, devices) if names and free else None)
    if not names or not free or estimate is None or not estimate.memory:
        return recipe, None
    limit, usual = USED * free, {name: _size(recipe, name) for name in names}
    recipe, estimate = _shrink(recipe, names, limit, estimate, devices)
    if on_gpu and _total(estimate) <= limit:
        recipe, estimate = _grow(recipe, names, limit, estimate, devices)
    if KEPT in names and on_gpu and _total(estimate) + _cache(estimate) <= limit:
        recipe = _with_sizes(recipe, {KEPT: True})
    chosen = {name: _size(recipe, name) for name in names}
    return recipe, SizeChoice(chosen, _total(estimate), free, estimate, chosen != usual)


def _shrink(
    recipe: R, names: Collection[str], limit: float, estimate: RunEstimate, devices: int
) -> tuple[R, RunEstimate]:
    """Halve open sizes until the estimate fits: first of passes, whose activations are most of the memory."""
    for name, least in _FEWEST.items():
        while name in names and _size(recipe, name) > least and _total(estimate) > limit:
            recipe = _with_sizes(recipe, {name: _size(recipe, name) // 2})
            estimate = _estimate(recipe, devices)
    return recipe, estimate


def _grow(
    recipe: R, names: Collection[str], limit: float, estimate: RunEstimate, devices: int
) -> tuple[R, RunEstimate]:
    """Double open sizes while the estimate fits."""
    for name, most in _MOST.items():
        while name in names and _size(recipe, name) < most:
            other = _with_sizes(recipe, {name: 2 * _size(recipe, name)})
            if _total(found := _estimate(other, devices)) > limit:
                break
            recipe, estimate = other, found
    return recipe, estimate


def _estimate(recipe: AnyRecipe, devices: int) -> RunEstimate:
    found = estimate_run(recipe, devices)
    assert found is not None
    return found


def keep_sizes_of(recipe: R, other: AnyRecipe) -> R:
    """Return the recipe with the sizes of another one in place of those that are open."""
    theirs = {name for name in open_sizes(recipe) if name in (TOKENS, LOGITS) or _engine(other) is not None}
    return _with_sizes(recipe, {name: _size(other, name) for name in theirs})


def _engine(recipe: AnyRecipe) -> TransformersSettings | None:
    engine = recipe.engine.value
    return engine if isinstance(engine, TransformersSettings) else None


def _size(recipe: AnyRecipe, name: str) -> Any:
    return getattr(recipe if name in (TOKENS, LOGITS) else recipe.engine.value, name)


def _with_sizes(recipe: R, sizes: Mapping[str, int | bool]) -> R:
    """Return the recipe with these sizes; those of the engine are parameters of it."""
    updates: dict[str, Any] = {name: size for name, size in sizes.items() if name in (TOKENS, LOGITS)}
    if own := {name: size for name, size in sizes.items() if name not in updates}:
        engine = recipe.engine
        value: Any = replace(engine.value, **own)  # type: ignore[type-var]
        updates["engine"] = NamedObject(engine.type, {**engine.parameters, **own}, value, {**engine.given, **own})
    return recipe.model_copy(update=updates) if updates else recipe


def _total(estimate: RunEstimate) -> float:
    return max(estimate.totals().values())


def _cache(estimate: RunEstimate) -> float:
    sizes = {text: memory.parts()["keys_and_values"] for text, memory in estimate.memory.items()}
    return max(estimate.by_device(sizes).values())
