"""One rank's part of a model whose weights are sharded, made by FSDP2, and the passes over it.

A description travels to every rank; the weights are sent one after another by the first rank, which has the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, NamedTuple, TypeVar

import torch
from torch import distributed

from stratagem.language.models.attention import attention_of
from stratagem.language.models.fused_norms import FusedNorm
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.reference import BadModel
from stratagem.learn.decoder_pass import ModulePass
from stratagem.learn.example import Example
from stratagem.learn.logprobs import TokenOutputs
from stratagem.learn.optimizer import Optimizer
from stratagem.learn.packing import Pack
from stratagem.learn.policy import Policy
from stratagem.playing.workers.models import own_item

T = TypeVar("T")


class PassSettings(NamedTuple):
    """Settings of `Policy`, and what its probes found."""

    max_tokens_per_microbatch: int
    chunk: int | None
    gradient_checkpointing: bool
    fp32_head: bool
    share_prefixes: bool
    scale: float


@dataclass(frozen=True)
class ShardDescription:
    """Description of a model whose weights are to be sharded."""

    number: int
    """Number of the model at the first rank."""
    architecture: type[Any]
    config: Any
    attention: str
    """Implementation of attention."""
    dtypes: dict[str, torch.dtype]
    """Number format of each weight."""
    buffers: dict[str, torch.Tensor]
    norms: dict[str, tuple[type[FusedNorm], float]]
    """Norms that are one kernel each, with their epsilon."""
    name: str
    dtype: str
    device: str
    settings: PassSettings
    is_trained: bool


@dataclass
class ModelShard:
    """One rank's part of a model, with its policy and its optimizer."""

    policy: RankPolicy
    optimizer: Optimizer | None = field(default=None)

    @property
    def model(self) -> Any:
        """The model; its weights are DTensors, of which this rank has a part."""
        return self.policy.lm.model

    @property
    def weights(self) -> list[torch.nn.Parameter]:
        """The weights, in the order of the model's."""
        return list(self.model.parameters())


class RankPolicy(Policy):
    """Policy of a rank: its passes gather each layer while they compute it."""

    def __init__(self, lm: LanguageModel, settings: PassSettings) -> None:
        # nothing is probed here, where a pass needs all ranks: the first has compared the ways to read with the model
        self.lm = lm
        self.max_tokens_per_microbatch = settings.max_tokens_per_microbatch
        self.chunk = settings.chunk
        self.gradient_checkpointing = settings.gradient_checkpointing
        self.fp32_head = settings.fp32_head
        self.share_prefixes = settings.share_prefixes
        self.scale = settings.scale
        self.attention = attention_of(lm.model.config)
        self.decoder_pass = ModulePass(lm, checkpointing=settings.gradient_checkpointing)
        self.prefix_batches = False
        self.attends_by = self.wide = "dense"  # the model's own modules take no other masks

    def outputs(
        self,
        pack: Pack,
        examples: Sequence[Example],
        value_head: torch.nn.Module | None = None,
        *,
        is_frozen: bool = False,
    ) -> TokenOutputs:
        read = super().outputs
        found: TokenOutputs = self.lm.model.carry_out(lambda: read(pack, examples))
        return found


def check_shardable(lm: LanguageModel) -> None:
    """Refuse a model whose weights cannot be sharded."""
    if getattr(lm.model, "is_quantized", False):
        raise BadModel(f"{lm.name} is in 4 bits, which cannot be sharded over devices: take it in bf16, or one device.")
    if not _layers(lm.model):
        raise BadModel(
            f"{lm.name} cannot be sharded over devices: its {type(lm.model).__name__} names no layers; train an "
            "adapter, or on one device."
        )


def describe(policy: Policy, number: int, *, is_trained: bool) -> ShardDescription:
    """Describe the model of a policy."""
    lm, model = policy.lm, policy.lm.model
    settings = PassSettings(
        policy.max_tokens_per_microbatch,
        policy.chunk,
        policy.gradient_checkpointing,
        policy.fp32_head,
        policy.share_prefixes,
        policy.scale,
    )
    return ShardDescription(
        number=number,
        architecture=type(model),
        config=model.config,
        attention=model.config._attn_implementation,  # noqa: SLF001 - transformers has no other name for it
        dtypes={name: weight.dtype for name, weight in model.named_parameters()},
        buffers={name: buffer.cpu() for name, buffer in model.named_buffers()},
        norms={
            name: (type(module), module.epsilon)
            for name, module in model.named_modules()
            if isinstance(module, FusedNorm)
        },
        name=lm.name,
        dtype=lm.dtype,
        device=torch.device(lm.device).type,
        settings=settings,
        is_trained=is_trained,
    )


