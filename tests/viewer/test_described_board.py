"""Board of described games: the whole state, what one seat sees of it, and the round that a turn was played in."""

from pathlib import Path

import pytest

from stratagem.games import Key
from stratagem.games.drawn.face import DescribedFace
from stratagem.games.drawn.rules import WrittenGame

EXAMPLES = Path(__file__).parents[2] / "examples" / "games"
SWAPS = """
name = "Swaps"
seats = 3
rounds = 2
items = [{ values = [1, 2, 3, 4, 5], copies = 2 }]
steps = [
  { do = "ante" }, { do = "deal", count = 2 }, { do = "deal", to = "all" }, { do = "swap", cost = 1 },
  { do = "show", of = "second" }, { do = "bet" }, { do = "showdown" },
]
"""
TEXTS = {path.stem: path.read_text() for path in sorted(EXAMPLES.glob("*.toml"))} | {"swaps": SWAPS}


def played(game, key):
    """Every state of an episode of random play, with the state and the actions before it."""
    state, before, actions = game.start(key), None, {}
    yield state, before, actions
    while not state.over:
        before, turn = state.fork(), key.at("turn", len(state.moves), state.moves[-1])
        actions = {seat: state.view(seat).choices.sample(turn.at(seat)) for seat in state.to_act}
        state.play(actions)
        yield state, before, actions


@pytest.mark.parametrize("name", TEXTS)
def test_seat_sees_its_own_hand_and_of_others_what_was_shown(name):
    game = WrittenGame(text=TEXTS[name])
    face, seats, hidden = DescribedFace(game), range(game.spec.seats), 0
    for number in range(3):
        for state, _, _ in played(game, Key(number)):
            whole = face.frame(state)
            for seat in seats:
                seen = face.frame_of(state.view(seat))
                assert seen["open"] == whole["open"]
                for other in seats:
                    shown, real = seen["seats"][other], whole["seats"][other]
                    known = [piece for piece in shown["hand"] if piece["face"] is not None]
                    assert all(piece in real["hand"] for piece in known)
                    assert all(action in real["actions"] for action in shown["actions"])
                    assert other != seat or (known, shown["actions"]) == (real["hand"], real["actions"])
                    hidden += len(shown["hand"]) - len(known)
                again = face.frame_of(state.resample(seat, Key(number).at("again")).view(seat))
                assert again == seen, "nothing hidden is on the board"
    assert (hidden > 0) == bool(game.description.items)


def test_board_after_the_last_turn_of_a_round_is_that_of_the_round():
    game = WrittenGame(text=SWAPS)
    face, ended, drawn = DescribedFace(game), [], [[], [], []]
    for state, before, actions in played(game, Key(1)):
        frame = face.after(before, state, actions) if before is not None else face.frame(state)
        done = {seat: row["actions"][-1]["word"] for seat, row in enumerate(frame["seats"]) if row["actions"]}
        assert done.items() >= actions.items()
        assert all(row["actions"] == drawn[seat] for seat, row in enumerate(frame["seats"]) if seat not in actions)
        gains = [seat["gain"] for seat in frame["seats"]]
        drawn = [[] if gains[0] is not None else row["actions"] for row in frame["seats"]]
        if gains[0] is not None:
            ended.append((frame["round"], sum(gains)))
            assert [seat["hand"] for seat in frame["seats"]] != [[], [], []]
        else:
            assert frame["pot"] == sum(seat["put"] for seat in frame["seats"]) > 0
            assert frame["to_act"] == list(state.to_act)
    assert ended == [(0, 0.0), (1, 0.0)]
