"""Advantage alignment by hand, from recorded games, and against the table that follows it with exact values."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
import torch

from stratagem.algorithms.shapellm.shapers.gradient_shapers import aligned_gradient
from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame, joint_actions, naive_gradient
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learn.advantages.advantage_alignment import AdvantageAlignment
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.learn.advantages.per_round import PerRound
from stratagem.learn.advantages.role_baseline import RoleBaseline
from stratagem.learn.advantages.segments import cells, returns_to_go
from stratagem.players.base import Scripted, Traits
from stratagem.playing.forks import forks
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups
from stratagem.training.rollouts import (
    SelectedDecision,
    decision_columns,
    rewards_of_others,
    round_payoffs,
    select_decisions,
    term_by_round,
)

ROUNDS = 3
GAMES = [f"{name}(rounds={ROUNDS})" for name in ("ipd-shapellm", "icg", "c-ipd", "imp")]


def test_advantages_by_hand():
    """Returns with gamma .5 are [3, 2] and [1, 4] to the seat, and [2, 4] and [4, 0] to the other."""
    decisions = Decisions(
        episode=[0, 0, 1, 1], group=[0] * 4, round=[0, 1] * 2,
        terms={"payoff": [2.0, 2.0, -1.0, 4.0]}, others={"payoff": [0.0, 4.0, 4.0, 0.0]},
    )  # fmt: skip
    of = PerRound(normalize_std=False, leave_one_out=True, discount=0.5)
    estimate = AdvantageAlignment(of=of, alignment_weight=2.0, discount=0.5)(decisions)
    # A1 = +-2, -+2; A2 = -+2, +-4; of the second round 2 * .5 * (.5 * A1_0) * A2_1
    assert estimate.advantage.tolist() == pytest.approx([2.0, -2.0 + 4.0, -2.0, 2.0 + 4.0])
    assert estimate.counts["realigned"] == 1


def test_sum_over_earlier_rounds_is_discounted_by_distance():
    own, others = [3.0, -1.0, 2.0, 5.0], [1.0, 2.0, -4.0, 3.0]
    decisions = Decisions(episode=[0] * 4, round=range(4), terms={"known": own}, others={"known": others})
    found = AdvantageAlignment(of=Known(), alignment_weight=0.7, discount=0.9)(decisions).advantage
    for t in range(4):
        past = sum(0.9 ** (t - k) * own[k] for k in range(t))
        assert found[t] == pytest.approx(own[t] + 0.7 * 0.9 * past * others[t])


def test_decisions_of_one_round_have_one_past():
    """A message and a move of each round: what comes before is the same, and a round counts once."""
    twice = Decisions(
        episode=[0] * 4, round=[0, 0, 1, 1], terms={"known": [2.0, 7.0, 1.0, 1.0]}, others={"known": [1.0] * 4}
    )
    found = AdvantageAlignment(of=Known(), alignment_weight=1.0, discount=1.0)(twice).advantage
    assert found.tolist() == [2.0, 7.0, 3.0, 3.0]


def test_moving_average_of_the_others_is_kept_beside_that_of_the_seat():
    estimator = AdvantageAlignment(of=RoleBaseline(ema_decay=0.5))
    batch = Decisions(
        episode=[0, 1], role=[0, 0], roles=("ipd/0",), round=[0, 0], terms={"payoff": [4.0, 4.0]},
        others={"payoff": [-8.0, -8.0]},
    )  # fmt: skip
    first = estimator(batch)
    assert first.state == {"role_baseline/ipd/0": 3.0, "others/role_baseline/ipd/0": -6.0}
    assert estimator(batch, first.state).state == {"role_baseline/ipd/0": 3.75, "others/role_baseline/ipd/0": -7.5}


# --- recorded games


@dataclass(frozen=True)
class Sequence(Scripted):
    """Player of a given sequence of actions."""

    actions: tuple[int, ...]
    traits = Traits()

    def strategy(self, view):
        return view.facts.labels[self.actions[len(view.facts.mine)]]


HISTORIES = list(product(product((0, 1), repeat=ROUNDS), repeat=2))


def all_games(text):
    """Play the game once in each way; the rows are those of both seats."""
    game = make_game(text)
    setups = [
        Setup(id=str(n), match=Match(game, [Sequence(own), Sequence(other)]), slots=(0, 1), key=Key(0), group="all")
        for n, (own, other) in enumerate(HISTORIES)
    ]
    return play_setups(setups)


def columns(text):
    episodes = all_games(text)
    rows = select_decisions(episodes, slots=(0, 1))
    return rows, episodes, decision_columns(rows, episodes, {"payoff": round_payoffs}, others=True)


@pytest.mark.parametrize("text", GAMES)
def test_others_column_has_the_payoffs_of_the_other_seat(text):
    rows, episodes, decisions = columns(text)
    wanted = [episodes[row.episode].rounds[row.decision.round][1 - row.decision.seat] for row in rows]
    assert decisions.others["payoff"].tolist() == wanted


def test_rewards_of_others_count_until_the_seat_decides_again():
    """The seat decides in rounds 1 and 3 of five, in the first of them twice; what was before is nobody's."""
    episode = all_games(GAMES[0])[0]
    episode.rounds = [(0.0, 10.0**number) for number in range(5)]
    own = [replace(row, round=number) for number, row in zip((1, 1, 3), episode.decisions[::2], strict=True)]
    rows = [SelectedDecision(0, "all", row, None) for row in own]
    found = rewards_of_others(rows, [episode], {"payoff": round_payoffs})
    assert found["payoff"].tolist() == [0.0, 110.0, 11000.0]


