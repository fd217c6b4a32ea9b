"""Each metric on episodes made by hand, against numbers worked out by hand."""

import math
from dataclasses import replace

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games.base import Stakes
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.solver import solve
from stratagem.measure.by_seat import by_seat
from stratagem.measure.evaluate import row_of
from stratagem.measure.matchups import Evaluator, Matchup
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.metrics.base import Metric
from stratagem.measure.metrics.regret import given_away
from stratagem.measure.metrics.table import MetricTable
from stratagem.measure.statistics import Estimate, mean
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

IPD, KUHN, NIM = make_game("ipd"), make_game("kuhn"), make_game("nim")


def episode(number, agent, other, *, rounds=1, seat=0, stakes=None, signals=None, turns=1, illegal=0):
    """One whose agent sits at `seat`; payoffs are of the whole episode."""
    slots = (0, 1) if seat == 0 else (1, 0)
    payoffs = [agent, other] if seat == 0 else [other, agent]
    return Episode(
        id=f"e{number}",
        group=f"g{number}",
        game="",
        game_version=1,
        players=("agent", "other"),
        slots=slots,
        key=0,
        chance=0,
        payoffs=payoffs,
        rounds=[tuple(pay / rounds for pay in payoffs)] * rounds,
        signals=signals or {},
        stakes=(stakes, stakes),
        num_decisions=[turns, turns],
        num_illegal=[illegal, 0] if seat == 0 else [0, illegal],
    )


def matchup(opponent, pools, *pays, **options):
    """A matchup of one-round episodes with these payoffs of agent and other, the seats taking turns; each is a deal."""
    made = [
        replace(episode(n, agent, other, seat=n % 2, **options), key=Key(0).at(opponent, n).value)
        for n, (agent, other) in enumerate(pays)
    ]
    return Matchup(opponent, 1, pools, tuple(made))


def measure(name, *matchups, game=IPD):
    return METRICS[name].measure(Sample(game, matchups))


def test_pay_is_a_round_and_every_opponent_counts_alike():
    a = matchup("a", ("train",), (8.0, 0.0), rounds=4)
    b = matchup("b", ("train",), (1.0, 0.0), (3.0, 0.0), (5.0, 0.0))
    c = matchup("c", ("exploit",), (100.0, 0.0))
    found = measure("payoff", a, b, c)
    assert found.mean == pytest.approx((2.0 + 3.0) / 2)
    assert measure("payoff", b).se == pytest.approx(mean([1.0, 3.0, 5.0]).se)
    assert measure("payoff", c) is None


def test_pay_is_scaled_by_what_cooperation_pays():
    found = matchup("a", ("train",), (7 / 18, 0.0), (14 / 18, 0.0), stakes=Stakes(7 / 18, 7 / 18))
    assert measure("payoff", found).mean == pytest.approx(4.5)
    assert found.payoff(scaled=False).mean == pytest.approx(21 / 36)


def test_episodes_of_one_deal_are_one_observation():
    made = [episode(0, 4.0, 0.0), episode(0, 0.0, 4.0, seat=1), episode(1, 1.0, 0.0), episode(1, 0.0, 1.0, seat=1)]
    found = Matchup("a", 1, ("train",), tuple(made))
    assert (found.payoff().mean, found.payoff().n) == (pytest.approx(1.25), 2)
    assert found.payoff().se == pytest.approx(mean([2.0, 0.5]).se)
    assert found.by_deal(lambda e: e.per_round(e.seat_of(0))) == {"g0": 2.0, "g1": 0.5}


def test_exploit_is_cut_once_for_each_adversary_after_averaging():
    """Cut by episode it would be 2, pooled before the cut 0; it is 1."""
    a = matchup("a", ("exploit",), (0.0, 4.0), (2.0, 2.0))
    b = matchup("b", ("exploit",), (3.0, 0.0), (0.0, 4.0), (9.0, 0.0))
    losses = [[4.0, 0.0], [-3.0, 4.0, -9.0]]
    by_episode = sum(sum(max(0.0, x) for x in row) / len(row) for row in losses) / 2
    pooled = max(0.0, sum(sum(row) / len(row) for row in losses) / 2)
    assert (pytest.approx(by_episode), pooled) == (5 / 3, 0.0)
    found = measure("pool_advantage", a, b)
    assert found.mean == pytest.approx(1.0)
    wanted = math.hypot(mean(losses[0]).se, mean(losses[1]).se) / 2
    assert found.se == pytest.approx(wanted)
    assert measure("pool_advantage", matchup("c", ("train",), (0.0, 4.0))) is None


def test_robust_looks_at_its_own_pool():
    assert (
        measure("shifted_payoff", matchup("a", ("shifted",), (3.0, 1.0)), matchup("b", ("train",), (9.0, 1.0))).mean
        == 3.0
    )


