"""Exact expectations against theory, against OpenSpiel and against long play."""

import math
from dataclasses import replace

import pyspiel
import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import signal_names
from stratagem.measure.best_response import best_response
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.matchups import Matchup
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

BIG = 400_000


class Forgetful:
    """Another player's play, without what it declares about its memory."""

    def __init__(self, player):
        self.player = player
        self.name = player.name
        self.traits = replace(player.traits, memory=None)

    def policy(self, view):
        return self.player.policy(view)


def made(game, *names):
    return [make_player(name, game) for name in names]


def test_kuhns_equilibrium_is_worth_minus_one_eighteenth_to_the_opener():
    game = make_game("kuhn(hands=1)")
    for alpha in (0.0, 0.2, 1 / 3):
        players = made(game, f"NashApprox(alpha={alpha!r})", "NashApprox")
        assert expected_payoffs(game, players).per_round(0) == pytest.approx(-1 / 18)
    match = make_game("kuhn(hands=6)")
    assert expected_payoffs(match, made(match, "NashApprox", "NashApprox")).per_round(0) == pytest.approx(0.0)


def test_two_conservative_bidders_earn_seven_eighteenths():
    game = make_game("auction")
    found = expected_payoffs(game, made(game, "Conservative", "Conservative"))
    for seat in (0, 1):
        assert found.per_round(seat) == pytest.approx(7 / 18)
        assert found.per_round(seat, scaled=True) == pytest.approx(3.0)


@pytest.mark.parametrize(
    "text",
    [
        "leduc",
        "kuhn(hands=1)",
        "spiel:nim(pile_sizes=1;2;3)",
        "spiel:kuhn_poker(players=3)",
        "spiel:goofspiel(num_cards=3)",
    ],
)
def test_random_play_is_worth_what_openspiel_says(text):
    game = make_game(text)
    spiel = game.twin().spiel
    wanted = pyspiel.expected_returns(spiel.new_initial_state(), pyspiel.UniformRandomPolicy(spiel), -1, True)
    found = expected_payoffs(game, made(game, "random") * game.spec.seats, BIG)
    assert [found.per_round(seat) for seat in range(game.spec.seats)] == pytest.approx(wanted)


PAIRS = {
    "ipd": [
        ("TitForTat", "Joss"),
        ("GenerousTFT", "noise(Pavlov, p=0.2)"),
        ("Mixed", "GrimTrigger"),
        ("ExtortZD", "random"),
    ],
    "ipd(continuation=0.6)": [("AlwaysCooperate", "SuspiciousTitForTat"), ("Mixed", "GrimTrigger")],
    "icg": [("Mixed", "Pavlov")],
    "imp": [("random", "first-legal")],
    "auction": [("Shaded", "Truthful"), ("AggressiveValue", "random"), ("Conservative", "Sniper")],
    "auction(seats=3, rounds=2)": [("Shaded", "random", "Conservative")],
    "negotiation-v1": [("Balanced", "random"), ("TFT-Neg", "Concede"), ("BestReply", "noise(Nibbler, p=0.1)")],
    "negotiation-v2(rounds=2, most=1)": [("Adaptive", "Defensive")],
    "kuhn": [("NashApprox", "LooseAggressive"), ("TightPassive", "random"), ("AlwaysPassQueen", "CallingStation")],
    "tic-tac-toe": [("random", "first-legal"), ("perfect", "random")],
    "leduc": [("random", "first-legal")],
    "prisoners-dilemma": [("Mixed", "random")],
    "spiel:kuhn_poker(players=3)": [("random", "first-legal", "random")],
}
EXACT = [(game, names) for game, pairs in PAIRS.items() for names in pairs]


def sampled(game, players, count):
    """A matchup whose agent, player 0, keeps its seat."""
    match, slots = Match(game, players), tuple(range(len(players)))
    setups = (Setup(id=str(i), group=str(i), match=match, slots=slots, key=Key(17).at(i)) for i in range(count))
    return Matchup("others", 1, ("train",), tuple(play(setups, detail=False)))


@pytest.mark.parametrize(("text", "names"), EXACT)
def test_long_play_agrees(text, names):
    game = make_game(text)
    players = made(game, *names)
    found, matchup = expected_payoffs(game, players, BIG), sampled(game, players, 150 if names[0] == "perfect" else 400)
    rest = [seat for seat in range(len(names)) if seat > 0]
    others = {s: math.fsum(found.per_round(seat, scaled=s) for seat in rest) / len(rest) for s in (True, False)}
    for scaled in (True, False):
        pairs = [
            (matchup.payoff(scaled=scaled), found.per_round(0, scaled=scaled)),
            (matchup.opponent_payoff(scaled=scaled), others[scaled]),
            (matchup.advantage(scaled=scaled), others[scaled] - found.per_round(0, scaled=scaled)),
        ]
        for name in signal_names(game) if scaled else ():
            total, meant = found.signal(name, 0)
            estimate = matchup.signal(name)
            assert (estimate is None) == (meant == 0.0)
            if estimate is not None:
                pairs.append((estimate, total / meant))
        for estimate, wanted in pairs:
            assert abs(estimate.mean - wanted) <= 4.0 * estimate.se + 1e-9


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ipd(rounds=4)", ("Joss", "GenerousTFT")),
        ("ipd(rounds=4)", ("TitForTwoTats", "Mixed")),
        ("ipd(rounds=4, continuation=0.5)", ("Pavlov", "noise(TitForTat, p=0.3)")),
        ("auction(rounds=2)", ("Shaded", "AggressiveValue")),
        ("negotiation-v1(rounds=2)", ("TFT-Neg", "random")),
        ("negotiation-v2(rounds=2, most=1)", ("Adaptive", "FairNeg")),
        ("kuhn(hands=3)", ("NashApprox", "random")),
        ("spiel:tic_tac_toe", ("first-legal", "noise(first-legal, p=0.1)")),
        ("spiel:nim(pile_sizes=2;3)", ("random", "perfect")),
    ],
)
def test_merged_situations_are_worth_what_whole_histories_are(text, names):
    game = make_game(text)
    players = made(game, *names)
    merged, whole = (
        expected_payoffs(game, players, BIG),
        expected_payoffs(game, [Forgetful(player) for player in players], BIG),
    )
    assert merged.sums == pytest.approx(whole.sums)
    assert merged.sums["rounds", 0] > 0.0


