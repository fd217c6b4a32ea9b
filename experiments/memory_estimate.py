"""Memory of a training step: the estimate of `--dry-run` against the peak of the learner's own step.

Each recipe for a GPU is estimated and run with three small models of its architecture and random weights. The step is
that of `Learner`: packing, forward and backward passes, logits in chunks, and AdamW. Without a GPU its two kernels that
store less than a processor's are stood in for (`gpu_kernels.py`); rows `processor` are without any stand-in.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from gpu_kernels import use_gpu_dropout, use_gpu_norms
from memory_meter import MemoryMeter

from stratagem.algorithms.catalogue import read_any
from stratagem.algorithms.estimates import estimate_run
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.language.models.quiet import quietly
from stratagem.language.models.small import small_folder
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.logprobs import ON_GPU, ON_PROCESSOR, chunk_size
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.training.estimate import ProcessMemory
from stratagem.training.shipped import recipe_path

MIB = 2.0**20
VOCABULARY = 1200
MICROBATCH = 768
RECIPES = {
    "papers/scopal/qwen2": ("Qwen2Config", ["papers/scopal/self-play", "papers/scopal/qwen2"]),
    "papers/scopal/all-weights": (
        "Qwen2Config",
        ["papers/scopal/self-play", "papers/scopal/qwen2", "papers/scopal/all-weights"],
    ),
    "papers/diplomacy/league": ("Qwen3Config", ["papers/diplomacy/league"]),
    "models/gemma": ("Gemma4TextConfig", ["sepo/ipd", "models/gemma"]),
    "models/qwen": ("Qwen3_5TextConfig", ["sepo/ipd", "models/qwen"]),
    "models/qwen-4bit": ("Qwen3_5TextConfig", ["sepo/ipd", "models/qwen-4bit"]),
    "shapellm/models/gemma": (
        "Gemma2Config",
        ["shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/gemma"],
    ),
    "shapellm/models/llama": (
        "LlamaConfig",
        ["shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/llama"],
    ),
}
"""Recipes for a GPU, each with the configuration class of its model."""


@dataclass(frozen=True)
class Size:
    """Size of a small model."""

    width: int
    layers: int
    heads: int


SIZES = (Size(128, 4, 4), Size(256, 4, 8), Size(256, 8, 8))
"""Sizes that every recipe is measured at."""
_OF_CLASS: dict[str, dict[str, Any]] = {
    "Gemma4TextConfig": {
        "hidden_size_per_layer_input": 32,
        "vocab_size_per_layer_input": VOCABULARY,
        "global_head_dim": 64,
    },
    "Qwen3_5TextConfig": {
        "linear_num_key_heads": 4,
        "linear_num_value_heads": 8,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
    },
}


def made_model(config: str, size: Size, folder: Path, **sizes: Any) -> Path:
    """Write a model with random weights; its MLP is three times as wide as its layers."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(small_folder())
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    stated = {
        "vocab_size": VOCABULARY,
        "hidden_size": size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.heads // 4,
        "head_dim": size.width // size.heads,
        "intermediate_size": 3 * size.width,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": True,
    }
    made = getattr(transformers, config)(**stated, **_OF_CLASS.get(config, {}), **sizes, **ids)
    torch.manual_seed(0)
    with quietly():
        model = transformers.AutoModelForCausalLM.from_config(made, dtype=torch.float32)
        model.generation_config.eos_token_id = tokenizer.eos_token_id
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def preset(
    name: str, folder: Path, dtype: str = "bf16", **changes: object
) -> dict[str, tuple[ProcessMemory, list[Example]]]:
    """Return the estimates of a recipe with the model of a folder, each with the examples of its step."""
    settings = {"model": f"dir:{folder}+dtype={dtype}", "max_tokens_per_microbatch": MICROBATCH, **changes}
    estimate = estimate_run(read_any([recipe_path(part) for part in RECIPES[name][1]], settings))
    assert estimate is not None
    assert not estimate.unknown
    return {
        text.replace(f"dir:{folder}", "").partition(", ")[2]: (memory, list(estimate.batches[text]))
        for text, memory in estimate.memory.items()
        if str(folder) in text
    }


