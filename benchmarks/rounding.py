"""Rounding of log-probabilities in bf16 against a clip range of 1e-4, with the head in bf16 and in fp32.

    python -m benchmarks.rounding            the table of docs/explanation/learning.md
    python -m benchmarks.rounding tiny       another model

One label is scored after each of forty prompts of ShapeLLM's game: in one batch, and in mini-batches of ten, with the
same weights. The log-ratio between the two would be 0 without rounding. Then the adapter moves a little, and the change
of the log-probabilities in bf16 is compared with that in fp32.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import torch

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.random_play import random_turns
from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.example import Example
from stratagem.learn.policy import Policy

CLIP, MINI_BATCH, UPDATE = 1e-4, 10, 1e-4
WAYS = (
    ("bf16", False, None),
    ("bf16", True, None),
    ("bf16", False, False),
    ("bf16", True, False),
    ("fp32", False, None),
)
"""Format of the weights, an fp32 head, and whether prefixes are shared."""


def examples(lm: LanguageModel) -> list[Example]:
    """Make examples of one label after the prompts of an episode."""
    style, game = make_style("shapellm-state"), make_game("ipd-shapellm(labels=(C, D), rounds=20)")
    made = []
    turns = random_turns(game.start(Key(0)), Key(0), 200)
    for view, action in (pair for turn in turns for pair in turn.decisions()):
        messages = [message._asdict() for message in style.messages(view)]
        prompt, label = lm.chat(messages), lm.encode(action)[-1]
        made.append(Example(tokens=(*prompt, label), loss_positions=(len(prompt),)))
    return made


def logprobs(policy: Policy, batch: Sequence[Example], size: int) -> torch.Tensor:
    """Score the examples, `size` at a time."""
    found = torch.zeros(len(batch))
    with torch.no_grad(), active(policy.lm, "one"):
        for start in range(0, len(batch), size):
            some = batch[start : start + size]
            for pack in policy.packs(some):
                outputs = policy.outputs(pack, some).logprobs
                for number, value in zip(pack.examples, outputs.tolist(), strict=True):
                    found[start + number] = value
    return found


def readings(model: str, dtype: str, *, fp32_head: bool, share: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the log-ratios of equal weights, and the changes by a small update as read in mini-batches."""
    lm = load(model, dtype=dtype)
    add_adapter(lm, "one", 2, 32, ("q_proj", "v_proj"), seed=1)
    policy, batch = Policy(lm, share=share, fp32_head=fp32_head), examples(lm)
    before = logprobs(policy, batch, MINI_BATCH)
    noise = before - logprobs(policy, batch, len(batch))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "one"):
            weight += UPDATE * torch.randn(weight.shape, generator=generator)
    return noise.abs(), logprobs(policy, batch, MINI_BATCH) - before


def main() -> None:
    """Print the table."""
    model = sys.argv[1] if len(sys.argv) > 1 else "smollm2"
    _, exact = readings(model, "fp32", fp32_head=False, share=False)
    print(f"{model}; the update moves log-probabilities by {exact.abs().mean():.1e} nats on average")
    print("weights | head | read | mean log-ratio | largest | beyond 1e-4 | mean error of the change")
    for dtype, fp32_head, share in WAYS:
        noise, change = readings(model, dtype, fp32_head=fp32_head, share=share)
        packing = "shared prefixes" if share is None else "each text by itself"
        head = "fp32" if fp32_head or dtype == "fp32" else "bf16"
        beyond, error = (noise > CLIP).float().mean(), (change - exact).abs().mean()
        print(f"{dtype} | {head} | {packing} | {noise.mean():.1e} | {noise.max():.1e} | {beyond:.0%} | {error:.1e}")


if __name__ == "__main__":
    main()
