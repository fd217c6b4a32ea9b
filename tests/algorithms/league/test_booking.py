"""Results of branched rollouts: a seat's gain over its position decides, and a group is one observation."""

import math
from dataclasses import dataclass

import pytest

from stratagem.games.abilities import TimedState
from stratagem.games.base import Game, RoundResult, View, pending
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat
from stratagem.games.key import Key
from stratagem.games.spec import GameSpec
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups
from stratagem.training.branch_groups import Group, Lineup
from stratagem.training.opponents.booking import baseline, book, group_points
from stratagem.training.opponents.results import Results

STEPS = ("0", "1", "2")


class RaceState(TimedState):
    """Position of each seat in a race; the share of the way is the payoff at the end."""

    state_fields = ("way", "turn")

    def begin(self):
        super().begin()
        self.way, self.turn = (5, 2), 0

    def view(self, seat):
        return View(self.game, seat, (self.way, self.turn))

    def play(self, actions):
        self.way = tuple(way + int(actions[seat]) for seat, way in enumerate(self.way))
        self.turn += 1
        if self.turn < 10:
            return pending(2)
        self.end()
        return RoundResult(self.standing())

    def standing(self):
        return tuple(float(way) for way in self.way)


@dataclass(frozen=True)
class Race(Game):
    """Two seats walk for ten turns, 0 to 2 steps a turn; the first seat begins three steps ahead."""

    state = RaceState
    spec = GameSpec(name="race", family="race", summary="A race.", rounds=1, simultaneous=True, utility="general-sum",
                    bounds=(0.0, 25.0), chance=False, private_information=False, symmetric=False)  # fmt: skip

    def choices(self, facts):
        return Flat(STEPS)

    def rules(self, seat):
        return "Walk."

    def situation(self, facts):
        return f"{facts}"


@dataclass(frozen=True)
class Walker:
    """Walks by drawn steps."""

    name: str
    steps: tuple[str, ...] = STEPS
    traits = Traits(stochastic=True)

    def turn(self, ask):
        return Move(self.steps[ask.key.integer(len(self.steps))])


EQUAL, STRONG, WEAK = Walker("equal"), Walker("strong", ("1", "2")), Walker("weak", ("0", "1"))
SIZE = 4


def branched(agent, other, *, groups=1, size=SIZE, swap=False):
    """Groups of rollouts of four turns from the first position, with the agent's seat rotated, or fixed by `swap`."""
    match, lineup = Match(Race(), [agent, other]), Lineup((other.name,), (other,))
    position, made, setups = Race().start(Key(0)), [], []
    for number in range(groups):
        key, slots = Key(7).at(agent.name, number), (1, 0) if swap else (0, 1)
        setups += [
            Setup(
                id=f"{number}/{one}", match=match, slots=slots, key=key.at(one), state=position, turns=4, counted=True
            )
            for one in range(size)
        ]
        made.append(Group(None, 0, slots, lineup, key))
    return made, play_setups(setups), position


def booked(agent, other, score, **how):
    """The learner's rate, and how many results it rests on."""
    groups, episodes, position = branched(agent, other, **how)
    results = Results([agent.name, other.name], decay=1.0)
    book(results, agent.name, groups, [baseline(position, score)] * len(groups), episodes)
    return results.rate(agent.name, other.name), results.games(agent.name, other.name)


@pytest.mark.parametrize("swap", [False, True])
def test_booking_by_gain_is_even_for_equals_from_any_position(swap):
    """By payoff the seat that stood better wins."""
    other = Walker("other")
    rate, _ = booked(EQUAL, other, "gain", groups=300, swap=swap)
    assert rate == pytest.approx(0.5, abs=3.3 * 0.5 / (300 * SIZE) ** 0.5)
    by_payoff, _ = booked(EQUAL, other, "payoff", groups=300, swap=swap)
    assert by_payoff < 0.2 if swap else by_payoff > 0.8