@dataclass(frozen=True)
class Measured:
    """Bytes of a step, by torch's own accounting of its tensors."""

    weights: int
    """Weights, adapters and reference, before the first step."""
    held: int
    """The same with AdamW's state, between two steps."""
    peak: int


def measure(folder: Path, memory: ProcessMemory, examples: Sequence[Example]) -> Measured:
    """Take an optimizer step as the estimate describes it, after a short one that allocates AdamW's state."""
    lm = load(f"dir:{folder}", dtype=memory.dtype)
    if memory.on_gpu:
        use_gpu_norms(lm.model)
    learners = [_learner(lm, memory, f"policy-{number}") for number in range(memory.learners)]
    if own := memory.adapter:
        for number in range(memory.frozen):
            add_adapter(lm, f"frozen-{number}", own.rank, own.lora_alpha, own.targets or None)
    if memory.on_gpu:
        use_gpu_dropout(lm.model)
    known = list(_tensors(lm))
    if memory.reference:
        known += _tensors(load(f"dir:{folder}", dtype=memory.reference))
    batch = [_with_columns(_in_vocabulary(example), index) for index, example in enumerate(examples)]
    weights = MemoryMeter(known).known
    for learner in learners:
        learner.update_once(batch[:1])
        known += _state(learner.optimizer)
    gc.collect()
    meter = MemoryMeter(known)
    with meter:
        learners[0].update_once(batch)
    return Measured(weights, meter.known, meter.peak)


def _learner(lm: LanguageModel, memory: ProcessMemory, name: str) -> Learner:
    if memory.adapter is None:
        trained = list(lm.model.requires_grad_(True).parameters())
    else:
        own = memory.adapter
        add_adapter(lm, name, own.rank, own.lora_alpha, own.targets or None, dropout=own.dropout)
        trained = adapter_parameters(lm, name)
    optimizer = Optimizer(trained, OptimizerSettings(), 10)
    for group in optimizer.method.param_groups:  # as torch chooses on a GPU
        group["foreach"] = memory.on_gpu if group["foreach"] is None else group["foreach"]
    policy = Policy(
        lm,
        max_tokens_per_microbatch=MICROBATCH,
        chunk=chunk_size(memory.shape.vocabulary, ON_GPU if memory.on_gpu else ON_PROCESSOR),
        gradient_checkpointing=memory.checkpointed,
    )
    loss = PolicyGradient(kl_estimator="none", kl_coef=0.0)
    return Learner(policy, loss, optimizer, adapter=None if memory.adapter is None else name)


def _tensors(lm: LanguageModel) -> Iterator[torch.Tensor]:
    yield from lm.model.parameters()
    yield from lm.model.buffers()


def _state(optimizer: Optimizer) -> Iterator[torch.Tensor]:
    yield from optimizer._long  # noqa: SLF001 - master copies, which are the weights themselves in fp32
    for state in optimizer.method.state.values():
        yield from (value for value in state.values() if isinstance(value, torch.Tensor))


def _in_vocabulary(example: Example) -> Example:
    return replace(example, tokens=tuple(5 + token for token in example.tokens))


def _with_columns(example: Example, index: int) -> Example:
    return example.with_columns(advantage=(0.5 - index % 2,) * len(example.loss_positions))


class Row(dict[str, Any]):
    """One comparison."""


