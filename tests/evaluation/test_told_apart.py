"""Players that an evaluation or a tournament tells apart by name: none is left out without a word."""

import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter
from stratagem.players.base import Scripted
from stratagem.players.tabular import TablePlayer
from stratagem.players.wrappers import Noisy

FEW = {"episodes": 2, "progress": False}
SHY = {"": "PASS", "P": "PASS", "B": "FOLD", "PB": "FOLD"}


def taking(index):
    def act(question):
        return question["choices"]["actions"][index]

    return act


def first(question):
    return question["choices"]["actions"][0]


def last(question):
    return question["choices"]["actions"][-1]


CALLS = [
    lambda one, other: sg.evaluate("kuhn", [one, other], opponents=["random"], **FEW),
    lambda one, other: sg.evaluate("kuhn", ["random"], opponents=[one, other], **FEW),
    lambda one, other: sg.evaluate("kuhn", [one], opponents=[other], **FEW),
    lambda one, other: sg.tournament("kuhn", [one, other, "random"], **FEW),
    lambda one, other: sg.serve([one, other], "kuhn", port=0),
]


@pytest.mark.parametrize("called", CALLS)
def test_two_functions_of_one_name_are_refused(called):
    with pytest.raises(BadParameter, match=r"Two agents have the name .*taking\.<locals>\.act"):
        called(taking(0), taking(-1))


@pytest.mark.parametrize("called", CALLS)
def test_two_tables_of_one_name_are_refused(called):
    shy = {f"{card}:{bets}": {action: 1.0} for card in "JQK" for bets, action in SHY.items()}
    with pytest.raises(BadParameter, match="Two players have the name table:unsaved"):
        called(TablePlayer(shy), TablePlayer(shy | {"K:": {"BET": 1.0}}))


class Taking(Scripted):
    """Plays the action of this number; no dataclass, so its name has no number."""

    def __init__(self, index):
        self.index = index

    def strategy(self, view):
        return list(view.choices)[self.index]


@pytest.mark.parametrize("called", CALLS)
@pytest.mark.parametrize("wrapped", [lambda player: player, Noisy])
def test_two_players_whose_options_no_name_tells_are_refused(called, wrapped):
    with pytest.raises(BadParameter, match="make the options fields of a frozen dataclass"):
        called(wrapped(Taking(0)), wrapped(Taking(-1)))


def test_two_players_with_equal_options_are_one_player():
    result = sg.evaluate("kuhn", [Taking(0), Taking(0)], opponents=["random"], chance=False, **FEW)
    assert len(result.results[0].rows) == 1


def test_two_tables_that_play_the_same_are_one_player():
    shy = {f"{card}:{bets}": {action: 1.0} for card in "JQK" for bets, action in SHY.items()}
    result = sg.evaluate("kuhn", [TablePlayer(shy), TablePlayer(shy)], opponents=["random"], chance=False, **FEW)
    assert [row.player for row in result.results[0].rows] == ["table:unsaved"]


def test_a_function_that_is_named_twice_plays_once():
    result = sg.evaluate("kuhn", [first, last, first], opponents=[first], chance=False, **FEW)
    assert [row.player.rsplit(".", 1)[-1] for row in result.results[0].rows] == ["first", "last"]
    assert len(sg.tournament("kuhn", [first, last, first], chance=False, **FEW).cross_play.players) == 2


def test_names_that_differ_by_case_are_two_players(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bold = {"": "BET", "P": "BET", "B": "CALL", "PB": "CALL"}
    always = {f"{card}:{bets}": {action: 1.0} for card in "JQK" for bets, action in bold.items()}
    TablePlayer(always).save("Bold.json")
    TablePlayer(always | {"J:": {"PASS": 1.0}}).save("bold.json")
    result = sg.evaluate("kuhn", ["table:Bold.json", "table:bold.json"], opponents=["random"], chance=False, **FEW)
    assert [row.player for row in result.results[0].rows] == ["table:Bold.json", "table:bold.json"]
