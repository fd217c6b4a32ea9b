"""`+dtype=auto`: bf16 where this machine multiplies it faster, fp32 for small models, and one choice a run."""

import math
import tomllib

import pytest
import torch

import stratagem as sg
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import recipe_of
from stratagem.algorithms.machine_choices import choose_formats, keep_choices_of, settle_here
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.language.models import load as loading
from stratagem.language.models import number_format, onednn_linear
from stratagem.language.models.known_shapes import shape_of
from stratagem.language.models.load import load
from stratagem.language.models.number_format import FormatChoice, choose_format, measure_ratio
from stratagem.language.models.reference import BadModel, parse_model
from stratagem.language.models.tiny import tiny_folder

TINY = {
    **RECIPES["sepo"],
    "model": "tiny+dtype=auto",
    "sepo": {"iterations": 1, "group_size": 2, "groups_per_batch": 1},
}


@pytest.fixture
def ratio(monkeypatch):
    """Set the speed of bf16, and count all models as large."""

    def set_to(value):
        monkeypatch.setattr(number_format, "measure_ratio", lambda *sizes: value)
        monkeypatch.setattr(number_format, "SMALL", 0)

    return set_to


@pytest.mark.parametrize(("measured", "dtype"), [(1.31, "bf16"), (1.3, "bf16"), (1.29, "fp32"), (0.4, "fp32")])
def test_bf16_is_chosen_where_it_is_faster(ratio, measured, dtype):
    ratio(measured)
    choice = choose_format(shape_of("smollm2"), "cpu")
    assert choice.dtype == dtype
    assert f"products in bf16 are {measured:.1f} times as fast as in fp32" in str(choice)


def test_apples_gpu_computes_in_fp32(ratio):
    ratio(9.0)
    assert choose_format(shape_of("smollm2"), "mps").dtype == "fp32"


def test_small_models_stay_in_fp32_without_a_measurement(monkeypatch):
    monkeypatch.setattr(number_format, "measure_ratio", lambda *sizes: pytest.fail("it was measured"))
    for name in ("tiny", "tiny-qwen"):
        assert choose_format(shape_of(name), "cpu").dtype == "fp32"
    assert shape_of("smollm2").parameters > number_format.SMALL


def test_the_ratio_is_that_of_the_products(monkeypatch):
    """A clock that runs by the format: bf16 takes a third of the time at many rows, and 4/3 at few; the mean is 1.5."""
    speeds = {("bfloat16", 256): 3.0, ("float32", 256): 1.0, ("bfloat16", 16): 0.75, ("float32", 16): 1.0}
    monkeypatch.setattr(number_format, "products_per_second", lambda dtype, rows, *rest: speeds[dtype, rows])
    assert measure_ratio.__wrapped__(8, 16, "cpu") == pytest.approx(1.5)


def test_products_are_measured_on_this_machine(monkeypatch):
    monkeypatch.setattr(number_format, "SECONDS", 0.005)
    assert 0.001 < measure_ratio.__wrapped__(64, 128, "cpu") < 1000.0


def test_products_are_those_of_training(monkeypatch):
    formats = set()

    def multiply(x, weight):
        formats.add(x.dtype)
        return onednn_linear.linear(x, weight)

    monkeypatch.setattr(onednn_linear, "multiply", multiply)
    monkeypatch.setattr(number_format, "SECONDS", 0.005)
    measure_ratio.__wrapped__(64, 128, "cpu")
    assert formats == {torch.float32, torch.bfloat16}


def test_a_product_that_takes_longer_than_a_measurement_is_measured(monkeypatch):
    monkeypatch.setattr(number_format, "SECONDS", 0.0)
    assert 0.0 < measure_ratio.__wrapped__(64, 128, "cpu") < math.inf


def test_a_model_is_loaded_in_the_format_that_is_chosen(ratio):
    ratio(2.0)
    lm = load("tiny+dtype=auto")
    assert (lm.dtype, str(lm.model.dtype)) == ("bf16", "torch.bfloat16")
    assert lm.source == "tiny+dtype=bf16"  # other processes load the same