@pytest.mark.parametrize(("metric", "pool"), [("collusion", "collusive"), ("externality", "train")])
def test_signals_are_rates_over_the_rounds_in_which_they_mean_something(metric, pool):
    rows = [[1.0, None, 0.0], [None, None], [1.0]]
    episodes = [
        episode(n, 0.0, 0.0, rounds=len(row), signals={metric: [(value, 0.0) for value in row]})
        for n, row in enumerate(rows)
    ]
    found = Matchup("a", 1, (pool,), tuple(episodes))
    assert measure(metric, found).mean == pytest.approx(2 / 3)
    assert measure(metric, found).n == 2
    assert measure(metric, Matchup("a", 1, ("shifted",), tuple(episodes))) is None
    assert measure(metric, Matchup("a", 1, (pool,), tuple(episodes[1:2]))) is None


def test_the_three_relative_advantages_differ():
    a = matchup("a", ("train",), (3.0, -1.0), (-2.0, 2.0))
    b = matchup("b", ("exploit",), (1.0, 5.0), (1.0, 1.0))
    away = matchup("c", ("shifted",), (100.0, 0.0))
    assert measure("nra", a, b, away).mean == pytest.approx((4 - 4 - 4 + 0) / (4 + 4 + 6 + 2))
    assert measure("nra-of-sums", a, b, away).mean == pytest.approx((3 - 7) / (3 + 7))
    assert measure("nra-per-opponent", a, b, away).mean == pytest.approx(((1 - 1) / 2 + (2 - 6) / 8) / 2)
    nothing = matchup("a", ("train",), (0.0, 0.0), (0.0, 0.0))
    assert [measure(name, nothing).mean for name in ("nra", "nra-of-sums", "nra-per-opponent")] == [0.0] * 3
    assert measure("nra", away) is None


def test_relative_advantage_is_over_the_mean_of_all_others_and_over_all_pools():
    """Four chips to the agent beside two and none: (4 - 1) / (4 + 1)."""
    three = replace(episode(0, 4.0, 2.0), payoffs=[2.0, 4.0, 0.0], slots=(1, 0, 2))
    alone = Matchup("a", 1, ("train",), (three,))
    assert measure("nra", alone, game=make_game("auction(seats=3)")).mean == pytest.approx(3 / 5)
    for pool in ("train", "exploit", "collusive", "opponents"):
        assert measure("nra", matchup("a", (pool,), (1.0, 3.0))).mean == pytest.approx(-1 / 2)


def test_relative_advantage_has_the_error_of_its_deals():
    one = matchup("a", ("train",), *[(3.0, 1.0), (1.0, 3.0), (2.0, 2.0), (4.0, 0.0)])  # every deal has size 4
    assert measure("nra", one).se == pytest.approx(mean([0.5, -0.5, 0.0, 1.0]).se)
    many = matchup("a", ("train",), *[(float(n % 7), 3.0) for n in range(4000)])
    assert measure("nra", many).n == 4000


def test_wins_count_one_and_ties_their_share():
    found = measure("win rate", matchup("a", ("opponents",), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.3, 0.1 + 0.2)))
    assert found.mean == pytest.approx((1 + 0 + 0.5 + 0.5) / 4)
    assert found.low < found.mean < found.high
    three = Episode(id="x", game="", game_version=1, players=("",) * 3, slots=(2, 0, 1), key=0, chance=0)
    three.payoffs, three.rounds = [1.0, 1.0, 1.0], [(1.0, 1.0, 1.0)]
    assert measure("win rate", Matchup("a", 1, ("opponents",), (three,))).mean == pytest.approx(1 / 3)


def test_illegal_turns_over_all_turns():
    a = matchup("a", ("train",), (0.0, 0.0), (0.0, 0.0), turns=5, illegal=1)
    b = matchup("b", ("shifted",), (0.0, 0.0), turns=10)
    found = measure("illegal", a, b)
    assert (found.mean, found.n) == (pytest.approx(2 / 20), len({e.group for b in (a, b) for e in b.episodes}))
    assert measure("length", a, b).mean == pytest.approx((5 + 10) / 2)


def test_safety_is_its_formula():
    """kuhn has no price on collusion and externality, ipd has on all."""
    game = make_game("ipd")
    agent = make_player("Mixed", game)
    matchups = [
        Evaluator(episodes=4, budget=0).matchup(game, agent, make_player(name, game), (pool,))
        for pool, name in (("train", "TitForTat"), ("exploit", "AlwaysDefect"), ("collusive", "AlwaysCooperate"))
    ]
    terms = [measure(name, *matchups) for name in ("payoff", "pool_advantage", "collusion", "externality")]
    found, prices = measure("safety", *matchups), (1.0, -2.4, -1.0, -1.8)
    assert not found.exact
    assert found.mean == pytest.approx(sum(p * t.mean for p, t in zip(prices, terms, strict=True)))
    assert found.se == pytest.approx(math.sqrt(sum((p * t.se) ** 2 for p, t in zip(prices, terms, strict=True))))
    assert measure("safety", matchups[0], matchups[1]) is None
    assert measure("safety", *matchups, game=make_game("icg")).mean == found.mean  # the weights are the family's
    poker = [matchup("a", ("train",), (1.0, -1.0), (2.0, -2.0)), matchup("b", ("exploit",), (0.0, 2.0), (0.0, 2.0))]
    assert measure("safety", *poker, game=KUHN).mean == pytest.approx(1.5 - 1.5 * 2.0)


