"""The Resistance for five seats: rules as published, what a seat can know, and values by hand."""

import pytest

from stratagem.base.errors import BadParameter, IllegalAction
from stratagem.games import Key, make_game
from stratagem.games.resistance import FAIL, PAIRS, SUCCESS, Resistance
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.exact import exact
from stratagem.players.base import Scripted, Traits
from stratagem.players.catalogue import make_player

A, R = "APPROVE", "REJECT"


def dealt(spies, text="resistance"):
    state = make_game(text).start(Key(0))
    state.spies = spies
    return state


def went(state, team, **cards):
    """Play a round in which all approve the team; cards by seat, such as s1=FAIL."""
    state.play({state.leader: f"PROPOSE {team}"})
    state.play(dict.fromkeys(range(5), A))
    return state.play({seat: cards.get(f"s{seat}", SUCCESS) for seat in state.to_act})


def test_three_failed_missions_win_for_the_spies():
    state = dealt((1, 2))
    assert went(state, "0 1", s1=FAIL).payoffs == (0.0,) * 5
    assert went(state, "0 3 4").payoffs == (0.0,) * 5
    assert went(state, "1 2", s1=FAIL, s2=FAIL).payoffs == (0.0,) * 5
    assert went(state, "0 1 2", s2=FAIL).payoffs == (0.0, 1.0, 1.0, 0.0, 0.0)
    assert state.over
    assert [row.fails for row in state.past] == [1, 0, 2, 1]
    assert [row.leader for row in state.past] == [0, 1, 2, 3]


@pytest.mark.parametrize("options", ["missions=5", "missions=1", "attempts=1"])
def test_every_seat_is_told_that_the_game_is_over(options):
    state = dealt((1, 2), f"resistance({options})")
    while not state.over:
        if options == "attempts=1":
            state.play({state.leader: "PROPOSE 1 2"})
            state.play(dict.fromkeys(range(5), R))
        else:
            went(state, {2: "1 2", 3: "0 1 2"}[len(state.view(0).choices.first.split()) - 1], s1=FAIL)
    assert {state.view(seat).situation.split("\n")[-1] for seat in range(5)} == {"The game is over."}


def test_three_missions_win_for_the_resistance():
    state = dealt((1, 2))
    for team in ("0 3", "0 3 4", "0 4"):
        result = went(state, team)
    assert result.payoffs == (1.0, 0.0, 0.0, 1.0, 1.0)
    assert state.over


def test_five_rejected_teams_win_for_the_spies():
    state = dealt((0, 4))
    for leader in range(5):
        assert state.leader == leader
        state.play({leader: "PROPOSE 0 1"})
        result = state.play({0: A, 1: A, 2: R, 3: R, 4: R})
    assert result.payoffs == (1.0, 0.0, 0.0, 0.0, 1.0)
    assert state.over


def test_a_seat_of_the_resistance_has_no_fail_card():
    state = dealt((1, 2))
    state.play({0: "PROPOSE 0 1"})
    state.play(dict.fromkeys(range(5), A))
    with pytest.raises(IllegalAction):
        state.play({0: FAIL, 1: SUCCESS})
    assert list(state.view(0).choices) == [SUCCESS]
    assert list(state.view(1).choices) == [SUCCESS, FAIL]


def test_a_team_on_its_mission_was_not_rejected():
    state = dealt((1, 2))
    state.play({0: "PROPOSE 0 3"})
    state.play({0: A, 1: R, 2: R, 3: R, 4: R})
    state.play({1: "PROPOSE 0 1"})
    state.play(dict.fromkeys(range(5), A))
    facts, lines = state.view(0).facts, state.view(0).situation.split("\n")
    assert facts.rejected == 1
    assert lines[1].endswith("approved by 0; it was rejected.")
    assert lines[2].endswith("approved by 0 1 2 3 4; it is on the mission.")
    assert lines[3] == "Mission 1, 1 teams rejected so far: on the mission is the team 0 1."
    state.play({0: SUCCESS, 1: FAIL})
    assert state.view(0).situation.split("\n")[2].endswith("1 FAIL.")


def test_only_spies_know_each_other():
    state = dealt((1, 2))
    assert [state.view(seat).facts.spies for seat in range(5)] == [(), (1, 2), (1, 2), (), ()]
    assert "The other spy is player 2" in state.view(1).situation
    assert len({state.resample(0, Key(number)).spies for number in range(60)}) == 6
    assert {state.resample(1, Key(number)).spies for number in range(9)} == {(1, 2)}


