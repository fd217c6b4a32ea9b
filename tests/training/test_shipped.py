"""Recipes of the package by name."""

from pathlib import Path

import pytest
from shapellm_recipes import composed

from stratagem import __version__
from stratagem.algorithms.catalogue import read_any
from stratagem.api.trainings import read_recipe
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.renamed.recipes import SUCCESSORS, UNTIL
from stratagem.training.recipe_file import recipe_data
from stratagem.training.shipped import (
    PAPERS,
    SHIPPED,
    others_of,
    recipe_names,
    recipe_path,
    shipped_recipes,
    summary_of,
)

ROOT = Path(__file__).parents[2]


def test_shipped_recipes_are_those_of_the_repository():
    files = {path.relative_to(ROOT / "recipes") for path in (ROOT / "recipes").rglob("*.toml")}
    files -= {path.relative_to(SHIPPED) for path in PAPERS.glob("*/published.toml")}
    assert Path("shapellm/shapers/published.toml") in files, "a recipe, and no tables of a paper"
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
    with pytest.raises(UnknownName, match=r"no recipe called 'recipes/sepo/kuhm\.toml': did you mean sepo/kuhn"):
        recipe_path("recipes/sepo/kuhm.toml", tmp_path)
    (tmp_path / "mine.toml").touch()
    with pytest.raises(UnknownName, match=r"called 'mien\.toml': did you mean mine\.toml\?"):
        recipe_path("mien.toml", tmp_path)
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


def test_own_recipes_beside_those_of_the_papers_are_at_most_ninety_five():
    """A recipe that differs from another by few settings is an arm of an experiment, or `--set`."""
    assert len([name for name in recipe_names() if not name.startswith("papers/")]) <= 95


@pytest.mark.parametrize("model", ["gemma", "tiny"])
def test_removed_variants_of_shapellm_are_those_of_the_experiments(model):
    for name, made in composed(model).items():
        if made.recipes[0].parts[1] == "papers":
            successor = SUCCESSORS[f"shapellm/{model}/{name}"]
            assert [Path("recipes", f"{recipe}.toml") for recipe in successor.recipes] == list(made.recipes)
            assert successor.changes == made.changes


def test_removed_recipes_are_deleted_from_the_table_when_their_time_is_over():
    numbers = [[int(number) for number in version.split(".")] for version in (__version__, UNTIL)]
    assert numbers[0] < numbers[1]


def test_part_names_the_recipes_that_it_is_composed_with():
    (pfsp,) = shipped_recipes("league/learners/pfsp")
    assert pfsp.others == ("league/kuhn",)
    assert not next(shipped_recipes("sepo/kuhn-tiny")).others
    assert others_of("a", "# stratagem train recipes/b.toml a recipes/c.toml --set x=recipes/d\n# More.") == ("b", "c")
    assert others_of("a", "# A recipe without a command.\n") == ()


@pytest.mark.parametrize("name", ["league/learners/pfsp", "shapellm/pairs/shaper", "shapellm/models/tiny"])
def test_part_that_is_trained_alone_is_answered_with_the_whole_command(name):
    (recipe,) = (one for one in shipped_recipes(name) if one.name == name)
    with pytest.raises(BadParameter) as raised:
        read_recipe(name)
    assert str(raised.value) == (
        f"{name} is a part of a recipe, and cannot be trained alone: give the others, too, as in `{recipe.command}`."
    )
    assert recipe.command.startswith("stratagem train recipes/")


def test_mistake_in_a_setting_of_a_whole_recipe_is_told_as_it_is():
    with pytest.raises(BadParameter, match="There is no setting temperatur"):
        read_recipe("sepo/kuhn-tiny", {"temperatur": 1.0})
    with pytest.raises(BadParameter, match="There is no setting temperatur"):
        read_recipe(["league/kuhn", "league/learners/pfsp"], {"temperatur": 1.0})
    with pytest.raises(BadParameter, match="There is no setting temperatur"):
        read_recipe("sepo/ipd", {"temperatur": 1.0})  # a part that can be trained alone
    with pytest.raises(BadParameter, match="is a part of a recipe"):
        read_recipe("league/learners/pfsp", {"temperature": 1.0})