class ByHistory:
    """Plays what its whole history says, so it may treat equal boards unlike."""

    name = "by history"

    def __init__(self, memory):
        self.traits = Traits(memory=memory)

    def policy(self, view):
        moves = list(view.choices)
        return {moves[Key(7).at(view.info_key).integer(len(moves))]: 1.0}

    def turn(self, ask):
        (move,) = self.policy(ask.view)
        return Move(move)


def test_players_with_longer_memories_are_not_merged():
    """Not in a game of perfect information either."""
    game = make_game("tic-tac-toe")
    first = make_player("random", game)
    found = expected_payoffs(game, [first, ByHistory(None)], BIG).per_round(0)
    matchup = sampled(game, [first, ByHistory(None)], 1500)
    assert matchup.payoff().mean == pytest.approx(found, abs=4 * matchup.payoff().se)
    merged = expected_payoffs(game, [first, ByHistory(0)], BIG).per_round(0)  # declared wrongly on purpose
    assert merged != pytest.approx(found, abs=1e-3)


def test_long_games_weigh_their_rounds_alike():
    """Ends are random: the mean of episodes' means would be another number."""
    game = make_game("ipd(rounds=50, continuation=0.5)")
    players = made(game, "AlwaysCooperate", "SuspiciousTitForTat")
    rounds = 2.0
    assert expected_payoffs(game, players).per_round(0) == pytest.approx((0.0 + 3.0 * (rounds - 1.0)) / rounds)
    assert expected_payoffs(game, players).sums["rounds", 0] == pytest.approx(rounds)
    matchup = sampled(game, players, 2000)
    assert matchup.payoff(scaled=False).mean == pytest.approx(1.5, abs=4 * matchup.payoff(scaled=False).se)
    assert matchup.mean(lambda e: e.per_round(0)).mean < 1.2


@pytest.mark.parametrize("text", ["kuhn(hands=2)", "auction(seats=3)", "negotiation-v2(most=2)", "leduc", "pig", "ipd"])
def test_chance_sums_to_one(text):
    game = make_game(text)
    begun = list(starts(game))
    assert math.fsum(p for p, _ in begun) == pytest.approx(1.0)
    for _, state in begun[:20]:
        joint = {seat: state.view(seat).choices.first for seat in state.to_act}
        assert math.fsum(p for p, _, _ in outcomes(state, joint)) == pytest.approx(1.0)


def test_continuation_is_a_chance_of_its_own():
    game = make_game("ipd(continuation=0.25)")
    ((_, state),) = starts(game)
    found = sorted((p, after.over) for p, after, _ in outcomes(state, {0: "COOPERATE", 1: "DEFECT"}))
    assert found == [(0.25, False), (0.75, True)]


@pytest.mark.parametrize("text", ["negotiation-v2", "liars-dice", "connect-four", "pig"])
def test_too_large_games_are_refused(text):
    game = make_game(text)
    with pytest.raises(CannotCompute, match="too large to be computed exactly"):
        expected_payoffs(game, made(game, "random") * 2, 500)


def test_too_many_joint_actions_are_refused_before_they_are_followed(monkeypatch):
    monkeypatch.setattr("stratagem.measure.policies.outcomes", lambda *_: pytest.fail("followed"))
    game = make_game("public-goods(seats=40, rounds=1)")
    with pytest.raises(CannotCompute, match="too large to be computed exactly"):
        best_response(game, make_player("random", game), 0)


def test_many_deals_that_are_one_situation_are_counted_too(monkeypatch):
    """A quiz has about a million deals, and few situations for players that look at neither."""
    game = make_game("kuhn-spiel")
    deals = iter([next(starts(game))] * 60_000)
    monkeypatch.setattr("stratagem.measure.policies.starts", lambda _: deals)
    with pytest.raises(CannotCompute, match="too large to be computed exactly"):
        expected_payoffs(game, made(game, "random") * 2, 5_000)
    assert len(list(deals)) == 10_000 - 1


def test_long_games_are_computed():
    game = make_game("ipd(rounds=1000)")
    assert expected_payoffs(game, made(game, "TitForTat", "AlwaysDefect")).per_round(0) == pytest.approx(0.999)


class Wrong:
    name, traits = "wrong", Traits(exact=True)

    def __init__(self, policy):
        self.policy = policy


def lost(view):
    raise ZeroDivisionError("no odds")


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (lost, "wrong raised 'ZeroDivisionError: no odds' when asked for its probabilities"),
        (lambda view: None, "when asked for its probabilities"),
        (lambda view: {"COOPERATE": 0.5}, "no mixture of legal actions"),
        (lambda view: {"COOPERATE": 1.5, "DEFECT": -0.5}, "no mixture of legal actions"),
        (lambda view: {"FLY": 1.0}, "no mixture of legal actions"),
    ],
)
def test_what_is_no_policy_cannot_be_computed_with(policy, sentence):
    game = make_game("ipd")
    with pytest.raises(CannotCompute, match=sentence):
        expected_payoffs(game, [Wrong(policy), make_player("TitForTat", game)])
