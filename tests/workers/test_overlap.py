"""One step of overlap: rollouts are one update old, with any workers, and a resumed run is exact."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from working import trained

from run_results import end_of
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound, recipe_of
from stratagem.base.consent.table import allow
from stratagem.base.errors import BadParameter
from stratagem.games.kuhn.players import AlwaysBet
from stratagem.language.engines.open import open_engine
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.players.base import Traits
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.playing.workers.plan import change_plan, current
from stratagem.training.collector import RolloutBatch
from stratagem.training.online import AHEAD, Overlap, with_sampler_logprobs
from stratagem.training.runs.checkpoint import checkpoint_folders
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

AWR = str(Path(__file__).parents[2] / "examples" / "advantage_weighted.py")
OWN = {**RECIPES["grpo"], "overlap": 1, "checkpoint_every": 1}


def read(name, **settings):
    settings = {"algorithm": name, **RECIPES[name], **settings}
    return algorithm_of(settings).recipe_type.read(settings)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("whole") / "run", "grpo", **OWN)


def versions(results):
    """All versions of the sampler by step."""
    calls = [
        (int(episode.id.split("/")[1]), call.policy)
        for episode in results["record"]
        for row in episode.decisions
        for call in row.calls
    ]
    assert {policy.adapter for _, policy in calls} == {AHEAD}
    return {step: {policy.version for at, policy in calls if at == step} for step, _ in calls}


def test_rollouts_are_one_update_old(whole):
    assert versions(whole) == {0: {0}, 1: {0}, 2: {1}}
    rows = [json.loads(line) for line in whole["metrics"].splitlines()]
    assert [row["overlap/staleness"] for row in rows if "overlap/staleness" in row] == [0.0, 1.0, 1.0]


def test_the_ratio_is_taken_to_the_sampler(whole):
    rows = [json.loads(line) for line in whole["metrics"].splitlines()]
    lowest = [row["loss/ratio_min"] for row in rows if "loss/ratio_min" in row]
    assert lowest[0] == pytest.approx(1.0, abs=1e-5)
    assert any(abs(ratio - 1.0) > 1e-4 for ratio in lowest[1:])


def test_old_logprobs_are_those_of_the_sampler():
    example = Example(tokens=(1, 2), loss_positions=(1,), columns={"sampler_logprobs": (-0.5,)})
    assert with_sampler_logprobs([example])[0].columns["old_logprobs"] == (-0.5,)


def test_the_sampler_follows_the_policy_by_one_step():
    lm = load("tiny")
    add_adapter(lm, "policy", rank=2, alpha=4)
    engine = open_engine(lm)
    speaker = Speaker(engine=engine, adapter="policy", style=make_style("plain"))
    optimizer = SimpleNamespace(steps_taken=0)
    player = ModelPlayer(name="policy", speaker=speaker)
    learner = SimpleNamespace(optimizer=optimizer)
    policy = SimpleNamespace(
        lm=lm, engine=engine, name="policy", player=player, learner=learner, num_updates=0, optimizer_steps=2
    )
    overlap, sampled, taken = Overlap(policy, num_steps=3), [], []
    sampler = Example(tokens=(1, 2), loss_positions=(1,), columns={"sampler_logprobs": (-0.5,)})

    def collect(step):
        sampled.append(adapter_parameters(lm, AHEAD)[0][0, 0].item())
        return RolloutBatch([sampler], {}, [], {}, frozenset())

    for step in range(3):
        adapter_parameters(lm, "policy")[0].data.fill_(float(step))
        taken.append(overlap.take(step, collect, list))
        optimizer.steps_taken += policy.optimizer_steps
        policy.num_updates += 1
    assert overlap.player.speaker.adapter == AHEAD
    assert sampled[1:] == [0.0, 1.0]
    assert [batch.metrics["overlap/staleness"] for batch in taken] == [0.0, 1.0, 1.0]
    assert [OLD_LOGPROBS in batch.examples[0].columns for batch in taken] == [False, True, True]


@pytest.mark.parametrize("name", ["grpo", "sepo", "reinforce"])
def test_processes_change_nothing(whole, two, tmp_path, name):
    """REINFORCE takes two optimizer steps a batch, after which its version is two higher."""
    more = {"iterations": 3} | ({"optimizer_steps": 2} if name == "reinforce" else {})
    settings = OWN if name == "grpo" else {**RECIPES[name], "overlap": 1, name: {**RECIPES[name][name], **more}}
    alone = whole if name == "grpo" else trained(tmp_path / "alone", name, **settings)
    with change_plan(workers=two):
        assert trained(tmp_path / "run", name, **settings) == alone
    assert versions(alone) == {0: {0}, 1: {0}, 2: {more.get("optimizer_steps", 1)}}


@pytest.mark.parametrize("by", ["this process", "two processes"])
def test_a_resumed_run_is_exact(whole, two, tmp_path, by):
    """The run stops after its second step, whose checkpoint comes while the third step's rollouts are pending."""

    def stop(step, num_steps, metrics):  # called once the step is saved
        if step == 2:
            raise KeyboardInterrupt

    workers = two if by == "two processes" else current().workers
    with change_plan(workers=workers), pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "run", "grpo", stop, **OWN)
    run = RunFolder.open(tmp_path / "run")
    assert max(checkpoint_folders(run)) == 2
    with change_plan(workers=workers):
        bound(recipe_of(run), run).train()
    assert {part.partition("/")[2]: found for part, found in end_of(tmp_path / "run").items()} == whole


@pytest.mark.parametrize(
    ("name", "settings", "reason"),
    [
        ("grpo", {"train": "all"}, "a copy of the adapter plays"),
        ("league", {}, "meet each other's present weights"),
        ("sepo", {"sepo": {"penalty_source": "best_response"}}, "computed by the policy's engine in this process"),
        ("sepo", {"sepo": {"deception_weight": 1.0}}, "found by the policy's engine in this process"),
        (
            "grpo",
            {"grpo": {"loss": f"{AWR}:AdvantageWeighted"}},
            "takes no ratio to the probabilities of their",
        ),
        ("shapellm", {}, "overlap"),
    ],
)
def test_overlap_is_refused_where_it_cannot_be_exact(name, settings, reason):
    allow(AWR)
    with pytest.raises(BadParameter, match=reason):
        read(name, overlap=1, **settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("grpo", {"grpo": {"opponents": {"AlwaysBet": 1.0}}}), ("sepo", {"pools": {"train": ["AlwaysBet"]}})],
)
def test_overlap_is_refused_with_opponents_that_are_played_in_this_process(name, settings, tmp_path, monkeypatch):
    """Their games would be played by the engine of the policy, under another adapter, during its backward passes."""
    settings = {"games": ["kuhn(hands=1)"], **settings}
    run = RunFolder(tmp_path / "run")
    bound(read(name, overlap=1, **settings), run)
    monkeypatch.setattr(AlwaysBet, "traits", Traits(memory=None, repeats=False))
    bound(read(name, **settings), run)
    with pytest.raises(BadParameter, match="Games with kuhn/AlwaysBet, which does not repeat itself"):
        bound(read(name, overlap=1, **settings), run)
