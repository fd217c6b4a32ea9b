"""Our side of the learner's benchmark: `python learner_ours.py TASK`, steps on the word of `learner_sides.Side`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

import torch
from engine_replies import Anything
from learner_texts import ENDING, LENGTH, ROWS, STEM, PolicyStep, reward, texts
from learner_worker import ALPHA, BETA, RANK, RATE, THREADS, Line, dtype_of

from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import Call, Prompt, Request
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.learn.example import Example, example_from_call, example_from_demonstration
from stratagem.learn.learner import Learner
from stratagem.learn.losses.base import Loss
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.losses.kto import KTO, mismatch_replies
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy

NAME = "policy"
Step = Callable[[int], dict[str, float]]


def learner(lm: LanguageModel, loss: Loss, *, gradient_checkpointing: bool, microbatch: int = 4096) -> Learner:
    """A new adapter that learns by a loss."""
    add_adapter(lm, NAME, RANK, ALPHA)
    optimizer = Optimizer(adapter_parameters(lm, NAME), OptimizerSettings(learning_rate=RATE), 1000)
    policy = Policy(lm, gradient_checkpointing=gradient_checkpointing, max_tokens_per_microbatch=microbatch)
    return Learner(policy, loss, optimizer, adapter=NAME)


def grpo(
    lm: LanguageModel,
    beta: float,
    *,
    gradient_checkpointing: bool,
    size: PolicyStep = PolicyStep(),  # noqa: B008 - frozen
    microbatch: int = 4096,
) -> Step:
    """Replies to every prompt, then one step on them; the advantage is the group's, over its spread (trl's default)."""
    loss = PolicyGradient(kl_estimator="k3" if beta else "none", kl_coef=beta, importance_corrected_kl=True)
    trained = learner(lm, loss, gradient_checkpointing=gradient_checkpointing, microbatch=microbatch)
    engine = TransformersEngine(lm)
    prompts = [tuple(lm.encode(text)) for text in texts(lm.tokenizer, size.prompts, size.prompt, 0)]

    def step(number: int) -> dict[str, float]:
        groups = [_asked(engine, prompt, Key(0).at(number, row), size) for row, prompt in enumerate(prompts)]
        calls = engine.answer([request for group in groups for request in group])
        assert all(len(call.tokens) == size.reply for call in calls)
        rows = range(0, len(calls), size.generations)
        report = trained.update_once(
            [example for row in rows for example in _judged(calls[row : row + size.generations])]
        )
        engine.publish(NAME, number + 1)
        return {"loss": report.loss, "tokens": report.num_tokens, "read": report.num_read}

    return step


def _asked(engine: TransformersEngine, prompt: Ids, key: Key, size: PolicyStep) -> list[Request]:
    return [
        Request(
            engine=engine,
            prompt=Prompt((), prompt),
            guide=Anything(),
            key=key.at(which),
            adapter=NAME,
            max_new_tokens=size.reply,
        )
        for which in range(size.generations)
    ]


def _judged(calls: Sequence[Call]) -> list[Example]:
    rewards = [reward(list(call.tokens)) for call in calls]
    mean = math.fsum(rewards) / len(rewards)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in rewards) / (len(rewards) - 1))
    return [
        example_from_call(call, advantage=(value - mean) / (spread + 1e-4))
        for call, value in zip(calls, rewards, strict=True)
    ]


def sft(lm: LanguageModel, *, gradient_checkpointing: bool) -> Step:
    """Whole texts, of which every token but the first is in the loss mask."""
    trained = learner(lm, CrossEntropy(), gradient_checkpointing=gradient_checkpointing)
    rows = [tuple(lm.encode(text)) for text in texts(lm.tokenizer, ROWS, LENGTH, 1)]
    examples = [example_from_demonstration(row[:1], row[1:]) for row in rows]
    return lambda _: _facts(trained, examples)


def kto(lm: LanguageModel, *, gradient_checkpointing: bool) -> Step:
    """Judged replies, and the mismatched ones that trl makes of them."""
    trained = learner(lm, KTO(), gradient_checkpointing=gradient_checkpointing)
    prompts = [tuple(lm.encode(text)) for text in texts(lm.tokenizer, ROWS, STEM, 2)]
    end = lm.tokenizer.eos_token_id
    replies = [(*lm.encode(text), end) for text in texts(lm.tokenizer, ROWS, ENDING - 1, 3)]
    judged = [
        example_from_demonstration(prompt, reply, desirable=float(row % 2 == 0), kl=0.0)
        for row, (prompt, reply) in enumerate(zip(prompts, replies, strict=True))
    ]
    examples = [*judged, *mismatch_replies(judged)]
    return lambda _: _facts(trained, examples)


def _facts(trained: Learner, examples: Sequence[Example]) -> dict[str, float]:
    report = trained.update_once(examples)
    return {"loss": report.loss, "tokens": report.num_tokens, "read": report.num_read}


def made(task: str, dtype: str, *, gradient_checkpointing: bool) -> Step:
    """A step of a task."""
    lm = load("smollm2", dtype=dtype)
    if task == "sft":
        return sft(lm, gradient_checkpointing=gradient_checkpointing)
    if task == "kto":
        return kto(lm, gradient_checkpointing=gradient_checkpointing)
    return grpo(lm, BETA if task == "grpo" else 0.0, gradient_checkpointing=gradient_checkpointing)


def main() -> None:
    """Steps until nobody asks for any."""
    torch.set_num_threads(THREADS)
    line = Line()
    task, *flags = sys.argv[1:]
    step, number = made(task, dtype_of(flags), gradient_checkpointing="gradient_checkpointing" in flags), 0
    line.tell()
    while line.told():
        line.tell(**step(number))
        number += 1


if __name__ == "__main__":
    main()
