"""Rotation: every player sits everywhere, and a paired deal brings the same cards to the same seats."""

import pytest
from fakes import Engine, asking, setups

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats


def match(game, seats=2):
    made = make_game(game)
    return Match(made, [make_player("random", made)] * seats)


def deals(setups):
    by_group = {}
    for setup in setups:
        by_group.setdefault(setup.group, []).append(setup)
    return list(by_group.values())


def test_two_seats_change_places_over_the_same_cards():
    for first, second in deals(rotate_seats(match("kuhn"), 40, Key(1), name="d")):
        assert (first.slots, second.slots) == ((0, 1), (1, 0))
        assert first.begin().cards == second.begin().cards
        assert first.key == second.key
    assert len({group[0].begin().cards for group in deals(rotate_seats(match("kuhn"), 80, Key(1), name="d"))}) == 6


def test_later_cards_of_a_paired_deal_are_the_same_whatever_was_played():
    episodes = list(play(rotate_seats(match("kuhn"), 20, Key(2), name="d")))
    for first, second in zip(episodes[::2], episodes[1::2], strict=True):
        cards = [{(r.round, r.seat): r.info_key[0] for r in episode.decisions} for episode in (first, second)]
        shared = cards[0].keys() & cards[1].keys()
        assert len(shared) >= 6
        assert all(cards[0][place] == cards[1][place] for place in shared)


def test_dice_go_with_the_player_and_not_with_the_seat():
    seen = {}
    engine = Engine()
    list(play(setups("ipd(rounds=3)", [asking(name="a"), asking(name="b")], 2), engine))
    for batch in engine.batches:
        for key, turn, seat, *_ in batch:
            seen.setdefault((turn, key), []).append(seat)
    assert sorted(seen.values()) == [[0, 1]] * 6 or all(sorted(seats) == [0, 1] for seats in seen.values())
    assert len(seen) == 6


def test_dice_differ_by_slot_turn_and_attempt():
    places = [(slot, turn, attempt) for slot in range(7) for turn in range(40) for attempt in range(3)]
    keys = {Ask(None, Key(4), slot, turn, attempt, None).key.value for slot, turn, attempt in places}
    assert len(keys) == len(places)


@pytest.mark.parametrize(("game", "seats"), [("auction(seats=3)", 3), ("spiel:kuhn_poker(players=3)", 3)])
def test_more_seats_rotate_from_one_to_the_next(game, seats):
    groups = deals(rotate_seats(match(game, seats), 7, Key(1), name="d"))
    assert [len(group) for group in groups] == [seats] * 3
    for group in groups:
        assert [setup.slots for setup in group] == [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
        assert all(sorted(setup.slots.index(slot) for setup in group) == [0, 1, 2] for slot in range(seats))
        views = [str(setup.begin().dump()) for setup in group]
        assert len(set(views)) == 1


def test_unpaired_deals_differ():
    groups = deals(rotate_seats(match("kuhn"), 60, Key(1), name="d", paired=False))
    assert all(first.key != second.key for first, second in groups)
    assert any(first.begin().cards != second.begin().cards for first, second in groups)


def test_setups_have_names_of_their_own_and_carry_their_purpose():
    listed = list(rotate_seats(match("kuhn"), 9, Key(1), name="d", purpose="probe"))
    assert len(listed) == len({setup.id for setup in listed}) == 10
    assert {setup.purpose for setup in listed} == {"probe"}


def test_a_match_wants_a_player_for_every_seat():
    with pytest.raises(BadParameter, match="takes 2 players, not 3"):
        match("kuhn", 3)
