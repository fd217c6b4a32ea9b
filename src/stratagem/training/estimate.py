"""Estimate of the memory and the time of a run, from the sizes of its model alone.

Memory is counted from the configuration: weights, adapters, gradients and AdamW's moments by their numbers, activations
and logits op by op (`learn.step_memory`), keys and values as the engine allocates them. A step reads the packs that
the learner makes of the prompts of random episodes, four characters a token, with replies as long as they may be. So
tokens are an upper limit where replies stop early or prompts are shared. Time is tokens over speed, and speeds are
given, never guessed. `NOT_COUNTED` is what no figure includes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, cycle, islice
from math import prod
from typing import Any
from zlib import crc32

from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.games.random_play import random_turns
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.row_store import allocated_columns
from stratagem.language.models.shapes import BYTES, ModelShape
from stratagem.language.prompting.base import Style
from stratagem.learn.example import Example
from stratagem.learn.pass_sizes import PackSize
from stratagem.learn.step_memory import StepMemory
from stratagem.training.sft import AdapterSettings

_FP32 = BYTES["fp32"]
CHARACTERS = 4
"""Characters of a token."""
NOT_COUNTED = "CUDA's context, fragmentation of the allocator, and the share of an engine with a copy of its own (vLLM)"
"""Memory that no part of an estimate includes."""
_TURNS = 200
"""Largest number of turns of the episode that is looked at."""
_EPISODES = 8
"""Largest number of episodes from which prompts are taken."""
_WORDS = 500
"""Number of different tokens of a prompt; those of a reply are others."""
_READ = 3.0
"""Speed of a forward pass over many tokens, relative to that of forward and backward pass together: the backward pass
has twice the operations of the forward pass."""


@dataclass(frozen=True)
class ProcessMemory:
    """Holdings of the process that learns and plays."""

    shape: ModelShape
    dtype: str
    four_bit: bool = False
    adapter: AdapterSettings | None = None
    """Adapter of every learner; None where all weights are trained."""
    learners: int = 1
    """Number of adapters that are trained, one after another."""
    frozen: int = 0
    """Number of further adapters that are loaded, such as members of a league."""
    reference: str = ""
    """Number format of a copy of all weights as the reference; empty without one."""
    rows: int = 1
    """Replies that the engine decodes together."""
    context: int = 1
    """Tokens of the longest prompt with its reply."""
    packs: tuple[PackSize, ...] = ()
    """Sizes of the packs of an optimizer step."""
    checkpointed: bool = False
    logits_chunk_mib: int = 0
    """MiB of the logits of a chunk; 0 is that of the device."""
    on_gpu: bool = True
    devices: int = 1
    """Devices that learn together; all figures are those of one."""

    def parts(self) -> dict[str, float]:
        """Return the bytes of each part."""
        return self._shard_parts() if self.is_sharded else self._whole_parts()

    @property
    def is_sharded(self) -> bool:
        """True if all weights are trained on several devices, each of which holds a part of them."""
        return self.devices > 1 and self.adapter is None

    def _shard_parts(self) -> dict[str, float]:
        """Return the bytes of each part on a device with its shards, and with a whole copy of the weights that plays.

        FSDP2 gathers the layer that is computed and the next one. The gradients of a layer are whole, and in fp32,
        until they are summed over the devices; those of embeddings and head until the end of the backward pass.
        """
        whole, width, shape = self._whole_parts(), BYTES[self.dtype], self.shape
        layer = max(sum(map(prod, block.linears.values())) for block in shape.blocks)
        others = shape.parameters - sum(block.count * sum(map(prod, block.linears.values())) for block in shape.blocks)
        shared = ("weights", "reference", "optimizer", "gradients", "optimizer_step")
        gathered = others * width + max(layer * (3 * width + width + _FP32), others * (width + _FP32))
        return {
            "play_copy": whole["weights"],
            **{name: size / self.devices if name in shared else size for name, size in whole.items()},
            "gathered": float(gathered),
        }

    def _whole_parts(self) -> dict[str, float]:
        """Return the bytes of each part where a device holds everything."""
        shape, width = self.shape, BYTES[self.dtype]
        each, trained_width = float(shape.parameters), width
        adapters = 0.0
        if self.adapter is not None:
            each, trained_width = float(shape.adapter_parameters(self.adapter.rank, self.adapter.targets)), _FP32
            adapters = (self.learners + self.frozen) * each * trained_width
        short = trained_width < _FP32  # weights in 16 bits have a master copy in 32, and gradients for it
        return {
            "weights": shape.weight_bytes(self.dtype, four_bit=self.four_bit),
            "reference": shape.weight_bytes(self.reference) if self.reference else 0.0,
            "adapters": adapters,
            # AdamW's two numbers a weight, and the master copy, of 4 bytes each
            "optimizer": (1 if self.adapter is None else self.learners) * each * (12.0 if short else 8.0),
            "gradients": each * trained_width,
            **self.step.parts(self.packs),
            "optimizer_step": each * (_FP32 if short or self.on_gpu else 0.0),
            "keys_and_values": self.rows * allocated_columns(self.context) * shape.cache_bytes(self.dtype),
        }

    @property
    def step(self) -> StepMemory:
        """Memory of a step beside the weights."""
        adapter = self.adapter
        return StepMemory(
            self.shape,
            self.dtype,
            rank=0 if adapter is None else adapter.rank,
            targets=() if adapter is None else adapter.targets,
            dropout=adapter is not None and adapter.dropout > 0.0,
            checkpointed=self.checkpointed,
            logits_chunk_mib=self.logits_chunk_mib,
            on_gpu=self.on_gpu,
            by_modules=self.is_sharded,
        )

    def total(self) -> float:
        """Return the peak: of play, of a backward pass, or of the optimizer's step, which follow each other."""
        parts = self.parts()
        held = sum(parts.get(name, 0.0) for name in ("play_copy", "weights", "reference", "adapters", "optimizer"))
        passes = parts["gradients"] + parts["activations"] + parts["logits"] + parts.get("gathered", 0.0)
        short = self.adapter is None and self.dtype != "fp32"  # each gradient in 16 bits makes room for one in 32
        step = parts["optimizer_step"] + (0.0 if short else parts["gradients"])
        return held + max(parts["keys_and_values"], passes, step)


