"""Estimate of the memory and the time of a run, from the sizes of its model alone.

Memory is counted from the configuration: weights, adapters, gradients and AdamW's moments exactly, caches and
activations by their formulas. Masks of attention, buffers of the allocator and the copies of an engine of another kind
are not in it. Tokens are counted from one random episode of each game, four characters a token, with replies as long
as they may be; so they are an upper limit where replies stop early or prompts are shared. Time is tokens over speed,
and speeds are given or measured, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.models.shapes import BYTES, ModelShape
from stratagem.prompting.base import Style
from stratagem.training.sft import AdapterSettings

CHARACTERS = 4
"""Characters of a token."""
_TURNS = 200
"""Largest number of turns of the episode that is looked at."""
_LOGITS = 3 * 32 * 2**20
"""Bytes of a chunk of logits, its log-softmax and its gradient; see `learning.logprobs`."""
_READ = 3.0
"""Speed of a forward pass over many tokens, relative to that of forward and backward pass together."""


@dataclass(frozen=True)
class Memory:
    """Holdings of the process that learns and plays."""

    shape: ModelShape
    dtype: str
    four_bit: bool = False
    adapter: AdapterSettings | None = None
    """Adapter of every learner; None where all weights are trained."""
    learners: int = 1
    """Number of adapters that are trained."""
    frozen: int = 0
    """Number of further adapters that are loaded, such as members of a league."""
    reference: str = ""
    """Number format of a copy of all weights as the reference; empty without one."""
    rows: int = 1
    """Replies that the engine decodes together."""
    context: int = 1
    """Tokens of the longest prompt with its reply."""
    microbatch: int = 1
    """Tokens of a forward and backward pass."""
    checkpointed: bool = False

    def parts(self) -> dict[str, float]:
        """Return the bytes of each part."""
        shape, width = self.shape, BYTES[self.dtype]
        trained, trained_width = float(shape.parameters), width
        adapters = 0.0
        if self.adapter is not None:
            each = shape.adapter_parameters(self.adapter.rank, self.adapter.targets)
            trained, trained_width = float(self.learners * each), BYTES["fp32"]
            adapters = (self.learners + self.frozen) * each * trained_width
        activations = shape.activation_bytes(self.dtype, checkpointed=self.checkpointed)
        moments = 8.0 if trained_width == BYTES["fp32"] else 12.0  # weights in 16 bits have a master copy in 32
        return {
            "weights": shape.weight_bytes(self.dtype, four_bit=self.four_bit),
            "reference": shape.weight_bytes(self.reference) if self.reference else 0.0,
            "adapters": adapters,
            "gradients": trained * trained_width,
            "optimizer": trained * moments,
            "activations": self.microbatch * activations + _LOGITS,
            "keys_and_values": self.rows * self.context * shape.cache_bytes(self.dtype),
        }

    def total(self) -> float:
        """Return the peak: rollouts and updates follow each other, and their buffers are not needed together."""
        parts = self.parts()
        play, learn = parts.pop("keys_and_values"), parts.pop("activations") + parts.pop("gradients")
        return sum(parts.values()) + max(play, learn)


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
class Estimate:
    """Memory of each model of a run, and its tokens and time."""

    memory: Mapping[str, Memory] = field(default_factory=dict)
    """Holdings by the text of the model."""
    unknown: Sequence[str] = ()
    """Models whose sizes are not known without a download."""
    workload: Workload = Workload()

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


def episode_size(game: Game[Any], style: Style) -> EpisodeSize:
    """Play one random episode, and measure its prompts in this style."""
    prompts, actions = [], []
    for view, action in random_episode(game, Key(0).at("estimate")):
        prompts.append(sum(len(message.content) for message in style.messages(view)) / CHARACTERS)
        actions.append(1.0 + len(action) / CHARACTERS)
    return EpisodeSize(
        len(prompts) / game.spec.seats, sum(prompts) / len(prompts), max(prompts), sum(actions) / len(actions)
    )


def random_episode(game: Game[Any], key: Key) -> Iterator[tuple[View[Any], str]]:
    """Yield the views and the actions of an episode between uniform players, or of its first turns."""
    state = game.start(key)
    for turn in range(_TURNS):
        if state.over:
            return
        views = {seat: state.view(seat) for seat in state.to_act}
        actions = {seat: view.choices.sample(key.at(turn, seat)) for seat, view in views.items()}
        yield from ((view, actions[seat]) for seat, view in views.items())
        state.play(actions)
