"""Adapters come when their member is met, and go when others were met since; what is trained stays trained."""

import pytest
import torch

from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.adapters import adapter_names, adapter_parameters
from stratagem.language.models.load import load
from stratagem.language.models.reference import BadModel
from stratagem.playing.dispatch import BatchQueue
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play
from stratagem.training.runs.folder import RunFolder


def state_in(path, **changes):
    data = {"games": ["kuhn(hands=1)"], "adapter": {"rank": 2}, "league": {"max_loaded_adapters": 2}, **changes}
    recipe = LeagueRecipe.read(data)
    return LeagueState(
        recipe, RunFolder.create(path / "run", recipe, 0, "a test"), {recipe.learner_bases[0]: load(recipe.model)}
    )


def kept_in_turn(state, count):
    """Members that each differ from the one before."""
    for step in range(count):
        for weight in state.learners["main"].learner.optimizer.weights:
            weight.data.add_(0.05)
        state.learners["main"].engine.publish("main", step)
        yield state.add_snapshot("main", step)


@pytest.fixture
def state(tmp_path):
    return state_in(tmp_path)


def test_who_was_met_last_stays(state):
    game = make_game("kuhn(hands=1)")
    view = game.start(Key(0)).view(0)
    seats = state.member_players(game)
    learner = state.learners["main"].learner
    members = list(kept_in_turn(state, 4))
    said = [seats.player(member).policy(view) for member in members]
    assert len({tuple(mix.values()) for mix in said}) == 4
    assert said[-1] == state.learners["main"].player.policy(view)
    assert len(adapter_names(state.learners["main"].lm)) == 5
    seats.trim()
    assert len(adapter_names(state.learners["main"].lm)) == 3
    again = [seats.player(member).policy(view) for member in members]
    assert [dict(mix) for mix in again] == [dict(mix) for mix in said]
    assert all(weight.requires_grad for weight in learner.optimizer.weights)
    assert sum(weight.requires_grad for weight in state.learners["main"].lm.model.parameters()) == len(
        learner.optimizer.weights
    )


@pytest.mark.runs
def test_seven_seats_with_seven_adapters_share_a_batch_and_each_says_what_it_says_alone(tmp_path):
    """The first orders of a whole game of Diplomacy: one batch of seven, and the seven one after the other."""
    state = state_in(
        tmp_path, games=["diplomacy(judged=False)"], model="small", style="bare", league={"max_loaded_adapters": 7}
    )
    game = make_game("diplomacy(judged=False)")
    seats = state.member_players(game)
    match = Match(game, [seats.player(member) for member in kept_in_turn(state, 7)])
    setup = Setup(id="one", match=match, slots=tuple(range(7)), key=Key(5), turns=1)
    batches = []

    def together(requests):
        batches.append({request.adapter for request in requests})
        return requests[0].engine.answer(requests)

    def one_by_one(requests):
        return [request.engine.answer([request])[0] for request in requests]

    (whole,) = play([setup], BatchQueue(together))
    assert [len(adapters) for adapters in batches] == [7]
    state.learners["main"].engine.reader.forget("")
    (alone,) = play([setup], BatchQueue(lambda requests: [request.engine.answer([request])[0] for request in requests]))
    for one, other in zip(whole.decisions, alone.decisions, strict=True):
        assert one.action == other.action
        assert len(one.action.split("\n")) >= 3
        assert one.calls[0].tokens == other.calls[0].tokens
        assert one.calls[0].sampler_logprobs == pytest.approx(other.calls[0].sampler_logprobs, abs=1e-4)
    assert len({row.calls[0].policy.adapter for row in whole.decisions}) == 7


def test_the_last_adapter_cannot_go(state):
    with pytest.raises(BadModel, match="one must stay"):
        state.learners["main"].engine.drop_adapter("main")


def test_who_begins_anew_is_as_it_was_and_nothing_is_known_of_it(state):
    agent, view = state.learners["main"].player, make_game("kuhn(hands=1)").start(Key(0)).view(0)
    before = agent.policy(view)
    for weight in state.learners["main"].learner.optimizer.weights:
        weight.data.add_(0.1)
    state.learners["main"].engine.publish("main", 1)
    state.results.record("main", "base", 1.0)
    assert agent.policy(view) != before
    state.reset("main")
    assert agent.policy(view) == before
    assert state.results.rate("main", "base") == 0.5


def test_the_reference_of_who_begins_anew_begins_anew(tmp_path):
    state = state_in(tmp_path, reference={"type": "ema"}, league={"loss": {"kl_estimator": "k3", "kl_coef": 0.1}})
    learner = state.learners["main"].learner
    for weight in learner.optimizer.weights:
        weight.data.add_(0.1)
    learner.moving_reference.update(learner.moving_reference.rule.update_every)
    state.reset("main")
    pairs = zip(
        adapter_parameters(state.learners["main"].lm, learner.moving_reference.name),
        learner.optimizer.weights,
        strict=True,
    )
    assert all(torch.equal(reference, weight) for reference, weight in pairs)
