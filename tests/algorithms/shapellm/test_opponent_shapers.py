"""LOLA, SOS and advantage alignment: gradients by finite differences, and the published ends in the dilemma."""

import itertools

import pytest
import torch

from stratagem.algorithms.shapellm.shapers.gradient_shapers import aligned_gradient, first_order, stable, through_step
from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame, memory_one_views, naive_gradient
from stratagem.algorithms.shapellm.tabular_seat import TabularLearner
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.language.prompting.catalogue import make_style
from stratagem.measure.expectation import expected_payoffs

PUBLISHED = "matrix(payoffs=[[(-1,-1),(-3,0)],[(0,-3),(-2,-2)]], rounds=128)"
"""The prisoner's dilemma of LOLA and M-FOS; 128 rounds leave .5 % of the discounted return out."""
THREE = "matrix(payoffs=[[(0,0),(0,0)],[(0,0),(0,0)],[(0,0),(0,0)]], labels=(A,B,C), labels_second=(A,B))"
GAMES = ["ipd-shapellm(rounds=7)", "imp(rounds=6)", "icg(rounds=5)", "ish(rounds=9)", "c-ipd(rounds=6)"]


def policies(seed=0, *leading):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, *leading, 5, generator=generator, dtype=torch.float64).unbind(0)


def differences(value, point, step=1e-5):
    """Gradient of a function by central differences."""
    moves = step * torch.eye(5, dtype=torch.float64)
    return torch.stack([(value(point + move) - value(point - move)) / (2 * step) for move in moves])


def table(game, slot, log_odds):
    """Tabular player with these log-odds."""
    learner = TabularLearner(make_style("shapellm-state"), 0.5)
    for view, value in zip(memory_one_views(game, slot).values(), log_odds.tolist(), strict=True):
        row = learner.row(view)
        row[view.choices.first] += value
    return learner


@pytest.mark.parametrize("text", [*GAMES, "icg(rounds=5, continuation=.7)"])
def test_values_are_those_of_the_exact_expectation(text):
    game, (first, second) = make_game(text), policies()
    told = expected_payoffs(game, [table(game, 0, first), table(game, 1, second)])
    for slot, own, other in ((0, first, second), (1, second, first)):
        mine, theirs = MemoryOneGame.of(game, slot, 1.0).values(own, other)
        assert mine.item() == pytest.approx(told.sums["payoff", slot])
        assert theirs.item() == pytest.approx(told.sums["payoff", 1 - slot])


def test_values_are_discounted():
    """Mutual defection from the first round on: -2 in each round."""
    defect = torch.full((5,), -60.0, dtype=torch.float64)
    game = MemoryOneGame.of(make_game(PUBLISHED), 0, 0.96)
    assert game.values(defect, defect)[0].item() == pytest.approx(-2 * game.length)
    assert game.length == pytest.approx((1 - 0.96**128) / 0.04)


@pytest.mark.parametrize("text", ["auction", "ipd-shapellm(rounds=1)", THREE])
def test_other_games_are_refused(text):
    with pytest.raises(BadParameter, match="two actions and at least two rounds"):
        MemoryOneGame.of(make_game(text), 0, 1.0)


@pytest.mark.parametrize("slot", [0, 1])
def test_naive_gradient_is_that_of_the_own_value(slot):
    game, (own, other) = MemoryOneGame.of(make_game("c-ipd"), slot, 0.9), policies()
    by_hand = differences(lambda point: game.values(point, other)[0], own)
    assert torch.allclose(naive_gradient(game, own, other), by_hand, atol=1e-6)


@pytest.mark.parametrize("slot", [0, 1])
def test_lola_differentiates_through_the_opponents_step(slot):
    game, (own, other) = MemoryOneGame.of(make_game("c-ipd"), slot, 0.9), policies(1)

    def after_step(point, eta=0.3):
        return game.values(point, other + eta * naive_gradient(game.swap_seats(), other, point))[0]

    assert torch.allclose(through_step(game, own, other, 0.3), differences(after_step, own), atol=1e-5)


@pytest.mark.parametrize("slot", [0, 1])
def test_lola_to_first_order_adds_the_effect_on_the_opponents_step(slot):
    game, (own, other) = MemoryOneGame.of(make_game("c-ipd"), slot, 0.9), policies(2)
    weight = differences(lambda point: game.values(own, point)[0], other)

    def effect(point):
        return weight @ naive_gradient(game.swap_seats(), other, point)

    by_hand = naive_gradient(game, own, other) + 0.3 * differences(effect, own)
    assert torch.allclose(first_order(game, own, other, 0.3), by_hand, atol=1e-5)


@pytest.mark.parametrize("gradient", [first_order, through_step, stable, aligned_gradient])
@pytest.mark.parametrize("slot", [0, 1])
def test_shapers_without_shaping_are_naive_learners(gradient, slot):
    game, (own, other) = MemoryOneGame.of(make_game("icg"), slot, 0.95), policies(3)
    assert torch.allclose(gradient(game, own, other, 0.0), naive_gradient(game, own, other))


