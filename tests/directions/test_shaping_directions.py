"""One update of each learning seat of ShapeLLM: what was rewarded, within an episode or a trial, becomes likelier."""

from typing import get_args

import pytest
import torch

from stages import run_trial
from stratagem.algorithms.shapellm.algorithm import Trials, bases_of
from stratagem.algorithms.shapellm.metrics import first_log_odds
from stratagem.algorithms.shapellm.recipe import SeatSettings, ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import UpdateData
from stratagem.algorithms.shapellm.seats import SeatFactory, check_seats
from stratagem.algorithms.shapellm.shapers.gradient_shapers import aligned_gradient, first_order
from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

ONE = "ipd-shapellm(labels=(C, D), rounds=1)"
FLAT = "matrix(payoffs=[[(2, 2), (2, 2)], [(2, 2), (2, 2)]], labels=(C, D), rounds=1, cooperative=True)"
LANGUAGE_SEAT = {"mode": "direct", "style": "shapellm-state", "memory": "last", "optimizer": {"learning_rate": 1e-4}}
ALIGNED = {"advantage": "advantage_alignment", "value_coef": 0.0}
SEATS = {
    "naive": {"learner": "naive", **LANGUAGE_SEAT},
    "aligned": {"learner": "naive", **LANGUAGE_SEAT, "ppo": ALIGNED},
    "shaper": {"learner": "shaper", **LANGUAGE_SEAT},
    "tabular": {"learner": "tabular"},
}
LEARNING = ["naive", "shaper"]
EXACT = ["exact", "lola", "sos", "advantage-alignment"]
TWO_ROUNDS = "ipd-shapellm(labels=(C, D), rounds=2)"


@pytest.fixture
def seated(tmp_path):
    """A learning seat of these settings in a game, beside nobody who matters."""

    def made(kind, text=ONE, **settings):
        seats = {"learner": {**SEATS[kind], **settings}, "other": {"learner": "tabular"}}
        recipe = ShapeLLMRecipe.read({"game": text, "seats": seats, "episodes": 2})
        game, bases = make_game(text), bases_of(recipe, RunFolder(tmp_path / "run"))
        return SeatFactory(recipe, game, bases).seats()["learner"], game

    return made


def defects(seat, game):
    """Compute the seat's probability of its second action at the start."""
    player = seat.player
    view = game.start(Key(0)).view(0)
    return dict(player.policy(view))["D"]


def games(seat, game, opponent, number=12, key=0):
    match = Match(game, [seat.player, make_player(opponent, game)])
    return play_setups(Setup(id=f"{key}-{n}", match=match, slots=(0, 1), key=Key(key).at(n)) for n in range(number))


def own(episode):
    return next(row for row in episode.decisions if row.slot == 0)


def moved(seat, game, stages):
    before = defects(seat, game)
    seat.update(UpdateData(stages, 0, Key(1)))
    return defects(seat, game) - before


def test_every_learning_seat_has_a_direction_case():
    kinds = {get_args(one.model_fields["learner"].annotation)[0] for one in get_args(get_args(SeatSettings)[0])}
    kinds |= {"aligned"}  # a naive learner with another advantage
    assert kinds == {*SEATS, *EXACT, "mfos", "frozen", "scripted"}, "of mfos, its generations are tested by themselves"


@pytest.mark.parametrize("opponent", ["ipd/AlwaysCooperate", "ipd/AlwaysDefect"])
@pytest.mark.parametrize("kind", SEATS)
def test_own_payoff_raises_the_action_that_pays(seated, kind, opponent):
    seat, game = seated(kind)
    assert moved(seat, game, [games(seat, game, opponent)]) > 1e-4


@pytest.mark.parametrize("opponent", ["ipd/AlwaysCooperate", "ipd/AlwaysDefect"])
@pytest.mark.parametrize("kind", EXACT)
def test_exact_values_raise_the_action_that_pays(kind, opponent):
    """The opponent does not learn: its log-odds of 40 do not move, so shapers are naive against it."""
    seats = {"learner": {"learner": kind}, "other": {"learner": "scripted", "player": opponent}}
    recipe = ShapeLLMRecipe.read({"game": TWO_ROUNDS, "seats": seats, "episodes": 1, "environments": 1})
    game = make_game(TWO_ROUNDS)
    made = SeatFactory(recipe, game, {}).seats()
    seat, before = made["learner"], defects(made["learner"], game)
    run_trial(Trials(game, made, 1, 1, Key(0)), 0)
    assert defects(seat, game) - before > 1e-2


@pytest.mark.parametrize("centre", ["batch", "turn"])
@pytest.mark.parametrize("kind", LEARNING)
def test_the_sum_of_payoffs_raises_what_pays_both_together(seated, kind, centre):
    seat, game = seated(kind, reward="sum", ppo={"advantage_mean_over": centre})
    assert moved(seat, game, [games(seat, game, "ipd/AlwaysCooperate")]) < -1e-4


