"""Exploitability from replies: gains and their derivatives, shares of replies, limits that cover, and refusals."""

from statistics import NormalDist

import numpy as np
import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games import Key, make_game
from stratagem.measure.audit.compare import FigureChange
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.exploitability.replies import legal_only, sampled_exploitability
from stratagem.measure.sampled.drawn import MemorySource, ReplySource
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import Z, above, measured_limits, point, second_stage, upper_limit
from stratagem.measure.sampled.questions import questions_of
from stratagem.measure.sampled.tally import ReplyTally, apportion_replies, deal_halves, frequencies, variances
from stratagem.measure.statistics import Estimate
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.base import Move, Player, Traits
from stratagem.players.catalogue import make_player
from stratagem.show.evaluation_file import read_exploitability
from stratagem.show.exploitability_cells import basis_of


def gain_of(text, player="random"):
    game = make_game(text)
    oracle = oracle_of(game)
    questions = questions_of(oracle.tree, make_player(player, game))
    rows = np.zeros(int(questions.slots[-1]))
    rows[questions.in_tree] = policy_on(oracle.tree, make_player(player, game))
    return ResponseGain(oracle, questions), rows


def some_rows(questions, seed=3):
    drawn = np.random.default_rng(seed).random(int(questions.slots[-1])) + 0.1
    return drawn / questions.spread(questions.sums(drawn))


KUHN, UNIFORM = gain_of("kuhn")


class Fallible:
    """Another player that gives no legal reply in a fifth of its decisions."""

    name = "fallible"
    traits = Traits(stochastic=True, fallible=True)

    def __init__(self, player):
        self.policy = lambda view: {action: 0.8 * p for action, p in player.policy(view).items()}


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("kuhn", "random"),
        ("kuhn", "noise(Bluffer, p=0.2)"),
        ("ipd(rounds=4)", "GenerousTFT"),
        ("spiel:kuhn_poker(players=3)", "random"),
        ("leduc", "random"),
        ("ipd(rounds=3, continuation=0.5)", "GenerousTFT"),
    ],
)
def test_gain_of_best_responses_is_the_exact_exploitability(text, player):
    gain, rows = gain_of(text, player)
    game = make_game(text)
    found, _ = gain(rows, gain.best_responses(rows))
    assert found == pytest.approx(exact(game, make_player(player, game)).exploitability)


@pytest.mark.parametrize(
    "text", ["kuhn", "ipd(rounds=3)", "spiel:kuhn_poker(players=3)", "ipd(rounds=3, continuation=0.5)"]
)
def test_derivative_is_that_of_finite_differences(text):
    gain, _ = gain_of(text)
    rows = some_rows(gain.questions)
    responses = gain.best_responses(some_rows(gain.questions, 4))
    _, slopes = gain(rows, responses)
    steps = 1e-5 * np.eye(len(rows))
    measured = [(gain(rows + step, responses)[0] - gain(rows - step, responses)[0]) / 2e-5 for step in steps]
    assert slopes == pytest.approx(np.array(measured), abs=1e-8)


def test_gain_of_several_rounds_is_that_of_one():
    """Defection gains 2 in each of two rounds."""
    gain, rows = gain_of("ipd(rounds=2)", "AlwaysCooperate")
    assert gain(rows, gain.best_responses(rows))[0] == pytest.approx(2.0)


def test_players_with_a_short_memory_are_asked_by_what_they_can_tell():
    tree = oracle_of(make_game("ipd(rounds=3)")).tree
    short, long = (len(questions_of(tree, make_player(name, tree.game))) for name in ("TitForTat", "GrimTrigger"))
    assert (short, long) == (2 * (1 + 4 + 4), 2 * (1 + 4 + 16))


def test_limits_are_the_95th_percentile_of_the_normal_distribution():
    """P(X <= 1.645) = .95, by the table of the normal distribution (NIST, Handbook of Statistical Methods, 1.3.6)."""
    assert pytest.approx(NormalDist().inv_cdf(0.95), abs=5e-4) == Z
    assert above(Estimate(2.0, 0.5, 9)) == pytest.approx(2.0 + 0.5 * 1.645, abs=1e-12)


