"""The bridge to OpenSpiel: any of its games, played move by move against the engine itself."""

import json
import os
import pickle
from collections import Counter, defaultdict

import pyspiel
import pytest
from spiel_play import joint_action, playthrough

from stratagem.base.errors import BadParameter, BadRecord, CannotCompute, IllegalAction, UnknownName
from stratagem.games.catalogue import describe, make_game
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key
from stratagem.games.spiel import SPIEL_GAMES, spiel
from stratagem.players.base import Move
from stratagem.players.tabular import TablePlayer
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

LOADABLE = sorted(kind.short_name for kind in pyspiel.registered_games() if kind.default_loadable)
REFUSED = {
    "mfg_crowd_modelling": "mean-field",
    "mfg_crowd_modelling_2d": "mean-field",
    "mfg_dynamic_routing": "mean-field",
    "mfg_garnet": "mean-field",
    "bridge_uncontested_bidding": "draws its chance unseen",
    "negotiation": "draws its chance unseen",
    "stones_and_gems": "draws its chance unseen",
    "tarok": "draws its chance unseen",
    "crossword": "cannot list its legal actions",
}


class Silent(TablePlayer):
    """Says nothing legal."""

    def __init__(self):
        super().__init__({})

    def turn(self, ask):
        return Move(None, "illegal")


@pytest.mark.parametrize("name", [name for name in LOADABLE if name not in REFUSED])
def test_every_game_of_openspiel_plays_through_the_plain_face(name):
    game = spiel(name)
    state, totals, _ = playthrough(game, seed=3, moves=25)
    for seat in range(game.spec.seats):
        view = state.view(seat)
        assert isinstance(view.situation, str)
        assert isinstance(view.state_key, str)
        assert isinstance(view.info_key, str)
        assert game.spec.seats == state.node.num_players()
    again = game.load(json.loads(json.dumps(state.dump())), Key(3))
    assert (again.node.history(), str(again.node)) == (state.node.history(), str(state.node))
    assert (again.over, again.to_act, again.draws, again.paid) == (state.over, state.to_act, state.draws, state.paid)
    if state.over:
        assert totals == pytest.approx(state.node.returns())


@pytest.mark.parametrize("name", REFUSED)
def test_games_that_cannot_be_played_are_refused_in_one_sentence(name):
    with pytest.raises(BadParameter, match=REFUSED[name]) as caught:
        spiel(name)
    assert "\n" not in str(caught.value)


def test_the_lists_cover_all_of_openspiel():
    assert set(REFUSED) < set(LOADABLE)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean tic_tac_toe"):
        spiel("tictactoe")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("breakthrough(row=8)", "it has columns, rows"),
        ("breakthrough(rows=x)", "Wrong type"),
        ("breakthrough(rows=-1)", "rows_ > 1"),
        ("breakthrough(rows=8", "closing bracket"),
        ("nim(pile_sizes=a;b)", "Could not parse"),
        ("nfg_game", "cannot make"),
        ("hex(board_size=1000000)", "cannot make"),
        ("misere", "Missing parameter"),
        ("pig(horizon=-1)", "over before anybody moves"),
        ("universal_poker(numRounds=9)", "do not fit together"),
    ],
)
def test_bad_parameters_are_one_sentence(text, says):
    with pytest.raises(BadParameter, match=says) as caught:
        spiel(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["goofspiel(num_cards=5)", "leduc_poker(players=3)", "hanabi", "cribbage", "2048"])
def test_totals_equal_the_engines_returns(name):
    for seed in range(5):
        state, totals, _ = playthrough(spiel(name), seed, moves=3000)
        assert totals == pytest.approx(state.node.returns())


def test_chance_does_not_depend_on_what_the_players_do():
    game = SPIEL_GAMES["leduc"]()
    cards = set()
    for first, second in (("call", "call"), ("raise", "call")):
        state = game.start(Key(11))
        state.play({0: first})
        state.play({1: second})
        cards.add((state.node.history()[:2].__repr__(), state.node.history()[-1]))
    assert len(cards) == 1


def test_chance_is_drawn_with_the_engines_probabilities():
    game = spiel("pig")
    rolled = Counter()
    for seed in range(3000):
        state = game.start(Key(seed))
        state.play({0: "roll"})
        rolled[state.node.history()[-1]] += 1
    assert set(rolled) == set(range(6))
    assert all(400 < count < 600 for count in rolled.values())


def test_uneven_chance_is_drawn_unevenly():
    """Once one of two like cards is dealt the other has one chance in five, where each other rank has two."""
    game, pairs = spiel("leduc_poker(suit_isomorphism=True)"), 0
    for seed in range(5000):
        first, second = game.start(Key(seed)).node.history()
        pairs += first == second
    assert 900 < pairs < 1100


def test_all_of_chance_can_be_enumerated():
    deals = list(starts(SPIEL_GAMES["kuhn-spiel"]()))
    assert len(deals) == 6
    assert sum(probability for probability, _ in deals) == pytest.approx(1.0)
    state = SPIEL_GAMES["pig"]().start(Key(0))
    assert len(list(outcomes(state, {0: "roll"}))) == 6


