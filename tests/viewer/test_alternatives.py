"""Probabilities of the actions at a recorded decision, and their price."""

import pytest
from shown_folder import episodes_of

from stratagem.playing.store import write_shard
from stratagem.show.viewer.alternatives import Alternatives, ask_alternatives
from stratagem.show.viewer.jobs import JobPrice


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("alternatives")
    episodes = episodes_of("kuhn(hands=1)", ["NashApprox", "TightPassive"], 1, name="hand")
    episodes += episodes_of("negotiation-v2(most=9)", ["random", "random"], 1, name="deal")
    write_shard(root, 0, episodes)
    return root


def ask(folder, player, *, episode="hand/0.0", accepted=0):
    question = Alternatives(folder=folder, episode=episode, turn=0, seat=0, player=player, accepted=accepted)
    return ask_alternatives(question, None)


def test_actions_have_their_probabilities_and_the_most_likely_is_first(folder):
    told = ask(folder, "noise(AlwaysBet, p=0.4)")
    assert [row["action"] for row in told["actions"]] == ["BET", "PASS"]
    assert [row["p"] for row in told["actions"]] == pytest.approx([0.6, 0.4])
    assert (told["count"], told["rest"], told["unseen"], told["none"]) == (2, 0.0, 0.0, 0.0)
    assert ask(folder, "AlwaysBet")["actions"] == [{"action": "BET", "p": 1.0}, {"action": "PASS", "p": 0.0}]


def test_probability_of_actions_that_are_not_shown_is_told(folder):
    told = ask(folder, "random", episode="deal/0.0")
    assert told["count"] > len(told["actions"]) == 60
    assert told["rest"] == pytest.approx(1.0 - 60 / told["count"])
    assert told["none"] == pytest.approx(0.0)


def test_model_is_asked_only_as_often_as_the_reader_has_accepted(folder):
    pytest.importorskip("torch")
    price = ask(folder, "tiny")
    assert isinstance(price, JobPrice)
    assert price.price["calls"] == price.price["most_calls"] == 1
    told = ask(folder, "tiny", accepted=1)
    assert sum(row["p"] for row in told["actions"]) == pytest.approx(1.0, abs=1e-5)
