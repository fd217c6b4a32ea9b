"""Sharded weights on the only rank of a group: the same passes, gradients and files as those of several ranks."""

import pytest
import torch
from torch import distributed

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.language.models.fused_norms import fuse_norms
from stratagem.language.models.load import load
from stratagem.language.models.reference import BadModel
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.optimizer_files import STATE
from stratagem.learn.policy import Policy
from stratagem.learn.shard import check_shardable
from stratagem.learn.sharded import ShardedOptimizer, ShardedPolicy, optimizer_of
from stratagem.playing.workers import models
from stratagem.playing.workers.ranks import RankPlace, RankWorkers, deal

EXAMPLES = [Example(tokens=tuple(range(5 + n, 35 + n)), loss_positions=(28, 29)) for n in range(4)]
PLAIN = OptimizerSettings(method="sgd", learning_rate=1.0, max_grad_norm=float("inf"))


@pytest.fixture
def alone(monkeypatch):
    """The workers of the only rank."""
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    monkeypatch.setattr(models, "_shares_work", False)
    workers = RankWorkers(RankPlace(0, 1, 0))
    yield workers
    workers.close()


def model():
    lm = load("tiny")
    lm.model.requires_grad_(True)
    return lm, Policy(lm, max_tokens_per_microbatch=64)


def test_a_step_over_shards_equals_one_over_the_whole(alone):
    (whole, policy), (copy, other) = model(), model()
    Learner(policy, CrossEntropy(), Optimizer(whole.model.parameters(), PLAIN, 1), adapter=None).update_once(EXAMPLES)
    assert fuse_norms(copy.model) > 0  # as on a GPU
    sharded = ShardedPolicy(other, alone)
    report = Learner(sharded, CrossEntropy(), ShardedOptimizer(sharded, PLAIN, 1), adapter=None).update_once(EXAMPLES)
    sharded.gather_weights()
    assert report.grad_norm > 1.0
    for one, another in zip(whole.model.parameters(), copy.model.parameters(), strict=True):
        assert (one - another).abs().max() <= 1e-6


def test_an_optimizer_of_shards_continues_in_one_process(alone, tmp_path):
    (lm, policy), settings = model(), OptimizerSettings()
    sharded = ShardedPolicy(policy, alone)
    optimizer = ShardedOptimizer(sharded, settings, 2)
    Learner(sharded, CrossEntropy(), optimizer, adapter=None).update_once(EXAMPLES)
    optimizer.write(tmp_path)
    state = optimizer.state()
    own = Optimizer(lm.model.parameters(), settings, 2)
    own.restore(state, tmp_path)
    assert own.steps_taken == 1
    moments = [entry["exp_avg"] for entry in own.state()["adam"]["state"].values()]
    shards = optimizer_of(sharded.number).state()["adam"]["state"]
    theirs = [entry["exp_avg"].full_tensor() for entry in shards.values()]
    assert max(float(moment.abs().max()) for moment in moments) > 0.0
    assert all(torch.equal(one, other) for one, other in zip(moments, theirs, strict=True))
    next((tmp_path / STATE).glob("*.safetensors")).unlink()
    with pytest.raises(BadRecord, match="has no whole optimizer for these weights: restore its shards"):
        own.restore(state, tmp_path)


def test_what_shards_cannot_do_is_refused(alone):
    lm, policy = model()
    optimizer = ShardedOptimizer(ShardedPolicy(policy, alone), PLAIN, 1)
    with pytest.raises(BadParameter, match="cannot be undone"):
        optimizer.snapshot()
    with pytest.raises(BadParameter, match="cannot be reset"):
        optimizer.reset([])
    lm.model.is_quantized = True
    with pytest.raises(BadModel, match="in 4 bits, which cannot be sharded over devices"):
        check_shardable(lm)


def test_a_model_without_layers_cannot_be_sharded():
    lm = load("tiny")
    lm.model = torch.nn.Linear(2, 2)
    with pytest.raises(BadModel, match="cannot be sharded over devices: its Linear names no layers"):
        check_shardable(lm)


@pytest.mark.parametrize(("number", "size"), [(0, 2), (3, 2), (8, 3)])
def test_items_are_dealt_once_and_their_costs_are_alike(number, size):
    shares = deal(number, size)
    assert sorted(index for share in shares for index in share) == list(range(number))
    costs = [sum(number - index for index in share) for share in shares]
    assert max(costs) - min(costs) <= size
