"""Recipes of a league: what cannot be trained is refused in a sentence."""

import pytest
from short_league import begun

from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.base.errors import BadParameter, StratagemError

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


@pytest.mark.runs
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"games": ["kuhn", "ipd"]}, "plays one game"),
        ({"games": ["quiz"]}, "quiz has one seat"),
        ({"members": {"main": "random"}}, "wo members would be called main"),
        ({"members": {"b-1": "random"}}, "'b-1' cannot name a member"),
        ({"members": {"x": "Nobody"}}, "Nobody"),
        ({"learners": {"lora": {}}}, "'lora' cannot name a member"),
        ({"checkpoint_metric": "exploitability"}, "`checkpoint_metric` cannot be exploitability"),
        ({"learners": {"main": {"matchmaker": {"type": "fixed"}}}}, "it needs opponent, as in fixed(opponent=...)"),
        ({"learners": {"main": {"matchmaker": {"type": "fixed", "opponent": "z"}}}}, "obody is called 'z'"),
        ({"learners": {"main": {"matchmaker": {"type": "pfsp", "weighting": "cubed"}}}}, "mean capped or squared?"),
        ({"learners": {"main": {"matchmaker": {"opponent": "base"}}}}, "needs `type`, the name of a matchmaker"),
        ({"learners": {"main": {"matchmaker": {"type": "rating_near", "self_play": 0.5}}}}, "its options are width"),
        ({"learners": {"x": {"role": "main_exploiter"}}}, "needs a learner of the role main"),
        ({"learners": {"x": {"role": "king"}}}, "learners.x.role"),
        ({"sft": {"teacher": "Nobody"}}, "Nobody"),
        ({"league": {"horizon_phases": 1}}, "kuhn does not value its positions"),
        ({"league": {"signal_every": 1}}, "no setting league.signal_every"),
        (
            {"league": {"snapshot_every": 4, "snapshot_latest": 3}},
            "`snapshot_latest` cannot come before `snapshot_every`",
        ),
        ({"train": "all"}, "of a league are adapters: leave"),
        ({"checkpoint_metric": "safety"}, "`checkpoint_metric` cannot be safety"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(tmp_path, changed, said):
    with pytest.raises((BadParameter, StratagemError)) as caught:
        LeagueAlgorithm(*begun(tmp_path / "run", **changed))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
