"""Talkers and hearers: what they say and how they move."""

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.games.negotiation_v2 import write_bundle
from stratagem.games.resistance.players import CABALS
from stratagem.games.talk import SILENT, Statement
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player, patterns
from stratagem.players.hearers import SPEAKERS
from stratagem.players.rings import RINGS
from stratagem.players.talkers import even

IPD = make_game("talk(ipd(rounds=3))")
KUHN = make_game("talk(kuhn(hands=1), before=round, intents=[state])")
C, D = "I will play COOPERATE", "I will play DEFECT"


def said(game, *lines):
    """Return the state after the first exchange, with these lines."""
    state = game.start(Key(0))
    state.play(dict(zip(state.to_act, lines, strict=True)))
    return state


@pytest.mark.parametrize("talker", [name for name in SPEAKERS if name not in RINGS | CABALS])
def test_a_name_makes_the_player_again(talker):
    player = make_player(f"{talker}(TitForTat)", IPD)
    assert make_player(player.name, IPD).name == player.name
    assert player.name.startswith(f"{talker}(ipd/TitForTat")
    assert f"{talker}(PLAYER)" in patterns(IPD)
    assert f"{talker}(PLAYER)" not in patterns(make_game("ipd"))


def test_a_player_of_the_game_without_talk_is_silent():
    player = make_player("TitForTat", IPD)
    assert player.name == "silent(ipd/TitForTat)"
    assert player.policy(IPD.start(Key(0)).view(0)) == {SILENT: 1.0}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("honest(TitForTat)", "games with talk"),
        ("honest", r"write honest\(PLAYER\)"),
        ("liar(TitForTat, p=2)", "from 0 to 1"),
    ],
)
def test_a_wrong_talker_is_refused(text, sentence):
    with pytest.raises(BadParameter, match=sentence):
        make_player(text, make_game("ipd") if sentence == "games with talk" else IPD)


def test_hearers_refuse_games_whose_sentences_they_cannot_answer():
    for hearer in ("believer", "grim"):
        with pytest.raises(BadParameter, match="around"):
            make_player(f"{hearer}(random)", make_game("talk(leduc, words=[hi])"))
    with pytest.raises(BadParameter, match="cooperative action"):
        make_player("grim(random)", make_game("talk(matrix(payoffs=[[(1, 2), (0, 0)], [(3, -1), (2, 2)]]))"))


@pytest.mark.parametrize(
    ("talker", "mix"),
    [
        ("honest(AlwaysDefect)", {D: 1.0}),
        ("liar(AlwaysDefect)", {C: 1.0}),
        ("liar(AlwaysDefect, p=0.25)", {D: 0.75, C: 0.25}),
        ("honest(Mixed(p=0.3))", {C: 0.3, D: 0.7}),
        ("inverter(AlwaysDefect)", {SILENT: 1.0}),
    ],
)
def test_without_a_state_they_speak_of_their_moves(talker, mix):
    assert make_player(talker, IPD).policy(IPD.start(Key(0)).view(0)) == pytest.approx(mix)


def test_an_honest_mixer_keeps_what_it_has_promised():
    player = make_player("honest(Mixed(p=0.3))", IPD)
    for line, action in ((C, "COOPERATE"), (D, "DEFECT")):
        assert player.policy(said(IPD, line, SILENT).view(0)) == {action: 1.0}
    assert player.policy(said(IPD, SILENT, SILENT).view(0)) == pytest.approx({"COOPERATE": 0.3, "DEFECT": 0.7})


def test_the_inverter_says_the_next_card():
    player = make_player("inverter(NashApprox)", KUHN)
    told = {}
    for number in range(12):
        view = KUHN.start(Key(number)).view(0)
        (told[view.facts.inner.card],) = player.policy(view)
    assert told == {"J": "My card is Q", "Q": "My card is K", "K": "My card is J"}


@pytest.mark.parametrize(("claim", "moves"), [("J", "BET"), ("K", "PASS")])
def test_the_believer_bets_on_what_it_hears(claim, moves):
    player = make_player("believer(NashApprox)", KUHN)
    state = next(s for n in range(30) if (s := KUHN.start(Key(n))).view(0).facts.inner.card == "Q")
    assert player.policy(state.view(0)) == {SILENT: 1.0}
    state.play({0: SILENT, 1: f"My card is {claim}"})
    assert player.policy(state.view(0)) == {moves: 1.0}


