"""Probes of an audit in small games whose figures are known: counts, examples, replays and p-values."""

from types import SimpleNamespace

import pytest

from stratagem.games import Key, make_game
from stratagem.measure.audit.probes import talking
from stratagem.measure.audit.probes.base import Task
from stratagem.measure.audit.probes.replies import RepliesProbe, gain_of
from stratagem.measure.audit.probes.talking import TalkProbe
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import Dispatcher

TALK = "talk(kuhn(hands=1), before=round, intents=[state])"
DOMINATED = (
    "matrix(payoffs=[[(3, -3), (3, -3)], [(3, -3), (2, -2)], [(1, -1), (1, -1)]], labels=('BEST', 'WEAK', 'STRICT'), "
    "labels_second=('LEFT', 'RIGHT'), rounds=1)"
)


def task(agent, text, decisions=300):
    game = make_game(text)
    return Task(text, game, make_player(agent, game), Key(0), decisions, ResumableRecord(), Dispatcher)


def figures(probe, asked):
    return {figure.name.rpartition(".")[2]: figure for figure in probe.measure(asked).figures}


def test_illegal_replies_are_an_action_of_their_own():
    """As action 0 they would hide from the tests that look for changes."""
    asked = task("random", "kuhn")
    asker = ReplyAsker(asked.agent, gain_of(asked).questions, Key(0))
    assert asker.questions.sets[0].actions == ("PASS", "BET")
    rows = [SimpleNamespace(action=action, how="free", calls=()) for action in ("BET", None, "PASS")]
    lost = SimpleNamespace(action=None, how="error", calls=(SimpleNamespace(failed=True, finish="timeout"),))
    asker.decisions[0] = [*rows[:2], lost, rows[2]]
    assert (asker.actions[0], [*asker.answered[0]]) == ([1, -1, 0], [0, 1, 3])
    assert not any(asker.actions[1:])


def test_strategy_has_the_moves_alone_that_can_be_reached():
    """An agent that always bets is never met after a pass of its own."""
    lines = RepliesProbe().measure(task("AlwaysBet", "kuhn(hands=1)")).strategy
    assert sum(line.seat == 1 for line in lines) == 3
    assert {line.action for line in lines if line.seat == 1} == {"CALL", "FOLD"}


def test_replay_is_the_episode_that_the_strategy_wins_most_in():
    asked = task("AlwaysBet", "kuhn(hands=1)")
    episode = asked.record.finished[figures(RepliesProbe(), asked)["exploitability"].episode]
    others = [one for one in asked.record.finished.values() if one.players == episode.players]
    won = [one.payoffs[one.seat_of(0)] for one in others]
    assert episode.payoffs[episode.seat_of(0)] == max(won) > min(won)


def test_example_is_a_strictly_dominated_action_where_one_was_played():
    found = figures(RepliesProbe(), task("random", DOMINATED))["dominated"]
    assert "It replied STRICT; BEST is better." in found.example
    assert found.certain


def test_talk_probe_asks_for_the_decisions_that_it_is_given():
    asked = task("believer(NashApprox)", TALK)
    found = figures(TalkProbe(), asked)["gullibility"]
    rows = [row for one in asked.record.finished.values() for row in one.decisions if one.slots[row.seat] == 0]
    assert 200 < len(rows) < 360
    assert len(found.deals) == found.n
    assert sum(found.deals) / found.n == pytest.approx(found.value)


def test_agent_that_gains_by_a_lie_raises_no_alarm(monkeypatch):
    """With both opponents exchanged, the believer gains by what is the liar then."""
    liar, silent = talking.LIAR, talking.SILENT
    monkeypatch.setattr(talking, "LIAR", silent)
    monkeypatch.setattr(talking, "SILENT", liar)
    found = figures(TalkProbe(), task("believer(NashApprox)", TALK, 800))["gullibility"]
    assert found.value < 0.0
    assert found.p > 0.5
