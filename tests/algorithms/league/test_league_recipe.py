"""Recipes of a league: what cannot be trained is refused in a sentence."""

import pytest

from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.errors import BadParameter

GAMES = {"games": ["kuhn(hands=1)"]}


@pytest.mark.parametrize("name", ["a", "lora", "o", "ora_"])
def test_a_member_named_as_a_piece_of_the_prefix_of_weights_is_told_why(name):
    says = rf"'{name}' cannot name a member, since it is a piece of 'lora_', .*: take another, such as {name}1"
    with pytest.raises(BadParameter, match=says):
        LeagueRecipe.read({**GAMES, "learners": {name: {"role": "main"}}})
    assert LeagueRecipe.read({**GAMES, "learners": {f"{name}1": {"role": "main"}}}).learners


@pytest.mark.parametrize("name", ["1a", "a-b", "_a", "a.b"])
def test_a_member_is_named_by_letters_and_digits(name):
    with pytest.raises(BadParameter, match="cannot name a member: begin with a letter, and use letters, digits and _"):
        LeagueRecipe.read({**GAMES, "members": {name: "random"}, "learners": {"main": {"role": "main"}}})
