"""Figures of messages by play: against the exact ones, calibrated by a placebo, and for any number of seats."""

from dataclasses import dataclass

import pytest

from stratagem.api.talks import talk
from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.measure.talk import definitions as of
from stratagem.measure.talk.asking import shares
from stratagem.measure.talk.figures import talk_figures
from stratagem.measure.talk.recorded_games import RecordedGames
from stratagem.measure.talk.sampled_talk import TalkPlan, TalkPlay
from stratagem.measure.talk.source import ReaderMove, WeighedItem
from stratagem.measure.talk.talk_tree import TalkTree
from stratagem.measure.talk.tree_source import exchange_figures
from stratagem.players.base import Move, Traits, draw
from stratagem.players.catalogue import make_player

KUHN = "talk(kuhn(hands=1), before=round, intents=[state])"
COMPARED = {
    "effect": lambda found: found.effect,
    "speaker's gain by the reader": lambda found: found.gain_by_reader[0],
    "speaker's gain by the table": lambda found: found.gain_by_table[0],
    "reader's gain by the table": lambda found: found.gain_by_table[1],
    "speaker's return": lambda found: found.returns[0],
    "gullibility": lambda found: found.gullibility,
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
    found = talk_figures(TalkPlay(game, *pair, 0, TalkPlan(episodes=60, key=Key(5), replies=4, playouts=2)))
    for name, figure in COMPARED.items():
        estimate = figure(found)
        slack = 1.3 * (estimate.high - estimate.low) + (found.placebo.mean if name == "effect" else 0.0)
        assert abs(estimate.mean - figure(exact)) <= slack, name
    assert found.honesty.mean == 0.0
    assert found.gain_by_lie[0].low > 0.0 > found.gain_by_lie[1].high
    assert found.placebo.exact is not hidden
    assert (found.deception, found.state_information, found.jammed, found.worth) == (None, None, None, None)


@pytest.mark.parametrize(("speaker", "known"), [("liar(NashApprox)", 2 / 9), ("honest(NashApprox)", -1 / 6)])
def test_who_believes_a_liar_loses_by_it_and_who_believes_the_truth_gains(speaker, known):
    game = make_game(KUHN)
    pair = players(game, speaker, "believer(NashApprox)")
    assert exchange_figures(TalkTree(game, pair), 0).gullibility == pytest.approx(known)
    found = of.gullibility(TalkPlay(game, *pair, 0, TalkPlan(episodes=300, key=Key(5), replies=1, playouts=1)))
    assert found.low <= known <= found.high
    assert found.low > 0.0 if known > 0.0 else found.high < 0.0


@pytest.mark.runs
@pytest.mark.parametrize("seat", [0, 1])
def test_the_interval_of_an_effect_covers_the_exact_figure(seat):
    """The interval is .04 wide, and the cards do not go evenly with the messages."""
    game = make_game(KUHN)
    pair = players(game, "liar(NashApprox)", "believer(NashApprox)")
    exact = exchange_figures(TalkTree(game, pair if seat == 0 else pair[::-1]), seat).effect
    found = of.effect(TalkPlay(game, *pair, seat, TalkPlan(episodes=1500, key=Key(7))))
    assert found.high - found.low < 0.05
    assert found.low <= exact <= found.high


def test_without_stated_probabilities_promises_and_requests_are_asked_about():
    game = make_game("talk(ipd(rounds=2))")
    plan = TalkPlan(episodes=8, replies=12, playouts=1)
    promising = TalkPlay(game, *players(game, "honest(Mixed(p=0.5))", "random", hidden=True), 0, plan)
    assert of.keeping(promising, "move").mean == 1.0
    assert of.keeping_lift(promising, "move").mean == pytest.approx(0.5, abs=0.2)
    asking = TalkPlay(game, *players(game, "babbler(random)", "obliging(Mixed(p=0.5))", hidden=True), 1, plan)
    assert of.keeping(asking, "ask").mean == 1.0
    assert of.keeping_lift(asking, "ask").mean == pytest.approx(0.5, abs=0.2)


class Arms(RecordedGames):
    """Readers of messages, given by their replies to the message, to silence, and to the message again."""

    def __init__(self, arms, messages=()):
        super().__init__(())
        self.arms, self.messages_of = arms, messages or range(len(arms))

    def reader_moves(self):
        moves = [ReaderMove(*map(shares, arm)) for arm in self.arms]
        return [WeighedItem(move, deal=number) for move, number in zip(moves, self.messages_of, strict=True)]

    def placebo(self):
        moves = self.reader_moves()
        return self.mean_by_message([(one, of.variation(one.item.after_message, one.item.placebo)) for one in moves])


def test_a_placebo_calibrates_the_total_variation_of_equal_policies():
    """Intervals of 95 % from 20 histories of 8 replies: at least 90 of 100 cover 0, where plain ones cover none."""
    covered = biased = 0
    for number in range(100):
        key, arms = Key(number), []
        for place in range(20):
            mix = {action: key.at("mix", place, action).unit() for action in "abc"}
            arms.append(
                [[draw(mix, key.at(arm, place, n)) for n in range(8)] for arm in ("message", "silence", "placebo")]
            )
        effect = of.effect(Arms(arms))
        covered += effect.low <= 0.0 <= effect.high
        biased += Arms(arms).placebo().low > 0.0
    assert covered >= 90
    assert biased == 100


@pytest.mark.long
def test_at_least_90_of_100_effects_of_messages_that_nobody_hears_cover_0():
    game = make_game("talk(ipd(rounds=2))")
    pair = players(game, "babbler(random)", "Mixed(p=0.3)", hidden=True)
    covered = 0
    for number in range(100):
        effect = of.effect(TalkPlay(game, *pair, 0, TalkPlan(episodes=15, key=Key(number), replies=8)))
        covered += effect.low <= 0.0 <= effect.high
    assert covered >= 90


def test_a_policy_that_differs_has_an_effect():
    arms = [("aaaa", "bbbb", "aaaa"), ("aaaa", "aabb", "aaaa"), ("abab", "aabb", "bbaa")]
    assert of.effect(Arms(arms)).mean == pytest.approx((1.0 + 0.5 + 0.0) / 3)
    assert Arms(arms).placebo().mean == 0.0
    readers_of_two = of.effect(Arms(arms, [0, 1, 1]))
    assert (readers_of_two.mean, readers_of_two.n) == (pytest.approx((1.0 + 0.25) / 2), 2)


def test_any_number_of_seats_and_open_text_are_measured_by_play():
    found = talk("talk(public-goods(rounds=2), channel=both, words=[hi])", "babbler(random)", "random", episodes=3)
    assert sorted(found.figures) == [0, 1, 2]
    assert all(figures.effect.mean == 0.0 for figures in found.figures.values())
    spoken = talk("talk(kuhn(hands=1), intents=[], limit=9)", "babbler(random)", "random", episodes=2)
    assert spoken.figures[0].messages.mean == 1.0
    assert spoken.figures[0].honesty is None
    assert "gullibility" in spoken.rows()[0]


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(BadParameter, match="`exchange` for exact figures, or `episodes`"):
        talk(KUHN, "random", "random", episodes=2, exchange=2)
    with pytest.raises(BadParameter, match="episodes"):
        talk(KUHN, "random", "random", episodes=-1)
    with pytest.raises(BadParameter, match="give `episodes`"):
        talk("talk(public-goods, words=[hi])", "random", "random")