GIFTS = "matrix(payoffs=[[(1, 1), (0, 1)], [(1, 0), (0, 0)]], labels=(C, D), rounds=2, cooperative=True)"
"""C is a gift to the other seat, and nobody's own payoff depends on the own action."""


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_aligned_language_seat_returns_gifts_as_the_table_does(seated, weight):
    """One update on the same game: C becomes likelier after a gift than after none, whatever was given before.

    The alternatives are compared within the seat, whose model moves all states together.
    """
    ppo = {
        "advantage": {"type": "advantage_alignment", "alignment_weight": weight, "discount": 1.0},
        "value_coef": 0.0, "adaptive_kl": {"initial_kl_coef": 0.0}, "batches": {"mini_batch_size": 100},
    }  # fmt: skip
    seat, game = seated("naive", GIFTS, ppo=ppo)
    before = torch.tensor(first_log_odds(game, 0, seat), dtype=torch.float64)
    episodes = games(seat, game, "random", 400)
    seat.update(UpdateData([episodes], 0, Key(1)))
    moved = torch.tensor(first_log_odds(game, 0, seat), dtype=torch.float64) - before
    table = aligned_gradient(MemoryOneGame.of(game, 0, 1.0), before, torch.zeros(5, dtype=torch.float64), weight)
    for gift, none in ((1, 2), (3, 4)):
        assert (table[gift] - table[none] > 0.01) == bool(weight)
        assert (moved[gift] - moved[none] > 1e-3) == bool(weight), moved


def test_lola_reads_the_five_probabilities_of_a_language_seat(tmp_path):
    """Its step is that of the formula, from the model's log-odds as they were played."""
    seats = {"table": {"learner": "lola"}, "model": {**SEATS["naive"]}}
    recipe, game = ShapeLLMRecipe.read({"game": TWO_ROUNDS, "seats": seats, "environments": 2}), make_game(TWO_ROUNDS)
    check_seats(recipe, game)
    made = SeatFactory(recipe, game, bases_of(recipe, RunFolder(tmp_path / "run"))).seats()
    played = torch.tensor(first_log_odds(game, 1, made["model"]), dtype=torch.float64)
    run_trial(Trials(game, made, 2, 1, Key(0)), 0)
    after = torch.tensor(first_log_odds(game, 0, made["table"]), dtype=torch.float64)
    even = torch.zeros(5, dtype=torch.float64)
    assert torch.allclose(after, first_order(MemoryOneGame.of(game, 0, 1.0), even, played, 1.0))
    assert not torch.allclose(after, first_order(MemoryOneGame.of(game, 0, 1.0), even, even, 1.0))


def trial(seat, game):
    """Two episodes in four environments: all joint ways to play them; the second alone has a reward, for the first."""
    pool = games(seat, game, "ipd/AlwaysCooperate", 60)
    by_action = {a: [e for e in pool if own(e).action == a] for a in "CD"}
    first = [by_action[action].pop() for action in "CCDD"]
    second = [by_action[action].pop() for action in "CDCD"]
    for one, later in zip(first, second, strict=True):
        own(one).payoff = 0.0
        own(later).payoff = 5.0 if own(one).action == "C" else 0.0
    return first, second


@pytest.mark.parametrize("centre", ["batch", "turn"])
def test_a_shaper_is_paid_for_what_comes_of_an_action_in_a_later_episode(seated, centre):
    seat, game = seated("shaper", ppo={"advantage_mean_over": centre})
    assert moved(seat, game, trial(seat, game)) < -1e-4


def test_a_table_is_paid_for_what_comes_of_an_action_in_a_later_episode(seated):
    seat, game = seated("tabular", update_every="trial")
    assert moved(seat, game, trial(seat, game)) < -1e-4


def test_a_naive_learner_is_not(seated):
    """It learns from the first episode alone, in which nothing was rewarded; what moves it is nobody's reward."""
    seat, game = seated("naive")
    first, _ = trial(seat, game)
    assert moved(seat, game, [first]) == 0.0


@pytest.mark.parametrize("kind", LEARNING)
def test_the_penalty_leads_back_to_the_reference(seated, kind):
    seat, game = seated(kind, FLAT, ppo={"adaptive_kl": {"initial_kl_coef": 5.0}, "scale_scores": False})
    home = defects(seat, game)
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in seat.policy.learner.optimizer.weights[:-2]:
            weight += 0.05 * torch.randn_like(weight)
    seat.policy.engine.publish("learner", 1)
    away = defects(seat, game)
    assert abs(home - away) > 1e-3
    assert (home - away) * moved(seat, game, [games(seat, game, "ipd/AlwaysCooperate")]) > 0.0


@pytest.mark.parametrize("kind", LEARNING)
def test_the_bonus_for_entropy_evens_the_actions_out(seated, kind):
    seat, game = seated(
        kind, FLAT, ppo={"entropy_coef": {"start": 1.0, "end": 1.0}, "adaptive_kl": {"initial_kl_coef": 0.0}}
    )
    before = defects(seat, game)
    assert (0.5 - before) * moved(seat, game, [games(seat, game, "ipd/AlwaysCooperate")]) > 0.0
