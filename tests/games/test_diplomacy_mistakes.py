"""Mistakes in Diplomacy: names, positions and states that cannot be are one sentence."""

import json
import sys

import pytest

from stratagem.base.errors import BadParameter, BadRecord, CannotCompute, MissingExtra, UnknownName
from stratagem.games import Key, make_game
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.engine import engine_at, process

GAME = Diplomacy(until=1907)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("diplomacy(map=moon)", UnknownName, "map of Diplomacy"),
        ("diplomacy(map=modern)", BadParameter, "`until` from 1994 to 2092 on the map modern"),
        ("diplomacy(only=[FRANCE, MARS])", UnknownName, "power on this map"),
        ("diplomacy(only=[FRANCE])", BadParameter, "at least two powers"),
        ("diplomacy(only=FRANCE)", BadParameter, "as a list of powers"),
        ("diplomacy(until=1900)", BadParameter, "until"),
        ("diplomacy(until=2000)", BadParameter, "`until` from 1901 to 1999 on the map standard"),
        ("diplomacy(map=ancmed)", BadParameter, "`until` from 1 to 99 on the map ancmed"),
        ("diplomacy(judged=perhaps)", BadParameter, "judged"),
    ],
)
def test_mistakes_are_told(text, error, said):
    with pytest.raises(error, match=said):
        make_game(text)


@pytest.mark.parametrize(
    "position",
    ["", "{", "[]", '{"name": "S1901M", "units": {"MARS": ["A PAR"]}}', '{"name": 3}', "a province", "a power"],
)
def test_a_position_that_is_none_is_told(position):
    data = GAME.start(Key(0)).dump()
    wrong = {"a province": ("A PAR", "A XYZ"), "a power": ("FRANCE", "GAUL")}.get(position)
    text = data["position"].replace(*wrong) if wrong else position
    with pytest.raises(BadRecord, match="no position"):
        GAME.load({**data, "position": text}, Key(0))


def at_phase(name):
    data = GAME.start(Key(0)).dump()
    position = json.dumps({**json.loads(data["position"]), "name": name}, sort_keys=True, separators=(",", ":"))
    return {"position": position}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"to_act": [1, 2]}, "in S1901M others are to act than"),
        ({"to_act": [99]}, "no state of diplomacy: round 0, over False, to_act"),
        ({"to_act": "all"}, "no state of diplomacy: round 0"),
        ({"over": 1}, "no state of diplomacy: round 0, over 1"),
        (at_phase("COMPLETED"), "in COMPLETED others are to act than"),
        (at_phase("W1901A"), "in W1901A others are to act than"),
        ({"log": 3}, "its log does not tell"),
        ({"log": [["S1901M"]]}, "its log does not tell"),
        ({"log": [["S1901M", [["MARS", "A PAR H", []]]]]}, "its log does not tell"),
        ({"log": [["S1901M", [["FRANCE", "A PAR H", [7]]]]]}, "its log does not tell"),
    ],
)
def test_a_state_that_is_none_is_told(changed, said):
    with pytest.raises(BadRecord, match=said):
        GAME.load({**GAME.start(Key(0)).dump(), **changed}, Key(0))


def test_an_order_that_the_engine_refuses_is_no_silence():
    with pytest.raises(CannotCompute, match="refused an order"):
        process(engine_at("standard"), {"FRANCE": ["A PAR - MOS"]})


def test_without_its_engine_the_game_can_be_told_of_and_not_played(monkeypatch):
    monkeypatch.setitem(sys.modules, "diplomacy", None)
    game = Diplomacy(until=1904)
    assert game.spec.seats == 7
    assert "AUSTRIA" in game.rules(0)
    with pytest.raises(MissingExtra, match=r"pip install -e '\.\[diplomacy\]'"):
        game.start(Key(0))
