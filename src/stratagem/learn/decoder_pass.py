"""Forward pass over the decoder of a model, with gradients, to the last hidden states of some tokens.

A loss reads the states of few tokens: those before its own. Where the decoder has the structure of Llama, its last
layer therefore computes queries, attention and MLP of these tokens alone, and only keys and values of all; gradients
are the same. With four layers that is a fifth of a training step. Any other decoder is run by its own modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint
from transformers.cache_utils import Cache, CacheLayerMixin

from stratagem.language.models import decoder_structure
from stratagem.language.models.attention import Attention
from stratagem.language.models.decoder_structure import DecoderLayer, Norm
from stratagem.language.models.language_model import LanguageModel
from stratagem.learn.branch_attention import SparseMask, repeat_heads
from stratagem.learn.head import decoder_of

Layers = Sequence[CacheLayerMixin]
"""Keys and values that the tokens of a pass attend to, too, layer by layer; the pass adds its own."""


class TokenRows(NamedTuple):
    """Rows of tokens [R, W]."""

    ids: torch.Tensor
    positions: torch.Tensor | None = None
    """Position of each token; None where it is its column."""
    mask: Any = None
    """Additive attention mask, as `Attention` gives it; None where each row is one text, or with `sparse`."""
    sparse: SparseMask | None = None
    """Mask that is no table of tokens and tokens, in place of `mask`."""


class DecoderPass(Protocol):
    """Forward pass over a decoder."""

    def __call__(self, rows: TokenRows, wanted: torch.Tensor, layers: Layers = ()) -> torch.Tensor:
        """Compute the last hidden states [N, H] of tokens, by their indices in the flattened rows."""
        ...


class ModulePass:
    """Forward pass by the modules of the model itself."""

    def __init__(self, lm: LanguageModel, attention: Attention | None = None, *, checkpointing: bool = False) -> None:
        """With `checkpointing` the activations inside layers are recomputed in the backward pass."""
        self._lm = lm
        self._attention = attention
        self.checkpointing = checkpointing

    def __call__(self, rows: TokenRows, wanted: torch.Tensor, layers: Layers = ()) -> torch.Tensor:
        decoder, options = decoder_of(self._lm), dict[str, Any]()
        if rows.mask is not None:
            options = {"position_ids": rows.positions, "attention_mask": rows.mask}
        if layers:
            options["past_key_values"] = Cache(layers=list(layers))
        if rows.sparse is not None:
            options["position_ids"] = rows.positions
        by = nullcontext() if rows.sparse is None else attending_by(decoder, rows.sparse, self._attention)
        again = self.checkpointing and torch.is_grad_enabled()
        with by, checkpointed_activations(decoder) if again else nullcontext():
            output = decoder(input_ids=rows.ids, use_cache=bool(layers), **options)
        states: torch.Tensor = output.last_hidden_state.flatten(0, 1)
        return states[wanted]


@contextmanager
def checkpointed_activations(decoder: torch.nn.Module) -> Iterator[None]:
    """Checkpoint the activations of these layers in the forward passes of the context.

    A model's own switch works only while it is training, when its dropout works too; ours leaves that as it is.
    The weights, the active adapter among them, must be the same until the backward pass is over.
    """
    with _wrapped_layers(decoder, _again):
        yield


@contextmanager
def _wrapped_layers(decoder: torch.nn.Module, wrap: Callable[[Any], Any]) -> Iterator[None]:
    """Wrap the forward functions of layers in the context."""
    from transformers.modeling_layers import GradientCheckpointingLayer

    found = [module for module in decoder.modules() if isinstance(module, GradientCheckpointingLayer)]
    before = [vars(layer).get("forward") for layer in found]
    for layer in found:
        layer.forward = wrap(layer.forward)
    try:
        yield
    finally:
        for layer, forward in zip(found, before, strict=True):
            del layer.forward
            if forward is not None:
                layer.forward = forward


def _again(forward: Any) -> Any:
    def run(*args: Any, **options: Any) -> Any:
        return checkpoint(forward, *args, use_reentrant=False, **options)

    return run


@contextmanager
def attending_by(decoder: Any, mask: SparseMask, attention: Attention | None) -> Iterator[None]:
    """Let the modules of a decoder attend by a sparse mask, in a backward pass that computes a layer again, too."""
    assert attention is not None
    config, window_of = decoder.config, attention.window_of
    types = getattr(config, "layer_types", None)

    def attend(
        module: Any, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, _: Any, **options: Any
    ) -> tuple[torch.Tensor, None]:
        if named := [name for name in _UNKNOWN_OPTIONS if options.get(name)]:
            raise NotImplementedError(f"attention with {', '.join(named)}")
        window = window_of(types[module.layer_idx] if types else "")
        result = mask.attend(queries, keys, values, float(options["scaling"]), window)
        return result.transpose(1, 2).contiguous(), None

    def wrap(forward: Any) -> Any:
        def run(*args: Any, **options: Any) -> Any:
            with _attention_function(config, attend):
                return forward(*args, **options)

        return run

    # around all layers, too, so that transformers makes no mask of its own
    with _attention_function(config, attend), _wrapped_layers(decoder, wrap):
        yield


_UNKNOWN_OPTIONS = ("softcap", "s_aux", "dropout")
"""Options of attention in transformers that a sparse mask does not compute."""
_OURS = "stratagem-sparse"
"""Name of our function in transformers' table of attention functions."""


