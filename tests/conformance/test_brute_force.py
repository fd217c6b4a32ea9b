"""Brute force against published values, every way to exact figures against brute force, and planted faults."""

import ast
import inspect
from dataclasses import dataclass, replace

import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games import Flat, Game, Key, RoundResult, State, View, make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.conformance import brute_force
from stratagem.games.enumeration import Tape
from stratagem.games.kuhn import Kuhn, KuhnState
from stratagem.measure import best_response as induction
from stratagem.measure.brute_force_check import RandomPolicy, brute_force_check, compare, explore_game
from stratagem.players.uniform import uniform

SMALL = [
    "described",
    "prisoners-dilemma",
    "ipd(rounds=3)",
    "ipd(continuation=0.5, rounds=3)",
    "imp(rounds=2)",
    "icg(rounds=2)",
    "ish(rounds=2)",
    "c-ipd(rounds=2)",
    "ipd-shapellm(rounds=2)",
    "matrix(payoffs=[[(3, 1), (0, 2), (1, 1)], [(2, 0), (1, 3), (0, 0)]], labels=('UP', 'DOWN'), "
    "labels_second=('LEFT', 'MIDDLE', 'RIGHT'), rounds=2)",
    "auction(rounds=1)",
    "auction(rounds=1, price=second)",
    "auction(seats=3, rounds=1)",
    "public-goods(seats=2, rounds=2)",
    "negotiation-v1(rounds=2, pie=2)",
    "sender-receiver",
    "kuhn(hands=1)",
    "kuhn(hands=2)",
    "kuhn-spiel",
    "talk(kuhn(hands=1), before=round, intents=[state])",
    "talk(prisoners-dilemma)",
    "talk(kuhn(hands=2), before=round, intents=[], words=[hi])",
    "spiel:kuhn_poker(players=3)",
    "spiel:liars_dice(dice_sides=2)",
    "spiel:goofspiel(num_cards=3)",
    "spiel:nim(pile_sizes=1;2;2)",
    "spiel:pig(winscore=3,horizon=4)",
    "spiel:connect_four(rows=2,columns=2,x_in_row=2)",
    "spiel:first_sealed_auction(max_value=3)",
    "spiel:oshi_zumo(coins=3,size=1,horizon=3)",
    "spiel:tiny_hanabi",
    "spiel:matrix_pd",
]
LARGER = [
    "resistance(missions=1, attempts=1)",
    "sender-receiver(states=3, rounds=2)",
    "public-goods(rounds=2, fine=0.6)",
    "leduc",
    "blind-auction",
    "talk(kuhn(hands=2), before=round, intents=[], words=[hi], who=[0])",
]
TOO_LARGE = {"negotiation-v2", "quiz", "diplomacy", "tic-tac-toe", "connect-four", "liars-dice"}
TOO_LARGE |= {"bargaining", "breakthrough", "breakthrough-6x6"}
"""Games without options that would make them small enough."""


def check_of(game, most=100_000):
    made = make_game(game)
    return brute_force_check(made, explore_game(made, most), Key(1))


def has_twin(game):
    """Return whether OpenSpiel has the game, with information sets."""
    twin = make_game(game).twin()
    return twin is not None and twin.spiel.get_type().provides_information_state_string


DEAR = "talk(kuhn(hands=2), before=round, intents=[], words=[hi])"


@pytest.mark.parametrize(
    "game",
    [
        *(pytest.param(game, marks=[pytest.mark.runs] * (game == DEAR)) for game in SMALL),
        *(pytest.param(game, marks=pytest.mark.long) for game in LARGER),
    ],
)
def test_every_way_to_exact_figures_agrees_with_brute_force(game):
    check = check_of(game)
    assert check.outcome == "passed", str(check)
    ways = check.detail.partition(" by ")[2].partition(";")[0].split(", ")
    assert set(ways) == {"expectation", "induction", "tree", "exact"} | ({"OpenSpiel"} if has_twin(game) else set())


@pytest.mark.parametrize("hands", [1, 2])
def test_a_round_of_a_whole_match_has_the_exact_figures_a_round(hands):
    """The match is played whole by brute force, in which both seats open; the exact figures are of one hand."""
    found = {one.name: one for one in compare(make_game(f"kuhn(hands={hands})"), RandomPolicy(Key(2), by_state=True))}
    names = ("value of seat 0", "best response of seat 1") if hands == 1 else ("sum of the best responses",)
    for name in (*names, "worst advantage"):
        assert found[f"exact: {name}"].other == pytest.approx(found[f"exact: {name}"].brute_force, abs=1e-12)


