"""Recipes of the package by name."""

from pathlib import Path

import pytest

from stratagem import __version__
from stratagem.algorithms.catalogue import read_any
from stratagem.errors import BadParameter, UnknownName
from stratagem.renamed.recipes import SUCCESSORS, UNTIL
from stratagem.training.recipe_file import recipe_data
from stratagem.training.shipped import PUBLISHED, SHIPPED, recipe_names, recipe_path, shipped_recipes, summary_of

ROOT = Path(__file__).parents[2]


def test_shipped_recipes_are_those_of_the_repository():
    paths = (path for path in (ROOT / "recipes").rglob("*.toml") if path.name != PUBLISHED)
    files = {path.relative_to(ROOT / "recipes") for path in paths}
    assert {Path(f"{recipe.name}.toml") for recipe in shipped_recipes()} == files


@pytest.mark.parametrize("name", ["sepo/kuhn", "sepo/kuhn.toml", "recipes/sepo/kuhn.toml"])
def test_name_of_a_shipped_recipe_is_found_from_any_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert recipe_path(name) == SHIPPED / "sepo" / "kuhn.toml"


def test_path_takes_precedence_over_a_shipped_recipe(tmp_path):
    own = tmp_path / "sepo" / "kuhn.toml"
    own.parent.mkdir()
    own.write_text("seed = 3\n")
    assert recipe_path("sepo/kuhn.toml", tmp_path) == own
    assert recipe_path("sepo/kuhn", tmp_path) == SHIPPED / "sepo" / "kuhn.toml"


def test_own_recipe_extends_a_shipped_one_by_name(tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text('extends = ["models/tiny", "sepo/kuhn"]\nseed = 3\n')
    assert recipe_data(own)["games"] == ["kuhn"]


def test_unknown_recipe_is_told_the_nearest_names(tmp_path):
    with pytest.raises(UnknownName, match="no recipe called 'sepo/kuhm': did you mean sepo/kuhn"):
        recipe_path("sepo/kuhm", tmp_path)
    with pytest.raises(
        BadParameter, match="no recipe 'xyz': give the path of a file, or a name of `stratagem recipes`"
    ):
        recipe_path("xyz", tmp_path)
    assert recipe_path("xyz.toml", tmp_path) == tmp_path / "xyz.toml", "whoever reads it says that there is none"


def test_summary_is_the_first_sentence_of_the_comment():
    text = "# stratagem train a.toml\n# Two lines\n# of one. And more.\nseed = 1\n# no\n"
    assert summary_of(text) == "Two lines of one."
    assert summary_of("seed = 1\n") == ""


def test_word_is_sought_in_names_and_summaries():
    names = [recipe.name for recipe in shipped_recipes("DILEMMA")]
    assert "sepo/ipd" in names
    assert "sepo/kuhn" not in names
    assert "sepo/kuhn" in [recipe.name for recipe in shipped_recipes("kuhn")]
    assert list(shipped_recipes("no such word")) == []


@pytest.mark.parametrize("name", SUCCESSORS)
def test_removed_recipe_is_told_what_to_write(name):
    successor = SUCCESSORS[name]
    for given in (name, f"recipes/{name}.toml"):
        with pytest.raises(BadParameter) as refused:
            recipe_path(given)
        assert str(refused.value) == f"There is no recipe {given} any more: write `stratagem train {successor}`."
    assert not {name} & set(recipe_names())
    read_any([recipe_path(recipe) for recipe in successor.recipes], {**successor.changes, "model": "tiny"})


def test_removed_recipes_are_deleted_from_the_table_when_their_time_is_over():
    numbers = [[int(number) for number in version.split(".")] for version in (__version__, UNTIL)]
    assert numbers[0] < numbers[1]
