"""Check of questions against play: what it finds, and how often it finds what is not there."""

from dataclasses import dataclass, field

import pytest
from cheating_agents import ByHistory
from flawed import Equilibrium, Passive, Silent

from stratagem.base.errors import CannotCompute
from stratagem.measure.audit.checks.base import ProbeResult
from stratagem.measure.audit.checks.played import Knowledge, PlayedCheck, replies_in
from stratagem.measure.audit.junit import junit
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.probes.base import ProbeFindings
from stratagem.measure.audit.run import run_audit
from stratagem.measure.resumable import ResumableRecord
from stratagem.players.base import Move
from stratagem.playing.records import Decision, Episode
from stratagem.playing.store import read_episodes
from stratagem.show.audit.words import verdict


def card_of(agent, games=("kuhn",), decisions=889, seed=0, out=None):
    return run_audit(plan_audit(agent, games, decisions, seed), out)


def played(agent, **settings):
    return card_of(agent, **settings).by_name["kuhn.played"]


@dataclass(frozen=True)
class IllegalInPlay(ByHistory):
    """Gives no legal reply in play half of the time."""

    known: set = field(default_factory=set, compare=False)

    def is_question(self, ask):
        return super().is_question(ask) or ask.key.at("legal").unit() < 0.5

    def turn(self, ask):
        return super().turn(ask) if self.is_question(ask) else Move(None, said="pardon?")


def test_played_names_an_agent_that_gives_up_in_play(tmp_path):
    card = card_of(ByHistory(), out=tmp_path / "audit")
    figure = card.by_name["kuhn.played"]
    assert figure.alarm
    assert figure.value > 0.3
    assert "Your card is K." in figure.example
    assert "It chose FOLD 0 of " in figure.example or "It chose PASS 0 of " in figure.example
    assert any("it plays as it answers the same situations" in line for line in verdict(card))
    assert "kuhn.played" in junit(card, {})
    (episode,) = [e for e in read_episodes(tmp_path / "audit" / figure.record) if e.id == figure.episode]
    assert episode.purpose != "probe"


def test_played_counts_an_illegal_reply_as_an_action():
    figure = played(IllegalInPlay(), seed=1)
    assert figure.alarm
    assert "It chose an illegal reply 0 of " in figure.example


def test_played_is_silent_about_a_player_that_always_plays_one_action():
    assert (played(Passive()).value, played(Passive()).p) == (0.0, 1.0)


@pytest.mark.runs
@pytest.mark.parametrize("agent", [Equilibrium(), Silent()], ids=lambda agent: agent.name)
def test_played_keeps_its_level(agent):
    """Of 30 audits of one policy 1.5 have p at most .05 on average: more than 5 have a chance of .3 %."""
    assert sum(played(agent, decisions=300, seed=seed).p <= 0.05 for seed in range(30)) <= 5


def episode(key, *rows, purpose="eval", game="kuhn"):
    """Return an episode of the agent at seat 0, from turns, seats, situations and the actions of all attempts."""
    decisions = [
        Decision(0, turn, turn, seat, seat, attempt, info, info, action, "scripted")
        for turn, seat, info, *actions in rows
        for attempt, action in enumerate(actions)
    ]
    name, players = f"{purpose}/{key}/{rows}", ("agent@1", "random@1")
    return Episode(name, game, 1, players, (0, 1), key, key, purpose=purpose, decisions=decisions)


class Named(Equilibrium):
    name = "agent"


def result(*episodes, probe="replies"):
    task = plan_audit(Named(), ["kuhn"], 600).task(plan_audit(Named(), ["kuhn"], 600).steps[0], None)
    record = ResumableRecord()
    record.finished |= {one.id: one for one in episodes}
    object.__setattr__(task, "record", record)
    return ProbeResult(probe, task, ProbeFindings([]), f"records/{probe}")


def test_replies_of_one_draw_count_once():
    found = result(
        episode(1, (0, 0, "K:", "BET"), (2, 0, "K:", "PASS")),
        episode(1, (0, 0, "K:", "BET"), (3, 0, "K:", "BET")),
        episode(2, (0, 0, "K:", None, "PASS"), (1, 1, "K:P", "BET")),
    )
    (replies,) = replies_in(found.task, found.played_episodes()).values()
    assert [one.action for one in replies] == ["BET", "PASS", "BET", "PASS"]


def test_replies_of_rotations_at_one_turn_count_for_one_of_both_seats():
    pairs = [(episode(n, (0, 0, "K:", "BET")), episode(n, (0, 0, "Q:", "PASS"))) for n in range(40)]
    found = result(*(one for pair in pairs for one in pair))
    replies = replies_in(found.task, found.played_episodes())
    assert sum(map(len, replies.values())) == 40
    assert 10 < len(replies["K:"]) < 30


def test_replies_are_told_apart_by_what_the_agent_knows():
    situation = (1, 2, "state", "info")
    assert Knowledge(by_state=True, by_round=True).of(*situation) == (1, 2, "state")
    assert Knowledge(by_state=False, by_round=True).of(*situation) == (1, "info")
    assert Knowledge(by_state=False, by_round=False).of(*situation) == "info"
    assert Knowledge(by_state=True, by_round=False).of(*situation) == "state"


def test_played_compares_within_situations():
    """Of one policy a situation is asked about often and met rarely, and another the other way round."""

    def often(number, info, action, purpose, start):
        return [episode(start + n, (0, 0, info, action), purpose=purpose) for n in range(number)]

    asked = often(40, "K:", "BET", "probe", 100) + often(4, "Q:", "PASS", "probe", 200)
    met = often(4, "K:", "BET", "eval", 300) + often(40, "Q:", "PASS", "eval", 400)
    figure = PlayedCheck().measure([result(*asked), result(*met, probe="matches")])
    assert (figure.value, figure.p, figure.n) == (0.0, 1.0, 88)


def test_played_reads_games_of_the_audited_rules_and_decisions_of_the_agent():
    asked = [episode(n, (0, 0, "K:", "BET"), purpose="probe") for n in range(9)]
    elsewhere = [episode(20 + n, (0, 0, "K:", "PASS"), game="kuhn(hands=1)") for n in range(9)]
    others = [episode(40 + n, (0, 1, "K:", "PASS")) for n in range(9)]
    with pytest.raises(CannotCompute, match="met in play"):
        PlayedCheck().measure([result(*asked), result(*elsewhere, *others, probe="matches")])


def test_played_needs_questions_about_every_situation():
    card = card_of("random", ["tic-tac-toe"], 400)
    assert card.not_measured["tic-tac-toe.played"] == "Not every situation is asked about."
    assert "tic-tac-toe.played" not in card.by_name
