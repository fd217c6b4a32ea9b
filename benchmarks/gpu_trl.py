"""Step on demonstrations of this learner and of trl's SFTTrainer: same model, texts, microbatches and adapter rank."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from gpu_models import device, loaded, published
from gpu_parts import Row, Size, learner_of, peak, prompts, synchronized

from stratagem.learning.example import example_from_demonstration
from stratagem.learning.losses.cross_entropy import CrossEntropy

RANK, ALPHA, RATE = 16, 32, 1e-5
STEPS = 3
"""Steps of each side; the first warms up and is left out."""
ROWS = 16


def demonstrations(path: Path, size: Size) -> Iterator[Row]:
    """Measure a step on texts whose every token but the first teaches, by this learner and by trl."""
    texts = prompts(size._replace(rows=min(ROWS, size.rows), prompt=size.prompt + size.new, shared=1))
    name = f"on {len(texts)} texts of {len(texts[0])} tokens"
    for side, measured in (("this learner", _ours), ("trl", _theirs)):
        gc.collect()
        if device() == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        yield Row(f"{side}, step {name}", measured(path, size, texts), "s")
        memory = peak()
        yield memory._replace(name=f"{side}, {memory.name}")


def _ours(path: Path, size: Size, texts: list[tuple[int, ...]]) -> float:
    """Return the mean time of a step of this learner."""
    lm = loaded(path)
    learner = learner_of(lm, size, gradient_checkpointing=True, loss=CrossEntropy())
    examples = [example_from_demonstration(text[:1], text[1:]) for text in texts]
    learner.step(examples)
    start = synchronized()
    for _ in range(STEPS - 1):
        learner.step(examples)
    return (synchronized() - start) / (STEPS - 1)


class _Clock(transformers.TrainerCallback):
    """Time at the end of every step."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note the time, once the device has done its work."""
        self.ends.append(synchronized())


def _theirs(path: Path, size: Size, texts: list[tuple[int, ...]]) -> float:
    """Return the mean time of a step of trl's trainer, with as many tokens in a microbatch."""
    import datasets
    from peft import LoraConfig
    from trl import SFTConfig, SFTTrainer

    lm, clock = published(path), _Clock()
    rows = max(1, min(len(texts), size.microbatch // len(texts[0])))
    while len(texts) % rows:
        rows -= 1
    with tempfile.TemporaryDirectory() as folder:
        config = SFTConfig(
            output_dir=folder,
            per_device_train_batch_size=rows,
            gradient_accumulation_steps=len(texts) // rows,
            gradient_checkpointing=True,
            learning_rate=RATE,
            lr_scheduler_type="constant",
            bf16=device() == "cuda",
            use_cpu=device() != "cuda",
            max_steps=STEPS,
            max_length=None,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )
        trainer = SFTTrainer(
            model=lm.model,
            processing_class=lm.tokenizer,
            args=config,
            train_dataset=datasets.Dataset.from_dict({"input_ids": [list(text) for text in texts] * STEPS}),
            peft_config=LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM"),
            callbacks=[clock],
        )
        trainer.train()
    return (clock.ends[-1] - clock.ends[0]) / (STEPS - 1)
