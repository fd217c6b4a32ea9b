"""Figures of messages by play: against the exact ones, calibrated by a placebo, and for any number of seats."""

from dataclasses import dataclass

import pytest

from stratagem.api.talks import talk
from stratagem.errors import BadParameter
from stratagem.evaluation.talk.exchange_figures import exchange_figures
from stratagem.evaluation.talk.placebo import Arms, sampled_effect
from stratagem.evaluation.talk.sampled_figures import sampled_figures
from stratagem.evaluation.talk.sampled_talk import Plan, TalkPlay
from stratagem.evaluation.talk.talk_tree import TalkTree
from stratagem.games import Key, make_game
from stratagem.players.base import Move, Traits, draw
from stratagem.players.catalogue import make_player

KUHN = "talk(kuhn(hands=1), before=round, intents=[state])"
EXACT = {
    "effect": lambda exact: exact.effect,
    "speaker_gain_by_reader": lambda exact: exact.gain_by_reader[0],
    "speaker_gain_by_table": lambda exact: exact.gain_by_table[0],
    "reader_gain_by_table": lambda exact: exact.gain_by_table[1],
    "speaker_return": lambda exact: exact.returns[0],
    "gullibility": lambda exact: exact.gullibility,
}


@dataclass(frozen=True)
class Hidden:
    """Plays as another player, and states no probabilities."""

    player: object
    talks = True

    @property
    def name(self):
        return f"hidden({self.player.name})"

    @property
    def traits(self):
        return Traits(stochastic=True, exact=False)

    def turn(self, ask):
        return Move(draw(self.player.policy(ask.view), ask.key))

    def policy(self, view):
        raise AssertionError("it states none")


def players(game, speaker, reader, *, hidden=False):
    made = [make_player(player, game) for player in (speaker, reader)]
    return [Hidden(player) for player in made] if hidden else made


@pytest.mark.parametrize("hidden", [False, True])
def test_estimates_are_near_the_exact_figures(hidden):
    """Where replies stand for probabilities the effect errs on the low side, by no more than the placebo."""
    game = make_game(KUHN)
    speaker, reader = players(game, "liar(NashApprox)", "believer(NashApprox)")
    exact = exchange_figures(TalkTree(game, [speaker, reader]), 0)
    pair = players(game, "liar(NashApprox)", "believer(NashApprox)", hidden=hidden)
    found = sampled_figures(game, *pair, 0, Plan(episodes=60, key=Key(5), replies=4, playouts=2))
    for name, figure in EXACT.items():
        estimate = getattr(found, name).estimate
        slack = 1.3 * (estimate.high - estimate.low) + (found.placebo.estimate.mean if name == "effect" else 0.0)
        assert abs(estimate.mean - figure(exact)) <= slack, name
    assert found.honesty.estimate.mean == 0.0
    assert found.speaker_gain_by_lie.estimate.low > 0.0 > found.reader_gain_by_lie.estimate.high
    assert found.placebo.estimate.exact is not hidden


@pytest.mark.parametrize(("speaker", "known"), [("liar(NashApprox)", 2 / 9), ("honest(NashApprox)", -1 / 6)])
def test_who_believes_a_liar_loses_by_it_and_who_believes_the_truth_gains(speaker, known):
    game = make_game(KUHN)
    pair = players(game, speaker, "believer(NashApprox)")
    assert exchange_figures(TalkTree(game, pair), 0).gullibility == pytest.approx(known)
    found = TalkPlay(game, *pair, 0, Plan(episodes=300, key=Key(5), replies=1, playouts=1)).gullibility()
    assert found.low <= known <= found.high
    assert found.low > 0.0 if known > 0.0 else found.high < 0.0


