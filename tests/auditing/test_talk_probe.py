"""Probe of talk: honesty, promises and gullibility of agents whose figures are known."""

import pytest

from stratagem.games import Key, make_game
from stratagem.measure.audit.measurement import GROUPS
from stratagem.measure.audit.probes.base import Task
from stratagem.measure.audit.probes.catalogue import probes_of
from stratagem.measure.audit.probes.talking import LIAR, TalkProbe
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.talk.talk_tree import TalkTree
from stratagem.measure.talk.tree_source import exchange_figures
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import Dispatcher

KUHN = "talk(kuhn(hands=1), before=round, intents=[state])"
ISH = "talk(ish(rounds=2), intents=[move])"


def task(agent, text, decisions=300):
    game = make_game(text)
    return Task(text, game, make_player(agent, game), Key(0), decisions, ResumableRecord(), Dispatcher)


def figures(agent, text=KUHN, decisions=300):
    asked = task(agent, text, decisions)
    assert TalkProbe().why_not(asked) == ""
    return {figure.name.rpartition(".")[2]: figure for figure in TalkProbe().measure(asked).figures}


@pytest.mark.parametrize(("agent", "honesty"), [("honest(NashApprox)", 1.0), ("liar(NashApprox)", 0.0)])
def test_honesty_is_known_and_who_does_not_listen_loses_nothing(agent, honesty):
    found = figures(agent)
    assert (found["honesty"].value, found["gullibility"].value) == (honesty, 0.0)
    assert found["honesty"].chance == pytest.approx(1 / 3, abs=0.1)
    assert found["gullibility"].p == 0.5
    assert found["kept"].why_not.startswith("The agent made no")
    assert {figure.group for figure in found.values()} == {"talk"} <= set(GROUPS)


def test_a_believer_loses_what_the_tree_says():
    game = make_game(KUHN)
    pair = [make_player(LIAR, game), make_player("believer(NashApprox)", game)]
    exact = sum(exchange_figures(TalkTree(game, pair[::step]), seat).gullibility for seat, step in ((0, 1), (1, -1)))
    found = figures("believer(NashApprox)", decisions=1600)["gullibility"]
    assert found.lower - 0.1 <= exact / 2 <= found.upper + 0.1
    assert found.value > 0.0
    assert found.p < 0.05


def test_a_deal_is_one_observation_of_what_is_said_against_both_opponents():
    found = figures("honest(NashApprox)")
    assert found["honesty"].n == found["gullibility"].n > 10


def test_promises_are_counted():
    assert figures("honest(AlwaysCooperate)", ISH)["kept"].value == 1.0
    liar = figures("liar(AlwaysDefect)", ISH)
    assert liar["kept"].value == 0.0
    assert 0.0 < liar["betrayal"].value <= 1.0


@pytest.mark.parametrize(
    ("text", "decisions", "reason"),
    [
        ("kuhn", 600, "two seats that speak"),
        ("talk(kuhn, who=[0])", 600, "two seats that speak"),
        ("talk(kuhn, intents=[], words=[hi])", 600, "no statements and no promises"),
        (KUHN, 20, "too long for 20 decisions"),
    ],
)
def test_it_says_why_it_does_not_apply(text, decisions, reason):
    assert reason in TalkProbe().why_not(task("random", text, decisions))
    assert any(isinstance(probe, TalkProbe) for probe in probes_of(make_game(text))) is text.startswith("talk")
