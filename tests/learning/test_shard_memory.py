"""Memory of a device with sharded weights: the estimate against torch's tracker of FSDP2, by the fake process group.

Its collectives do nothing, so one process stands for one of eight. The tracker does not count master copies and what is
whole on a device: these are added.
"""

from dataclasses import replace

import pytest
import torch
from memory_estimate import Size, _in_vocabulary, _with_columns, made_model, preset
from torch import distributed
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed import device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore

from stratagem.algorithms.catalogue import read_any
from stratagem.algorithms.estimates import estimate_run
from stratagem.language.models.load import load
from stratagem.learn import shard as shards
from stratagem.learn.batch import backward, columns_of
from stratagem.learn.decoder_pass import TokenRows
from stratagem.learn.head import head_of
from stratagem.learn.logprobs import TokenQueries, chunk_size, token_outputs
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.pass_sizes import pack_size, planned_packs
from stratagem.learn.policy import Policy
from stratagem.playing.workers import models
from stratagem.training.shipped import recipe_path

pytestmark = pytest.mark.runs

DEVICES, BUDGET = 8, 768
GIB = 2.0**30
WAYS = {"share": True, "prefix_batches": False}
PAPER = ["papers/scopal/self-play", "papers/scopal/qwen2", "papers/scopal/all-weights"]


@pytest.fixture
def fake_ranks(monkeypatch):
    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=DEVICES)
    monkeypatch.setattr(models, "_shares_work", True)
    yield
    distributed.destroy_process_group()


def tracked(shard):
    """The tracker of a model, whose root it knows by its forward pass alone, and the optimizer."""
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker  # it imports torch's compiler, for a second

    model, optimizer = shard.model, Optimizer(shard.weights, OptimizerSettings(), 10)
    model.forward = lambda function: function()
    model.carry_out = lambda function: model(function)
    return FSDPMemTracker(model, optimizer.method), optimizer


def peak_of(tracker, optimizer):
    """Bytes at the peak, with the master copies of a device."""
    (parts,) = tracker.get_tracker_snapshot("peak").values()
    return parts["Total"] + sum(4 * long.to_local().numel() for long, _ in optimizer.rounded_pairs())


def step_peak(folder, memory, examples):
    """Bytes at the peak of the second step on the largest pack."""
    lm = load(f"dir:{folder}", dtype=memory.dtype)
    policy = Policy(lm, max_tokens_per_microbatch=BUDGET, gradient_checkpointing=memory.checkpointed)
    shard = shards.make_shard(shards.describe(policy, models.number_of(lm), is_trained=True))
    tracker, optimizer = tracked(shard)
    batch = [_with_columns(_in_vocabulary(example), index) for index, example in enumerate(examples)]
    largest = max(planned_packs(batch, BUDGET, **WAYS), key=lambda pack: len(pack.tokens))
    some, loss = [batch[number] for number in largest.examples], PolicyGradient(kl_estimator="none", kl_coef=0.0)
    (pack,), columns = planned_packs(some, BUDGET, **WAYS), columns_of(some)

    def step():
        backward(loss, shard.policy.outputs(pack, some), columns, None, loss.prepare(columns))
        for weight in shard.weights:
            weight.grad.to_local().fill_(0.01)  # the fake group leaves what it gathers as it was allocated
        assert optimizer.step() > 0.0

    step()
    with tracker:
        step()
    return peak_of(tracker, optimizer) + sum(w.numel() * w.element_size() for w in lm.model.parameters())


@pytest.mark.parametrize(("dtype", "checkpointed"), [("bf16", True), ("fp32", False)])
@pytest.mark.parametrize("size", [Size(128, 4, 4), Size(256, 8, 8)], ids=str)
def test_estimate_of_a_device_is_within_15_percent(fake_ranks, size, dtype, checkpointed, tmp_path):
    folder = made_model("Qwen2Config", size, tmp_path / "model")
    made = preset("papers/scopal/all-weights", folder, dtype, gradient_checkpointing=checkpointed)
    ((memory, examples),) = made.values()
    memory = replace(memory, devices=DEVICES, on_gpu=False, reference="", rows=0)
    packs = tuple(pack_size(pack, examples, **WAYS) for pack in planned_packs(examples, BUDGET, **WAYS))
    estimate = replace(memory, packs=packs).total()
    assert estimate == pytest.approx(step_peak(folder, memory, examples), rel=0.15)