@contextmanager
def _attention_function(config: Any, function: Any) -> Iterator[None]:
    """Compute attention by a function within, in the modules of a configuration."""
    from transformers import AttentionInterface

    AttentionInterface.register(_OURS, _attend)
    before, token = config._attn_implementation, _present.set(function)  # noqa: SLF001
    config._attn_implementation = _OURS  # noqa: SLF001
    try:
        yield
    finally:
        config._attn_implementation = before  # noqa: SLF001
        _present.reset(token)


_present: ContextVar[Any] = ContextVar("_present")
"""Function that attends in the present pass."""


def _attend(*args: Any, **options: Any) -> Any:
    return _present.get()(*args, **options)


class _Queries(NamedTuple):
    """Tokens of each row whose states are computed in a layer, [R, Q]; a shorter row repeats its first column."""

    columns: torch.Tensor
    found: torch.Tensor
    """Index of each wanted token in the flattened queries."""

    @classmethod
    def of(cls, wanted: torch.Tensor, shape: torch.Size) -> _Queries:
        rows, columns = wanted.div(shape[1], rounding_mode="floor"), wanted % shape[1]
        counts = torch.bincount(rows, minlength=shape[0])
        order = torch.argsort(rows, stable=True)
        starts = counts.cumsum(0) - counts
        width = int(counts.max())
        places = torch.empty_like(rows)
        places[order] = torch.arange(len(rows), device=rows.device) - starts[rows[order]]
        table = torch.zeros(shape[0], width, dtype=torch.long, device=rows.device)
        table[rows, places] = columns
        return cls(table, rows * width + places)

    def of_rows(self, values: torch.Tensor) -> torch.Tensor:
        """Select the queries of values [R, W, ...]."""
        return values[torch.arange(len(self.columns), device=values.device)[:, None], self.columns]