@dataclass(frozen=True)
class Speed:
    """Tokens a second; 0 where it is not known."""

    decode: float = 0.0
    """Sampled tokens a second, all rows together."""
    learn: float = 0.0
    """Tokens a second of a forward and backward pass."""


@dataclass(frozen=True)
class Workload:
    """Tokens of a run."""

    steps: int = 0
    """Steps of play and learning."""
    replies: float = 0.0
    """Replies of the trained model in a step."""
    learnt: float = 0.0
    """Replies that are learnt from in a step."""
    passes: float = 1.0
    """Times that each of them is read with gradient."""
    prompt: float = 0.0
    """Tokens of the mean prompt."""
    reply: float = 0.0
    """Tokens of a reply, at most."""
    sft_examples: float = 0.0
    """Examples of SFT, each as often as it is read."""

    @property
    def sampled(self) -> float:
        """Tokens that are sampled in a step."""
        return self.replies * self.reply

    @property
    def read(self) -> float:
        """Tokens of the prompts that are read in a step, without a gradient."""
        return self.replies * self.prompt

    @property
    def trained(self) -> float:
        """Tokens that are read with a gradient in a step."""
        return self.learnt * self.passes * (self.prompt + self.reply)

    def seconds(self, speed: Speed) -> float | None:
        """Return the time of a step; None where a speed is not known."""
        if not speed.decode or not speed.learn:
            return None
        return self.sampled / speed.decode + (self.read / _READ + self.trained) / speed.learn

    def sft_seconds(self, speed: Speed) -> float | None:
        """Return the time of SFT."""
        return self.sft_examples * (self.prompt + self.reply) / speed.learn if speed.learn else None


