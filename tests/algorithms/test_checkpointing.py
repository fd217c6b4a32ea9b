"""Choice of gradient checkpointing by the memory of the device."""

import tomllib

import pytest

import stratagem as sg
from small_recipes import RECIPES
from stratagem.algorithms import machine_choices
from stratagem.algorithms.catalogue import read_any, recipe_of
from stratagem.algorithms.estimates import estimate_run
from stratagem.algorithms.machine_choices import USED, choose_checkpointing, device_memory, keep_choices_of
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.training.shipped import recipe_path

GIB = 2**30
SCOPAL = ["papers/scopal/self-play", "papers/scopal/qwen2"]
TINY = {**RECIPES["sepo"], "sepo": {"iterations": 1, "group_size": 2, "groups_per_batch": 1}}


def scopal(**changes):
    return read_any([recipe_path(name) for name in SCOPAL], changes)


def test_auto_is_on_where_activations_do_not_fit_and_off_where_they_do():
    (plain,) = estimate_run(scopal(gradient_checkpointing=False)).memory.values()
    for device, used in ((0.99 * plain.total() / USED, True), (1.01 * plain.total() / USED, False)):
        recipe, choice = choose_checkpointing(scopal(), device)
        assert recipe.gradient_checkpointing is used is choice.used
        assert (choice.without, choice.device) == (plain.total(), device)
    (less,) = estimate_run(scopal(gradient_checkpointing=True)).memory.values()
    assert less.parts()["activations"] < 0.1 * plain.parts()["activations"]


@pytest.mark.parametrize("given", [True, False])
def test_a_recipe_that_says_which_is_left_as_it_is(given):
    assert choose_checkpointing(scopal(gradient_checkpointing=given), 1.0) == (
        scopal(gradient_checkpointing=given),
        None,
    )


def test_auto_is_off_where_memory_or_model_are_unknown():
    for recipe, device in ((scopal(), 0.0), (scopal(model="hf:nobody/nothing"), GIB)):
        assert choose_checkpointing(recipe, device)[0].gradient_checkpointing is False
        assert choose_checkpointing(recipe, device)[1] is None


def test_dry_run_prints_the_choice_and_the_recipe_with_it():
    small, large = (sg.dry_run(SCOPAL, device_memory=gib) for gib in (24, 80))
    assert tomllib.loads(small.toml)["gradient_checkpointing"] is True
    assert tomllib.loads(large.toml)["gradient_checkpointing"] is False
    assert "Gradient checkpointing is on: the estimate without it is" in repr(small)
    assert "the limit is 85% of the 80.0 GiB that are free" in repr(large)
    assert "Memory is without CUDA's context" in repr(large)


def test_a_new_run_names_only_a_choice_that_is_not_the_usual_one(monkeypatch):
    said = []
    for gib in (80.0, 24.0):
        monkeypatch.setattr(machine_choices, "device_memory", lambda gib=gib: gib * GIB)
        said.append(machine_choices.settle_here(scopal())[1])
    assert said[0] == []
    assert [text.partition(":")[0] for text in said[1]] == ["Gradient checkpointing is on"]


@pytest.mark.runs
def test_a_run_stores_the_choice_and_trains_with_it(tmp_path, monkeypatch):
    from stratagem.learn import policy

    made = []
    init = policy.Policy.__init__
    monkeypatch.setattr(policy.Policy, "__init__", lambda self, *a, **o: (made.append(o), init(self, *a, **o))[1])
    for name, bytes_, used in (("small", 1.0, True), ("large", 2.0**40, False)):
        monkeypatch.setattr("stratagem.algorithms.machine_choices.device_memory", lambda size=bytes_: size)
        run = sg.train(SEPORecipe.read(TINY), out=tmp_path / name, progress=False)
        assert recipe_of(run.folder).gradient_checkpointing is used
        assert {options["gradient_checkpointing"] for options in made if "gradient_checkpointing" in options} == {used}
        made.clear()
        assert keep_choices_of(SEPORecipe.read(TINY), recipe_of(run.folder)) == recipe_of(run.folder)


def test_device_memory_is_that_of_this_machine():
    assert 2**28 < device_memory() < 2**44
