"""Sizes that a recipe leaves to free memory: the usual ones on a processor, and larger ones on a GPU."""

import tomllib

import pytest

import stratagem as sg
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import read_any, recipe_of
from stratagem.algorithms.estimates import estimate_run
from stratagem.algorithms.machine_choices import choose_by_memory, device_memory, keep_choices_of
from stratagem.algorithms.memory_sizes import USED, choose_sizes, open_sizes, with_usual_sizes
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.language.engines.catalogue import VLLM
from stratagem.training.shipped import recipe_path

GIB = 2**30
SCOPAL = [recipe_path(name) for name in ("papers/scopal/self-play", "papers/scopal/qwen2")]
STATED = {"max_tokens_per_microbatch": 512, "logits_chunk_mib": 7, "engine.rows": 5, "engine.kept_graphs": False}
TINY = {**RECIPES["sepo"], "sepo": {"iterations": 1, "group_size": 2, "groups_per_batch": 1}}


def settled(free, *, on_gpu, **changes):
    recipe, _, choice = choose_by_memory(read_any(SCOPAL, changes), free, on_gpu=on_gpu)
    engine = recipe.engine.value
    return (recipe.max_tokens_per_microbatch, recipe.logits_chunk_mib, engine.rows, engine.kept_graphs), choice


def total(**changes):
    return max(memory.total() for memory in estimate_run(read_any(SCOPAL, changes)).memory.values())


@pytest.mark.parametrize("free", [64 * GIB, 512 * GIB])
def test_sizes_on_a_processor_do_not_depend_on_memory_where_they_fit(free):
    assert settled(free, on_gpu=False)[0] == (4096, 32, 64, False)


def test_sizes_grow_on_a_gpu_while_the_estimate_fits():
    sizes, choice = settled(140 * GIB, on_gpu=True)
    assert sizes == (16384, 512, 256, True)
    assert choice.total <= USED * choice.free
    assert settled(12 * GIB, on_gpu=True)[0][1] == 128
    rows = {"gradient_checkpointing": True, "logits_chunk_mib": 512, "max_tokens_per_microbatch": 4096}
    play = total(**rows, **{"engine.rows": 256})
    assert play > total(**rows, **{"engine.rows": 128})
    assert settled(1.01 * play / USED, on_gpu=True, **rows)[0][2:] == (256, False), "no room for a second store"
    assert settled(0.99 * play / USED, on_gpu=True, **rows)[0][2] == 128


def test_sizes_shrink_where_the_usual_ones_do_not_fit():
    sizes, choice = settled(1.0, on_gpu=False)
    assert sizes == (1024, 32, 16, False)
    assert choice.total > USED * choice.free


def test_passes_shrink_before_rows():
    """With rows alone open, they are halved; with both, first the passes."""
    recipe = read_any(SCOPAL)
    names = open_sizes(recipe)
    usual = with_usual_sizes(recipe, names, 0.0, on_gpu=False)
    free = 0.999 * max(memory.total() for memory in estimate_run(usual).memory.values()) / USED
    halved, _ = choose_sizes(usual, names, free, None, on_gpu=False)
    assert halved.max_tokens_per_microbatch < 4096


@pytest.mark.parametrize(("free", "on_gpu"), [(1.0, False), (140 * GIB, True)])
def test_sizes_that_the_recipe_states_are_kept(free, on_gpu):
    sizes, choice = settled(free, on_gpu=on_gpu, **STATED)
    assert sizes == tuple(STATED.values())
    assert choice is None
    assert not open_sizes(read_any(SCOPAL, STATED))


def test_usual_sizes_are_taken_where_memory_or_model_are_unknown():
    assert settled(0.0, on_gpu=True)[0] == (4096, 512, 64, False)
    assert settled(GIB, on_gpu=False, model="hf:nobody/nothing")[0] == (4096, 32, 64, False)


def test_an_engine_of_another_kind_keeps_its_settings(monkeypatch):
    monkeypatch.setattr(VLLM, "missing", classmethod(lambda cls: None))
    assert open_sizes(read_any(SCOPAL, {"engine": "vllm"})) == {"max_tokens_per_microbatch", "logits_chunk_mib"}


def test_dry_run_prints_sizes_and_the_recipe_with_them():
    run = sg.dry_run(["papers/scopal/self-play", "papers/scopal/qwen2"], device_memory=140)
    assert tomllib.loads(run.toml)["engine"]["rows"] == 256
    assert tomllib.loads(run.toml)["max_tokens_per_microbatch"] == 16384
    assert "16,384 tokens a pass of training, 512 MiB of logits at once, 256 replies decoded together" in repr(run)
    assert "GiB, and 140.0 GiB are free." in repr(run)


@pytest.mark.runs
def test_a_run_stores_its_sizes_and_a_resume_keeps_them(tmp_path, monkeypatch):
    """A run that was begun with little memory equals itself when it is resumed with much."""
    monkeypatch.setattr("stratagem.algorithms.machine_choices.device_memory", lambda: 1.0)
    recipe = SEPORecipe.read({name: value for name, value in TINY.items() if name != "max_tokens_per_microbatch"})
    run = sg.train(recipe, out=tmp_path / "run", progress=False)
    stored = recipe_of(run.folder)
    assert (stored.max_tokens_per_microbatch, stored.engine.value.rows, stored.logits_chunk_mib) == (1024, 16, 32)
    monkeypatch.setattr("stratagem.algorithms.machine_choices.device_memory", lambda: 2.0**40)
    assert recipe_of(run.folder) == stored
    assert keep_choices_of(recipe, stored) == stored


def test_device_memory_is_what_is_free():
    assert 2**28 < device_memory() < 2**44
