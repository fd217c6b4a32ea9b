"""The side of trl in the learner's benchmark: `python learner_trl.py TASK`; its own loop, held before every step."""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import datasets
import torch
import transformers
from learner_texts import ENDING, LENGTH, ROWS, STEM, PolicyStep, reward, texts
from learner_worker import ALPHA, BETA, RANK, RATE, THREADS, Line, dtype_of
from peft import LoraConfig
from trl import GRPOConfig, GRPOTrainer, KTOConfig, KTOTrainer, SFTConfig, SFTTrainer

from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load

_COPIES = 64
"""Every batch is the same rows again; so many of them are there."""
_SETTINGS: dict[str, Any] = {
    "learning_rate": RATE,
    "lr_scheduler_type": "constant",
    "max_grad_norm": 1.0,
    "weight_decay": 0.0,
    "bf16": False,
    "use_cpu": True,
    "report_to": [],
    "save_strategy": "no",
    "logging_strategy": "no",
    "disable_tqdm": True,
    "max_steps": 10_000,
}


class StepGate(transformers.TrainerCallback):
    """Every step waits for the word, and is reported when it is done."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.facts: dict[str, float] = {}

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Generation, gradients and the optimizer's step lie behind."""
        self.line.tell(**self.facts)
        if not self.line.told():
            control.should_training_stop = True


def grpo(
    lm: LanguageModel,
    beta: float,
    facts: dict[str, float],
    common: dict[str, Any],
    args: dict[str, Any],
    size: PolicyStep = PolicyStep(),  # noqa: B008 - frozen
    passes: int = 1,
) -> Any:
    """One generation a step, learnt from in so many passes; no reply may end before its last token."""

    def judge(completion_ids: list[list[int]], **_: Any) -> list[float | None]:
        assert all(len(reply) == size.reply for reply in completion_ids)
        facts["tokens"] = sum(map(len, completion_ids))
        return [reward(reply) for reply in completion_ids]

    config = GRPOConfig(
        per_device_train_batch_size=size.prompts * size.generations // passes,
        gradient_accumulation_steps=passes,
        num_generations=size.generations,
        max_completion_length=size.reply,
        generation_kwargs={"min_new_tokens": size.reply},
        beta=beta,
        **args,
    )
    rows = {"prompt": texts(lm.tokenizer, size.prompts, size.prompt, 0) * _COPIES}
    return GRPOTrainer(reward_funcs=judge, args=config, train_dataset=datasets.Dataset.from_dict(rows), **common)


def sft(lm: LanguageModel, held: StepGate, common: dict[str, Any], args: dict[str, Any]) -> Any:
    """Whole texts, of which every token but the first is in the loss mask."""
    rows = [lm.encode(text) for text in texts(lm.tokenizer, ROWS, LENGTH, 1)]
    held.facts["tokens"] = ROWS * (LENGTH - 1)
    data = datasets.Dataset.from_dict({"input_ids": rows * _COPIES})
    config = SFTConfig(per_device_train_batch_size=ROWS, **args)
    return SFTTrainer(args=config, train_dataset=data, **common)


def kto(lm: LanguageModel, held: StepGate, common: dict[str, Any], args: dict[str, Any]) -> Any:
    """Judged replies; the trainer makes the mismatched ones itself."""
    rows = {
        "prompt": texts(lm.tokenizer, ROWS, STEM, 2) * _COPIES,
        "completion": texts(lm.tokenizer, ROWS, ENDING - 1, 3) * _COPIES,
        "label": [row % 2 == 0 for row in range(ROWS)] * _COPIES,
    }
    config = KTOConfig(per_device_train_batch_size=ROWS, **args)
    trainer = KTOTrainer(args=config, train_dataset=datasets.Dataset.from_dict(rows), **common)
    rows_of: Any = trainer.train_dataset
    some = rows_of[:ROWS]
    assert {len(ids) for ids in some["prompt_ids"]} == {STEM}
    assert {len(ids) for ids in some["completion_ids"]} == {ENDING}
    held.facts["tokens"] = 2 * ROWS * ENDING
    return trainer


def main() -> None:
    """Train until nobody asks for a step."""
    torch.set_num_threads(THREADS)
    datasets.disable_progress_bars()
    line = Line()
    task, *flags = sys.argv[1:]
    lm = load("smollm2", dtype=dtype_of(flags))
    lora = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM")
    held = StepGate(line)
    common = {"model": lm.model, "processing_class": lm.tokenizer, "peft_config": lora, "callbacks": [held]}
    with tempfile.TemporaryDirectory() as folder:
        args = {**_SETTINGS, "output_dir": folder, "gradient_checkpointing": "gradient_checkpointing" in flags}
        if task in ("sft", "kto"):
            trainer = {"sft": sft, "kto": kto}[task](lm, held, common, args)
        else:
            trainer = grpo(lm, BETA if task == "grpo" else 0.0, held.facts, common, args)
        line.tell()
        if line.told():
            trainer.train()


if __name__ == "__main__":
    main()