def test_term_of_a_branch_begins_with_the_round_of_the_branch():
    parent = all_games("ipd-shapellm(rounds=3)")[5]
    match = Match(make_game("ipd-shapellm(rounds=3)"), [Sequence((0, 1, 0)), Sequence((1, 0, 1))])
    branch, *_ = play_setups(forks(parent, match, 2, Key(0), at=2))
    assert term_by_round("payoff")(branch, 0) == {2: branch.rounds[0][0]}
    assert len(term_by_round("payoff")(parent, 0)) == 3


# --- the table


class Known(AdvantageEstimator):
    """Advantages that are given: the sum of the terms."""

    def estimate(self, decisions, state):
        return AdvantageEstimate(advantage=decisions.reward(None))


class Table:
    """Two memory-one policies in a game, and what follows from them for every way to play it."""

    def __init__(self, text, gamma, seed=0):
        self.game = MemoryOneGame.of(make_game(text), 0, gamma)
        generator = torch.Generator().manual_seed(seed)
        self.policies = torch.randn(2, 5, generator=generator, dtype=torch.float64).unbind(0)
        self.values = self._values()
        self.weights = np.array([self._probability(own, other) for own, other in HISTORIES])

    def of_seat(self, seat):
        """The game and the policies as a seat sees them, its own first."""
        return (self.game if seat == 0 else self.game.swap_seats()), *self.policies[:: 1 if seat == 0 else -1]

    def state(self, own, other, t):
        return 0 if t == 0 else 1 + 2 * own[t - 1] + other[t - 1]

    def _probability(self, own, other):
        joint = joint_actions(*self.policies)
        return float(np.prod([joint[self.state(own, other, t), 2 * own[t] + other[t]] for t in range(ROUNDS)]))

    def _values(self):
        """Values of both seats by round and state of the first seat, as it sees them."""
        joint, values = joint_actions(*self.policies), [torch.zeros(2, 5, dtype=torch.float64)]
        for _ in range(ROUNDS):
            values.append((self.game.payoffs + self.game.discount * values[-1][:, 1:]) @ joint.T)
        return torch.stack(values[::-1]).numpy()

    def potential(self, row, of):
        """Change of the value of seat `of` over the round of a row: with its payoff this is the exact advantage."""
        own, other = HISTORIES[row.episode]
        t = row.decision.round
        after = self.values[t + 1, of, self.state(own, other, t + 1)] if t + 1 < ROUNDS else 0.0
        return self.game.discount * after - self.values[t, of, self.state(own, other, t)]

    def step(self, rows, advantage, seat):
        """The expected step of a seat's five log-odds: each way to play it by its probability, round t by gamma^t."""
        gradient = np.zeros(5)
        _, policy, _ = self.of_seat(seat)
        first = torch.sigmoid(policy).numpy()
        for row, value in zip(rows, advantage, strict=True):
            if row.decision.seat == seat:
                actions = HISTORIES[row.episode][:: 1 if seat == 0 else -1]
                t = row.decision.round
                at = self.state(*actions, t)
                score = (actions[0][t] == 0) - first[at]
                gradient[at] += self.weights[row.episode] * self.game.discount**t * value * score
        return gradient