def test_every_game_of_the_catalogue_is_compared_or_too_large():
    named = {make_game(game).spec.family for game in (*SMALL, *LARGER)}
    assert {name for name in GAMES if name != "matrix" and make_game(name).spec.family not in named} <= TOO_LARGE


@pytest.mark.parametrize("game", sorted(TOO_LARGE))
def test_a_game_with_too_many_histories_is_refused_in_a_sentence(game):
    with pytest.raises(BadParameter, match=rf"^{game} has more than 200 histories, about .+, too many for brute force"):
        explore_game(make_game(game), 200)


def test_open_text_is_refused_in_a_sentence():
    with pytest.raises(CannotCompute, match="has open text"):
        explore_game(make_game("talk(kuhn(hands=1), intents=[], limit=9)"), 200)


@pytest.mark.parametrize(("game", "histories", "sets", "nash_conv"), [("kuhn(hands=1)", 54, 12, 2 * 0.458333)])
def test_brute_force_of_uniform_play_against_published_values(game, histories, sets, nash_conv):
    """Kuhn's game has 54 histories after the deal, and twelve information sets; NashConv of uniform play by OpenSpiel.

    Its equilibrium with alpha 0 has the value -1/18, and no response gains.
    """
    made = make_game(game)
    assert brute_force.explore(made, histories) == (histories, sets, "")
    found = [brute_force.best_response(made, lambda view: uniform(view.choices), seat)[0] for seat in (0, 1)]
    assert sum(found) == pytest.approx(nash_conv, abs=1e-5)
    nash = sg.player("NashApprox(alpha=0.0)", made).policy
    assert brute_force.values(made, nash).returns == pytest.approx((-1 / 18, 1 / 18))
    assert [brute_force.best_response(made, nash, seat)[0] for seat in (0, 1)] == pytest.approx([-1 / 18, 1 / 18])


def test_brute_force_imports_nothing_but_the_interface_of_games():
    """Code that is shared with trees and inductions would share their faults."""
    tree = ast.parse(inspect.getsource(brute_force))
    froms = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in froms if name.startswith("stratagem")} == {"stratagem.games.base"}


# --- planted faults


class OverpaidState(KuhnState):
    """Pays a bet that is called with the king against the queen one chip too much."""

    __slots__ = ()

    def payoffs(self):
        return (3.0, -3.0) if (self.cards, self.line) == ("KQ", "BC") else super().payoffs()


@dataclass(frozen=True, kw_only=True)
class Overpaid(Kuhn):
    state = OverpaidState


@dataclass(frozen=True, kw_only=True)
class OverpaidInMatches(Overpaid):
    """Its single hand is right, so that only the whole match shows the fault."""

    def one_round(self):
        return Kuhn(hands=1)


class StackedState(KuhnState):
    """Deals the jack to the first seat half of the time."""

    __slots__ = ()

    def begin(self):
        super().begin()
        first = self.chance.at("stacked", self.round).choose((2, 1, 1))
        second = self.chance.at("card", self.round, 1).integer(2)
        self.cards = "JQK"[first] + "JQK"[second + (second >= first)]


@dataclass(frozen=True, kw_only=True)
class Stacked(Kuhn):
    state = StackedState


@dataclass(frozen=True, kw_only=True)
class Shortsighted(Kuhn):
    """Cannot tell a jack from a queen by its information sets, which the texts do."""

    def info_key(self, facts):
        return super().info_key(facts).replace("Q", "J")


@dataclass(frozen=True, kw_only=True)
class Forgetful(Kuhn):
    """Promises that a seat's line alone fixes what can happen next."""

    def state_key(self, facts):
        return facts.line


@pytest.mark.parametrize(
    ("game", "found"),
    [
        (Overpaid(hands=1), "OpenSpiel: value of seat 0 is"),
        (OverpaidInMatches(hands=2), "exact: sum of the best responses is"),
        (Stacked(hands=1), "OpenSpiel: value of seat 0 is"),
        (Shortsighted(hands=1), "one information set has two situations that the seat can tell apart: seat"),
        (Forgetful(hands=1), "induction: best response of seat"),
    ],
)
def test_a_planted_fault_of_a_game_is_found(game, found):
    check = brute_force_check(game, explore_game(game, 2000), Key(1))
    assert check.outcome == "failed"
    assert found in check.detail


class LotteryState(State[int]):
    """One choice, and a win of 4 in three of four draws of one of them."""

    __slots__ = ()

    def view(self, seat):
        return View(self.game, seat, seat)

    def play(self, actions):
        if set(actions) != set(self.to_act) or not set(actions.values()) <= {"DRAW", "STAY"}:
            raise self.refuse(actions)
        won = actions[0] == "DRAW" and self.chance.at("draw").choose((1, 3))
        self.end()
        return RoundResult((4.0 * won, 0.0))


