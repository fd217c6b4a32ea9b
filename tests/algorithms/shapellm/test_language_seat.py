"""Updates of a language seat: its learning rate scale follows the number of updates."""

import math
from dataclasses import replace

import pytest
import torch

from stratagem.algorithms.shapellm.algorithm import Trials, bases_of
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import Seat, UpdateData
from stratagem.algorithms.shapellm.seats import SeatFactory
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learn.learner import StepReport
from stratagem.learn.monitor import TrainingWarning
from stratagem.learn.schedules import Experience, Schedule
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups
from stratagem.training.runs.folder import RunFolder


@pytest.fixture
def seat(tmp_path):
    naive = {
        "learner": "naive",
        "optimizer": {"learning_rate": 1e-3},
        "learning_rate_scale": {"start": 0.0, "end": 1.0, "steps": 2},
    }
    game = "ipd-shapellm(labels=(C, D), rounds=2)"
    recipe = ShapeLLMRecipe.read({"game": game, "seats": {"naive": naive, "other": {"learner": "tabular"}}})
    made = make_game(recipe.game)
    return SeatFactory(recipe, made, bases_of(recipe, RunFolder(tmp_path / "run"))).seats()["naive"], made


def games_of(seat, game):
    match = Match(game, [seat.player, make_player("random", game)])
    return play_setups(Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(4))


def moved(seat, game, number):
    """Return the distance that an update moves the weights."""
    weights = seat.policy.learner.optimizer.weights[:-2]
    before = [weight.detach().clone() for weight in weights]
    seat.update(UpdateData([games_of(seat, game)], 0, Key(number)))
    pairs = zip(before, weights, strict=True)
    return max(float((old - new.detach()).abs().max()) for old, new in pairs)


def test_learning_rate_scale_follows_the_number_of_updates(seat):
    seat, game = seat
    found = [(moved(seat, game, number), seat.policy.learner.optimizer.learning_rate_scale) for number in range(3)]
    assert [pace for _, pace in found] == [0.0, 0.5, 1.0]
    assert found[0][0] == 0.0 < found[1][0]


@pytest.mark.parametrize(("unit", "scales"), [("update", [0.0, 0.5, 1.0]), ("episode", [0.0, 1.0]), ("trial", [0.0])])
def test_ramp_moves_the_weights_by_its_unit(seat, unit, scales):
    """In the first trial of five episodes a ramp over two trials holds the weights; one over two updates does not."""
    seat, game = seat
    ramp = Schedule(start=0.0, end=1.0, steps=2, unit=unit)
    seat.settings = seat.settings.model_copy(update={"learning_rate_scale": ramp})
    optimizer, found, distances = seat.policy.learner.optimizer, [], []
    for number in range(3):
        before = [weight.detach().clone() for weight in optimizer.weights[:-2]]
        seat.update(UpdateData([games_of(seat, game)], 0, Key(number), episodes_before=2 * number, trials_before=0))
        found.append(optimizer.learning_rate_scale)
        distances.append(
            sum(float((a - b.detach()).abs().sum()) for a, b in zip(before, optimizer.weights, strict=False))
        )
    assert found == [*scales, *[scales[-1]] * 3][:3]
    assert [distance > 0.0 for distance in distances] == [scale > 0.0 for scale in found]


def test_trials_tell_seats_what_was_played_before_an_update():
    """A seat that updates every episode and one that updates once a trial count the same trials and episodes."""
    told = {"naive": [], "shaper": []}

    class CountingSeat(Seat):
        """Seat that notes the experience before each of its updates."""

        def __init__(self, name, game, every):
            super().__init__(make_player("random", game), every=every)
            self.name = name

    game = make_game("ipd-shapellm(labels=(C, D), rounds=2)")
    seats = {"naive": CountingSeat("naive", game, 1), "shaper": CountingSeat("shaper", game, 3)}
    trials = Trials(game, seats, environments=1, episodes=3, key=Key(0))
    for number in range(2):
        for batch in trials.batches(number):
            if batch.policy:
                told[batch.policy].append((batch.data.trials_before, batch.data.episodes_before))
    assert told["naive"] == [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]
    assert told["shaper"] == [(0, 0), (1, 3)]
    ramps = {unit: Schedule(start=0.0, end=1.0, steps=4, unit=unit) for unit in ("trial", "episode")}
    for trial in range(2):
        first = [
            Experience(0, episodes, trials) for seat in told.values() for trials, episodes in seat if trials == trial
        ]
        assert len({ramps["trial"].after(one) for one in first}) == 1
    assert ramps["episode"].after(Experience(1, *reversed(told["shaper"][1]))) == 0.75