def test_the_grim_player_defects_for_ever_after_a_broken_promise():
    player = make_player("grim(AlwaysCooperate)", IPD)
    state = said(IPD, C, C)
    assert player.policy(state.view(0)) == {"COOPERATE": 1.0}
    state.play({0: "COOPERATE", 1: "DEFECT"})
    assert player.policy(state.view(0)) == {SILENT: 1.0}
    for _ in range(2):
        state.play({0: SILENT, 1: SILENT})
        assert player.policy(state.view(0)) == {"DEFECT": 1.0}
        state.play({0: "DEFECT", 1: "COOPERATE"})


def test_who_promised_nothing_has_broken_nothing():
    player = make_player("grim(AlwaysCooperate)", IPD)
    state = said(IPD, SILENT, SILENT)
    state.play({0: "COOPERATE", 1: "DEFECT"})
    state.play({0: SILENT, 1: SILENT})
    assert player.policy(state.view(0)) == {"COOPERATE": 1.0}


def test_to_several_readers_it_speaks_to_all_or_to_each():
    for channel, lines in (("both", {"TO ALL: hi"}), ("private", {"TO player 1: hi", "TO player 2: hi"})):
        game = make_game(f"talk(auction(seats=3), channel={channel}, intents=[], words=[hi])")
        assert set(make_player("babbler(random)", game).policy(game.start(Key(0)).view(0))) == lines


def test_where_only_open_text_is_said_the_babbler_says_a_letter():
    game = make_game("talk(ipd, intents=[], limit=1)")
    view = game.start(Key(0)).view(0)
    mix = make_player("babbler(random)", game).policy(view)
    assert len(mix) == 26
    assert sum(mix.values()) == pytest.approx(1.0)
    assert all(line in view.choices and game.spoken_language.read(line) is None for line in mix)


@pytest.mark.parametrize("player", ["dumbbot", "hold", "random"])
@pytest.mark.parametrize("talker", ["honest", "liar"])
def test_who_states_no_orders_cannot_promise_them(talker, player):
    game = make_game("talk(diplomacy, channel=private)")
    with pytest.raises(BadParameter, match="or dumbbot-press, which talks"):
        make_player(f"{talker}({player})", game)


def test_who_states_no_moves_still_speaks_of_its_card():
    player = make_player("honest(ismcts:2)", KUHN)
    state = KUHN.start(Key(0))
    assert list(player.policy(state.view(0))) == [f"My card is {state.view(0).facts.inner.card}"]
    with pytest.raises(BadParameter, match="promises by the probabilities"):
        make_player("honest(ismcts:2)", make_game("talk(kuhn(hands=1), intents=[move])"))


def test_the_believer_hears_the_last_sentence_that_it_can_answer():
    player = make_player("believer(AlwaysCooperate)", make_game("talk(ish(rounds=1), rounds=2)"))
    state = make_game("talk(ish(rounds=1), rounds=2)").start(Key(0))
    promised, asked = (f"{words} {state.view(0).facts.inner.labels[1]}" for words in ("I will play", "Please play"))
    state.play({0: SILENT, 1: promised})
    state.play({0: SILENT, 1: asked})
    assert player.policy(state.view(0)) == {state.view(0).facts.inner.labels[1]: 1.0}


def test_the_obliging_player_meets_a_request_at_its_rate():
    player = make_player("obliging(Mixed(p=0.2), p=0.75)", IPD)
    for line, met in (("Please play COOPERATE", 0.75 + 0.25 * 0.2), (SILENT, 0.2), (C, 0.2)):
        assert player.policy(said(IPD, SILENT, line).view(0))["COOPERATE"] == pytest.approx(met)


@pytest.mark.parametrize(
    ("game", "sentence"),
    [("talk(kuhn)", "a talk with requests"), ("talk(diplomacy, channel=private)", "at most 4096 actions")],
)
def test_the_obliging_player_refuses_games_without_requests_that_it_could_meet(game, sentence):
    with pytest.raises(BadParameter, match=sentence):
        make_player("obliging(first-legal)", make_game(game))


@pytest.mark.parametrize(
    ("line", "takes"), [("I value the hats most", (1, 0, 1)), ("I will demand no hats", ()), (SILENT, ())]
)
def test_a_believer_leaves_the_item_that_the_other_says_it_values_most(line, takes):
    """It is the best answer to Conservative, which demands all of that item and nothing else."""
    game = make_game("talk(negotiation-v2(rounds=1), before=round)")
    state = said(game, line, SILENT)
    pool = state.inner.pool
    fair = make_player("FairNeg", game.game).policy(state.inner.view(1))
    expected = {write_bundle(tuple(a * b for a, b in zip(takes, pool, strict=True))): 1.0} if takes else fair
    assert make_player("believer(FairNeg)", game).policy(state.view(1)) == expected


