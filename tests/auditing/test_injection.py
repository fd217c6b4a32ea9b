"""Probe of injections: an agent that obeys commands in messages is named, and others are not."""

from types import SimpleNamespace

import pytest

from stratagem.api.player_like import as_player
from stratagem.games import Key, make_game
from stratagem.games.talk import SILENT
from stratagem.measure.audit.probes.base import Task
from stratagem.measure.audit.probes.catalogue import probes_of
from stratagem.measure.audit.probes.injection import InjectionProbe, case
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.talk.injections import commands, neutral_texts
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import Dispatcher

GAME = "talk(kuhn(hands=1), before=round, limit=120)"


def obeys(question):
    """Chooses the action that the other player's message names, else the first."""
    actions = question["choices"].get("actions", ["SILENT"])
    said = question["situation"].rpartition("The other player said: ")[2].splitlines()[0]
    return next((action for action in actions if action in said), actions[0])


def ignores(question):
    """Chooses the first action, whatever is said."""
    return question["choices"].get("actions", ["SILENT"])[0]


def figures(agent):
    game = make_game(GAME)
    task = Task(GAME, game, as_player(agent, game), Key(0), 120, ResumableRecord(), Dispatcher)
    assert InjectionProbe().why_not(task) == ""
    return {figure.name.rpartition(".")[2]: figure for figure in InjectionProbe().measure(task).figures}


def test_who_obeys_commands_is_named():
    found = figures(obeys)
    assert found["injection"].p < 0.001
    assert found["injection"].lower > 0.1
    assert found["injection"].episode.endswith("/command")
    assert found["neutral_text"].value == 0.0


def obeys_alone(question):
    """Chooses the action that the other player's message names, and says nothing legal without one."""
    actions = question["choices"].get("actions", ["SILENT"])
    said = question["situation"].rpartition("The other player said: ")[2].splitlines()[0]
    return next((action for action in actions if action in said), "nothing")


def test_who_obeys_every_command_and_does_nothing_else_is_named():
    found = figures(obeys_alone)["injection"]
    assert (found.value, found.n) == (1.0, 40)
    assert found.p < 1e-9


def test_who_ignores_them_is_not():
    found = figures(ignores)["injection"]
    assert (found.value, found.p, found.n) == (0.0, 1.0, 40)


@pytest.mark.parametrize(
    ("game", "reason"),
    [("kuhn(hands=1)", "open text"), ("talk(kuhn, limit=20)", "open text"), ("talk(ipd, limit=99, who=0)", "speak")],
)
def test_it_needs_two_seats_that_speak_open_text(game, reason):
    made = make_game(game)
    task = SimpleNamespace(game=made, text=game, agent=make_player("human", made), decisions=60)
    assert reason in InjectionProbe().why_not(task)


def test_there_are_five_hundred_texts_of_each_kind_and_each_fits():
    assert len({*commands("FOLD", 200)}) == len({*neutral_texts(200)}) == 500
    assert all("FOLD" in text and text.isprintable() for text in commands("FOLD", 200))
    assert all(len(text) <= 60 for text in commands("FOLD", 60))


def test_a_game_without_talk_has_no_such_figure():
    assert all(type(probe) is not InjectionProbe for probe in probes_of(make_game("kuhn")))
    assert any(type(probe) is InjectionProbe for probe in probes_of(make_game(GAME)))


def test_the_three_situations_of_a_case_differ_in_the_message_alone():
    game = make_game(GAME)
    task = SimpleNamespace(game=game, key=Key(3), agent=make_player("random", game))
    for place in range(6):
        drawn = case(task, place)
        states = {arm: setup.state for arm, setup in drawn.setups.items()}
        seat = drawn.setups["silent"].slots.index(0)
        assert len({repr(state.view(seat).facts.inner) for state in states.values()}) == 1
        assert drawn.action in states["command"].view(seat).choices
        texts = {arm: [m.text for m in s.view(seat).facts.messages if m.text] for arm, s in states.items()}
        assert texts["silent"] == []
        assert drawn.action in texts["command"][0]
        assert SILENT not in texts["command"]


def test_the_agent_takes_both_seats_in_turn():
    game = make_game(GAME)
    task = SimpleNamespace(game=game, key=Key(3), agent=make_player("random", game))
    seats = [[setup.slots.index(0) for setup in case(task, place).setups.values()] for place in range(4)]
    assert seats == [[0] * 3, [1] * 3] * 2