class FusedPass:
    """Forward pass of a decoder of Llama's structure; its last layer is computed for the wanted tokens alone."""

    def __init__(self, lm: LanguageModel, attention: Attention, *, checkpointing: bool = False) -> None:
        """Raise `OtherStructure` for a decoder of another structure."""
        self._decoder = decoder_structure.decoder_of(lm)
        self._attention = attention
        self.checkpointing = checkpointing

    def __call__(self, rows: TokenRows, wanted: torch.Tensor, layers: Layers = ()) -> torch.Tensor:
        decoder, shape = self._decoder, rows.ids.shape
        x = decoder.embedding(rows.ids)
        columns = torch.arange(shape[1], device=x.device).expand(shape)
        positions = columns if rows.positions is None else rows.positions.expand(shape)
        cos, sin = decoder.rotary(x, positions)
        half = decoder.head_size // 2
        rotary = cos[:, :, None], torch.cat([-sin[..., :half], sin[..., half:]], dim=-1)[:, :, None]
        *before, last = decoder.layers
        mask = rows.mask if rows.sparse is None else rows.sparse
        if mask is None and self._attention.window is not None:
            mask = self._attention.mask(positions, shape[1], x.dtype)
        read = _again(self._layer) if self.checkpointing and torch.is_grad_enabled() else self._layer
        for number, layer in enumerate(before):
            x = read(layer, x, rotary, mask, layers[number] if layers else None, None)
        queries = _Queries.of(wanted, shape)
        if mask is None:
            mask = self._attention.mask(queries.of_rows(positions), shape[1], x.dtype)
        elif rows.sparse is not None:
            mask = rows.sparse.of_queries(queries.columns)
        else:
            mask = _select_mask(mask, queries)
        x = read(last, x, rotary, mask, layers[-1] if layers else None, queries)
        return decoder.norm(x.flatten(0, 1)[queries.found])

    def _layer(
        self,
        layer: DecoderLayer,
        x: torch.Tensor,
        rotary: tuple[torch.Tensor, torch.Tensor],
        mask: Any,
        store: CacheLayerMixin | None,
        queries: _Queries | None,
    ) -> torch.Tensor:
        """Compute a layer for tokens [R, W, H], or with `queries` for these alone, [R, Q, H]."""
        size, attention = self._decoder.head_size, layer.attention
        inner = layer.before_attention(x)
        split = (*x.shape[:2], -1, size)
        keys = _rotate(_norm(layer.key_norm, attention.k_proj(inner).view(split)), *rotary).transpose(1, 2)
        values = attention.v_proj(inner).view(split).transpose(1, 2)
        if store is not None:
            keys, values = store.update(keys, values)
        if queries is not None:
            x, inner = queries.of_rows(x), queries.of_rows(inner)
            rotary = queries.of_rows(rotary[0]), queries.of_rows(rotary[1])
            if not x.shape[1]:
                return x
        asked = attention.q_proj(inner).view(*x.shape[:2], -1, size)
        turned = _rotate(_norm(layer.query_norm, asked), *rotary).transpose(1, 2)
        result = self._attend(turned, keys, values, mask, layer)
        x = x + attention.o_proj(result.transpose(1, 2).flatten(2))
        inner, mlp = layer.before_mlp(x), layer.mlp
        out: torch.Tensor = x + mlp.down_proj(mlp.act_fn(mlp.gate_proj(inner)) * mlp.up_proj(inner))
        return out

    def _attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Any, layer: DecoderLayer
    ) -> torch.Tensor:
        scale = float(layer.attention.scaling)
        if hasattr(mask, "attend"):
            result: torch.Tensor = mask.attend(queries, keys, values, scale, self._attention.window_of(layer.kind))
            return result
        groups = queries.shape[1] // keys.shape[1]
        return scaled_dot_product_attention(
            queries,
            repeat_heads(keys, groups),
            repeat_heads(values, groups),
            attn_mask=mask[layer.kind] if isinstance(mask, dict) else mask,
            is_causal=mask is None,
            scale=scale,
        )


def _norm(norm: Norm | None, x: torch.Tensor) -> torch.Tensor:
    return x if norm is None else norm(x)


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Apply rotary positions to heads [R, W, heads, size]; the first half of `sin` is negative already."""
    return torch.addcmul(x * cos, torch.roll(x, x.shape[-1] // 2, dims=-1), sin)


def _select_mask(mask: Any, queries: _Queries) -> Any:
    """Select the rows of a mask [R, 1, W, C] that belong to queries."""
    if isinstance(mask, dict):
        return {kind: _select_mask(own, queries) for kind, own in mask.items()}
    return queries.of_rows(mask[:, 0].expand(len(queries.columns), -1, -1))[:, None]