@dataclass(frozen=True)
class RunEstimate:
    """Memory of each model of a run, and its tokens and time."""

    memory: dict[str, ProcessMemory] = field(default_factory=dict)
    """Holdings by the text of the model."""
    unknown: list[str] = field(default_factory=list)
    """Models whose sizes are not known without a download."""
    workload: Workload = Workload()
    batches: dict[str, list[Example]] = field(default_factory=dict, repr=False)
    """Examples of the largest optimizer step by the text of the model, as far as the estimate looks at them."""
    on_one_device: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Models that are in the memory of one device at once, by the device; only where there are several."""

    def totals(self) -> dict[str, float]:
        """Return the bytes of each model, and those of the models that share a device."""
        return self.by_device({text: memory.total() for text, memory in self.memory.items()})

    def by_device(self, sizes: Mapping[str, float]) -> dict[str, float]:
        """Return the sizes of each model, and the sums of those that share a device."""
        shared = {" and ".join(names): sum(sizes[name] for name in names) for names in self.on_one_device.values()}
        return {**sizes, **shared}

    def data(self, speed: Speed) -> dict[str, Any]:
        """Return the estimate as plain data: bytes, tokens and seconds."""
        work, step = self.workload, self.workload.seconds(speed)
        sft = work.sft_seconds(speed)
        return {
            "memory": {
                text: {name: round(size) for name, size in memory.parts().items()} | {"total": round(memory.total())}
                for text, memory in self.memory.items()
            },
            "unknown": list(self.unknown),
            "steps": work.steps,
            "sampled_tokens_per_step": round(work.sampled),
            "prompt_tokens_per_step": round(work.read),
            "trained_tokens_per_step": round(work.trained),
            "sft_tokens": round(work.sft_examples * (work.prompt + work.reply)),
            "seconds_per_step": step,
            "seconds": None if step is None or sft is None else sft + work.steps * step,
        }


@dataclass(frozen=True)
class EpisodeSize:
    """Length of a random episode: its decisions, and the tokens of its prompts."""

    decisions: float
    """Decisions of one seat, the mean over the seats."""
    prompt: float
    longest: float
    action: float
    """Tokens of the mean action."""
    prompts: tuple[Ids, ...] = field(default=(), repr=False)
    """Prompts of several episodes; a token is the text of four characters."""


def episode_size(game: Game[Any], style: Style) -> EpisodeSize:
    """Play one random episode, and measure its prompts in this style; the prompts of further ones are kept."""
    try:
        hash((game, style))
    except TypeError:  # as a game of another package may be
        return _measure_episodes(game, style)
    return _known_size(game, style)


@lru_cache(maxsize=16)
def _known_size(game: Game[Any], style: Style) -> EpisodeSize:
    """Measure once: sizes are chosen by several estimates of one run, and episodes are most of their time."""
    return _measure_episodes(game, style)


def _measure_episodes(game: Game[Any], style: Style) -> EpisodeSize:
    prompts, actions, texts = [], [], list[Ids]()
    for number in range(_EPISODES):
        key = Key(0).at("estimate", number) if number else Key(0).at("estimate")
        turns = random_turns(game.start(key), key, _TURNS)
        for view, action in chain.from_iterable(turn.decisions() for turn in turns):
            messages = [message.content for message in style.messages(view)]
            texts.append(_tokens("".join(messages)))
            if not number:
                prompts.append(sum(map(len, messages)) / CHARACTERS)
                actions.append(1.0 + len(action) / CHARACTERS)
        if len(texts) >= _TURNS // 2:
            break
    decisions, mean = len(prompts) / game.spec.seats, sum(prompts) / len(prompts)
    return EpisodeSize(decisions, mean, max(prompts), sum(actions) / len(actions), tuple(texts))


def _tokens(text: str) -> Ids:
    """Return a number below `_WORDS` for each four characters, so that equal beginnings are equal."""
    return tuple(crc32(text[at : at + CHARACTERS].encode()) % _WORDS for at in range(0, len(text), CHARACTERS))


def sample_batch(prompts: Sequence[Ids], reply: int, number: int, draw: int) -> list[Example]:
    """Return examples with these prompts in turn, from another one on for each draw, and a reply of its own each."""
    examples = []
    for index, prompt in enumerate(islice(cycle(prompts), draw * number, (draw + 1) * number)):
        words = Key(draw).at("reply", index).rng().choices(range(_WORDS, 2 * _WORDS), k=reply)
        positions = tuple(range(len(prompt), len(prompt) + reply))
        examples.append(Example(tokens=(*prompt, *words), loss_positions=positions))
    return examples