def test_value_head_has_no_learning_rate_scale(seat):
    seat, game = seat
    moved(seat, game, 0)
    assert seat.policy.learner.value_head.weight.abs().max() > 0.0


def test_restored_seat_continues_its_learning_rate_scale(seat, tmp_path):
    seat, game = seat
    moved(seat, game, 0)
    state = seat.state()
    seat.write(tmp_path)
    moved(seat, game, 1)
    seat.restore(state, tmp_path)
    moved(seat, game, 1)
    assert seat.policy.learner.optimizer.learning_rate_scale == 0.5
    assert torch.isfinite(seat.policy.learner.value_head.weight).all()


def test_reward_of_a_recovered_decision_is_kept(seat):
    """It is not trained on, as no token of it was sampled; its reward is added to the transition before it."""
    seat, game = seat
    episodes = games_of(seat, game)
    own = [row for episode in episodes for row in episode.decisions if row.slot == 0 and row.keep]
    last = next(row for row in reversed(own) if row.turn == 1)
    last.how, last.payoff = "recovered", 7.0
    figures = seat.update(UpdateData([episodes], 0, Key(0)))
    assert figures["num_examples"] == len(own) - 1
    assert figures["score"] * figures["num_examples"] == pytest.approx(sum(row.payoff for row in own))


def test_failed_reply_is_not_trained_on(seat):
    """A reply that broke off has sampled tokens, and they are not the whole of what was said."""
    seat, game = seat
    episodes = games_of(seat, game)
    own = [row for episode in episodes for row in episode.decisions if row.slot == 0 and row.keep]
    own[-1].calls = (replace(own[-1].calls[0], finish="error"),)
    assert seat.update(UpdateData([episodes], 0, Key(0)))["num_examples"] == len(own) - 1


def test_turns_of_two_episodes_of_an_update_are_different_turns(seat, monkeypatch):
    """`advantage_mean_over = "turn"` compares environments at the same turn of the same episode."""
    seat, game = seat
    given, learn = [], seat.proximal.update
    monkeypatch.setattr(seat.proximal, "update", lambda batch, *rest: given.append(batch) or learn(batch, *rest))
    seat.update(UpdateData([games_of(seat, game), games_of(seat, game)], 0, Key(0)))
    turns = dict.fromkeys(given[0].turns)
    assert len(turns) == 2 * 2, "two episodes of two rounds"


def test_update_has_the_memory_of_the_packed_weights(seat, monkeypatch):
    seat, game = seat
    reader, learn, packed = seat.policy.engine.reader, seat.proximal.update, []
    monkeypatch.setattr(seat.proximal, "update", lambda *args: packed.append(len(reader.step.layers)) or learn(*args))
    episodes = games_of(seat, game)
    assert len(reader.step.layers) == 4
    seat.update(UpdateData([episodes], 0, Key(0)))
    assert packed == [0]


def test_updated_seat_plays_its_new_weights(seat):
    seat, game = seat
    versions = []
    for _ in range(2):
        episodes = games_of(seat, game)
        versions.append({row.calls[0].policy.version for one in episodes for row in one.decisions if row.calls})
        seat.update(UpdateData([episodes], 0, Key(0)))
    assert versions == [{0}, {seat.policy.learner.optimizer.steps_taken // 2}]


def test_monitor_checks_every_step_of_a_batch(seat):
    """Of three steps the second is no number."""
    seat, game = seat
    seat.settings = seat.settings.model_copy(update={"learning_rate_scale": Schedule(start=1.0, end=1.0)})
    sound = StepReport(loss=0.1, grad_norm=0.5, learning_rate=1e-3, num_examples=1, num_tokens=1, num_read=1)
    learn = seat.proximal.update

    def spoilt(found, key, _):
        *_, last = learn(found, key)
        yield from (replace(sound, loss=loss, examples=last.examples) for loss in (0.1, math.nan, 0.1))

    seat.proximal.update = spoilt
    with pytest.warns(TrainingWarning, match="The loss is nan"):
        seat.update(UpdateData([games_of(seat, game)], 0, Key(0)))
    assert seat.findings()["not_finite"]["count"] == 1
