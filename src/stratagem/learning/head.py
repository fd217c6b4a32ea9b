"""Language-model head: from hidden states to logits, with the scale and the soft cap that some models apply."""

from __future__ import annotations

from typing import Any

import torch

from stratagem.learning.logprobs import Head
from stratagem.models.language_model import LanguageModel
from stratagem.models.reference import BadModel

TOLERANCE = {"fp32": 1e-3}
"""Tolerance between two computations of the same logits, in standard deviations; larger in short formats."""
_SCALES = ("logits_scaling", "logit_scale", "lm_head_multiplier")
"""Names of the logit scale in model configurations; some models multiply by it, some divide."""


def decoder_of(lm: LanguageModel) -> Any:
    """Return the decoder layers, adapters included, without the head."""
    base = lm.model.get_base_model() if hasattr(lm.model, "peft_config") else lm.model
    return base.get_decoder()


def head_of(lm: LanguageModel, scale: float = 1.0) -> Head:
    """Return the head with its logit scale, and with the soft cap of the model if it has one."""
    head = lm.model.get_output_embeddings()
    cap = getattr(lm.model.config.get_text_config(), "final_logit_softcapping", None)

    def scaled(hidden: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = head(hidden)
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
        for scale in (1.0, *_named(lm)):
            ours = head_of(lm, scale).logits(states).float()
            if not (ours - theirs).abs().max().item() > limit:
                return scale
    raise BadModel(
        f"The learner cannot work out {lm.name!r}'s logits from its hidden states: it does more to them than its head, "
        f"a scale (one of {', '.join(_SCALES)}) and a cap, so it can be played and measured, but not trained."
    )


def _named(lm: LanguageModel) -> list[float]:
    """Return the logit scales of the configuration and their inverses."""
    config = lm.model.config.get_text_config()
    values = [getattr(config, name, None) for name in _SCALES]
    return [scale for value in values if value for scale in (float(value), 1.0 / float(value))]