def make_shard(description: ShardDescription) -> ModelShard:
    """Make this rank's part of a model; all ranks make theirs together."""
    with torch.device("meta"):
        model: Any = description.architecture._from_config(  # noqa: SLF001 - from_config of AutoModel knows fewer
            description.config, attn_implementation=description.attention
        )
    model.eval()
    model.requires_grad_(description.is_trained)
    for name, (kind, epsilon) in description.norms.items():
        norm = model.get_submodule(name)
        norm.__class__, norm.epsilon = kind, epsilon
    _shard_modules(model, description)
    lm = LanguageModel(model, None, description.name, description.device, description.dtype, "")
    shard = ModelShard(RankPolicy(lm, description.settings))
    scatter(shard, description.number)
    return shard


def _shard_modules(model: Any, description: ShardDescription) -> None:
    """Allocate the weights layer by layer, and shard each, so that no rank ever holds all of them."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard, register_fsdp_forward_method

    mesh = init_device_mesh(description.device, (distributed.get_world_size(),))
    precision = MixedPrecisionPolicy(reduce_dtype=torch.float32)
    names = {id(weight): name for name, weight in model.named_parameters()}
    dtypes = {number: description.dtypes[name] for number, name in names.items()}
    buffers = {id(buffer): description.buffers[name] for name, buffer in model.named_buffers()}
    before = [*model.parameters(), *model.buffers()]  # kept, so that no new tensor gets the id of an old one
    for module in [*_layers(model), model]:
        _allocate(module, description.device, dtypes, buffers)
        fully_shard(module, mesh=mesh, mp_policy=precision)
        module.set_gradient_divide_factor(1.0)
        module.set_force_sum_reduction_for_comms(True)  # gloo has no other reduction
    del before
    model.carry_out = MethodType(_carry_out, model)
    register_fsdp_forward_method(model, "carry_out")


def _carry_out(_: Any, function: Callable[[], T]) -> T:
    """Carry out a pass over parts of a model; FSDP2 gathers around it what belongs to no layer."""
    return function()


def _allocate(module: Any, device: str, dtypes: dict[int, torch.dtype], buffers: dict[int, torch.Tensor]) -> None:
    """Allocate the weights of a module that are on no device yet; one that occurs twice stays one."""
    made: dict[int, torch.nn.Parameter] = {}
    for part in module.modules():
        for name, weight in part._parameters.items():  # noqa: SLF001 - as torch's own `to_empty` does
            if weight is not None and weight.is_meta:
                if id(weight) not in made:
                    empty = torch.empty(weight.shape, dtype=dtypes[id(weight)], device=device)
                    made[id(weight)] = torch.nn.Parameter(empty, requires_grad=weight.requires_grad)
                part._parameters[name] = made[id(weight)]  # noqa: SLF001
        for name, buffer in part._buffers.items():  # noqa: SLF001
            if buffer is not None and buffer.is_meta:
                part._buffers[name] = buffers[id(buffer)].to(device)  # noqa: SLF001


def _layers(model: Any) -> list[Any]:
    """Return the modules that are gathered one after another."""
    from transformers.modeling_layers import GradientCheckpointingLayer

    return [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]


def scatter(shard: ModelShard, number: int) -> None:
    """Give all shards the weights of the whole model of the first rank."""
    whole = own_item(number)
    weights = [None] * len(shard.weights) if whole is None else whole.model.parameters()
    for own, full in zip(shard.weights, weights, strict=True):
        fill(own, full)


@torch.no_grad()
def fill(own: Any, full: torch.Tensor | None) -> None:
    """Give the shards of a DTensor their parts of a tensor, which the first rank has."""
    from torch.distributed.tensor import distribute_tensor

    local = own.to_local()
    whole = torch.empty(own.shape, dtype=own.dtype, device=local.device)
    if full is not None:
        whole.copy_(full)
    distributed.broadcast(whole, 0)
    local.copy_(distribute_tensor(whole, own.device_mesh, own.placements, src_data_rank=None).to_local())


@torch.no_grad()
def gather(shard: ModelShard, into: Any) -> None:
    """Gather all weights, one after another, into a whole model, on each rank that has one."""
    wholes = [None] * len(shard.weights) if into is None else into.parameters()
    weights: Sequence[Any] = shard.weights
    for own, whole in zip(weights, wholes, strict=True):
        full = own.full_tensor()
        if whole is not None:
            whole.copy_(full)
