"""From hidden states to logits as the model itself does it: some models scale what their head says, some cap it."""

from __future__ import annotations

from typing import Any

import torch

from stratagem.learning.logprobs import Head
from stratagem.models.language_model import LanguageModel
from stratagem.models.reference import BadModel

TOLERANCE = {"fp32": 1e-3}
"""How far two ways to compute the same may be apart, in units of its spread; more in short formats."""
_SCALES = ("logits_scaling", "logit_scale", "lm_head_multiplier")
"""What configurations call the number; some models multiply by it, some divide."""


def decoder_of(lm: LanguageModel) -> Any:
    """The layers of the language model, adapters included, without the head."""
    base = lm.model.get_base_model() if hasattr(lm.model, "peft_config") else lm.model
    return base.get_decoder()


def head_of(lm: LanguageModel, scale: float = 1.0) -> Head:
    """The head with its scale, and with the cap that some models put on logits."""
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
    """What the model multiplies its head's output by, probed; a model that does something else to it is refused."""
    size = lm.model.get_input_embeddings().num_embeddings
    ids = torch.tensor([[(5 * place * place + 2 * place + 1) % size for place in range(12)]], device=lm.model.device)
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
    """Scales that the configuration names, either way round."""
    config = lm.model.config.get_text_config()
    values = [getattr(config, name, None) for name in _SCALES]
    return [scale for value in values if value for scale in (float(value), 1.0 / float(value))]
