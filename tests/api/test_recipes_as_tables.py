"""A recipe as a dictionary: what it sets, what it extends, and what is refused."""

import pytest

import stratagem as sg
from stratagem.api.trainings import read_recipe


def test_a_dictionary_sets_what_the_same_changes_set():
    recipe = read_recipe(
        ["sepo/kuhn-tiny", {"seed": 3, "sepo": {"iterations": 5, "advantage": {"normalize_std": False}}}]
    )
    changes = {"seed": "3", "sepo.iterations": "5", "sepo.advantage.normalize_std": "false"}
    assert recipe == read_recipe("sepo/kuhn-tiny", changes)
    assert recipe != read_recipe("sepo/kuhn-tiny")


def test_a_dictionary_extends_recipes_as_a_file_does():
    assert read_recipe({"extends": ["sepo/kuhn-tiny"], "seed": 3}) == read_recipe("sepo/kuhn-tiny", {"seed": "3"})


def test_names_with_points_are_one_key():
    opponents = {"noise(NashApprox, p=0.1)": 1.0}
    recipe = read_recipe(["grpo/kuhn", {"grpo": {"opponents": opponents}}])
    assert dict(recipe.grpo.opponents) == opponents


def test_a_whole_recipe_is_a_dictionary():
    recipe = {"algorithm": "grpo", "model": "tiny", "games": ["kuhn"]}
    assert "Estimate of memory: tiny" in sg.dry_run(recipe).text()
    assert (read_recipe(recipe).algorithm, read_recipe(recipe).games) == ("grpo", ("kuhn",))


@pytest.mark.parametrize(
    ("recipes", "sentence"),
    [
        ([{"seed": 1}, "sepo/kuhn-tiny"], "with a dictionary as the last"),
        (["sepo/kuhn-tiny", {"sepo": {"speed": 1}}], "speed"),
        (["sepo/kuhn-tiny", {"extends": "sepo/kuhn-tiny"}], "`extends` is a list of recipes"),
        (["sepo/kuhn-tiny", {"algorithm": "grpo"}], "compose recipes of one algorithm"),
        ([{}], "has no settings"),
    ],
)
def test_a_wrong_dictionary_is_one_sentence(recipes, sentence):
    with pytest.raises(sg.StratagemError, match=sentence):
        read_recipe(recipes)


def test_the_table_of_another_algorithm_is_told_with_the_recipe_that_has_it(tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text('extends = ["reinforce/kuhn", "models/tiny"]')
    sentence = f"recipe models/tiny, which {own} extends, has the table sepo, which the algorithm reinforce has not"
    with pytest.raises(sg.StratagemError, match=sentence):
        read_recipe([own])


def test_only_public_names_are_listed():
    assert dir(sg) == sorted(sg.__all__)