@pytest.mark.parametrize("seat", [0, 1])
def test_the_interval_of_an_effect_covers_the_exact_figure(seat):
    """The interval is .04 wide, and the cards do not go evenly with the messages."""
    game = make_game(KUHN)
    pair = players(game, "liar(NashApprox)", "believer(NashApprox)")
    exact = exchange_figures(TalkTree(game, pair if seat == 0 else pair[::-1]), seat).effect
    found = TalkPlay(game, *pair, seat, Plan(episodes=1500, key=Key(7))).effect().effect
    assert found.high - found.low < 0.05
    assert found.low <= exact <= found.high


def test_without_stated_probabilities_promises_and_requests_are_asked_about():
    game = make_game("talk(ipd(rounds=2))")
    plan = Plan(episodes=8, replies=12, playouts=1)
    promising = sampled_figures(game, *players(game, "honest(Mixed(p=0.5))", "random", hidden=True), 0, plan)
    assert promising.keeping.estimate.mean == 1.0
    assert promising.keeping_lift.estimate.mean == pytest.approx(0.5, abs=0.2)
    asking = sampled_figures(game, *players(game, "babbler(random)", "obliging(Mixed(p=0.5))", hidden=True), 1, plan)
    assert asking.met.estimate.mean == 1.0
    assert asking.met_lift.estimate.mean == pytest.approx(0.5, abs=0.2)


def test_a_placebo_calibrates_the_total_variation_of_equal_policies():
    """Intervals of 95 % from 20 histories of 8 replies: at least 90 of 100 cover 0, where plain ones cover none."""
    covered = biased = 0
    for number in range(100):
        key, arms = Key(number), []
        for place in range(20):
            mix = {action: key.at("mix", place, action).unit() for action in "abc"}
            drawn = [[draw(mix, key.at(arm, place, n)) for n in range(8)] for arm in Arms._fields]
            arms.append(Arms(*drawn))
        found = sampled_effect(arms)
        covered += found.effect.low <= 0.0 <= found.effect.high
        biased += found.placebo.low > 0.0
    assert covered >= 90
    assert biased == 100


@pytest.mark.long
def test_at_least_90_of_100_effects_of_messages_that_nobody_hears_cover_0():
    game = make_game("talk(ipd(rounds=2))")
    pair = players(game, "babbler(random)", "Mixed(p=0.3)", hidden=True)
    covered = 0
    for number in range(100):
        effect = TalkPlay(game, *pair, 0, Plan(episodes=15, key=Key(number), replies=8)).effect()
        covered += effect.effect.low <= 0.0 <= effect.effect.high
    assert covered >= 90


def test_a_policy_that_differs_has_an_effect():
    arms = [Arms("aaaa", "bbbb", "aaaa"), Arms("aaaa", "aabb", "aaaa"), Arms("abab", "aabb", "bbaa")]
    found = sampled_effect(arms)
    assert found.effect.mean == pytest.approx((1.0 + 0.5 + 0.0) / 3)
    assert found.placebo.mean == 0.0
    readers_of_two = sampled_effect(arms, [0, 1, 1])
    assert (readers_of_two.effect.mean, readers_of_two.effect.n) == (pytest.approx((1.0 + 0.25) / 2), 2)


def test_any_number_of_seats_and_open_text_are_measured_by_play():
    found = talk("talk(public-goods(rounds=2), channel=both, words=[hi])", "babbler(random)", "random", episodes=3)
    assert sorted(found.figures) == [0, 1, 2]
    assert all(figures.effect.estimate.mean == 0.0 for figures in found.figures.values())
    spoken = talk("talk(kuhn(hands=1), intents=[], limit=9)", "babbler(random)", "random", episodes=2)
    assert spoken.figures[0].messages.estimate.mean == 1.0
    assert spoken.figures[0].honesty.estimate is None
    assert "gullibility" in spoken.rows()[0]


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(BadParameter, match="`exchange` for exact figures, or `episodes`"):
        talk(KUHN, "random", "random", episodes=2, exchange=2)
    with pytest.raises(BadParameter, match="episodes"):
        talk(KUHN, "random", "random", episodes=-1)
    with pytest.raises(BadParameter, match="give `episodes`"):
        talk("talk(public-goods, words=[hi])", "random", "random")