def compare(folder: Path, what: Mapping[str, object], memory: ProcessMemory, examples: Sequence[Example]) -> Row:
    """Compare an estimate with what is measured; the parts of keys and values are those of play."""
    parts, found = memory.parts(), measure(folder, memory, examples)
    play_free = replace(memory, rows=0)
    weights = parts["weights"] + parts["reference"] + parts["adapters"]
    estimates = {"weights": weights, "held": weights + parts["optimizer"], "total": play_free.total()}
    measured = {"weights": found.weights, "held": found.held, "total": found.peak}
    ratios = {f"{name}_ratio": estimates[name] / measured[name] for name in estimates}
    return Row(
        **what,
        dtype=memory.dtype,
        checkpointed=memory.checkpointed,
        kernels="GPU" if memory.on_gpu else "processor",
        tokens=max((pack.tokens for pack in memory.packs), default=0),
        **{name: size / MIB for name, size in parts.items() if name != "keys_and_values"},
        measured_weights=found.weights / MIB,
        measured_state=(found.held - found.weights) / MIB,
        measured_step=(found.peak - found.held) / MIB,
        estimate=estimates["total"] / MIB,
        measured=found.peak / MIB,
        **ratios,
    )


def rows(name: str, sizes: Sequence[Size] = SIZES) -> Iterator[Row]:
    """Compare a recipe at each size: as it is, and with the other choice of gradient checkpointing."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as root:
            folder = made_model(RECIPES[name][0], size, Path(root) / "model")
            for stage, (memory, examples) in preset(name, folder).items():
                label = {"recipe": name + (f", {stage}" if stage else ""), "size": f"{size.layers} x {size.width}"}
                yield compare(folder, label, memory, examples)
                if not stage and "shapellm" not in name:
                    other = not memory.checkpointed
                    again = preset(name, folder, gradient_checkpointing=other)[stage]
                    yield compare(folder, label, *again)


def plain_rows(size: Size) -> Iterator[Row]:
    """Compare steps by a processor's own kernels: adapter or all weights, both formats, both ways of activations."""
    with tempfile.TemporaryDirectory() as root:
        folder = made_model("Qwen3Config", size, Path(root) / "model")
        for dtype in ("fp32", "bf16"):
            for train in ("adapter", "all"):
                for again in (False, True):
                    made = preset("papers/scopal/qwen2", folder, dtype, train=train, gradient_checkpointing=again)
                    ((memory, examples),) = made.values()
                    label = {"recipe": f"Qwen 3, {train}", "size": f"{size.layers} x {size.width}"}
                    yield compare(folder, label, replace(memory, on_gpu=False), examples)


def print_row(row: Row) -> None:
    """Print a line of the table."""
    again = "yes" if row["checkpointed"] else "no"
    step = row["gradients"] + row["activations"] + row["logits"]
    print(
        f"| {row['recipe']} | {row['size']} | {row['kernels']} | {row['dtype']} | {again} | {row['tokens']} "
        f"| {row['weights'] + row['reference'] + row['adapters']:.1f} / {row['measured_weights']:.1f} "
        f"| {row['optimizer']:.1f} / {row['measured_state']:.1f} "
        f"| {max(step, row['estimate'] - row['weights'] - row['reference'] - row['adapters'] - row['optimizer']):.1f} "
        f"/ {row['measured_step']:.1f} "
        f"| {row['estimate']:.1f} / {row['measured']:.1f} | {row['total_ratio']:.2f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*RECIPES, "processor"], default=[*RECIPES, "processor"])
    parser.add_argument("--json", type=Path, help="file of the rows")
    options = parser.parse_args()
    torch.set_num_threads(1)
    heads = ("recipe", "layers x width", "kernels", "format", "checkpointing", "tokens of a pack")
    parts = ("weights", "optimizer", "step", "total", "ratio")
    print(f"| {' | '.join((*heads, *parts))} |\n|{' --- |' * len((*heads, *parts))}")
    found = list[Row]()
    for name in options.only:
        made = (row for size in SIZES for row in plain_rows(size)) if name == "processor" else rows(name)
        for row in made:
            print_row(row)
            found.append(row)
    worst = max(abs(row["total_ratio"] - 1.0) for row in found)
    print(f"\n{len(found)} steps, the largest deviation of a total is {100 * worst:.0f} %.")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
