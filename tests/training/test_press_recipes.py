"""The recipes of docs/results/press.md train from start to end at a small size."""

import pytest

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import read_metrics
from stratagem.training.shipped import shipped_recipes

SMALL = {"iterations": "1", "groups_per_batch": "1", "group_size": "2"}
RECIPES = [recipe for recipe in shipped_recipes() if recipe.group == "press"]


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_recipe_of_press_trains_from_start_to_end(recipe, tmp_path):
    stage = read_any([recipe.path], {}).stage_name
    small = read_any([recipe.path], {f"{stage}.{key}": value for key, value in SMALL.items()})
    if small.sft:
        sources = tuple(source.model_copy(update={"num_examples": 8}) for source in small.sft.sources)
        small = small.model_copy(update={"sft": small.sft.model_copy(update={"epochs": 1, "sources": sources})})
    run = RunFolder.create(tmp_path / "run", small, small.seed, "a test")
    bound(small, run).train(lambda step, steps, metrics: None)
    assert "loss" in read_metrics(run)
    assert (run.path / "evaluation.json").is_file()