def exact(table, rows, decisions):
    """The recorded columns, with the change of the exact values beside each payoff."""
    own = [table.potential(row, row.decision.seat) for row in rows]
    other = [table.potential(row, 1 - row.decision.seat) for row in rows]
    return replace(decisions, terms={**decisions.terms, "change": own}, others={**decisions.others, "change": other})


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("gamma", "beta"), [(1.0, 1.0), (0.9, 0.5), (0.96, 3.0)])
@pytest.mark.parametrize("text", GAMES)
def test_expected_step_of_recorded_games_is_that_of_the_table(text, gamma, beta, seat):
    """With exact advantages the two are the same formula: one over recorded decisions, one over states."""
    rows, _, decisions = columns(text)
    table = Table(text, gamma)
    estimate = AdvantageAlignment(of=Known(), alignment_weight=beta, discount=gamma)(exact(table, rows, decisions))
    wanted = aligned_gradient(*table.of_seat(seat), beta).numpy()
    assert np.abs(table.step(rows, estimate.advantage, seat) - wanted).max() < 1e-9
    assert np.abs(wanted - naive_gradient(*table.of_seat(seat)).numpy()).max() > 1e-3


def by_returns(table, decisions, gamma):
    """Returns of each decision to the seat and to the other, less their means over all games in the same round."""
    weights, rounds = table.weights[decisions.episode // 2], cells(decisions.round, decisions.role)
    found = []
    for column in (decisions.terms["payoff"], decisions.others["payoff"]):
        returns = returns_to_go(column, cells(decisions.episode), gamma)
        found.append(returns - (rounds.total(weights * returns) / rounds.total(weights))[rounds.of])
    return found


@pytest.mark.parametrize("text", GAMES)
def test_group_baseline_differs_from_the_table_by_later_rewards_in_the_past(text):
    """A2 by returns has the table's step. A1_k by returns has rewards from round t on, which depend on the action."""
    gamma, beta = 0.9, 1.0
    rows, _, decisions = columns(text)
    table = Table(text, gamma)
    own, other = by_returns(table, decisions, gamma)
    known = exact(table, rows, decisions)
    given = {name: sum(getattr(known, name).values()) for name in ("terms", "others")}

    def step(first, second, weight=beta):
        columns = replace(decisions, terms={"known": first}, others={"known": second})
        estimate = AdvantageAlignment(of=Known(), alignment_weight=weight, discount=gamma)(columns)
        return table.step(rows, estimate.advantage, 0)

    wanted = aligned_gradient(*table.of_seat(0), beta).numpy()
    assert np.abs(step(own, other, 0.0) - naive_gradient(*table.of_seat(0)).numpy()).max() < 1e-9
    assert np.abs(step(given["terms"], other) - wanted).max() < 1e-9
    assert np.abs(step(own, other) - wanted).max() > 1e-3


def test_group_of_equal_games_has_the_advantages_by_returns():
    """Even policies play each game as often: the mean over the rollouts of a group is then that over all games."""
    text = GAMES[0]
    _, _, decisions = columns(text)
    table = Table(text, 0.9)
    table.weights = np.ones(len(HISTORIES))
    own, _ = by_returns(table, decisions, 0.9)
    estimate = read_advantage("advantage_alignment(alignment_weight=0)").value(decisions)
    assert estimate.advantage * (1 - 1 / len(HISTORIES)) == pytest.approx(own)