@dataclass(frozen=True)
class Lottery(Game[int]):
    """Draws with weights that do not sum to 1."""

    state = LotteryState
    spec = replace(
        Kuhn(hands=1).spec, name="lottery", utility="general-sum", simultaneous=True, private_information=False
    )

    def choices(self, facts):
        return Flat(("DRAW", "STAY"))

    def rules(self, seat):
        return "DRAW or STAY."

    def situation(self, facts):
        return "Nobody has chosen yet."


class HastyState(LotteryState):
    """Draws by what no enumeration can settle."""

    __slots__ = ()

    def play(self, actions):
        self.end()
        return RoundResult((self.chance.at("draw").unit(), 0.0))


@dataclass(frozen=True)
class Hasty(Lottery):
    state = HastyState


def test_an_error_of_a_game_is_a_finding():
    check = brute_force_check(Hasty(), explore_game(Hasty(), 100), Key(1))
    assert check.outcome == "failed"
    assert check.detail.startswith("raised AttributeError in line")


def test_weights_that_do_not_sum_to_one_are_probabilities():
    policy = RandomPolicy(Key(1))
    (value, _), drawn = brute_force.values(Lottery(), policy.policy).returns, policy.policy(View(Lottery(), 0, 0))
    assert value == pytest.approx(3.0 * drawn.get("DRAW", 0.0))
    assert brute_force.best_response(Lottery(), policy.policy, 0) == pytest.approx((3.0, 3.0))
    assert brute_force_check(Lottery(), explore_game(Lottery(), 100), Key(1)).outcome == "passed"


def test_an_enumeration_without_normalised_weights_is_found(monkeypatch):
    def outcomes(self, draw):
        for outcome, weight in enumerate(draw.weights):
            yield weight, Tape({**self.settled, draw.path: outcome})

    monkeypatch.setattr(Tape, "outcomes", outcomes)
    check = brute_force_check(Lottery(), explore_game(Lottery(), 100), Key(1))
    assert check.outcome == "failed"
    assert "expectation: value of seat 0" in check.detail  # the detail is cut


def test_a_best_response_by_the_wrong_objective_is_found(monkeypatch):
    monkeypatch.setattr(induction, "value_of", lambda plan, objective, later: plan.payoff)
    wrong = [one for one in compare(make_game("ipd(rounds=2)"), RandomPolicy(Key(1))) if one.difference > 1e-9]
    assert {one.name for one in wrong} >= {"induction: best response of seat 0", "induction: advantage of seat 1"}


class CoinState(State[tuple[int, int, str]]):
    """Rounds in which one seat asks for a coin, the other bets on it, and the seats change their parts."""

    __slots__ = ("line",)
    state_fields = ("line",)

    def __init__(self, game, chance):
        super().__init__(game, chance)
        self.line = ""

    def begin(self):
        self.line, self.to_act = "", (self.round % 2,)

    def view(self, seat):
        return View(self.game, seat, (seat, (seat + self.round) % 2, self.line))

    def play(self, actions):
        (action,) = actions.values()
        if not self.line:  # the coin of a round is drawn in the midst of it
            self.line = action + "HT"[self.chance.at("coin", self.round).choose([1.0, 3.0])]
            self.to_act = (1 - self.to_act[0],)
            return RoundResult((0.0, 0.0), closed=False)
        won = (3.0 if self.line[0] == "A" else 1.0) * (1.0 if action == self.line[1] else -2.0)
        payoffs = (won, -won) if self.to_act[0] == 0 else (-won, won)
        self.round += 1
        if self.round < 3:
            self.begin()
        else:
            self.end()
        return RoundResult(payoffs)


@dataclass(frozen=True)
class Coins(Game[tuple[int, int, str]]):
    """Three rounds, of which the first and the third have the same parts."""

    state = CoinState
    spec = replace(Kuhn().spec, name="coins", rounds=3, bounds=(-18.0, 18.0), private_information=False)

    def choices(self, facts):
        return Flat(("H", "T")) if facts[2] else Flat(("A", "B"))

    def info_key(self, facts):
        return f"{facts[1]}{facts[2]}"

    def rules(self, seat):
        return "A or B; then H or T."

    def situation(self, facts):
        return facts[2] or "Begin."


def test_a_draw_in_the_midst_of_a_round_is_no_draw_of_the_next():
    check = brute_force_check(Coins(), explore_game(Coins(), 10_000), Key(1))
    assert check.outcome == "passed", str(check)
    assert "tree, exact" in str(check)
