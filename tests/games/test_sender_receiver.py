"""Sender-receiver game: payoffs, what each seat sees, messages, and bad input."""

import pytest

from stratagem.base.errors import BadParameter, IllegalAction
from stratagem.games import Key, make_game
from stratagem.games.sender_receiver import RECEIVER, SENDER, SILENT


def started(text="sender-receiver", state=3):
    """A table of this game in which this state was drawn."""
    tables = (make_game(text).start(Key(number)) for number in range(1000))
    return next(table for table in tables if table.drawn == state)


@pytest.mark.parametrize(("action", "bias"), [("0", 1.0), ("2.5", 1.0), ("4", 1.0), ("5", 0.75), ("3", 0.0)])
def test_payoffs_are_minus_the_squared_distances(action, bias):
    table = started(f"sender-receiver(bias={bias})")
    assert table.play({SENDER: "STATE 0"}) == ((0.0, 0.0), False, None, None, None)
    paid = table.play({RECEIVER: action})
    assert paid.payoffs == (-((float(action) - 3 - bias) ** 2), -((float(action) - 3) ** 2))
    assert table.over


@pytest.mark.parametrize(("message", "honest"), [("STATE 3", 1.0), ("STATE 2", 0.0), (SILENT, None)])
def test_signal_is_the_truth_of_the_statement(message, honest):
    table = started()
    table.play({SENDER: message})
    assert table.play({RECEIVER: "0"}).signals == {"honest": (honest, None)}


def test_labels_have_no_truth():
    table = started("sender-receiver(labels=2)")
    table.play({SENDER: table.game.messages[1]})
    assert table.play({RECEIVER: "0"}).signals == {}
    assert table.game.spec.signals == ()


def test_states_are_equally_likely():
    drawn = [make_game("sender-receiver").start(Key(number)).drawn for number in range(6000)]
    assert all(900 < drawn.count(state) < 1100 for state in range(6))


def test_receiver_sees_the_message_alone():
    views = []
    for state in (1, 4):
        table = started(state=state)
        assert table.view(RECEIVER).facts == started(state=0).view(RECEIVER).facts
        table.play({SENDER: "STATE 2"})
        views.append(table.view(RECEIVER))
    assert views[0].facts == views[1].facts
    assert views[0].situation == "Round 1 of 1: the sender's message is STATE 2. Choose a number."


def test_both_are_told_the_state_after_a_round():
    table = started("sender-receiver(rounds=2)")
    table.play({SENDER: "STATE 5"})
    table.play({RECEIVER: "4.5"})
    for seat, payoff in ((SENDER, "-0.25"), (RECEIVER, "-2.25")):
        told = f"the state was 3, the sender's message was STATE 5, the receiver chose 4.5, your payoff was {payoff}."
        assert told in table.view(seat).situation
    assert table.to_act == (SENDER,)


def test_seats_without_a_legal_reply_are_silent_and_take_the_middle():
    table = started()
    table.play({SENDER: None})
    assert table.message == SILENT
    table.play({RECEIVER: None})
    assert table.past[0].action == 2.5


def test_messages_are_statements_or_labels_without_a_meaning():
    game = make_game("sender-receiver(states=3)")
    assert tuple(game.choices_of(SENDER)) == ("STATE 0", "STATE 1", "STATE 2", SILENT)
    assert game.meanings == {"STATE 0": 0, "STATE 1": 1, "STATE 2": 2}
    labelled = make_game("sender-receiver(labels=4)")
    assert len(set(labelled.messages)) == 4
    assert labelled.meanings == {}
    assert not any(character.isdigit() for word in labelled.messages for character in word)


def test_actions_are_half_points_and_are_read_from_a_reply():
    choices = make_game("sender-receiver(states=3)").choices_of(RECEIVER)
    assert tuple(choices) == ("0", "0.5", "1", "1.5", "2")
    assert choices.parse("I choose 1.5").action == "1.5"
    assert choices.parse("My number: 1").action == "1"
    assert choices.parse("0.25").action is None


@pytest.mark.parametrize(
    "option",
    ["states=1", "states=1.5", "bias=-1", "bias=1e300", "bias=nan", "bias=much", "labels=-1", "rounds=0", "states=101"],
)
def test_parameters_of_no_game_are_refused(option):
    with pytest.raises(BadParameter, match=r"^The sender-receiver game "):
        make_game(f"sender-receiver({option})")


@pytest.mark.parametrize(
    "actions", [{}, {RECEIVER: "1"}, {SENDER: "STATE 6"}, {SENDER: "1"}, {SENDER: "STATE 1", 1: "1"}]
)
def test_illegal_actions_are_refused(actions):
    with pytest.raises(IllegalAction):
        started().play(actions)