def test_aligned_gradient_is_the_mean_over_all_episodes():
    """Three rounds, so 64 episodes: each with its probability, its advantages and its scores."""
    beta, gamma = 0.7, 0.9
    game, (own, other) = MemoryOneGame.of(make_game("ish(rounds=3)"), 0, gamma), policies(4)
    first, second = torch.sigmoid(own), torch.sigmoid(other)
    mean = torch.zeros(5, dtype=torch.float64)

    def chance(state, joint):
        mine, theirs = divmod(joint, 2)
        seen = (0, 1, 3, 2, 4)[state]
        return (first[state] if not mine else 1 - first[state]) * (second[seen] if not theirs else 1 - second[seen])

    def value(state, left):
        if not left:
            return torch.zeros(2, dtype=torch.float64)
        return sum(
            chance(state, joint) * (game.payoffs[:, joint] + gamma * value(joint + 1, left - 1)) for joint in range(4)
        )

    for episode in itertools.product(range(4), repeat=3):
        state, weight, past, scores = 0, 1.0, 0.0, torch.zeros(5, dtype=torch.float64)
        for number, joint in enumerate(episode):
            later = gamma * value(joint + 1, 2 - number)
            mine, theirs = game.payoffs[:, joint] + later - value(state, 3 - number)
            score = (1.0 if joint < 2 else 0.0) - first[state]
            scores[state] += gamma**number * (mine + beta * gamma * past * theirs) * score
            past = gamma * (past + mine)
            weight, state = weight * chance(state, joint), joint + 1
        mean += weight * scores
    assert torch.allclose(aligned_gradient(game, own, other, beta), mean)


def learnt(gradient, steps, *settings, episodes=8):
    """Payoffs per round of two learners of one kind, by start, with the published rates and starts."""
    game = MemoryOneGame.of(make_game(PUBLISHED), 0, 0.96)
    one, two = policies(0, episodes)
    for _ in range(steps):
        one, two = (
            one + gradient(game, one, two, *settings).detach(),
            two + gradient(game.swap_seats(), two, one, *settings).detach(),
        )
    return torch.stack(game.values(one, two)) / game.length, one


def test_naive_learners_defect_in_the_published_dilemma():
    payoffs, _ = learnt(naive_gradient, 40)
    assert (payoffs < -1.9).all()


def test_lola_learners_cooperate_in_the_published_dilemma():
    """LOLA has -1.06 a step there, tit for tat in most runs; two naive learners have -1.98."""
    payoffs, policy = learnt(first_order, 40, 1.0)
    assert payoffs.mean() > -1.15
    start, both, exploited, exploiting, _ = torch.sigmoid(policy).mean(0).tolist()
    assert min(start, both, exploiting) > 0.75 > 0.4 > exploited


def test_advantage_alignment_learners_cooperate_in_the_published_dilemma():
    game = MemoryOneGame.of(make_game(PUBLISHED.replace("128", "40")), 0, 0.96)
    one, two = policies(0)
    for _ in range(12):
        one, two = (
            one + aligned_gradient(game, one, two, 1.0),
            two + aligned_gradient(game.swap_seats(), two, one, 1.0),
        )
    assert min(game.values(one, two)).item() / game.length > -1.1


@pytest.mark.parametrize(
    ("text", "seed", "shift", "spread", "rate", "naive_size", "against"),
    [
        ("ipd-shapellm", 5, 0, 1, 0.3, "large", False),
        ("ipd-shapellm", 5, -5, 0.3, 30, "small", False),
        ("c-ipd", 2, 0, 1, 3.0, "large", True),
    ],
)
def test_stable_shaping_is_its_published_formula(text, seed, shift, spread, rate, naive_size, against):
    """Both players' terms by differences; near mutual defection the shaping term is scaled by |xi|^2.

    Where it points against the look-ahead direction, it is scaled so that the two together do not.
    """
    games = [MemoryOneGame.of(make_game(text), slot, 0.9) for slot in (0, 1)]
    both = [spread * policy + shift for policy in policies(seed)]
    terms = []
    for game, own, other in ((games[0], *both), (games[1], *both[::-1])):
        cross = differences(lambda point, game=game, own=own: game.values(own, point)[0], other)
        their_step = naive_gradient(game.swap_seats(), other, own)
        ahead = differences(
            lambda point, game=game, other=other, step=their_step: (
                differences(lambda their: game.values(point, their)[0], other, 1e-4) @ step
            ),
            own,
            1e-3,
        )
        shaping = differences(
            lambda point, game=game, other=other, cross=cross: cross @ naive_gradient(game.swap_seats(), other, point),
            own,
        )
        naive = naive_gradient(game, own, other)
        terms.append((naive, naive + rate * ahead, rate * shaping))
    naive, ahead, shaping = (torch.cat(parts) for parts in zip(*terms, strict=True))
    along = shaping @ ahead
    scale = 1.0 if along >= 0 else min(1.0, float(-0.5 * ahead @ ahead / along))
    assert (scale < 0.9) == against
    assert (naive.norm() < 0.1) == (naive_size == "small")
    scale = min(scale, float(naive.norm() ** 2)) if naive.norm() < 0.1 else scale
    assert torch.allclose(stable(games[0], *both, rate), (ahead + scale * shaping)[:5], atol=2e-4)
