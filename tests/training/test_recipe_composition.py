"""Recipes that are composed: a later one lies over an earlier, and what does not go together is refused."""

import pytest

from stratagem.algorithms.catalogue import read_any
from stratagem.base.errors import BadParameter
from stratagem.training.recipe_file import recipe_data

GAME = 'games = ["ipd"]\nseed = 4\n[sepo]\niterations = 7\nloss = { kl_coef = 0.7 }\n'
MODEL = 'model = "tiny"\nstyle = "bare"\n[sepo]\niterations = 9\n'


@pytest.fixture
def files(tmp_path):
    texts = {
        "game": GAME,
        "model": MODEL,
        "league": 'algorithm = "league"\n[learners.main]\nmatchmaker = { rule = "self" }\n',
        "scopal": 'algorithm = "scopal"\n',
        "child": 'extends = ["model.toml"]\n',
        "sweep": 'hypothesis = "It learns."\nmetric = "loss"\n',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return lambda *names: [tmp_path / f"{name}.toml" for name in names]


def test_later_recipe_lies_over_an_earlier_one(files):
    composed = recipe_data(files("game", "model"))
    assert composed["sepo"] == {"iterations": 9, "loss": {"kl_coef": 0.7}}
    assert recipe_data(files("model", "game"))["sepo"]["iterations"] == 7
    assert (composed["games"], composed["model"], composed["seed"]) == (["ipd"], "tiny", 4)


def test_changes_lie_over_all_recipes(files):
    made = read_any(files("game", "model"), {"sepo.iterations": "2"})
    assert (made.sepo.iterations, made.style, made.games) == (2, "bare", ("ipd",))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("league", "scopal"), r"league\.toml is of the algorithm league, and .*scopal\.toml of scopal: compose"),
        (("league", "model"), r"model\.toml has the table sepo, which the algorithm league has not: compose"),
        (("model", "model"), r"model\.toml is read twice"),
        (("child", "model"), r"model\.toml is read twice"),
        (("sweep",), r"sweep\.toml is a sweep and no recipe: `stratagem sweep .*sweep\.toml` makes its runs\."),
    ],
)
def test_recipes_that_do_not_go_together_are_refused(files, names, said):
    with pytest.raises(BadParameter, match=said):
        read_any(files(*names))


def test_a_folder_is_no_recipe(tmp_path):
    with pytest.raises(BadParameter, match=r"is a folder, and a recipe is a file: name one, or one of `stratagem rec"):
        recipe_data([tmp_path])
    (tmp_path / "run.json").write_text("{}")
    says = rf"^{tmp_path} is a run and no recipe: `stratagem train {tmp_path} --resume` continues it\.$"
    with pytest.raises(BadParameter, match=says):
        recipe_data([tmp_path])