def test_two_fail_cards_of_two_tell_both_spies():
    state = dealt((1, 2))
    went(state, "1 2", s1=FAIL, s2=FAIL)
    assert {state.resample(0, Key(number)).spies for number in range(9)} == {(1, 2)}
    language = make_game("talk(resistance)").spoken_language
    truths = {text: language.read(text).truth(state.view(0)) for text in ("Player 1 is a spy", "Player 3 is loyal")}
    assert truths == {"Player 1 is a spy": True, "Player 3 is loyal": True}


def test_what_a_seat_cannot_know_is_no_lie():
    language = make_game("talk(resistance)").spoken_language
    view, spy = dealt((1, 2)).view(0), dealt((1, 2)).view(2)
    said = [language.read(text) for text in ("Player 1 is a spy", "Player 0 is loyal", "Player 0 is a spy")]
    assert [intent.truth(view) for intent in said] == [None, True, False]
    assert [intent.truth(spy) for intent in said] == [True, True, False]


class AnyTeam(Scripted):
    """Proposes any team, approves, and as a spy plays FAIL."""

    family = "resistance"
    traits = Traits(stochastic=True)

    def strategy(self, view):
        choices = list(view.choices)
        return (
            dict.fromkeys(choices, 1 / len(choices))
            if view.facts.phase == "propose"
            else (A if A in choices else choices[-1])
        )


def test_any_teams_succeed_as_often_as_they_are_free_of_spies():
    """Of 10 pairs 3 are free of spies."""
    found = expected_payoffs(Resistance(missions=1), [AnyTeam()] * 5)
    total = sum(found.sums["payoff", seat] for seat in range(5))
    assert total == pytest.approx(3 * 0.3 + 2 * 0.7)


class Naive(Scripted):
    """Proposes itself and the seats after it, and approves every team; as a spy it plays FAIL."""

    family = "resistance"

    def strategy(self, view):
        if view.facts.phase == "propose":
            return f"PROPOSE {' '.join(map(str, sorted((view.seat, (view.seat + 1) % 5))))}"
        choices = list(view.choices)
        return A if A in choices else choices[-1]


def test_one_mission_is_worth_three_tenths_to_the_resistance():
    """A leader of the resistance (3 of 5) finds one of its own in 2 of 4; a leading spy sits on its team."""
    of = exact(make_game("resistance(missions=1, attempts=1)"), Naive())
    assert sum(of.values) == pytest.approx(3 * 0.3 + 2 * 0.7)
    assert of.values == pytest.approx((0.7, 0.7, 0.3, 0.3, 0.3))
    assert of.nash_conv == pytest.approx(0.0, abs=1e-9)


def test_seats_of_liars_dice_tell_their_die_or_another():
    talk = make_game("talk(liars-dice, before=round, intents=[state])")
    view = talk.start(Key(0)).view(0)
    die = view.facts.inner.information.split()[0]
    assert make_player("honest(random)", talk).policy(view) == {f"My die is {die}": 1.0}
    assert len(make_player("liar(random)", talk).policy(view)) == 5


def test_die_is_the_first_thing_that_a_seat_knows():
    """Bids follow in its information."""
    language, state = make_game("talk(liars-dice)").spoken_language, make_game("liars-dice").start(Key(0))
    state.play({0: "bid 1x3"})
    view = state.view(1)
    die = int(view.facts.information.split()[0])
    assert len(view.facts.information.split()) > 1
    assert [language.read(f"My die is {side}").truth(view) for side in range(1, 7)] == [
        side == die for side in range(1, 7)
    ]


def test_inverter_says_of_each_seat_what_it_is_not():
    talk = make_game("talk(resistance, before=round, intents=[state])")
    views = [talk.start(Key(n)).view(0) for n in range(20)]
    view = next(one for one in views if one.facts.inner.spies)
    spies = view.facts.inner.spies
    said = {f"Player {seat} is {'loyal' if seat in spies else 'a spy'}": pytest.approx(0.2) for seat in range(5)}
    mix = make_player("inverter(random)", talk).policy(view)
    assert {line.removeprefix("TO ALL: "): p for line, p in mix.items()} == said


@pytest.mark.parametrize("options", ["missions=2", "missions=7", "attempts=0", "seats=6"])
def test_what_is_no_game_is_refused(options):
    with pytest.raises(BadParameter):
        make_game(f"resistance({options})")


@pytest.mark.parametrize("action", ["PROPOSE 0", "PROPOSE 1 0", "PROPOSE 0 5", "APPROVE", ""])
def test_what_is_no_team_is_refused(action):
    with pytest.raises(IllegalAction):
        dealt((1, 2)).play({0: action})


def test_ten_pairs_are_equally_likely():
    drawn = [make_game("resistance").start(Key(number)).spies for number in range(400)]
    assert set(drawn) == {*PAIRS}
