"""The hand-made faces: the same moves as the engine's at every step, and the words people read."""

import re

import pytest

from stratagem.games.key import Key
from stratagem.games.spiel import FACES, SPIEL_GAMES

NAMES = sorted(FACES)


def sample(state, key):
    return {seat: state.view(seat).choices.sample(key.at(seat)) for seat in state.to_act}


@pytest.mark.parametrize("name", NAMES)
def test_moves_are_the_engines_one_for_one(name):
    """Play by our strings on one side and by the engine's numbers on the other: boards and legal actions stay equal."""
    game = SPIEL_GAMES[name]()
    words = {}
    for seed in range(30):
        state, count = game.start(Key(seed)), 0
        while not state.over:
            for seat in state.to_act:
                ids, menu = state.node.legal_actions(seat), state.view(seat).facts.menu
                assert list(menu.ids.values()) == ids
                assert list(menu.ids) == list(menu.choices) == list(dict.fromkeys(menu.ids))
                for action, number in menu.ids.items():
                    word = state.node.action_to_string(seat, number)
                    assert words.setdefault((seat, number), action) == action == game.look.action(word)
            joint = sample(state, Key(seed).at("p", count))
            expected = state.node.clone()
            numbers = [state.view(seat).facts.menu.ids[joint[seat]] for seat in state.to_act]
            if len(numbers) > 1:
                expected.apply_actions(numbers)
            else:
                expected.apply_action(numbers[0])
            length = len(expected.history())
            state.play(joint)
            assert state.node.history()[:length] == expected.history()
            count += 1
    seats = {seat for seat, _ in words}
    for seat in seats:
        mine = [action for (who, _), action in words.items() if who == seat]
        assert len(set(mine)) == len(mine)


@pytest.mark.parametrize("name", NAMES)
def test_every_action_can_be_said_in_a_sentence(name):
    game = SPIEL_GAMES[name]()
    for seed in range(5):
        state, count = game.start(Key(seed)), 0
        while not state.over and count < 30:
            for seat in state.to_act:
                choices = state.view(seat).choices
                for action in choices:
                    assert choices.parse(action).action == action
                    assert choices.parse(f"Let me think.\nI choose {action}.").action == action
                    assert choices.parse(action.upper()).action == action
            state.play(sample(state, Key(count)))
            count += 1


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_plain_and_say_whose_turn_it_is(name):
    game = SPIEL_GAMES[name]()
    assert game.spec.name == name
    assert game.spec.family
    for seed in range(5):
        state, count = game.start(Key(seed)), 0
        while True:
            for seat in range(game.spec.seats):
                text = state.view(seat).situation
                expected = "over" if state.over else "not your turn" if seat not in state.to_act else "is your turn"
                assert expected in text
                assert not re.search(r"-10000|Observer|player_0|None", text)
            if state.over:
                break
            state.play(sample(state, Key(seed).at(count)))
            count += 1
    assert all(len(game.rules(seat).split("\n")) > 2 for seat in range(game.spec.seats))


def play(name, seed, *moves):
    state = SPIEL_GAMES[name]().start(Key(seed))
    for move in moves:
        state.play({state.to_act[0]: move})
    return state


def test_tic_tac_toe_is_drawn_as_it_is_named():
    assert play("tic-tac-toe", 0, "A1", "C2").view(0).situation == (
        "  A B C\n1 X . .\n2 . . O\n3 . . .\nYou play X. It is your turn."
    )


def test_connect_four_discs_fall():
    text = play("connect-four", 0, "drop 4", "drop 4", "drop 1").view(1).situation
    assert text.split("\n")[-3:-1] == ["  . . . O . . .", "  X . . X . . ."]


def test_breakthrough_shows_captures():
    state = play("breakthrough", 0, "b7-b6", "b2-b3", "b6-b5", "b3-b4", "a7-a6", "a2-a3", "c7-c6", "c2-c3")
    assert "b5-a4" in state.view(0).choices
    state.play({0: "b5-a4"})
    assert {"a3-a4", "b4xa5"} & set(state.view(1).choices) == set()
    state.play({1: "b4-b5"})
    assert "a6xb5" in state.view(0).choices


def test_breakthrough_tells_each_side_where_it_goes():
    game = SPIEL_GAMES["breakthrough"]()
    assert "from row 8 towards row 1" in game.rules(0)
    assert "from row 1 towards row 8" in game.rules(1)


def test_pig_adds_up():
    state = SPIEL_GAMES["pig"]().start(Key(3))
    total, mover = 0, 0
    while state.to_act == (mover,) and total < 8:
        state.play({0: "roll"})
        total = total + state.node.history()[-1] + 1 if state.to_act == (0,) else 0
    assert f"This turn's total: {total}." in state.view(0).situation


def test_bargaining_pays_what_was_offered():
    state = SPIEL_GAMES["bargaining"]().start(Key(2))
    offer = list(state.view(0).choices)[-1]
    counts = [int(n) for n in re.findall(r"\d+", offer)]
    worth = [int(n) for n in re.findall(r"\d+", state.view(0).situation.split("\n")[1])]
    state.play({0: offer})
    assert f"The other player: {offer}" in state.view(1).situation
    result = state.play({1: "agree"})
    assert result.payoffs[0] == sum(count * value for count, value in zip(counts, worth, strict=True))


def test_the_sealed_bid_stays_sealed():
    texts = {play("blind-auction", 5, f"bid {bid}").view(1).situation for bid in (0, 1)}
    assert len(texts) == 1


def test_leduc_shows_the_open_card_and_the_chips():
    text = play("leduc", 1, "raise", "call").view(0).situation
    assert re.search(r"Your card: [JQK]\. The open card: [JQK]\.", text)
    assert "Betting in round 1: you raise, they call." in text
    assert "you 3, the other player 3" in text


def test_goofspiel_is_told_from_ones_own_side():
    state = SPIEL_GAMES["goofspiel"]().start(Key(1))
    state.play({0: "bid 5", 1: "bid 1"})
    first, second = state.view(0).situation, state.view(1).situation
    assert "Your cards: 1 2 3 4. The other player's cards: 2 3 4 5." in first
    assert "Your cards: 2 3 4 5. The other player's cards: 1 2 3 4." in second
