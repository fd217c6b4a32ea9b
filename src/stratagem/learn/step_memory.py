"""Memory of a training step beside the weights: activations, and the logits of a chunk, counted op by op.

A layer is counted by what the backward passes of its operations read, in the number format of each. Measured totals are
in `docs/results/memory.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from stratagem.language.models.shapes import BYTES, LayerBlock, LinearAttention, ModelShape
from stratagem.learn.logprobs import ON_GPU, ON_PROCESSOR, chunk_size
from stratagem.learn.pass_sizes import PackSize, PassSize

_FP32 = BYTES["fp32"]
_COPIES = 4
"""Tensors of the size of a chunk of logits, in fp32: log-softmax, its exponential, and two of the gradient."""
_CHUNK = 64
"""Tokens of a chunk of linear attention, in transformers' own passes."""


@dataclass(frozen=True)
class StepMemory:
    """Bytes of a training step, by the sizes of its packs."""

    shape: ModelShape
    dtype: str
    rank: int = 0
    """Rank of the adapter; 0 where all weights are trained."""
    targets: tuple[str, ...] = ()
    dropout: bool = False
    """Dropout on the inputs of the adapter."""
    checkpointed: bool = False
    logits_chunk_mib: int = 0
    """MiB of the logits of a chunk; 0 is that of the device."""
    on_gpu: bool = True
    """Kernels of a GPU: a norm stores its input alone, dropout one byte a number, and chunks of logits are larger."""
    by_modules: bool = False
    """True if the model's own modules compute the last layer, of all tokens, as those of sharded weights do."""

    def parts(self, packs: Sequence[PackSize]) -> dict[str, float]:
        """Return the bytes of the largest pack: its activations, and its logits."""
        peaks = [{"activations": self._activations(pack), "logits": self._logits(pack)} for pack in packs]
        return max(peaks, key=lambda parts: sum(parts.values()), default={"activations": 0.0, "logits": 0.0})

    def _activations(self, pack: PackSize) -> float:
        """Return the bytes at the peak beside logits: at the end of the forward pass, or in the first layer backward.

        With checkpoints, layers store their inputs, and one at a time all that its backward pass reads.
        """
        layers = [self._layer(block, pack.passes) for block in self.shape.blocks]
        work = max(each.tokens for each in pack.passes) * self._workspace
        ends, logits = self._ends(pack), self._logits(pack)
        if self.checkpointed:
            stored = self.shape.layers * pack.tokens * self.shape.hidden * self._width
            return stored + self._masks(pack) + max(ends, max(layers) + work - logits)
        return self.stored_bytes(pack) + self._masks(pack) + ends + max(0.0, work - logits)

    def stored_bytes(self, pack: PackSize) -> float:
        """Return the bytes that all layers store in a forward pass without checkpoints."""
        layers = sum(block.count * self._layer(block, pack.passes) for block in self.shape.blocks)
        return self._casts + layers - (self._left_out(pack) if self.shape.is_llama and not self.by_modules else 0.0)

    def _left_out(self, pack: PackSize) -> float:
        """Return the bytes that the last layer does not store, which is computed for the tokens of the loss alone.

        Of all tokens it stores the norm before attention, and keys and values.
        """
        block = self.shape.blocks[-1]
        whole = self._layer(block, pack.passes) - sum(self._keys(block, each) for each in pack.passes)
        read = self.shape.hidden * (self._norm + self._normed + self._reads(block, _MIXER) * self._width)
        read += block.narrow * (self._norm + self._normed) if self.shape.head_norms else 0.0
        return (whole - pack.tokens * read) * max(0.0, 1.0 - pack.loss_tokens / pack.tokens)

    def _logits(self, pack: PackSize) -> float:
        mib = self.logits_chunk_mib or (ON_GPU if self.on_gpu else ON_PROCESSOR)
        rows = min(chunk_size(self.shape.vocabulary, mib), pack.loss_tokens)
        return _COPIES * rows * self.shape.vocabulary * _FP32

    def _masks(self, pack: PackSize) -> float:
        return sum(each.scores for each in pack.passes if each.masked) * self._width

    def _ends(self, pack: PackSize) -> float:
        """Return the bytes before and after the layers: rotary positions, the last norm, and the states of tokens."""
        hidden = self.shape.hidden
        each = 2 * self.shape.head_dim * self._width + (self._norm + self._width) * hidden
        each += 2 * self.shape.layers * self.shape.per_layer_input * self._width
        return pack.tokens * each + 3 * pack.loss_tokens * hidden * self._width

    def _layer(self, block: LayerBlock, passes: Sequence[PassSize]) -> float:
        """Return the bytes that a layer stores for the backward pass."""
        each = self._common(block)
        each += self._heads(block) if block.linear is None else self._linear(block.linear)
        total = sum(one.tokens for one in passes) * each
        return total + (sum(self._keys(block, one) for one in passes) if block.linear is None else 0.0)

    def _common(self, block: LayerBlock) -> float:
        """Return the bytes a token of norms, MLP and adapters."""
        shape, width = self.shape, self._width
        post = self._norm + (_FP32 if self._trained and not self.on_gpu else 0.0)
        norms = 2 * (self._norm + self._normed) + (2 * post if shape.post_norms else 0.0)
        inputs = shape.hidden * (self._reads(block, _MIXER) + self._reads(block, ("gate_proj", "up_proj")))
        inner = shape.intermediate * (3 + self._reads(block, ("down_proj",)))
        further = shape.hidden * (post + width) + 4 * shape.per_layer_input * width if shape.per_layer_input else 0.0
        return shape.hidden * norms + width * (inputs + inner) + further + self._adapter(block)

    def _adapter(self, block: LayerBlock) -> float:
        """Return the bytes a token of an adapter: its inner width, and with dropout its inputs and their masks."""
        adapted, inner = block.layers_with_adapter(self.targets), _FP32 if self.dropout else self._width
        if not self.rank:
            return 0.0
        dropped = _FP32 + (1.0 if self.on_gpu else _FP32)
        inputs = sum(size for size, _ in adapted.values()) * dropped if self.dropout else 0.0
        return len(adapted) * self.rank * inner + inputs

    def _heads(self, block: LayerBlock) -> float:
        """Return the bytes a token of attention, without its keys and values."""
        gates = 3 if self.shape.gated else 0
        each = (2 + gates) * block.wide * self._width + _FP32 * self.shape.heads
        normed = block.wide + block.narrow * (2 if self.shape.per_layer_input else 1)  # Gemma 4 norms values, too
        return each + (normed * (self._norm + self._normed) if self.shape.head_norms else 0.0)

    def _keys(self, block: LayerBlock, size: PassSize) -> float:
        """Return the bytes of keys and values, which a mask repeats for every head, and of stored attention."""
        repeated = self.shape.eager or (size.masked and block.wide != block.narrow)
        keys = 2 * size.rows * size.columns * (block.wide if repeated else block.narrow) * self._width
        return keys + (size.scores * self.shape.heads * (2 * self._width + _FP32) if self.shape.eager else 0.0)

    def _linear(self, sizes: LinearAttention) -> float:
        """Return the bytes a token of the gated delta rule by transformers' own passes, which compute in fp32.

        13 tensors of the width of the values, five of a chunk's pairs of tokens, and a state of each chunk.
        """
        pairs, state = 5 * _CHUNK * sizes.heads, sizes.width * sizes.head_dim / _CHUNK
        return _FP32 * (13 * sizes.width + pairs + state) + self._width * (3 * sizes.mixed + 2 * sizes.width)

    def _reads(self, block: LayerBlock, names: Sequence[str]) -> bool:
        """Test whether a trained layer of these stores its input as it is; with dropout an adapter stores a copy."""
        if self._trained:
            return True
        return not self.dropout and not block.layers_with_adapter(self.targets).keys().isdisjoint(names)

    @property
    def _trained(self) -> bool:
        return not self.rank

    @property
    def _width(self) -> float:
        return BYTES[self.dtype]

    @property
    def _norm(self) -> float:
        """Bytes of a number of a norm's input: on a processor the norms of transformers store it in fp32."""
        return self._width if self.on_gpu else _FP32

    @property
    def _normed(self) -> float:
        """Bytes of a number of a norm before its weight, where that is trained."""
        return self._width if self._trained and not self.on_gpu else 0.0

    @property
    def _casts(self) -> float:
        """Bytes of the factors of the adapter in the format of the base."""
        if not self.rank or self.dropout or self.dtype == "fp32":
            return 0.0
        return self.shape.adapter_parameters(self.rank, self.targets) * self._width

    @cached_property
    def _workspace(self) -> float:
        """Bytes a token of the backward pass of an MLP, beside what was stored."""
        inner = 2 * self.shape.intermediate * (_FP32 if self.dropout else self._width)
        return inner + 3 * self.shape.hidden * self._width


_MIXER = ("q_proj", "k_proj", "v_proj", "in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b")
"""Linear layers that read the norm before attention."""