def test_replies_are_apportioned_by_the_largest_remainders():
    assert apportion_replies(np.array([1.0, 1.0, 1.0]), 8).tolist() == [3, 3, 2]
    assert apportion_replies(np.array([0.5, 0.2, 0.3]), 10).tolist() == [5, 2, 3]
    assert apportion_replies(np.array([1.0, 0.0, 2.0]), 4).tolist() == [1, 0, 3]


def test_replies_are_dealt_to_the_halves_in_turn():
    """The second question begins with the other half, and both go on after earlier replies."""
    actions = [[0, 1, 1], [1], *[[]] * (len(KUHN.questions) - 2)]
    halves = deal_halves(actions, KUHN.questions, [0] * len(KUHN.questions))
    assert halves[:, :4].tolist() == [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    later = deal_halves(actions, KUHN.questions, [1, 1, *[0] * (len(KUHN.questions) - 2)])
    assert later[:, :4].tolist() == halves[::-1, :4].tolist()


def test_frequencies_are_shares_and_even_where_nothing_was_asked():
    counts = np.zeros(int(KUHN.questions.slots[-1]))
    counts[:4] = 3.0, 1.0, 0.0, 5.0
    assert frequencies(KUHN.questions, counts)[:6].tolist() == [0.75, 0.25, 0.0, 1.0, 0.5, 0.5]
    with_prior = frequencies(KUHN.questions, counts, prior=1.0)
    assert with_prior[:6] == pytest.approx([4 / 6, 2 / 6, 1 / 7, 6 / 7, 0.5, 0.5])


def test_variance_of_a_reply_is_that_of_its_value():
    rows, slopes = np.full(len(UNIFORM), 0.5), np.zeros(len(UNIFORM))
    rows[:2], slopes[:2] = (0.25, 0.75), (2.0, -2.0)
    assert variances(KUHN.questions, rows, slopes)[:2].tolist() == [pytest.approx(16 * 3 / 16), 0.0]


def test_second_stage_goes_where_replies_matter():
    """An equilibrium player's king at its last decision matters less than the cards that bluff; nobody is left out."""
    pilot = ReplySource(KUHN.questions, UNIFORM, Key(1))(np.full(12, 20))
    numbers = second_stage(KUHN, pilot, 600, Key(1))
    assert numbers.sum() == 600
    assert numbers.min() >= 1
    by_name = dict(zip((known.view.info_key for known in KUHN.questions.sets), numbers.tolist(), strict=True))
    first, last = by_name["K:"], by_name["K:PB"]
    assert first > last


def test_second_stage_shares_replies_as_neyman_does():
    """The least variance of n replies is (sum of standard deviations)^2 / n (Neyman 1934); a tenth is spread evenly."""
    known = ReplyTally(np.stack([UNIFORM, UNIFORM]) * 2e6, UNIFORM * 4e6, [])
    numbers = second_stage(KUHN, known, 12_000, Key(1))
    spread = variances(KUHN.questions, UNIFORM, KUHN(UNIFORM, KUHN.best_responses(UNIFORM))[1])
    least = np.sqrt(spread).sum() ** 2 / 12_000
    assert least < (spread / numbers).sum() < 1.05 * least


def test_point_needs_eight_replies_a_question():
    few, enough = (measured_limits(KUHN, ReplySource(KUHN.questions, UNIFORM, Key(0)), n, Key(0)) for n in (95, 96))
    assert few.point is None
    assert enough.point == pytest.approx(point(KUHN, enough.tally))


def test_point_lies_within_its_limits():
    """With few replies the half of a point that is biased downwards can be below zero."""
    gain, rows = gain_of("kuhn", "NashApprox")
    found = [measured_limits(gain, ReplySource(gain.questions, rows, Key(n)), 96, Key(n)) for n in range(6, 12)]
    assert min(point(gain, one.tally) for one in found) < 0.0
    assert all(0.0 <= one.lower <= one.point <= one.upper for one in found)


def test_equal_replies_leave_doubt():
    """Four replies a question that are all alike do not say that a fifth would be."""
    gain, rows = gain_of("kuhn", "AlwaysBet")
    tally = ReplySource(gain.questions, rows, Key(0))(np.full(12, 4))
    assert frequencies(gain.questions, tally.counts).tolist() == rows.tolist()
    truth = exact(make_game("kuhn"), make_player("AlwaysBet", make_game("kuhn"))).exploitability
    assert upper_limit(gain, tally) > truth + 0.05


def test_limits_hold_as_often_as_they_say():
    """Forty repetitions of a limit that holds in 95 % of them: fewer than 33 have a probability of .1 %."""
    truth = KUHN(UNIFORM, KUHN.best_responses(UNIFORM))[0]
    found = [measured_limits(KUHN, ReplySource(KUHN.questions, UNIFORM, Key(n)), 400, Key(n)) for n in range(40)]
    assert sum(one.lower <= truth for one in found) >= 33
    assert sum(one.upper >= truth for one in found) >= 33
    assert np.mean([one.point for one in found]) == pytest.approx(truth, abs=0.03)
    assert np.mean([one.lower for one in found]) > 0.3
    assert np.mean([one.upper for one in found]) < 0.6
    assert all(one.p_value < 0.001 for one in found)


def test_lower_limit_of_an_equilibrium_is_rarely_above_zero():
    gain, rows = gain_of("kuhn", "NashApprox")
    found = [measured_limits(gain, ReplySource(gain.questions, rows, Key(n)), 400, Key(n)) for n in range(40)]
    assert sum(one.lower > 0.0 for one in found) <= 7
    assert all(one.upper > 0.0 for one in found)
    rows = [frequencies(gain.questions, one.tally.counts) for one in found]
    plugged = np.mean([gain(one, gain.best_responses(one))[0] for one in rows])
    assert np.mean([one.point for one in found]) < 0.7 * plugged  # its bias is half of it at most


def test_upper_limit_is_the_gain_of_the_best_response_plus_its_error():
    limits = measured_limits(KUHN, ReplySource(KUHN.questions, UNIFORM, Key(0)), 400, Key(0))
    assert limits.upper == limits.gain.mean + Z * limits.gain.se
    assert limits.gain.n == 400
    assert limits.lower < limits.point < limits.gain.mean


def test_cache_widens_the_upper_limit_and_leaves_no_lower_one():
    source = ReplySource(KUHN.questions, UNIFORM, Key(2), cache_rate=0.75)
    found = measured_limits(KUHN, source, 400, Key(2))
    assert (found.lower, found.is_fresh, found.p_value) == (0.0, False, 1.0)
    plain = ReplyTally(found.tally.halves, found.tally.legal, [type(one)() for one in found.tally.copies])
    assert upper_limit(KUHN, found.tally) > upper_limit(KUHN, plain)
    assert (found.tally.num_independent(KUHN.questions) < plain.num_independent(KUHN.questions)).all()


@pytest.mark.parametrize(("memory", "rate"), [("all", 0.75), ("last", 0.5), ("drift", 0.95)])
def test_limits_of_a_player_with_a_memory_are_of_what_it_played(memory, rate):
    """Of an equilibrium player that repeats itself more than half the lower limits are above 0: it can be exploited."""
    gain, rows = gain_of("kuhn", "NashApprox")
    held, above = 0, 0
    for number in range(40):
        source = MemorySource(gain.questions, rows, Key(number), memory, rate)
        limits = measured_limits(gain, source, 360, Key(number))
        played = gain(source.played, gain.best_responses(source.played))[0]
        held += limits.lower <= played <= limits.upper
        above += limits.lower > 0.0
    assert held >= 33  # of 40 pairs at 90 %, 32 or fewer have a chance of 4 % where no limit is wider than it says
    assert above >= 15 or memory != "all"


def test_lower_limit_of_a_player_that_gets_worse_is_of_the_replies_after_the_pilot():
    gain, rows = gain_of("kuhn", "NashApprox")
    of_last, of_all = 0, 0
    for number in range(40):
        source = MemorySource(gain.questions, rows, Key(number), "worsen", 0.97)
        limits = measured_limits(gain, source, 1700, Key(number))
        last, mean = (gain(played, gain.best_responses(played))[0] for played in (source.played_last, source.played))
        of_last += limits.lower <= last
        of_all += limits.lower <= mean <= limits.upper
        assert last > mean
    assert of_last >= 35  # of 40 limits at 95 %, 34 or fewer have a chance of 1 %
    assert of_all < 33


def test_policy_that_was_played_is_the_mean_of_those_of_the_replies():
    questions = KUHN.questions
    numbers = np.full(len(questions), 3)
    source = MemorySource(questions, UNIFORM, Key(5), "last", 0.5)
    source(numbers)
    first, second, _ = source.replies[0]
    assert source.played[first] == pytest.approx((0.5 + 0.75 + (0.75 if second == first else 0.25)) / 3)
    drifting = MemorySource(questions, np.eye(2)[np.zeros(12, int)].ravel(), Key(5), "drift", 0.5)
    drifting(numbers)
    assert drifting.played[1] == pytest.approx((0.5 + 0.25 + 0.125) / 3)
    assert [*source(numbers).counts] != [*drifting(numbers).counts]


def test_dependent_replies_are_told_beside_the_limits():
    class Copycat(Player):
        """It repeats its last reply to a question nine times in ten."""

        name, traits = "Copycat", Traits(stochastic=True, repeats=True, fallible=False)

        def __init__(self):
            self.last = {}

        def turn(self, ask):
            choose = ask.key.at("choice").integer
            known = self.last.get(ask.view.info_key)
            move = known if known and choose(10) else [*ask.view.choices][choose(2)]
            self.last[ask.view.info_key] = move
            return Move(move)

    game = make_game("kuhn")
    copied = sampled_exploitability(game, Copycat(), Key(1), 40)
    drawn = sampled_exploitability(game, make_player("random", game), Key(1), 40)
    assert copied.basis.dependence_p <= 0.01 < 0.05 < drawn.basis.dependence_p
    says = "depend on each other (p = "
    assert says in " ".join(basis_of("Copycat", copied))
    assert says not in " ".join(basis_of("random", drawn))
    assert read_exploitability({"from_replies": copied.basis.to_json(copied)}).basis == copied.basis
    certain = sampled_exploitability(game, make_player("TightValue", game), Key(1), 40)
    assert certain.basis.dependence_p is None


def test_illegal_replies_count_as_the_action_of_the_game():
    gain, rows = gain_of("kuhn", "NashApprox")
    source = ReplySource(gain.questions, rows, Key(3), illegal_rate=0.2)
    tally = source(np.full(12, 4000))
    assert 1.0 - tally.legal.sum() / tally.counts.sum() == pytest.approx(0.2, abs=0.01)
    assert frequencies(gain.questions, tally.counts) == pytest.approx(source.played, abs=0.03)
    truth = exact(make_game("kuhn"), Fallible(make_player("NashApprox", make_game("kuhn")))).exploitability
    assert gain(source.played, gain.best_responses(source.played))[0] == pytest.approx(truth)
    assert truth > 0.1


def test_legal_replies_alone_are_counted_as_often_as_they_were_given():
    source = ReplySource(KUHN.questions, UNIFORM, Key(3), illegal_rate=0.2)
    tally = source(np.full(12, 40))
    alone = legal_only(tally)
    assert alone.counts == pytest.approx(tally.legal)
    assert alone.counts.sum() < tally.counts.sum()
    assert alone.halves * tally.counts == pytest.approx(tally.halves * tally.legal), "both halves lose as much"


@pytest.mark.parametrize(
    ("game", "replies", "error", "says"),
    [
        ("quiz", 100, CannotCompute, "one seat"),
        ("kuhn", 1, BadParameter, "`effort` of at least 2"),
        ("kuhn", 2.5, BadParameter, "effort"),
        ("negotiation-v1", 100, CannotCompute, "nodes"),
    ],
)
def test_what_cannot_be_measured_is_refused(game, replies, error, says):
    made = make_game(game)
    with pytest.raises(error, match=says):
        sampled_exploitability(made, make_player("random", made), Key(0), replies)


def test_limits_of_a_change_between_two_measurements_cover():
    """From an equilibrium to a player that plays at random in a tenth of its turns, and from that to itself."""
    (before, first), (after, second) = gain_of("kuhn", "NashApprox"), gain_of("kuhn", "noise(NashApprox, p=0.1)")
    truth = after(second, after.best_responses(second))[0] - before(first, before.best_responses(first))[0]

    def limits(gain, rows, number):
        return measured_limits(gain, ReplySource(gain.questions, rows, Key(number)), 200, Key(number))

    held = []
    for number in range(12):
        one, two, three = (
            limits(before, first, number),
            limits(after, second, number + 99),
            limits(after, second, number),
        )
        for change, moved in ((FigureChange("", "", "", one, two), truth), (FigureChange("", "", "", two, three), 0.0)):
            held.append(change.lower <= moved <= change.upper)
    assert sum(held) >= 22
