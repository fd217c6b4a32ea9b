"""Recipes that cannot be trained: each is refused in one sentence before anything is learnt."""

import pytest
from short_sepo import RECIPE

from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm
from stratagem.algorithms.sepo.recipe import SEPORecipe, read_recipe
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.training.recipe_file import over
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs


IMPOSSIBLE = {
    "one seat": ({"games": ["quiz"], "sft": {"epochs": 0}}, "quiz has one seat"),
    "a table of no game": ({"pools": {"ipd": {"train": ["random"]}}}, "`pools.ipd` is of no game of this recipe"),
    "players of another game": ({"pools": {"train": ["ipd/TitForTat"]}}, "The pool train of kuhn cannot have"),
    "nobody to play": ({"pools": {"train": []}, "sft": {"epochs": 0}}, "The pool train of kuhn is empty"),
    "a penalty of nobody": (
        {"sepo": {"collusion_weight": 1.0}},
        "`sepo.collusion_weight` acts in no game: in kuhn its pool `collusive` is empty",
    ),
    "no adversaries for safety": (
        {"pools": {"kuhn": {"exploit": []}}, "checkpoint_metric": "safety"},
        "`checkpoint_metric` cannot be safety in kuhn, since its pool `exploit` is empty",
    ),
    "demonstrators of another game": ({"sft": {"demonstrators": {"TitForTat": 1}}}, "The demonstrators of kuhn cannot"),
    "a tree too large": (
        {"games": ["ipd"], "sepo": {"penalty_source": "best_response"}},
        "`sepo.penalty_source` cannot be",
    ),
    "nothing exact": (
        {"games": ["auction"], "checkpoint_metric": "exploitability"},
        "`checkpoint_metric` cannot be exploitability",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_a_game_cannot_give_is_said_before_anything_is_learnt(tmp_path, name):
    changes, said = IMPOSSIBLE[name]
    recipe = SEPORecipe.read(over(RECIPE.model_dump(), changes))
    with pytest.raises(StratagemError, match=said):
        SEPOAlgorithm(recipe, RunFolder(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_recipe_is_read_with_changes_and_mistakes_are_one_sentence(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('games = ["kuhn"]\n[sepo]\niterations = 7\n', encoding="utf-8")
    made = read_recipe(
        path,
        {"sepo.exploitability_weight": "3", "model": "tiny-qwen", "sepo.optimizer.learning_rate": "1e-4"},
    )
    assert (made.sepo.iterations, made.sepo.exploitability_weight, made.model, made.sepo.optimizer.learning_rate) == (
        7,
        3.0,
        "tiny-qwen",
        1e-4,
    )
    for changes, said in (
        ({"sepo.alfa": "3"}, "There is no setting sepo.alfa"),
        ({"sepo.group_size": "1"}, "sepo.group_size"),
        ({"num_threads": "100000"}, "num_threads cannot be 100000: .* less than or equal to 1024"),
        ({"games.name": "x"}, "no table"),
        ({"mode": "loud"}, "the modes are"),
        ({"train": "all"}, "keep a copy of the weights"),
        ({"reference.type": "copy"}, "is of all weights"),
        ({"reference.dtype": "bf16"}, "are of a copy of all weights"),
        (
            {"train": "all", "reference.type": "copy", "sepo.loss": "policy_gradient"},
            "`copy` acts by the KL penalty of `sepo.loss` alone",
        ),
        ({"model": "tiny+4bit", "train": "all", "reference.type": "copy"}, "in 4 bits can carry an adapter"),
        ({"model": "tiny+4bit", "sft.epochs": "1"}, "give `\\[sft\\]` an `adapter`"),
        ({"model": "tiny+4bit", "sft.adapter.rank": "32"}, "goes on with the adapter of SFT"),
        ({"model": "api:x@http://localhost:1/v1"}, "has no weights here"),
        ({"sepo.exploitability_weight": "nan"}, "sepo.exploitability_weight"),
        ({"mode": "recover", "sepo.penalty_source": "best_response"}, "take a mode that states them, direct, single"),
    ):
        with pytest.raises(BadParameter, match=said) as caught:
            read_recipe(path, changes)
        assert "\n" not in str(caught.value)
    with pytest.raises(BadParameter, match="cannot be read"):
        read_recipe(tmp_path / "none.toml")


def test_a_recipe_extends_others(tmp_path):
    (tmp_path / "model.toml").write_text(
        'model = "tiny-qwen"\nseed = 3\n[sepo]\ngroup_size = 6\nloss = { kl_coef = 0.5, clip_range_high = 0.3 }\n'
    )
    (tmp_path / "game.toml").write_text('games = ["ipd"]\nseed = 4\n[sepo]\nloss = { kl_coef = 0.7 }\n')
    (tmp_path / "both.toml").write_text('extends = ["model.toml", "game.toml"]\n[sepo]\ngroups_per_batch = 3\n')
    made = read_recipe(tmp_path / "both.toml", {"sepo.groups_per_batch": "5"})
    assert (made.model, made.games, made.seed) == ("tiny-qwen", ("ipd",), 4)
    assert (made.sepo.group_size, made.sepo.groups_per_batch) == (6, 5)
    assert str(made.sepo.loss) == "sepo(clip_range_high=0.3, kl_coef=0.7)"
    (tmp_path / "game.toml").write_text('extends = ["both.toml"]\n')
    with pytest.raises(BadParameter, match="extends itself"):
        read_recipe(tmp_path / "both.toml")
    (tmp_path / "game.toml").write_text('extends = "model.toml"\n')
    with pytest.raises(BadParameter, match="is a list"):
        read_recipe(tmp_path / "both.toml")


def test_an_oracle_that_is_not_there_is_missed_before_anything_is_learnt(tmp_path):
    recipe = SEPORecipe.read({"games": ["auction"], "sepo": {"penalty_source": "best_response"}})
    with pytest.raises(StratagemError, match="cannot be best_response in auction: The tree of auction has"):
        SEPOAlgorithm(recipe, RunFolder(tmp_path))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mode": "constrained", "checkpoint_metric": "safety"}, "take style=reasoned"),
        ({"style": "shapellm-state"}, "repeated matrix games, not kuhn"),
    ],
)
def test_prompts_that_cannot_be_are_refused_before_there_is_a_model(tmp_path, changes, said):
    recipe = SEPORecipe.read({**RECIPE.model_dump(), **changes})
    with pytest.raises(BadParameter, match=said):
        SEPOAlgorithm(recipe, RunFolder(tmp_path))


def test_actions_that_the_model_cannot_say_are_refused_before_it_is_taught(tmp_path):
    recipe = SEPORecipe.read(
        {**RECIPE.model_dump(), "games": ["negotiation-v1"], "mode": "single", "checkpoint_metric": "safety"}
    )
    run = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    with pytest.raises(BadParameter, match="one token each"):
        SEPOAlgorithm(recipe, run).train()
    assert not read_metrics(run)