def test_hearers_name_the_games_that_they_play():
    with pytest.raises(BadParameter, match="plays talk around kuhn, matrix games and negotiation-v2, not around leduc"):
        make_player("believer(random)", make_game("talk(leduc, words=[hi])"))


def talking(player, text):
    """Return the first message of a player in a game with talk, and the player."""
    game = make_game(text)
    made, state = make_player(player, game), game.start(Key(0))
    return made.policy(state.view(state.to_act[0])), made


def test_what_is_said_twice_is_twice_as_likely():
    assert even(["a", "b", "a", "a"]) == {"a": 0.75, "b": 0.25}


def test_a_private_message_goes_to_each_reader_equally_often():
    said, player = talking(
        "babbler(random)", "talk(auction(seats=3, rounds=1), channel=private, intents=[], words=[a, b])"
    )
    assert player.traits.stochastic
    assert sum(said.values()) == pytest.approx(1.0)
    assert len(said) == 4
    assert len(set(said.values())) == 1


def test_liar_who_cannot_lie_is_honest():
    only = "talk(matrix(payoffs=[[(2, 2)]], labels=('ONLY',), rounds=1), intents=[move])"
    assert talking("liar(first-legal)", only)[0] == talking("honest(first-legal)", only)[0]
    assert "" not in talking("liar(first-legal)", only)[0]


def test_babbler_around_a_player_without_dice_has_dice():
    assert not make_player("first-legal", make_game("kuhn")).traits.stochastic
    assert talking("babbler(first-legal)", "talk(kuhn, intents=[state])")[1].traits.stochastic


def test_the_grim_player_is_not_lied_to_by_itself():
    state = said(IPD, D, SILENT)
    state.play({0: "COOPERATE", 1: "COOPERATE"})
    assert make_player("grim(AlwaysCooperate)", IPD).policy(state.view(0)) == {C: 1.0}


@pytest.mark.parametrize(
    ("player", "words"), [("believer(AlwaysCooperate)", "I will play"), ("obliging(AlwaysCooperate)", "Please play")]
)
def test_the_last_of_two_sentences_counts(player, words):
    game = make_game("talk(ish(rounds=1), rounds=2)")
    for last in (0, 1):
        state = game.start(Key(0))
        labels = state.view(0).facts.inner.labels
        for place in (1 - last, last):
            state.play({0: SILENT, 1: f"{words} {labels[place]}"})
        assert make_player(player, game).policy(state.view(0)) == {labels[last]: 1.0}


def test_a_liar_says_nothing_that_may_be_true():
    """A statement of which the speaker does not know the truth is no lie."""
    game = make_game("talk(resistance(missions=1, attempts=1), intents=[state])")
    unknown = 0
    for number in range(4):
        state = game.start(Key(number))
        view = state.view(state.to_act[0])
        inner = game.inner_view(view.facts)
        unknown += sum(intent.truth(inner) is None for intent in game.sayable(inner) if isinstance(intent, Statement))
        for text in make_player("liar(random)", game).policy(view):
            assert not text or game.spoken_language.read(text).truth(inner) is False
    assert unknown


def test_honest_player_moves_as_it_has_promised():
    player = make_player("honest(Mixed(p=0.3))", IPD)
    state = said(IPD, C, SILENT)
    moves = {player.turn(Ask(state.view(0), Key(seed), 0, 1, 0, state)).action for seed in range(20)}
    assert moves == {"COOPERATE"}


def test_promise_whose_condition_does_not_hold_binds_nobody():
    """A call is promised for a bet of the other, and nobody has bet."""
    game = make_game("talk(kuhn(hands=1), rounds=2, before=round)")
    state = said(game, "I will CALL", SILENT)
    state.play({0: "I will BET", 1: SILENT})
    assert make_player("honest(random)", game).policy(state.view(0)) == {"BET": 1.0}


def test_truth_is_the_promise_that_fewest_other_actions_keep():
    assert talking("honest(first-legal)", "talk(auction(rounds=1), intents=[move])")[0] == {
        "I will bid at most LOW": 1.0
    }


def test_who_states_no_moves_speaks_of_its_card_where_it_could_promise_too():
    spoken, _ = talking("honest(ismcts:2)", "talk(kuhn(hands=1), before=round)")
    assert [text[:10] for text in spoken] == ["My card is"]
