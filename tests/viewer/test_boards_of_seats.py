"""Boards that one seat sees: functions of its view, with all that is not hidden, and nothing that is."""

import json
from dataclasses import dataclass
from random import Random

import pytest

from stratagem.games import make_game
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn
from stratagem.games.kuhn.face import KuhnFace
from stratagem.show.viewer.faces.catalogue import face_of
from stratagem.show.viewer.faces.frames import draw_episode, draw_turn, draw_view

TALK = "talk(kuhn(hands=1),before=round,intents=[state])"
SMALL_BARGAINING = "spiel:bargaining(max_turns=3,max_num_instances=12)"
HIDING = (
    "kuhn(hands=2)", "kuhn-spiel", "leduc", "liars-dice", "blind-auction", SMALL_BARGAINING, "auction(rounds=2)",
    "auction(seats=3,rounds=2,price=second)", "negotiation-v2(rounds=2,most=1)", "sender-receiver(states=3,rounds=2)",
    "resistance(missions=1)", TALK,
)  # fmt: skip


def positions(game, count=60):
    """Random games up to their last positions: each seat's view, all that its seat is told, and the state."""
    made = make_game(game)
    for number in range(count):
        state, draw = made.start(Key(number)), Random(number)
        while True:
            for seat in range(made.spec.seats):
                view = state.view(seat)
                told = view.facts.information if hasattr(view.facts, "information") else view.facts
                yield (seat, view.situation, told), view, state
            if state.over:
                break
            state.play({seat: draw.choice(list(state.view(seat).choices)) for seat in state.to_act})


@pytest.mark.parametrize("game", HIDING)
def test_board_of_a_seat_is_a_function_of_its_view(game):
    """Positions that look alike to a seat have one board; of some that look alike what is hidden differs."""
    boards, states = {}, {}
    for seen, view, state in positions(game, 150 if game in ("leduc", SMALL_BARGAINING) else 60):
        board = json.dumps(draw_view(view)["frames"])
        assert boards.setdefault(seen, board) == board
        states.setdefault(seen, set()).add(json.dumps(face_of(view.game).frame(state)))
    assert max(map(len, states.values())) > 1


def hidden_parts(own, whole, path=""):
    """Paths of the parts of a whole board that a seat's board hides as None; all else must be as it is there."""
    if own is None:
        return {path} if whole is not None else set()
    if isinstance(own, dict):
        return set().union(*(hidden_parts(own[name], whole[name], f"{path}.{name}") for name in own if name in whole))
    if isinstance(own, (list, tuple)):
        assert len(own) == len(whole), path
        return set().union(*(hidden_parts(*pair, f"{path}[]") for pair in zip(own, whole, strict=True)))
    assert own == whole, path
    return set()


HIDDEN = {
    "kuhn(hands=1)": {".state.cards[]"},
    TALK: {".state.cards[]"},
    "kuhn-spiel": {".moves[][]"},
    "leduc": {".moves[][]"},
    "liars-dice": {".moves[][]"},
    "blind-auction": {".moves[][]"},
    SMALL_BARGAINING: {".values[]"},
    "auction(rounds=2)": {".state.values[]", ".state.past[][][]"},
    "negotiation-v2(rounds=2)": {".state.values[]"},
    "sender-receiver(rounds=2)": {".state.drawn"},
    "resistance": set(),
}
"""Paths of hidden parts: cards, dice, values, sealed bids, the state of a sender."""


@pytest.mark.parametrize("game", HIDDEN)
def test_board_of_a_seat_shows_all_that_is_not_hidden(game):
    hidden = set()
    for (seat, *_), view, state in positions(game, 20):
        (own,), whole = draw_view(view)["frames"], face_of(view.game).frame(state)
        if game == "resistance":
            known = own["state"].pop("spies"), own["state"].pop("hidden")
            others = [other for other in range(5) if other != seat]
            assert known == ((state.spies, []) if seat in state.spies or state.over else ((), others))
        if "cards" in own.get("state", {}):
            del own["state"]["hand"], own["state"]["round"]  # a view does not tell the number of the hand
        hidden |= hidden_parts(json.loads(json.dumps(own)), json.loads(json.dumps(whole)))
    assert hidden == HIDDEN[game]


def test_board_of_a_seat_shows_its_own_card_and_hides_the_other():
    state = make_game("kuhn").start(Key(0))
    for seat in (0, 1):
        cards = draw_view(state.view(seat))["frames"][0]["state"]["cards"]
        assert (cards[seat], cards[1 - seat]) == (state.cards[seat], None)
    state = make_game("leduc").start(Key(0))
    dealt = [action for player, action in draw_episode([(state, [])])["frames"][0]["moves"]]
    assert [draw_view(state.view(seat))["frames"][0]["moves"] for seat in (0, 1)] == [
        [[-1, dealt[0]], [-1, None]],
        [[-1, None], [-1, dealt[1]]],
    ]


@dataclass(frozen=True, kw_only=True)
class Strange(Kuhn):
    """Game of a user whose face is not there."""

    drawn_by = "missing.js"


@dataclass(frozen=True, kw_only=True)
class Own(Kuhn):
    """Game of a user."""


def test_board_of_a_game_of_a_user_that_fails_is_left_out(monkeypatch):
    state = Own().start(Key(0))
    assert draw_turn(None, state, {})["face"] == "cards"
    monkeypatch.setattr(KuhnFace, "frame", lambda self, state: 1 / 0)
    assert draw_turn(None, state, {}) is None
    with pytest.raises(ZeroDivisionError):
        draw_turn(None, Kuhn().start(Key(0)), {})


def test_person_is_asked_where_the_face_of_a_game_is_broken():
    assert draw_view(Strange().start(Key(0)).view(0)) is None
    whispers = make_game("talk(public-goods,before=round,limit=20,channel=private)")
    assert draw_view(whispers.start(Key(0)).view(0)) is None
