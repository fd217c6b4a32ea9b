"""Notes of a card: short replies of a server, which a cache may have given."""

import json
from types import SimpleNamespace

import pytest
from flawed import Equilibrium

from stratagem import player
from stratagem.base.errors import BadRecord
from stratagem.measure.audit.card import FILE, VERSION, read_card
from stratagem.measure.audit.compare import changes
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.run import run_audit, short_replies
from stratagem.measure.sampled.asking import LONG
from stratagem.show.audit.page import card_page
from stratagem.show.audit.words import verdict


def act(question):
    return question["choices"]["actions"][0]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    out = tmp_path_factory.mktemp("notes") / "audit"
    return out, run_audit(plan_audit(player(act, "kuhn"), ["kuhn"], 300), out)


def test_notes_say_that_equal_short_replies_are_taken_as_independent(audited):
    out, card = audited
    asked = card.by_name["kuhn.illegal"].n
    note = (
        f"{asked} of {asked} replies to questions have fewer than 80 characters: equal ones among them are taken as "
        "independent, so limits and tests do not hold if a cache gave them."
    )
    assert card.notes == (note,)
    assert json.loads((out / FILE).read_text())["notes"] == [note]
    assert verdict(card)[-1] == note
    assert note in card_page(card)
    assert read_card(out).notes == (note,)


def test_notes_are_left_out_for_a_player_whose_replies_are_drawn_here():
    assert run_audit(plan_audit(Equilibrium(), ["kuhn"], 300)).notes == ()


def result(*texts, probe="replies", repeats=False, stochastic=True, failed=False):
    calls = [(SimpleNamespace(text=text, failed=failed),) for text in texts]
    how = "error" if failed else "free"
    rows = [SimpleNamespace(turn=n, seat=0, calls=call, how=how) for n, call in enumerate(calls)]
    agent = SimpleNamespace(traits=SimpleNamespace(repeats=repeats, stochastic=stochastic))
    episodes = [SimpleNamespace(decisions=rows)]
    return SimpleNamespace(probe=probe, task=SimpleNamespace(agent=agent), question_episodes=lambda: iter(episodes))


def test_notes_count_the_replies_below_the_length_from_which_copies_are_counted():
    long, short = "x" * LONG, "x" * (LONG - 1)
    assert short_replies([result(long, long)]) == ()
    (note,) = short_replies([result(long, short), result("y")])
    assert note.startswith("2 of 3 replies to questions have fewer than 80 characters")


@pytest.mark.parametrize("other", [{"repeats": True}, {"stochastic": False}, {"probe": "matches"}, {"failed": True}])
def test_notes_are_about_replies_that_count_as_independent(other):
    assert short_replies([result("PASS", **other)]) == ()


def test_a_card_without_notes_is_read_and_compared(audited, tmp_path):
    data = json.loads((audited[0] / FILE).read_text())
    assert data["card"] == VERSION == 3
    checks = ("kuhn.played", "kuhn.excess_loss")
    del data["notes"]
    old = {**data, "card": 1, "figures": [one for one in data["figures"] if one["name"] not in checks]}
    (tmp_path / FILE).write_text(json.dumps(old))
    read = read_card(tmp_path)
    assert read.notes == ()
    names = {change.name for change in changes(read, audited[1])}
    assert "kuhn.exploitability" in names
    assert not names & {*checks}
    both = {change.name: change for change in changes(audited[1], audited[1])}
    assert not both["kuhn.excess_loss"].changed
    (tmp_path / FILE).write_text(json.dumps({**data, "card": 4}))
    with pytest.raises(BadRecord, match="a card of version 4, and this program reads versions 1 to 3"):
        read_card(tmp_path)


class Sticky:
    """Repeats its last reply to a question four times in five."""

    def __init__(self):
        self.last = {}

    def __call__(self, question):
        words = question["situation"]
        actions = question["choices"]["actions"]
        if not self.last.get(words) or question["seed"] % 5 == 0:
            self.last[words] = actions[question["seed"] // 5 % len(actions)]
        return self.last[words]


def test_notes_say_of_dependent_replies_what_the_limits_hold_for():
    card = run_audit(plan_audit(player(Sticky(), "kuhn"), ["kuhn"], 600))
    (note,) = [note for note in card.notes if "depend on earlier ones" in note]
    assert note.startswith("kuhn: replies depend on earlier ones, or changed (p = 0.0010). The limits of ")
    assert "hold for what the agent played in this audit, the lower one for the last three quarters of its" in note
    assert card.by_name["kuhn.sequence"].alarm
    steady = run_audit(plan_audit(Equilibrium(), ["kuhn"], 300))
    assert not any("depend on" in note for note in steady.notes)