@pytest.mark.parametrize(("devices", "most"), [(4, 80.0), (8, 80.0)])
def test_scopal_of_all_weights_fits_by_its_estimate(devices, most):
    (memory,) = estimate_run(read_any([recipe_path(part) for part in PAPER], {}), devices).memory.values()
    assert memory.total() < 0.85 * most * GIB
    (alone,) = estimate_run(read_any([recipe_path(part) for part in PAPER], {})).memory.values()
    assert alone.total() > most * GIB


def test_scopal_of_all_weights_fits_by_the_tracker(fake_ranks, monkeypatch):
    """The paper's model as fake tensors, which have sizes and no memory: one step on its largest pack."""
    import transformers

    recipe = read_any([recipe_path(part) for part in PAPER], {})
    estimate = estimate_run(recipe, DEVICES)
    ((text, memory),), shape = estimate.memory.items(), next(iter(estimate.memory.values())).shape
    examples, budget = estimate.batches[text], recipe.max_tokens_per_microbatch
    pack = max(planned_packs(examples, budget, **WAYS), key=lambda pack: len(pack.tokens))
    config = transformers.Qwen2Config(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        intermediate_size=shape.intermediate,
        tie_word_embeddings=shape.tied,
    )
    with torch.device("meta"):
        empty = transformers.Qwen2ForCausalLM._from_config(config, attn_implementation="sdpa")
    description = shards.ShardDescription(
        number=1,
        architecture=type(empty),
        config=config,
        attention="sdpa",
        dtypes={name: torch.bfloat16 for name, _ in empty.named_parameters()},
        buffers={name: torch.zeros(buffer.shape) for name, buffer in empty.named_buffers()},
        norms={},
        name="Qwen2",
        dtype="bf16",
        device="cpu",
        settings=shards.PassSettings(budget, None, memory.checkpointed, False, True, 1.0),
        is_trained=True,
    )
    mesh = device_mesh.init_device_mesh("cpu", (DEVICES,))
    monkeypatch.setattr(device_mesh, "init_device_mesh", lambda *_: mesh)  # it reads numbers, which fakes have not
    monkeypatch.setattr(shards, "scatter", lambda *_: None)
    wanted = sum(len(examples[number].loss_positions) for number in pack.examples)
    with FakeTensorMode(allow_non_fake_inputs=True):
        shard = shards.make_shard(description)
        tracker, optimizer = tracked(shard)

        def read():
            width, nothing = len(pack.tokens), [None] * wanted
            ids, mask = torch.zeros(1, width, dtype=torch.long), torch.zeros(1, 1, width, width, dtype=torch.bfloat16)
            states = shard.policy.decoder_pass(TokenRows(ids, ids, mask), torch.zeros(wanted, dtype=torch.long))
            queries = TokenQueries([0] * wanted, [1.0] * wanted, nothing, nothing, nothing)
            chunk = chunk_size(shape.vocabulary, 512)
            return token_outputs(head_of(shard.policy.lm), states, queries, chunk)

        def step():
            shard.model.carry_out(read).logprobs.sum().backward()
            for long, short in optimizer.rounded_pairs():
                long.grad, short.grad = short.grad.to(long), None
            optimizer.method.step()
            for long, _ in optimizer.rounded_pairs():
                long.grad = None

        step()
        with tracker:
            step()
        peak = peak_of(tracker, optimizer)
    whole = shape.weight_bytes("bf16")
    assert memory.total() == pytest.approx(peak + whole + whole / DEVICES, rel=0.15)