def test_forks_are_independent():
    game = SPIEL_GAMES["tic-tac-toe"]()
    state = game.start(Key(1))
    state.play({0: "B2"})
    view, fork = state.view(1), state.fork()
    fork.play({1: "A1"})
    assert state.to_act == (1,)
    assert fork.to_act == (0,)
    state.play({1: "C3"})
    assert fork.node.history() == [4, 0]
    assert state.node.history() == [4, 8]
    assert "A1" in view.choices
    assert view.info_key == "4"


def test_a_fork_takes_the_chance_it_is_given():
    game = spiel("pig")
    state = game.start(Key(1))
    state.play({0: "roll"})
    same, fresh = state.fork(), {state.fork(Key(seed)) for seed in range(20)}
    follow = []
    for table in (state, same, *fresh):
        seat = table.to_act[0]
        table.play({seat: "roll"})
        follow.append(table.node.history())
    assert follow[0] == follow[1]
    assert len({tuple(history) for history in follow[2:]}) > 2


def test_a_loaded_state_goes_on_as_the_first_would_have():
    game = spiel("leduc_poker")
    whole, _, actions = playthrough(game, seed=8)
    state = game.start(Key(8))
    for joint in actions:
        state = game.load(json.loads(json.dumps(state.dump())), Key(8))
        state.play(joint)
    assert state.dump() == whole.dump()


def test_a_record_of_another_game_is_refused():
    with pytest.raises(BadRecord, match="does not fit"):
        spiel("tic_tac_toe").load({"history": [4, 4], "paid": [0, 0], "forfeited": False}, Key(0))
    with pytest.raises(BadRecord, match="no state of"):
        spiel("tic_tac_toe").load({"moves": []}, Key(0))


@pytest.mark.parametrize("name", ["kuhn-spiel", "leduc", "liars-dice", "bargaining", "blind-auction"])
def test_a_view_holds_what_the_information_state_says_and_no_more(name):
    """Same information state and turn, same view: texts, keys, facts, choices; and another state, another key."""
    game = SPIEL_GAMES[name]()
    shown, keys = defaultdict(set), defaultdict(set)
    for seed in range(400):
        state, count = game.start(Key(seed)), 0
        while not state.over and count < 4:
            for seat in (0, 1):
                view, told = state.view(seat), state.node.information_state_string(seat)
                acts = tuple(view.choices) if seat in state.to_act else ()
                shown[seat, told, bool(acts)].add((view.situation, view.info_key, view.facts, acts))
                keys[seat, view.info_key].add(told)
            state.play(joint_action(state, Key(seed % 7).at(count)))
            count += 1
    assert all(len(same) == 1 for same in shown.values())
    assert all(len(told) == 1 for told in keys.values())
    assert len(shown) > 10


def test_hidden_cards_are_not_in_the_texts():
    game = SPIEL_GAMES["kuhn-spiel"]()
    by_card = defaultdict(set)
    for _, state in starts(game):
        by_card[state.view(0).situation].add(state.node.history()[1])
    assert all(len(hidden) == 2 for hidden in by_card.values())


def test_without_information_states_the_key_is_what_the_seat_saw():
    game = spiel("gin_rummy")
    state, _, _ = playthrough(game, seed=2, moves=12)
    key = state.view(0).info_key
    assert state.view(0).facts.observation in key
    assert state.view(0).facts.observation != state.view(1).facts.observation
    assert state.view(1).facts.observation not in key
    assert key.count("\n> ") == sum(1 for step in history_movers(game, state) if step == 0)


def history_movers(game, state):
    node = game.engine.root
    for action in state.node.history():
        yield node.current_player()
        node = node.child(action)


def test_state_keys_merge_what_info_keys_keep_apart():
    game = SPIEL_GAMES["tic-tac-toe"]()
    views = []
    for moves in (("A1", "B2", "C3"), ("C3", "B2", "A1")):
        state = game.start(Key(0))
        for square in moves:
            state.play({state.to_act[0]: square})
        views.append(state.view(1))
    assert views[0].state_key == views[1].state_key
    assert views[0].info_key != views[1].info_key


@pytest.mark.parametrize("name", ["kuhn-spiel", "leduc", "bargaining"])
def test_a_redrawn_state_looks_the_same_to_its_seat(name):
    game = SPIEL_GAMES[name]()
    others = set()
    for seed in range(40):
        state = game.start(Key(5))
        state.play(joint_action(state, Key(1)))
        if state.over:
            continue
        redrawn = state.resample(1, Key(seed))
        assert redrawn.view(1).facts == state.view(1).facts
        assert redrawn.to_act == state.to_act
        others.add(redrawn.view(0).info_key)
    assert len(others) > 1


