"""Steps of this learner and of trl: on demonstrations, and of a policy gradient with its replies.

Both sides have the same model, texts, microbatches and adapter rank. trl's models are loaded by transformers alone.
"""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import learner_ours
import learner_trl
import torch
import transformers
from gpu_models import device, loaded, published
from gpu_parts import Row, Size, learner_of, peak, prompts, synchronized
from learner_texts import PolicyStep
from learner_worker import ALPHA, BETA, RANK, RATE

from stratagem.language.models.language_model import LanguageModel
from stratagem.learn.example import example_from_demonstration
from stratagem.learn.losses.cross_entropy import CrossEntropy

STEPS = 3
"""Steps of each side; the first warms up and is left out."""
ROWS = 16


def demonstrations(path: Path, size: Size) -> Iterator[Row]:
    """Measure a step on texts with all tokens but the first in the loss mask, by this learner and by trl."""
    texts = prompts(size._replace(rows=min(ROWS, size.rows), prompt=size.prompt + size.new, shared=1))
    name = f"step on {len(texts)} texts of {len(texts[0])} tokens"
    yield from _sides(name, lambda: _ours(path, size, texts), lambda: _theirs(path, size, texts))


def policy_gradient(path: Path, size: Size) -> Iterator[Row]:
    """Measure a step with the replies that it learns from and a reference, by this learner and by trl's GRPOTrainer."""
    generations = math.isqrt(size.rows)
    asked = PolicyStep(size.rows // generations, size.prompt, generations, size.new)
    name = f"step of {asked.prompts} prompts of {asked.prompt} tokens, {asked.generations} replies of {asked.reply}"
    yield from _sides(name, lambda: _our_gradient(path, size, asked), lambda: _their_gradient(path, size, asked))


def _sides(name: str, ours: Callable[[], float], theirs: Callable[[], float]) -> Iterator[Row]:
    """Measure both sides, and the peak of memory of each."""
    for side, measured in (("this learner", ours), ("trl", theirs)):
        gc.collect()
        if device() == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        yield Row(f"{side}, {name}", measured(), "s")
        memory = peak()
        yield memory._replace(name=f"{side}, {memory.name}")


def _mean(step: Callable[[int], object]) -> float:
    """Return the mean time of a step of this learner."""
    step(0)
    start = synchronized()
    for number in range(1, STEPS):
        step(number)
    return (synchronized() - start) / (STEPS - 1)


def _ours(path: Path, size: Size, texts: list[tuple[int, ...]]) -> float:
    learner = learner_of(loaded(path), size, gradient_checkpointing=True, loss=CrossEntropy())
    examples = [example_from_demonstration(text[:1], text[1:]) for text in texts]
    return _mean(lambda _: learner.update_once(examples))


def _our_gradient(path: Path, size: Size, asked: PolicyStep) -> float:
    lm = loaded(path)
    return _mean(learner_ours.grpo(lm, BETA, gradient_checkpointing=True, size=asked, microbatch=size.microbatch))


class _Clock(transformers.TrainerCallback):
    """Time at the end of every step."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note the time, once the device has done its work."""
        self.ends.append(synchronized())

    def mean(self, trainer: Any) -> float:
        """Train, and return the mean time of a step."""
        trainer.train()
        return (self.ends[-1] - self.ends[0]) / (STEPS - 1)


def _arguments(folder: str) -> dict[str, Any]:
    """Return what both trainers of trl are told."""
    return {
        "output_dir": folder,
        "gradient_checkpointing": True,
        "learning_rate": RATE,
        "lr_scheduler_type": "constant",
        "bf16": device() == "cuda",
        "use_cpu": device() != "cuda",
        "max_steps": STEPS,
        "report_to": [],
        "save_strategy": "no",
        "logging_strategy": "no",
        "disable_tqdm": True,
    }


def _passes(rows: int, tokens: int, size: Size) -> int:
    """Return the least number of equal passes of whole texts within the tokens of a microbatch."""
    return next(passes for passes in range(1, rows + 1) if rows % passes == 0 and _fits(rows // passes, tokens, size))


def _fits(rows: int, tokens: int, size: Size) -> bool:
    return rows == 1 or rows * tokens <= size.microbatch


def _their_gradient(path: Path, size: Size, asked: PolicyStep) -> float:
    lm, clock, total = published(path), _Clock(), asked.prompts * asked.generations
    with tempfile.TemporaryDirectory() as folder:
        passes = _passes(total, asked.prompt + asked.reply, size)
        return clock.mean(learner_trl.grpo(lm, BETA, {}, _common(lm, clock), _arguments(folder), asked, passes))


def _common(lm: LanguageModel, clock: _Clock) -> dict[str, Any]:
    from peft import LoraConfig

    lora = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM")
    return {"model": lm.model, "processing_class": lm.tokenizer, "peft_config": lora, "callbacks": [clock]}


def _theirs(path: Path, size: Size, texts: list[tuple[int, ...]]) -> float:
    import datasets
    from trl import SFTConfig, SFTTrainer

    lm, clock, passes = published(path), _Clock(), _passes(len(texts), len(texts[0]), size)
    with tempfile.TemporaryDirectory() as folder:
        config = SFTConfig(
            per_device_train_batch_size=len(texts) // passes,
            gradient_accumulation_steps=passes,
            max_length=None,
            **_arguments(folder),
        )
        rows = datasets.Dataset.from_dict({"input_ids": [list(text) for text in texts] * STEPS})
        return clock.mean(SFTTrainer(args=config, train_dataset=rows, **_common(lm, clock)))


PARTS: Mapping[str, Callable[[Path, Size], Iterator[Row]]] = {"trl": demonstrations, "grpo": policy_gradient}
