"""The loss and the advantage of a recipe: what each algorithm takes trains, and what it lacks is refused by name."""

import json
import sys
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from stages import play_round
from stratagem.algorithms.grpo import GRPOAlgorithm, GRPORecipe
from stratagem.algorithms.league.algorithm import Round
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.algorithms.reinforce import REINFORCERecipe, SelfPlayCollector
from stratagem.algorithms.scopal.recipe import RewardSettings
from stratagem.algorithms.sepo.algorithm import SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.learn.advantages.base import Decisions
from stratagem.learn.advantages.catalogue import ESTIMATORS, read_advantage
from stratagem.learn.advantages.group_mean import GroupMean
from stratagem.learn.advantages.per_round import PerRound
from stratagem.learn.advantages.role_baseline import RoleBaseline
from stratagem.learn.losses.catalogue import LOSSES, read_loss
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.proximal import PPOSettings
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.collector import merge
from stratagem.training.online import policy_of
from stratagem.training.opponents.pool import OpponentPool
from stratagem.training.provided import KL_SFT, PROVIDED, SCO_PAL, SHAPELLM, needs
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KUHN = "kuhn(hands=1)"
RATE = {"learning_rate": 3e-3}
RECIPES = {"grpo": GRPORecipe, "sepo": SEPORecipe, "league": LeagueRecipe, "reinforce": REINFORCERecipe}
POLICY_LOSSES = {"policy_gradient", "sepo", "grpo", "dr_grpo", "dapo"}
BY_PLAY = {"group_mean", "message_effect", "per_round", "role_baseline", "rloo"}
BY_ALL = BY_PLAY | {"advantage_alignment"}
"""Estimators of the algorithms that also know what the other seats earn."""
ADVANTAGES = {"grpo": BY_ALL | {"per_order"}, "league": BY_ALL | {"per_order"}, "sepo": BY_PLAY, "reinforce": BY_ALL}
NESTED = {"whitened(of=group_mean)", "scaled(of=rloo)"}


def taken(stage, key, names):
    """The names that an algorithm takes, and what it says of the others."""
    refused = {}
    for name in names:
        try:
            RECIPES[stage].read({stage: {key: name}})
        except BadParameter as error:
            refused[name] = str(error)
    return set(names) - set(refused), refused


@pytest.mark.parametrize("stage", RECIPES)
def test_an_algorithm_takes_the_losses_of_a_policy_that_plays(stage):
    accepted, refused = taken(stage, "loss", LOSSES)
    assert accepted == POLICY_LOSSES
    assert "reads no `advantage`" in refused.pop("cross_entropy")
    for name, owner in {"ppo": "ShapeLLM", "dpo": "SCO-PAL", "kto": "SCO-PAL", "kl_targets": "KL-SFT"}.items():
        assert f"The loss {name} needs" in refused[name]
        assert refused[name].endswith(f"does not collect: {owner} does.")


@pytest.mark.parametrize("stage", RECIPES)
def test_an_algorithm_takes_the_estimators_whose_columns_it_has(stage):
    accepted, refused = taken(stage, "advantage", ESTIMATORS)
    assert accepted == ADVANTAGES[stage]
    assert refused["gae"].startswith("The advantage gae needs the column `value`, which ")
    assert refused["gae"].endswith("does not collect: ShapeLLM does.")
    assert "needs the column `action`, the column `outcome` and the column `state`" in refused["step_win_rate"]
    assert refused["step_win_rate"].endswith("does not collect: SCO-PAL does.")
    if stage == "sepo":
        assert "the column `others`, which SEPO does not collect: GRPO" in refused["advantage_alignment"]


def test_what_no_algorithm_has_is_said():
    with pytest.raises(BadParameter, match="no algorithm here does"):
        GRPORecipe.read({"grpo": {"loss": "policy_gradient(weighted=True, entropy_coef=0.1)"}})
    with pytest.raises(
        BadParameter, match="needs the column `weight`, which SEPO does not collect: GRPO and a league do"
    ):
        SEPORecipe.read({"sepo": {"advantage": "per_order"}})