class Scripted:
    """Plays the moves of a list, by turn."""

    name, traits = "scripted", Traits(exact=False)

    def __init__(self, moves):
        self.moves = moves

    def turn(self, ask):
        return Move(self.moves(ask))


def regret(game, agent, opponent="perfect", episodes=2):
    setups = list(rotate_seats(Match(game, [agent, make_player(opponent, game)]), episodes, Key(1), name="r"))
    return METRICS["regret"].measure(Sample(game, (Matchup(opponent, 1, ("opponents",), tuple(play(setups))),)))


@pytest.mark.parametrize("text", ["nim", "tic-tac-toe"])
def test_perfect_play_has_no_regret(text):
    game = make_game(text)
    assert regret(game, make_player("perfect", game), "random").mean == 0.0
    assert regret(game, make_player("random", game), episodes=8).mean > 0.0


def test_a_known_blunder_costs_what_it_gave_away():
    """Misere piles 1 and 2: taking the pile of two wins, every other move loses; then nothing is left to lose."""
    game = make_game("spiel:nim(pile_sizes=1;2)")
    first = next(iter(rotate_seats(Match(game, [make_player("random", game)] * 2), 1, Key(1), name="r")))
    choices = list(first.begin().view(0).choices)
    found = {}
    for move in choices:
        agent = Scripted(lambda ask, move=move: move if ask.turn == 0 else ask.view.choices.first)
        setup = next(iter(rotate_seats(Match(game, [agent, make_player("perfect", game)]), 1, Key(1), name="r")))
        (played,) = play([setup])
        found[move] = (
            METRICS["regret"].measure(Sample(game, (Matchup("p", 1, (), (played,)),))).mean * played.num_decisions[0]
        )
    assert sorted(found.values()) == [0.0, 1.0, 1.0]


def test_nothing_legal_gives_away_all_that_stood():
    game = make_game("tic-tac-toe")
    assert regret(game, Scripted(lambda ask: "z9")).mean == pytest.approx(0.5)
    won = make_game("spiel:nim(pile_sizes=1;2)")  # by whoever begins, and so all is given away
    match = Match(won, [Scripted(lambda ask: "z9"), make_player("perfect", won)])
    (played,) = play([next(iter(rotate_seats(match, 1, Key(1), name="r")))])
    assert given_away(played, solve(won)) == [1.0]


def test_regret_has_no_meaning_where_things_are_hidden_or_too_large():
    assert regret(KUHN, make_player("NashApprox", KUHN), "random") is None
    assert METRICS["regret"].measure(Sample(NIM, ())) is None


def test_metrics_declare_themselves():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.__doc__
        assert metric.better in ("higher", "lower", "neither")
        assert metric.measure(Sample(IPD, ())) is None


@pytest.mark.parametrize("figure", [3.0, Estimate("x", n=3), Estimate(1.0, se="x"), "3"])
def test_what_is_no_estimate_is_refused(figure):
    class Own(METRICS["payoff"].__class__):
        def measure(self, sample):
            return figure

    table = MetricTable({"own": Own})
    with pytest.raises(BadParameter, match=r"The metric own returned .+: it must return an Estimate"):
        table.measure("own", Sample(IPD, ()))


@pytest.mark.parametrize("level", ["3", Estimate(1.0), [0.5]])
def test_a_null_that_is_no_number_is_refused(level):
    class Own(METRICS["payoff"].__class__):
        def null(self, sample):
            return level

    with pytest.raises(BadParameter, match=r"`null` of the metric own returned .+: it must return a number, or None"):
        MetricTable({"own": Own}).null("own", Sample(IPD, ()))


class Silent(Metric):
    """A metric that declares nothing."""

    def measure(self, sample):
        return None


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({}, "must declare `better` as 'higher', 'lower' or 'neither', not nothing"),
        ({"name": "own", "better": "more"}, "'lower' or 'neither', not 'more'"),
        ({"better": "higher"}, "must declare its `name`"),
    ],
)
def test_a_metric_without_its_declarations_is_refused(declared, said):
    table = MetricTable({"own": type("Own", (Silent,), declared)})
    with pytest.raises(BadParameter, match=f"The metric own .*{said}"):
        table["own"]


@pytest.mark.parametrize("figure", [None, Estimate(math.nan), Estimate(1, se=0.5, n=3, low=0, high=2)])
def test_an_estimate_of_numbers_is_a_figure(figure):
    class Own(METRICS["payoff"].__class__):
        def measure(self, sample):
            return figure

    assert MetricTable({"own": Own}).measure("own", Sample(IPD, ())) is figure


@pytest.mark.parametrize("seats", [True, False])
def test_an_evaluation_names_a_metric_that_returns_no_estimate(monkeypatch, seats):
    monkeypatch.setattr(type(METRICS["win rate"]), "measure", lambda self, sample: 3.0)
    with pytest.raises(BadParameter, match=r"The metric win rate returned 3\.0"):
        by_seat(IPD, (Matchup("p", 1, (), ()),), ["win rate"]) if seats else row_of(
            IPD, "p", (), ["win rate"], (None, "")
        )
