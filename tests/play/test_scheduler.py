"""The scheduler: one batch for everybody's requests, in a fixed order, over a bounded number of open tables."""

import pytest
from fakes import Engine, Fake, asking, setups

from stratagem.base.errors import BadParameter
from stratagem.players.base import Ask, Move
from stratagem.playing.dispatch import BatchQueue
from stratagem.playing.scheduler import play
from stratagem.playing.workers.shards import play_setups


def keys(setup, turn, slots):
    return [Ask(None, setup.key, slot, turn, 0, None).key.value for slot in slots]


def test_one_batch_holds_the_requests_of_all_seats_and_tables_in_order():
    engine, wanted = Engine(), setups("ipd(rounds=2)", [asking(), asking()], 6)
    list(play(wanted, engine))
    assert len(engine.batches) == 2
    for turn, batch in enumerate(engine.batches):
        assert [request[0] for request in batch] == [key for s in wanted for key in keys(s, turn, s.slots)]
        assert [request[2] for request in batch] == [0, 1] * 6


def test_a_turn_of_several_requests_takes_as_many_batches():
    engine = Engine()
    list(play(setups("ipd(rounds=2)", [asking(3), asking(1)], 2), engine))
    assert [len(batch) for batch in engine.batches] == [4, 2, 2, 4, 2, 2]
    assert [request[3] for request in engine.batches[1]] == [1, 1]


def test_two_episodes_of_one_name_are_refused():
    one, other = setups("kuhn(hands=1)", ["random", "random"], 2)
    assert [episode.id for episode in play_setups([other, one])] == [other.id, one.id]
    with pytest.raises(BadParameter, match=r"Two episodes are called .*, and one would be lost"):
        play_setups([one, other, one])


def test_tables_advance_together_and_leave_when_they_are_over():
    engine = Engine()
    episodes = list(play(setups("kuhn(hands=1)", [asking(), asking()], 40), engine))
    lengths = [len(episode.decisions) for episode in episodes]
    assert set(lengths) == {2, 3}
    assert [len(batch) for batch in engine.batches] == [40, 40, lengths.count(3)]
    assert lengths == sorted(lengths)


def test_seats_of_three_players_share_a_batch():
    engine = Engine()
    list(play(setups("auction(seats=3, rounds=2)", [asking(), "random", asking()], 3), engine))
    assert [len(batch) for batch in engine.batches] == [6, 6]
    engine = Engine()
    episodes = list(play(setups("spiel:kuhn_poker(players=3)", [asking()] * 3, 3), engine))
    assert sum(map(len, engine.batches)) == sum(len(episode.decisions) for episode in episodes)
    assert len(engine.batches[0]) == 3


@pytest.mark.parametrize("live", [1, 2, 5, 100])
def test_live_bounds_the_open_tables_and_batches_stay_full(live):
    opened = []

    def counted():
        for setup in setups("ipd(rounds=3)", [asking(), "TitForTat"], 10):
            opened.append(setup.id)
            yield setup

    engine, over = Engine(), 0
    for _ in play(counted(), engine, live=live):
        assert len(opened) - over <= live
        over += 1
    assert over == 10
    assert max(map(len, engine.batches)) == min(live, 10)


def test_scripted_tables_need_no_engine_and_do_not_wait_for_others():
    order = [
        *setups("kuhn", [asking(), "random"], 2, name="slow"),
        *setups("kuhn", ["random", "random"], 2, name="fast"),
    ]
    assert [episode.id.split("/")[0] for episode in play(order, Engine())] == ["fast", "fast", "slow", "slow"]
    assert len(list(play(setups("kuhn", ["random", "random"], 2)))) == 2


def test_what_is_no_request_is_answered_as_such_and_the_table_goes_on():
    heard = []

    def turn(ask):
        heard.append((yield "what now?"))
        return Move(ask.view.choices.first)

    (episode,) = play(setups("kuhn(hands=1)", [Fake(turn), "random"], 1)[:1])
    assert episode.finished
    assert {(call.finish, call.text) for call in heard} == {
        ("error", "A player yielded a str where a Request was due.")
    }


@pytest.mark.parametrize("answers", [0, 1, 3])
def test_an_engine_that_answers_the_wrong_number_is_stopped(answers):
    with pytest.raises(ValueError, match=f"2 requests were answered with {answers} completions"):
        list(play(setups("ipd", [asking(), asking()], 1)[:1], BatchQueue(lambda requests: ["COOPERATE"] * answers)))


def test_no_open_table_is_refused():
    with pytest.raises(BadParameter, match="cannot be 0"):
        list(play(setups("kuhn", ["random", "random"], 2), live=0))
