"""The recipes of docs/results/press.md train from start to end at a small size."""

import pytest

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics
from stratagem.training.shipped import shipped_recipes

SMALL = {"iterations": "1", "groups_per_batch": "1", "group_size": "2"}
SMALL_REINFORCE = {"iterations": "1", "episodes_per_batch": "2"}
FEW = {"validation_episodes": "1", "test_episodes": "1"}
OWN = {
    "press/league": {"league.crossplay_games": "2", "league.crossplay_snapshots": "2"},
    "press/diplomacy": {
        "games": '["talk(diplomacy(judged=False, until=1901), channel=private)"]',
        "grpo.prefix_turns": "[0, 2]",
        "grpo.horizon_phases": "1",
    },
}
"""Further changes of a recipe."""
SHAPING = {"trials": "1", "environments": "2", "episodes": "2", "final_evaluation.episodes": "2"}
EVERYDAY = {"press/shaping"}
RECIPES = [
    pytest.param(recipe, id=recipe.name, marks=() if recipe.name in EVERYDAY else pytest.mark.long)
    for recipe in shipped_recipes()
    if recipe.group == "press"
]


def small(recipe):
    """The recipe with one small iteration, and a few examples."""
    whole = read_any([recipe.path], {})
    if whole.algorithm == "shapellm":
        return read_any([recipe.path], SHAPING)
    smaller = SMALL_REINFORCE if whole.algorithm == "reinforce" else SMALL
    changes = {f"{whole.stage_name}.{key}": value for key, value in smaller.items()}
    made = read_any([recipe.path], {**changes, **FEW, **OWN.get(recipe.name, {})})
    if not made.sft:
        return made
    sources = tuple(source.model_copy(update={"num_examples": 8}) for source in made.sft.sources)
    few = made.sft.model_copy(update={"epochs": 1, "num_examples": 40, "sources": sources})
    return made.model_copy(update={"sft": few})


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipe_of_press_trains_from_start_to_end(recipe, tmp_path):
    settings = small(recipe)
    run = RunFolder.create(tmp_path / "run", settings, settings.seed, "a test")
    bound(settings, run).train(lambda step, steps, metrics: None)
    assert read_metrics(run)
    assert (run.path / "evaluation.json").is_file() or (run.path / "outcome.json").is_file()
