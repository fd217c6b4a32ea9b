"""Language-model head: from hidden states to logits, with the scale and the soft cap that some models apply."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.reference import BadModel
from stratagem.learn.logprobs import Head

TOLERANCE = {"fp32": 1e-3}
"""Tolerance between two computations of the same logits, in standard deviations; larger in short formats."""
SLICE = 8192
"""Rows of the head's weights that are converted at once."""
_SCALES = ("logits_scaling", "logit_scale", "lm_head_multiplier")
"""Names of the logit scale in model configurations; some models multiply by it, some divide."""


def decoder_of(lm: LanguageModel) -> Any:
    """Return the decoder layers, adapters included, without the head."""
    base = lm.model.get_base_model() if hasattr(lm.model, "peft_config") else lm.model
    return base.get_decoder()


def head_of(lm: LanguageModel, scale: float = 1.0, *, fp32: bool = False) -> Head:
    """Return the head with its logit scale, and with the soft cap of the model if it has one.

    With `fp32` the logits of a model in a short format are computed and returned in fp32.
    """
    head = lm.model.get_output_embeddings()
    long = fp32 and head.weight.dtype in (torch.bfloat16, torch.float16) and head.bias is None
    cap = getattr(lm.model.config.get_text_config(), "final_logit_softcapping", None)

    def scaled(hidden: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = _LongLogits.apply(hidden, head.weight) if long else head(hidden)  # type: ignore[no-untyped-call]
        return logits if scale == 1.0 else logits * scale

    return Head(
        logits=scaled if cap is None else lambda hidden: torch.tanh(scaled(hidden) / cap) * cap,
        size=int(head.weight.shape[0]),
        trained=any(weight.requires_grad for weight in head.parameters()),
    )


def logit_scale_of(lm: LanguageModel) -> float:
    """Find the logit scale of a model by a probe; a model that changes its logits otherwise is rejected."""
    size = lm.model.get_input_embeddings().num_embeddings
    ids = torch.tensor([[(5 * index * index + 2 * index + 1) % size for index in range(12)]], device=lm.model.device)
    with torch.no_grad():
        theirs = lm.model(input_ids=ids).logits.float()
        states = decoder_of(lm)(input_ids=ids, use_cache=False).last_hidden_state
        limit = TOLERANCE.get(lm.dtype, 0.1) * theirs.std().item()
        for scale in (1.0, *_logit_scales(lm)):
            ours = head_of(lm, scale).logits(states).float()
            if not (ours - theirs).abs().max().item() > limit:
                return scale
    raise BadModel(
        f"The learner cannot work out {lm.name!r}'s logits from its hidden states: it does more to them than its head, "
        f"a scale (one of {', '.join(_SCALES)}) and a cap, so it can be played and measured, but not trained."
    )


def _logit_scales(lm: LanguageModel) -> list[float]:
    """Return the logit scales of the configuration and their inverses."""
    config = lm.model.config.get_text_config()
    values = [getattr(config, name, None) for name in _SCALES]
    return [scale for value in values if value for scale in (float(value), 1.0 / float(value))]


class _LongLogits(torch.autograd.Function):
    """Logits in fp32 of hidden states and weights in a short format; the weights are converted a slice at a time."""

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(hidden, weight)
        long = hidden.float()
        return torch.cat([long @ some.float().T for some in torch.split(weight, SLICE)], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        hidden, weight = ctx.saved_tensors
        own = torch.zeros_like(hidden, dtype=torch.float32)
        for some, rows in zip(torch.split(given, SLICE, -1), torch.split(weight, SLICE), strict=True):
            own += some @ rows.float()
        theirs = (given.T @ hidden.float()).to(weight) if ctx.needs_input_grad[1] else None
        return own.to(hidden), theirs