def test_an_unknown_format_is_refused_with_all_that_there_are():
    with pytest.raises(BadModel, match=r"There is no dtype 'fast': say one of bf16, fp16, fp32, auto\."):
        parse_model("tiny+dtype=fast")


def test_a_recipe_gets_the_format_of_its_model(ratio):
    ratio(2.0)
    recipe, choices = choose_formats(SEPORecipe.read(TINY), "cpu")
    assert recipe.model == "tiny+dtype=bf16"
    assert [choice.dtype for choice in choices] == ["bf16"]
    named = recipe.model_copy(update={"model": "tiny+dtype=fp16"})
    assert choose_formats(named, "cpu") == (named, ())


def test_every_seat_of_shapellm_gets_the_format_of_its_model(ratio):
    ratio(2.0)
    seats = {"first": {"learner": "naive", "model": "tiny+dtype=auto"}, "second": {"learner": "naive"}}
    recipe = ShapeLLMRecipe.read({**RECIPES["shapellm"], "model": "tiny-qwen+dtype=auto", "seats": seats})
    settled, choices = choose_formats(recipe, "cpu")
    assert (settled.model, settled.seats["first"].model) == ("tiny-qwen+dtype=bf16", "tiny+dtype=bf16")
    assert len(choices) == 1  # one sentence for two equal choices
    assert keep_choices_of(recipe, settled).seats == settled.seats


def test_a_model_that_must_be_fetched_first_keeps_auto(ratio):
    ratio(2.0)
    recipe = SEPORecipe.read({**TINY, "model": "hf:nobody/nothing+dtype=auto"})
    assert choose_formats(recipe, "cpu") == (recipe, ())


@pytest.mark.parametrize("model", ["hf:nobody/nothing+dtype=auto", "zoo:kuhn-demo+dtype=auto"])
def test_a_new_run_stores_the_format_of_a_model_that_is_fetched_for_it(ratio, monkeypatch, model):
    ratio(2.0)
    monkeypatch.setattr(loading, "hub_folder", lambda ref: tiny_folder("tiny"))
    begun, said = settle_here(SEPORecipe.read({**TINY, "model": model, "sft": {"epochs": 0}}))
    assert begun.model == model.replace("auto", "bf16")
    assert said[0].startswith("Weights are in bf16")


def test_a_dry_run_says_what_is_chosen(ratio):
    ratio(2.0)
    dry = sg.dry_run(["sepo/kuhn-tiny", {"model": "tiny+dtype=auto"}])
    assert tomllib.loads(dry.toml)["model"] == "tiny+dtype=bf16"
    assert "Weights are in bf16: here products in bf16 are 2.0 times as fast" in repr(dry)


def test_a_started_run_keeps_its_choice_on_a_machine_with_another(ratio):
    ratio(2.0)
    recipe = SEPORecipe.read(TINY)
    begun, said = settle_here(recipe)
    assert said[0].startswith("Weights are in bf16")
    ratio(0.5)
    assert keep_choices_of(recipe, begun).model == begun.model == "tiny+dtype=bf16"
    other = begun.model_copy(update={"model": "tiny-qwen+dtype=bf16"})
    assert keep_choices_of(recipe, other).model == "tiny+dtype=auto"


@pytest.mark.runs
def test_a_run_stores_the_format_and_continues_in_it(ratio, tmp_path, capsys):
    ratio(2.0)
    run = sg.train(SEPORecipe.read(TINY), out=tmp_path / "run")
    assert "Weights are in bf16" in capsys.readouterr().err
    ratio(0.5)
    assert recipe_of(run.folder).model == "tiny+dtype=bf16"
    assert sg.train(run, resume=True, progress=False).state == "finished"
    assert FormatChoice("bf16", "so") != FormatChoice("fp32", "so")
