"""Any turn of a recorded episode can be reached again and played on from."""

from dataclasses import replace

import pytest
from fakes import Fake, setups

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.players.base import Move
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import forks, replay, steps
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play

GAMES = ["ipd", "ipd(continuation=0.7)", "auction(seats=3)", "negotiation-v1", "negotiation-v2", "kuhn", "pig", "leduc"]
GAMES += ["tic-tac-toe", "liars-dice", "spiel:goofspiel(num_cards=4)"]


def played(game, episodes=4, rounds=None):
    seats = make_game(game).spec.seats
    listed = [replace(setup, rounds=rounds) for setup in setups(game, ["random"] * seats, episodes)]
    return list(play(listed))


def match(game, player="random"):
    made = make_game(game)
    return Match(made, [make_player(player, made)] * made.spec.seats)


@pytest.mark.parametrize("game", GAMES)
def test_every_turn_is_reached_again(game):
    for episode in played(game):
        state = make_game(game).start(Key(episode.chance))
        for before, decisions in steps(episode):
            assert before.dump() == state.dump()
            assert before.to_act == state.to_act
            if decisions:
                assert replay(episode, decisions[0].turn).dump() == state.dump()
                assert all(row.info_key == state.view(row.seat).info_key for row in decisions)
                state.play({row.seat: row.action for row in decisions})
        assert state.over
        assert replay(episode).dump() == state.dump()


@pytest.mark.parametrize("game", ["kuhn", "tic-tac-toe", "ipd"])
def test_turns_without_a_legal_action_are_replayed_too(game):
    made = make_game(game)
    clumsy = Fake(lambda ask: Move("FLY") if (ask.key.value + ask.turn) % 3 == 0 else Move(ask.view.choices.first))
    for episode in play(setups(game, [clumsy, "random"], 8)):
        state = replay(episode)
        assert state.over
        assert state.game == made
    assert any(episode.num_illegal != [0, 0] for episode in play(setups(game, [clumsy, "random"], 8)))


def continued(parent, game, *, count=3, **options):
    return list(play(forks(parent, match(game), count, Key(9), **options)))


def cards(episode):
    return {(row.round, row.seat): row.info_key[0] for row in episode.decisions}


def test_forks_of_one_chance_see_the_same_cards_and_fresh_chance_others():
    parent = played("kuhn(hands=20)", 2)[0]
    at = next(row.turn for row in parent.decisions if row.round == 5)
    same = continued(parent, "kuhn(hands=20)", at=at, count=4)
    fresh = continued(parent, "kuhn(hands=20)", at=at, count=4, fresh_chance=True)
    for one in same:
        assert all(cards(one)[place] == card for place, card in cards(parent).items() if place in cards(one))
    assert len({str(one.decisions) for one in same}) == 4
    later = [{place: card for place, card in cards(one).items() if place[0] > 5} for one in fresh]
    assert all(
        any(later[a][place] != later[b].get(place, later[a][place]) for place in later[a])
        for a in range(4)
        for b in range(a)
    )
    hand = [{place: card for place, card in cards(one).items() if place[0] == 5} for one in fresh]
    assert all(card == cards(parent).get(place, card) for one in hand for place, card in one.items())


def test_a_fork_plays_the_rest_and_names_its_parent():
    parent = played("ipd")[0]
    for number, fork in enumerate(continued(parent, "ipd", at=5)):
        assert (fork.id, fork.group) == (f"{parent.id}+5/{number}", f"{parent.id}+5")
        assert (fork.parent, fork.forked_at, len(fork.rounds), fork.purpose) == (parent.id, 5, 3, "train")
        assert [row.turn for row in fork.decisions[::2]] == [5, 6, 7]
        assert fork.decisions[0].info_key == parent.decisions[10].info_key


def test_a_fork_within_a_round_goes_on_in_it():
    parent = next(e for e in played("kuhn(hands=1)", 40) if len(e.decisions) == 3)
    for fork in continued(parent, "kuhn(hands=1)", at=1):
        assert fork.decisions[0].info_key[1:] == ":P"
        assert len(fork.rounds) == 1


@pytest.mark.parametrize("game", ["kuhn", "ipd", "auction", "negotiation-v2"])
def test_warm_up_then_forks(game):
    for parent in played(game, rounds=2):
        assert (len(parent.rounds), parent.finished) == (2, False)
        for fork in continued(parent, game):
            assert len(fork.rounds) == make_game(game).spec.rounds - 2
            assert fork.finished
            assert fork.decisions[0].round == 2


