"""The question of an agent: it hides what is hidden, names no deal, and is data."""

import json

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.agents import AgentPlayer, data_of, question
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

KUHN = make_game("kuhn(hands=1)")


def first(asking):
    return asking["choices"]["actions"][0]


def test_the_question_hides_what_a_disguise_hides():
    seen = {}

    def act(asking):
        seen.update(asking)
        return first(asking)

    player = make_player("noise(random, p=0)", KUHN)
    disguised = type(make_player("disguise(random)", KUHN))(AgentPlayer(act), 1)
    setups = rotate_seats(Match(KUHN, [disguised, player]), 1, Key(0), name="d")
    assert "free" in {row.how for row in next(play(setups)).decisions if row.slot == 0}
    assert seen["game"] is seen["facts"] is None
    assert not {"PASS", "BET", "kuhn"} & set(json.dumps(seen).replace('"', " ").split())


def test_the_question_of_a_turn_is_the_same_again_and_names_no_deal():
    view = KUHN.start(Key(3)).view(0)
    ask = Ask(view, Key(5), 0, 2, 0, None)
    assert question(ask) == question(ask)
    told = json.loads(question(ask))
    assert told["episode"] == json.loads(question(Ask(view, Key(5), 0, 4, 0, None)))["episode"]
    assert told["episode"] != json.loads(question(Ask(view, Key(6), 0, 2, 0, None)))["episode"]
    assert told["memory"] == {"rounds": 0, "counts": [], "last": None}


@pytest.mark.parametrize("name", ["kuhn", "diplomacy(until=1901)"])
def test_an_agent_is_told_no_two_episodes_by_one_name(name):
    """Not even those of one deal, in which its notes of the one would tell it what others know in the other."""
    game, asked = make_game(name), []

    def noting(asking):
        asked.append(asking["episode"])
        return first(asking)

    players = [make_player("random", game)] * (game.spec.seats - 1)
    played = play(rotate_seats(Match(game, [AgentPlayer(noting), *players]), 2 * game.spec.seats, Key(0), name="notes"))
    calls = [[row.calls[0] for row in episode.decisions if row.slot == 0] for episode in played]
    names = [{json.loads(call.prompt.messages[0][1])["episode"] for call in own} for own in calls]
    assert {len(own) for own in names} == {1}
    assert len(set.union(*names)) == len(names)
    assert set.union(*names) == set(asked)


@pytest.mark.parametrize("name", ["negotiation-v2", "auction", "diplomacy", "tic-tac-toe"])
def test_the_facts_of_every_kind_of_game_are_data(name):
    game = make_game(name)
    state = game.start(Key(0))
    view = state.view(state.to_act[0])
    told = json.loads(question(Ask(view, Key(5), 0, 0, 0, None)))
    assert told["choices"]["kind"] == ("sheet" if name == "diplomacy" else "set")
    assert json.loads(json.dumps(data_of(view.facts))) == told["facts"]
