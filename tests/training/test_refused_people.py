"""People in a recipe are refused before training, since nobody sits at the keyboard of a run."""

import pytest

from small_recipes import GAME, RECIPES
from stratagem.algorithms.catalogue import algorithm_of, check_new
from stratagem.base.errors import BadParameter
from stratagem.training.runs.folder import RunFolder

NAIVE = RECIPES["shapellm"]["seats"]["naive"]
PLACES = {
    "opponents": {"algorithm": "reinforce", **GAME, "opponents": ["noise(human, p=0.1)"]},
    "mixture": {"algorithm": "grpo", **GAME, "grpo": {"opponents": {"human": 1}}},
    "members": {"algorithm": "league", **RECIPES["league"], "members": {"person": "human"}},
    "prefix": {"algorithm": "grpo", **GAME, "grpo": {"prefix_player": "human"}},
    "seat": {
        "algorithm": "shapellm",
        **RECIPES["shapellm"],
        "seats": {"naive": NAIVE, "other": {"learner": "scripted", "player": "human"}},
    },
    "interaction": {"algorithm": "scopal", **RECIPES["scopal"], "interaction": {"opponents": {"human": 1}}},
    "teacher": {"algorithm": "sepo", **GAME, "sft": {"teacher": "human"}},
}


@pytest.mark.parametrize("place", PLACES)
def test_human_in_a_recipe_is_refused(place, tmp_path):
    with pytest.raises(BadParameter, match=r"'(human|noise\(human, p=0.1\))': people play in `stratagem play`"):
        check_new(algorithm_of(PLACES[place]).recipe_type.read(PLACES[place]), RunFolder(tmp_path / "run"))