@pytest.mark.parametrize(
    ("stage", "said", "sentence"),
    [
        (
            "grpo",
            {"advantage": {"weights": {"payoff": 2.0}}},
            "GRPO weighs the terms of the reward by `reward_weights`",
        ),
        (
            "sepo",
            {"advantage": "whitened(of=group_mean(weights={}))"},
            "by `exploitability_weight`, `collusion_weight`, `externality_weight` and `deception_weight`: leave",
        ),
        (
            "grpo",
            {"advantage": "scaled(of=rloo, reward_term=parts)"},
            "the term parts of the reward, which GRPO does not have",
        ),
        ("sepo", {"advantage": "scaled(of=rloo)"}, "its batches have different terms"),
        (
            "grpo",
            {"advantage": "advantage_alignment", "reward_weights": {"payoff": 1.0, "outcome": 1.0}},
            "compares the reward with that of the other seats, which have no term outcome: leave it out",
        ),
        ("grpo", {"credit": "turn"}, 'or advantage = "per_round" (turn)'),
        ("grpo", {"credit": "turn", "advantage": "rloo"}, "There is no setting grpo.credit any more"),
        ("league", {"kl": 0.1}, 'write `loss = { kl_estimator = "k3", kl_coef = ... }`'),
        ("sepo", {"clip": 0.1}, "write `loss = { clip_range_low = ..., clip_range_high = ... }`"),
    ],
)
def test_what_cannot_be_is_one_sentence(stage, said, sentence):
    with pytest.raises(BadParameter) as caught:
        RECIPES[stage].read({stage: said})
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_defaults_are_the_losses_and_estimators_of_the_papers():
    forked = GRPORecipe.read({}).grpo, LeagueRecipe.read({}).league
    assert {one.loss.value for one in forked} == {
        PolicyGradient(clip_range_low=0.2, clip_range_high=0.28, entropy_coef=0.01)
    }
    assert {one.advantage.value for one in forked} == {GroupMean()}
    sepo = SEPORecipe.read({}).sepo
    assert sepo.loss.value == PolicyGradient(kl_estimator="one_sided", kl_coef=0.1, normalize_by="divisor")
    assert sepo.advantage.value == PerRound(unit="round", return_to_go=True)