@pytest.mark.parametrize("swap", [False, True])
def test_booking_by_gain_puts_the_stronger_first_from_both_positions(swap):
    rate, _ = booked(STRONG, WEAK, "gain", groups=60, swap=swap)
    assert rate > 0.9
    rate, _ = booked(WEAK, STRONG, "gain", groups=60, swap=swap)
    assert rate < 0.1


def test_booking_by_payoff_lets_the_position_hide_the_stronger():
    """Over four turns the stronger gains 4 + B(8, 1/2) - 4 more, and is three behind: P(B > 3) + P(B = 3) / 2."""
    behind, _ = booked(STRONG, WEAK, "payoff", groups=60, swap=True)
    ahead, _ = booked(WEAK, STRONG, "payoff", groups=60)
    wins = (sum(math.comb(8, n) for n in range(4, 9)) + math.comb(8, 3) / 2) / 2**8
    assert behind == pytest.approx(wins, abs=0.09)
    assert ahead == pytest.approx(1.0 - wins, abs=0.09)
    assert behind < booked(STRONG, WEAK, "gain", groups=60, swap=True)[0]


@pytest.mark.parametrize("size", [1, 8])
def test_book_records_one_result_a_group(size):
    _, games = booked(EQUAL, Walker("other"), "gain", groups=6, size=size)
    assert games == 6.0


def test_book_records_the_mean_over_rollouts_and_returns_the_means():
    groups, episodes, position = branched(EQUAL, Walker("other"))
    results = Results(["equal", "other"])
    found = book(results, "equal", groups, [baseline(position, "gain")], episodes)
    gains = [(episode.payoffs[0] - 5.0, episode.payoffs[1] - 2.0) for episode in episodes]
    wanted = sum(0.5 if one == other else float(one > other) for one, other in gains) / SIZE
    assert len(set(gains)) > 1
    assert results.rate("equal", "other") == pytest.approx(wanted) == found.points
    assert found.payoff == pytest.approx(sum(episode.payoffs[0] for episode in episodes) / SIZE)


def test_book_records_one_result_for_an_opponent_in_several_seats_and_none_against_a_copy():
    """Diplomacy between three powers, from a position after two turns, with the learner itself at one seat."""
    game = make_game("diplomacy(until=1902, only=[FRANCE, GERMANY, ITALY], judged=False)")
    bots = {name: make_player(name, game) for name in ("dumbbot", "random")}
    (parent,) = play_setups([Setup(id="p", match=Match(game, [bots["dumbbot"]] * 3), slots=(0, 1, 2), key=Key(1))])
    position = game.start(Key(1))
    for turn in range(2):
        rows = [row for row in parent.decisions if row.turn == turn]
        position.play({row.seat: row.action for row in rows})
    results = Results(["main", "dumbbot"])
    lineups = [Lineup(("dumbbot", "dumbbot"), (bots["dumbbot"],) * 2), Lineup(("main", "main"), (bots["random"],) * 2)]
    groups = [Group(parent, 2, (0, 1, 2), lineup, Key(2)) for lineup in lineups]
    setups = [
        Setup(id=f"{number}/{one}", match=Match(game, [bots["random"], *group.lineup.players]), slots=(0, 1, 2),
              key=Key(3).at(number, one), state=position, until=5, counted=True)
        for number, group in enumerate(groups)
        for one in range(2)
    ]  # fmt: skip
    episodes = play_setups(setups)
    worth = baseline(position, "gain")
    assert worth == position.standing() != baseline(position, "payoff") == (0.0, 0.0, 0.0)
    points = group_points(groups[0], worth, episodes[:2])["dumbbot"]
    assert len(points) == 4
    book(results, "main", groups, [worth, worth], episodes)
    assert [row[2:] for row in results.pairs()] == [(1.0, sum(points) / 4), (1.0, 1.0 - sum(points) / 4)]


def test_baseline_is_zero_in_a_game_without_standings():
    position = make_game("kuhn(hands=1)").start(Key(0))
    assert baseline(position, "gain") == baseline(position, "payoff") == (0.0, 0.0)