def test_where_openspiel_cannot_redraw_it_is_said_and_openspiel_says_nothing(capfd, monkeypatch):
    monkeypatch.setattr("stratagem.games.spiel.engine.REDRAWS", {})
    for _ in range(2):
        with pytest.raises(CannotCompute, match="redraw"):
            SPIEL_GAMES["liars-dice"]().start(Key(0)).resample(0, Key(1))
    assert capfd.readouterr().err == ""
    os.write(2, b"still heard")
    assert capfd.readouterr().err == "still heard"
    state = SPIEL_GAMES["nim"]().start(Key(0))
    assert state.resample(0, Key(1)).node.history() == []


def test_what_is_not_legal_is_refused_by_name():
    state = SPIEL_GAMES["tic-tac-toe"]().start(Key(0))
    with pytest.raises(IllegalAction, match="'D4'"):
        state.play({0: "D4"})
    with pytest.raises(IllegalAction, match="seats to act"):
        state.play({1: "A1"})
    with pytest.raises(IllegalAction, match="nothing to choose"):
        _ = state.view(1).choices
    state.play({0: "A1"})
    with pytest.raises(IllegalAction, match="A1"):
        state.play({1: "A1"})


def test_plain_action_strings_are_unique_single_lines():
    for name in ("chess", "hive", "backgammon", "universal_poker", "quoridor", "coin_game", "skat"):
        state, count = spiel(name).start(Key(4)), 0
        while not state.over and count < 15:
            for seat in state.to_act:
                actions = list(state.view(seat).choices)
                assert len({action.casefold() for action in actions}) == len(actions)
                assert all(action and "\n" not in action for action in actions)
            state.play(joint_action(state, Key(count)))
            count += 1


def test_the_spec_says_what_the_engine_says():
    goofspiel, pd, pig = spiel("goofspiel").spec, spiel("matrix_pd").spec, spiel("pig").spec
    assert (goofspiel.simultaneous, goofspiel.chance, goofspiel.utility) == (True, True, "zero-sum")
    assert (pd.utility, pd.bounds, pd.private_information) == ("general-sum", (0.0, 10.0), False)
    assert (pig.perfect_information, pig.rounds, pig.on_illegal, pig.retries) == (True, 1, "forfeit", 1)
    assert spiel("hanabi").spec.utility == "common"
    assert spiel("hex(board_size=3)").spec.name == "spiel:hex(board_size=3)"


@pytest.mark.parametrize("retries", [0, 2])
def test_retries_are_a_parameter_of_named_games(retries):
    game = make_game(f"tic-tac-toe(retries={retries})")
    assert (game.spec.retries, describe(game)) == (retries, f"tic-tac-toe(retries={retries})")
    assert pickle.loads(pickle.dumps(game)) == game != make_game("tic-tac-toe")
    assert make_game("tic-tac-toe").spec.retries == 1
    silent = Match(game, [TablePlayer({}, missing="uniform"), Silent()])
    (episode,) = play([Setup(id="0", match=silent, slots=(0, 1), key=Key(0))])
    assert (len(episode.decisions), episode.payoffs) == (2 + retries, [1.0, -1.0])


@pytest.mark.parametrize("value", ["-1", "half", "0.5", "True"])
def test_bad_retries_are_refused_by_name(value):
    with pytest.raises(BadParameter, match="tic-tac-toe needs `retries` of at least 0"):
        make_game(f"tic-tac-toe(retries={value})")


def test_games_are_values_and_can_be_sent_to_other_processes():
    game = SPIEL_GAMES["breakthrough"]()
    playthrough(game, seed=1)
    copy = pickle.loads(pickle.dumps(game))
    assert copy == game
    assert hash(copy) == hash(game)
    assert playthrough(copy, seed=2)[2] == playthrough(game, seed=2)[2]


def test_the_twin_is_the_game_itself():
    game = SPIEL_GAMES["leduc"]()
    twin, state = game.twin(), game.start(Key(6))
    while not state.over:
        node = twin.node(state)
        assert twin.view(node).info_key == state.view(state.to_act[0]).info_key
        names = [twin.action(node, action) for action in node.legal_actions()]
        assert names == list(state.view(state.to_act[0]).choices)
        node.apply_action(node.legal_actions()[0])
        assert node.history() != state.node.history()
        state.play(joint_action(state, Key(1)))


def test_the_twin_of_a_simultaneous_game_takes_turns():
    game = SPIEL_GAMES["goofspiel"]()
    twin, state = game.twin(), game.start(Key(6))
    state.play({0: "bid 2", 1: "bid 4"})
    node = twin.node(state)
    first = twin.view(node)
    assert first.facts == state.view(0).facts
    node.apply_action(node.legal_actions()[0])
    assert twin.view(node).facts == state.view(1).facts
    assert twin.view(node).info_key != first.info_key


def test_only_what_is_public_gives_up_the_position():
    assert SPIEL_GAMES["nim"]().start(Key(0)).view(1).facts.position().history() == []
    with pytest.raises(CannotCompute, match="hides"):
        SPIEL_GAMES["leduc"]().start(Key(0)).view(0).facts.position()