@pytest.mark.parametrize("estimator", [GroupMean, PerRound])
def test_weighing_the_terms_before_the_estimator_is_the_same_to_the_bit(estimator):
    """An estimator that weighs its terms itself gives the same."""
    rng, weights = np.random.default_rng(0), {"payoff": 1.7, "externality": -0.3}
    columns = {"episode": np.arange(40) // 3, "group": np.arange(40) // 12, "round": np.arange(40) % 3}
    decisions = Decisions(**columns, terms={name: rng.normal(size=40) for name in (*weights, "unused")})
    own, before = estimator(weights=weights)(decisions), estimator()(decisions.weigh_terms(weights))
    assert np.array_equal(own.advantage, before.advantage)
    assert [*own.centred_terms] == [*before.centred_terms]
    assert all(np.array_equal(own.centred_terms[name], before.centred_terms[name]) for name in weights)


def collector(stage, settings):
    """A model that knows nothing yet, and what plays kuhn for it."""
    adapter = {"targets": ["q_proj", "v_proj"]}
    recipe = RECIPES[stage].read({"games": [KUHN], "temperature": 1.0, "adapter": adapter, stage: settings})
    trained, game = policy_of(recipe, load("tiny")), make_game(KUHN)
    if stage == "sepo":
        return trained, SEPOCollector(recipe.sepo, game, trained.player, Key(0))
    if stage == "reinforce":
        return trained, SelfPlayCollector(recipe.reinforce, game, trained.player, Key(0))
    return trained, BranchedRollouts(
        recipe.grpo, game, trained.player, Key(0), OpponentPool(recipe.grpo, game, trained.player)
    )


SIZE = {
    "grpo": {"group_size": 4, "groups_per_batch": 2},
    "sepo": {"group_size": 4, "groups_per_batch": 1},
    "reinforce": {"episodes_per_batch": 8},
}


def learnt(stage, **settings):
    """The gradients' norms of an iteration."""
    trained, play = collector(stage, {**SIZE[stage], "optimizer": RATE, **settings})
    return [report.grad_norm for report in trained.update_weights(merge([play.collect(0)]).examples)]


@cache
def batches(stage):
    """Examples of two iterations, which no loss has a part in before the weights move."""
    _, play = collector(stage, SIZE[stage])
    return [merge([play.collect(n)]).examples for n in range(2)]


@pytest.mark.parametrize("loss", sorted(POLICY_LOSSES))
@pytest.mark.parametrize("stage", SIZE)
def test_every_loss_that_is_taken_trains(stage, loss):
    trained, _ = collector(stage, {**SIZE[stage], "optimizer": RATE, "loss": loss})
    norms = [report.grad_norm for examples in batches(stage) for report in trained.update_weights(examples)]
    assert len(norms) == 2
    assert np.isfinite(norms).all()
    assert max(norms) > 0.0


@pytest.mark.parametrize(
    ("stage", "advantage"),
    [
        (stage, name)
        for stage in SIZE
        for name in sorted(ADVANTAGES[stage] & BY_ALL | (NESTED if stage != "sepo" else set()))
    ],
)
def test_every_estimator_that_is_taken_trains(stage, advantage):
    norms = learnt(stage, advantage=advantage)
    assert len(norms) == 1
    assert np.isfinite(norms).all()
    assert max(norms) > 0.0


def test_a_loss_and_an_estimator_of_another_package_are_named_by_the_same_keys(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    for read, name, value in (
        (read_loss, "awr", "advantage_weighted:AdvantageWeighted"),
        (read_advantage, "group_median", "group_median:GroupMedian"),
    ):
        entry = EntryPoint(name, value, read.registry.group)
        monkeypatch.setitem(vars(read.registry), "entries", {name: entry})
    assert max(learnt("grpo", loss="awr(awr_beta=0.5)", advantage="group_median")) > 0.0
    assert max(learnt("sepo", loss={"type": "awr", "awr_beta": 0.5}, advantage={"type": "group_median"})) > 0.0
    assert "advantage_weighted" in sys.modules


@pytest.mark.parametrize(("instead", "other"), [("silence", "redrawn"), ("alternatives", "silenced")])
@pytest.mark.parametrize("stage", SIZE)
def test_the_columns_that_an_algorithm_says_it_has_are_there(monkeypatch, stage, instead, other):
    """Both of decisions and of examples; those of a loss's own pass are added by the learner.

    Columns about messages are there if they are asked for, even where there were none.
    """
    seen, estimate = [], PerRound.estimate

    def looked_at(self, decisions, state):
        seen.append(decisions)
        return estimate(self, decisions, state)

    monkeypatch.setattr(PerRound, "estimate", looked_at)
    _, play = collector(stage, {**SIZE[stage], "advantage": f"message_effect(of=per_round, counterfactual={instead})"})
    example, *_ = merge([play.collect(0)]).examples
    provided = RECIPES[stage].model_fields[stage].default.provided
    on_demand = {other, "others"}
    assert all(getattr(decisions, name) is not None for decisions in seen for name in provided.advantage - on_demand)
    there = needs({*example.columns, "old_logprobs"}, example.row, ("reference_logprobs", "entropies"))
    assert provided.loss <= there


def test_what_other_algorithms_have_is_what_their_own_losses_and_estimators_need():
    for name in (
        "kto",
        "dpo",
        "spag",
        "cross_entropy(weighted=True)",
        "policy_gradient(kl_estimator=k3, kl_coef=0.1, weighted=True)",
    ):
        loss = read_loss(name).value
        assert needs(loss.columns, loss.rows, loss.extras, paired=loss.paired) <= SCO_PAL.loss, name
    assert read_advantage(RewardSettings().step_reward).value.columns <= SCO_PAL.advantage
    ppo = PPOSettings().loss()
    assert needs(ppo.columns, ppo.rows, ppo.extras) <= SHAPELLM.loss
    assert PPOSettings(advantage_mean_over="turn").advantage_estimator().columns <= SHAPELLM.advantage
    targets = read_loss("kl_targets").value
    assert needs(targets.columns, targets.rows, targets.extras) <= KL_SFT.loss
    assert len({one.name for one in PROVIDED}) == len(PROVIDED)


def test_in_self_play_each_seat_is_compared_with_its_own_moving_average():
    """SPIRAL's role-conditioned advantage, worked out again from the payoffs; the baseline outlives the iteration."""
    settings = {"groups_per_batch": 1, "group_size": 3, "advantage": {"type": "role_baseline", "ema_decay": 0.5}}
    _, play = collector("grpo", settings)
    baselines = {0: 0.0, 1: 0.0}
    for iteration in range(2):
        found, expected = play.collect(iteration), []
        for episode in (episode for episode in found.episodes if episode.purpose == "train"):
            for seat in range(2):
                own = [row for row in episode.decisions if row.seat == seat and row.calls]
                expected += [episode.payoffs[seat] - baselines[seat]] * len(own)
                baselines[seat] = 0.5 * baselines[seat] + 0.5 * episode.payoffs[seat]
        assert [one.columns["advantage"][0] for one in found.examples] == pytest.approx(expected)
    state = play.state()["advantage"]
    assert list(state.values()) == pytest.approx(list(baselines.values()))
    assert json.loads(json.dumps(state)) == state
    _, other = collector("grpo", settings)
    other.restore(play.state())
    assert [e.columns for e in other.collect(2).examples] == [e.columns for e in play.collect(2).examples]


def test_a_baseline_of_sepo_is_that_of_one_opponent():
    settings = {"groups_per_batch": 1, "group_size": 2, "advantage": "role_baseline"}
    _, play = collector("sepo", settings)
    play.collect(0)
    state = play.state()["advantage"]
    assert len({name for name in state if name.startswith("train/")}) > 2
    assert {role for own in state.values() for role in own} == {f"role_baseline/{KUHN}/0"}
    _, other = collector("sepo", settings)
    other.restore(play.state())
    assert [e.columns for e in other.collect(1).examples] == [e.columns for e in play.collect(1).examples]


BASELINE = {
    "games": [KUHN],
    "opponents": ["random"],
    "evaluate_every": 1,
    "validation_episodes": 2,
    "test_episodes": 2,
    "grpo": {"iterations": 2, "groups_per_batch": 1, "group_size": 2, "advantage": "role_baseline", "optimizer": RATE},
}


@pytest.mark.runs
def test_a_run_with_a_baseline_resumes_to_the_bit(tmp_path):
    recipe = GRPORecipe.read(BASELINE)
    whole, broken = (RunFolder.create(tmp_path / name, recipe, 0, "a test") for name in ("whole", "broken"))
    GRPOAlgorithm(recipe, whole).train()

    def plug(step, steps, seen):
        if step == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GRPOAlgorithm(recipe, broken).train(plug)
    GRPOAlgorithm(recipe, broken).train()
    found, expected = read_metrics(broken), read_metrics(whole)
    assert any(expected["grad_norm"].values)
    assert {name: curve.values for name, curve in found.items()} == {n: c.values for n, c in expected.items()}


def test_a_league_keeps_each_learners_baseline_until_it_begins_anew(tmp_path):
    league = {"iterations": 1, "groups_per_batch": 1, "group_size": 2, "advantage": "role_baseline", "optimizer": RATE}
    recipe = LeagueRecipe.read({"games": [KUHN], "learners": {"one": {}, "two": {}}, "league": league})
    run = RunFolder.create(tmp_path / "run", recipe, 0, "a test")
    state, game = LeagueState(recipe, run, {recipe.learner_bases[0]: load("tiny")}), make_game(KUHN)
    play_round(Round(recipe, state, state.member_players(game), game), 0)
    kept = state.state()["collectors"]
    assert {name for name, one in kept.items() if one["advantage"]} == {"one", "two"}
    state.reset("one")
    assert set(state.state()["collectors"]) == {"two"}


def test_the_estimator_of_a_recipe_has_its_parameters():
    recipe = GRPORecipe.read({"grpo": {"advantage": {"type": "role_baseline", "ema_decay": 0.9}}})
    assert recipe.grpo.advantage.value == RoleBaseline(ema_decay=0.9)