@pytest.mark.parametrize("alike", [(), (1,)])
def test_players_who_throw_alike_dice_do_the_same_while_they_see_the_same(alike):
    parent = played("ipd", rounds=1)[0]
    found = continued(parent, "ipd", count=20, alike=alike)
    first = [{row.slot: row.action for row in fork.decisions if row.turn == 1} for fork in found]
    assert len({moves[1] for moves in first}) == (1 if alike else 2)
    assert len({moves[0] for moves in first}) == 2
    assert len({tuple(row.action for row in fork.decisions if row.slot == 1) for fork in found}) == (1 if alike else 20)
    again = continued(parent, "ipd", count=20, alike=alike)
    assert [[row.action for row in fork.decisions] for fork in again] == [
        [row.action for row in fork.decisions] for fork in found
    ]


def test_setup_needs_draw_keys_for_all_players_or_none():
    setup = next(iter(forks(played("ipd")[0], match("ipd"), 1, Key(1), at=1)))
    with pytest.raises(BadParameter, match="has 2 players and 1 draw_keys: `draw_keys` has one for each player"):
        replace(setup, draw_keys=(Key(1),))


def test_forks_can_be_cut_short_too():
    parent = played("ipd", rounds=2)[0]
    setup = replace(next(iter(forks(parent, match("ipd"), 1, Key(1)))), rounds=3)
    (fork,) = play([setup])
    assert (len(fork.rounds), fork.finished, fork.decisions[0].round) == (3, False, 2)


@pytest.mark.parametrize("fresh", [False, True])
def test_forks_of_forks(fresh):
    parent = played("kuhn", rounds=1)[0]
    child = continued(parent, "kuhn", count=1, fresh_chance=fresh)[0]
    family = {parent.id: parent, child.id: child}
    at = child.decisions[4].turn
    assert replay(child, at, family).view(0).game == make_game("kuhn")
    grandchild = continued(child, "kuhn", count=1, at=at, parents=family)[0]
    family[grandchild.id] = grandchild
    assert replay(grandchild, at, family).dump() == replay(child, at, family).dump()
    last = replay(grandchild, None, family)
    assert last.over
    assert last.round == 6
    assert cards(grandchild).items() <= {**cards(child), **cards(grandchild)}.items()
    shared = cards(child).keys() & cards(grandchild).keys()
    assert shared
    assert all(cards(child)[place] == cards(grandchild)[place] for place in shared)
    with pytest.raises(BadRecord, match="not among the episodes given"):
        replay(child, at)


def test_other_players_and_seats_may_go_on():
    parent = played("ipd", rounds=3)[0]
    (fork,) = play(
        forks(parent, match("ipd", "AlwaysDefect"), 1, Key(1), slots=(1, 0), purpose="probe", name="probe/0")
    )
    assert (fork.id, fork.slots, fork.purpose) == ("probe/0/0", (1, 0), "probe")
    assert {row.action for row in fork.decisions} == {"DEFECT"}


@pytest.mark.parametrize("turn", [-1, 9, 100])
def test_turns_that_never_were_are_refused(turn):
    with pytest.raises(BadParameter, match="can be forked `at` turns 0 to 7, not at"):
        continued(played("ipd")[0], "ipd", at=turn)


@pytest.mark.parametrize("at", [None, 8])
def test_a_finished_game_is_not_forked_at_its_end(at):
    with pytest.raises(BadParameter, match="`at` turns 0 to 7, not at 8, where it was over"):
        continued(played("ipd")[0], "ipd", at=at)


def test_totals_alone_cannot_be_played_again():
    (episode,) = play(setups("ipd", ["random", "random"], 1)[:1], detail=False)
    with pytest.raises(BadRecord, match="recorded without its decisions"):
        replay(episode)


def test_an_episode_of_another_version_cannot_be_played_again():
    episode = replace(played("ipd")[0], game_version=99)
    with pytest.raises(BadRecord, match="version 99 of ipd"):
        replay(episode)


def test_horizon_of_a_fork_counts_from_its_own_turn():
    parent, *_ = played("ipd", episodes=1)
    (setup,) = forks(parent, match("ipd"), 1, Key(0), at=3, horizon=2)
    assert setup.until == 3 + 2
    (branch,) = play([replace(setup, counted=False)])
    assert sorted({row.turn for row in branch.decisions}) == [3, 4]


def test_fork_has_the_memories_of_its_parent():
    parent, *_ = played("ipd", episodes=1)
    memories = (Past({("DEFECT", "DEFECT"): 3}, ("DEFECT", "DEFECT"), 3), NOTHING)
    (setup,) = forks(replace(parent, pasts=memories), match("ipd"), 1, Key(0), at=3)
    assert setup.pasts == memories
