"""Parts of the GPU benchmark: each measures one model in a process of its own, so that peaks of memory are its own."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from engine_replies import Anything, theirs
from gpu_models import device, loaded, published

from stratagem.algorithms.grpo import GRPOAlgorithm, GRPORecipe
from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import PLAIN, Call, Prompt, Request, TrainableEngine
from stratagem.language.engines.catalogue import VLLM
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.learn.example import Example, example_from_call
from stratagem.learn.learner import Learner
from stratagem.learn.losses.base import Loss
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.training.collector import merge
from stratagem.training.online import policy_of, training_data
from stratagem.training.runs.folder import RunFolder

NAME = "policy"


class Size(NamedTuple):
    """Sizes of the work: of the full form on a GPU, and of the small form."""

    rows: int
    prompt: int
    shared: int
    new: int
    microbatch: int


FULL = Size(rows=64, prompt=400, shared=300, new=1500, microbatch=8192)
SMALL = Size(rows=8, prompt=100, shared=75, new=64, microbatch=1024)


class Row(NamedTuple):
    """One figure."""

    name: str
    value: float
    unit: str


def synchronized() -> float:
    """Return the time, once the device has done its work."""
    if device() == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def peak() -> Row:
    """Return the peak of memory: of the GPU, or of this process."""
    if device() == "cuda":
        return Row("peak memory", torch.cuda.max_memory_allocated() / 2**30, "GiB")
    return Row("peak memory of the process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, "GiB")


def prompts(size: Size, vocabulary: int = 1000) -> list[Ids]:
    """Return prompts that share a beginning."""
    tokens = torch.randint(5, vocabulary, (size.rows, size.prompt), generator=torch.Generator().manual_seed(1))
    tokens[:, : size.shared] = tokens[0, : size.shared]
    return [tuple(row) for row in tokens.tolist()]


def replies(engine: TrainableEngine, size: Size, new: int, adapter: str = "", seed: int = 0) -> list[Call]:
    """Return sampled replies of exactly `new` tokens."""
    requests = [
        Request(
            engine=engine,
            prompt=Prompt((), prompt),
            guide=Anything(),
            key=Key(seed).at(row),
            adapter=adapter,
            sampling=PLAIN,
            max_new_tokens=new,
        )
        for row, prompt in enumerate(prompts(size))
    ]
    tickets = engine.submit(requests)
    calls: dict[int, Call] = {}
    while left := [ticket for ticket in tickets if ticket not in calls]:
        calls.update(engine.poll(left))
    return [calls[ticket] for ticket in tickets]


def learner_of(
    lm: LanguageModel,
    size: Size,
    *,
    gradient_checkpointing: bool,
    loss: Loss = PolicyGradient(),  # noqa: B008 - frozen
) -> Learner:
    """Return a learner of a LoRA adapter of rank 16, by a policy gradient if no other loss is given."""
    add_adapter(lm, NAME, 16, 32.0, seed=0)
    policy = Policy(
        lm, max_tokens_per_microbatch=size.microbatch, gradient_checkpointing=gradient_checkpointing
    )  # fmt: skip
    optimizer = Optimizer(adapter_parameters(lm, NAME), OptimizerSettings(learning_rate=1e-5), 100)
    return Learner(policy, loss, optimizer, adapter=NAME)


# --- parts


def parity(path: Path, size: Size) -> Iterator[Row]:
    """Compare log-probabilities of replies in bfloat16 with those of plain passes, in bfloat16 and in fp32."""
    lm = loaded(path)
    calls = replies(open_engine(lm), size, min(64, size.new))
    examples = [example_from_call(call) for call in calls]
    found = {
        "engine": torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]]),
        "learner": learner_of(lm, size, gradient_checkpointing=False).outputs(examples, adapter=None).logprobs.cpu(),
    }
    del lm
    found["transformers"] = _plain(published(path), examples)
    exact = _plain(published(path, "fp32"), examples)
    for name, logprobs in found.items():
        yield from _apart(f"{name} in bf16 to transformers in fp32", logprobs - exact)
    yield from _apart("engine to learner, both in bf16", found["engine"] - found["learner"])


def _apart(name: str, difference: torch.Tensor) -> Iterator[Row]:
    yield Row(f"{name}, largest deviation", difference.abs().max().item(), "nats")
    yield Row(f"{name}, mean deviation", difference.abs().mean().item(), "nats")


def _plain(lm: LanguageModel, examples: Sequence[Example]) -> torch.Tensor:
    """Compute log-probabilities by one pass of transformers over each text alone."""
    rows = []
    with torch.inference_mode():
        for example in examples:
            ids = torch.tensor([example.tokens], device=lm.model.device)
            logits = lm.model(input_ids=ids, use_cache=False, logits_to_keep=len(example.loss_positions) + 1).logits[0]
            tokens = ids[0, -len(example.loss_positions) :]
            rows.append(torch.log_softmax(logits[:-1].float(), -1).gather(-1, tokens[:, None])[:, 0].cpu())
    return torch.cat(rows)


def engine(path: Path, size: Size) -> Iterator[Row]:
    """Measure long replies of the transformers engine, and `generate` on the same prompts; on a GPU also more rows."""
    lm = loaded(path)
    yield from _replied_by(lm, size, "transformers engine")
    yield peak()
    if device() == "cuda":
        yield from _replied_by(lm, size, "without CUDA graphs", cuda_graphs=False)
        yield from _replied_by(lm, _many(size), "transformers engine")
    del lm
    yield from _generated(published(path), (size, _many(size)) if device() == "cuda" else (size,))


def _many(size: Size) -> Size:
    return size._replace(rows=4 * size.rows)


def _replied_by(lm: LanguageModel, size: Size, name: str, *, cuda_graphs: bool = True) -> Iterator[Row]:
    ours = TransformersEngine(lm, TransformersSettings(rows=size.rows, cuda_graphs=cuda_graphs))
    replies(ours, size, 8)
    yield from _replied(ours, size, name)


def _generated(lm: LanguageModel, sizes: Sequence[Size]) -> Iterator[Row]:
    for size in sizes:
        theirs(lm, prompts(size), 8, do_sample=True, top_k=0, top_p=1.0)
        start = synchronized()
        theirs(lm, prompts(size), size.new, do_sample=True, top_k=0, top_p=1.0)
        rate = size.rows * size.new / (synchronized() - start)
        yield Row(f"generate of transformers, {size.rows} replies of {size.new}", rate, "tokens/s")


def _replied(ours: TrainableEngine, size: Size, name: str) -> Iterator[Row]:
    start = synchronized()
    replies(ours, size, size.new, seed=1)
    rate = size.rows * size.new / (synchronized() - start)
    yield Row(f"{name}, {size.rows} replies of {size.new}", rate, "tokens/s")


def learner(path: Path, size: Size) -> Iterator[Row]:
    """Measure policy-gradient steps on sixteen replies at most, with gradient checkpointing and without."""
    lm, few = loaded(path), size._replace(rows=min(16, size.rows))
    made = learner_of(lm, size, gradient_checkpointing=device() == "cuda")
    generator = torch.Generator().manual_seed(2)
    tails = torch.randint(5, 1000, (few.rows, size.new), generator=generator).tolist()
    examples = [
        Example(
            tokens=(*prompt, *tail),
            loss_positions=tuple(range(len(prompt), len(prompt) + len(tail))),
            columns={"advantage": (float(row % 2) - 0.5,) * len(tail)},
        )
        for row, (prompt, tail) in enumerate(zip(prompts(few), tails, strict=True))
    ]
    made.update_once(examples[:2])
    start = synchronized()
    report = made.update_once(examples)
    seconds = synchronized() - start
    yield Row(f"policy-gradient step on {few.rows} texts of {size.prompt + size.new} tokens", seconds, "s")
    yield Row("loss tokens of the step", report.num_tokens / seconds, "tokens/s")
    yield peak()


def vllm(path: Path, size: Size) -> Iterator[Row]:
    """Measure the same replies by vLLM in this process."""
    ours = open_engine(loaded(path), VLLM(rows=size.rows))
    replies(ours, size, 8)
    yield from _replied(ours, size, "vLLM engine")
    if device() == "cuda":
        yield peak()


_SEPO = {"sepo": {"iterations": 1, "groups_per_batch": 1, "group_size": 4}, "games": ["kuhn(hands=2)"]}
_GRPO = {
    "games": ["diplomacy(judged=False)"],
    "style": "bare",
    "mode": "direct",
    "grpo": {
        "iterations": 1,
        "groups_per_batch": 1,
        "group_size": 4,
        "prefix_player": "dumbbot",
        "prefix_turns": [0, 2],
        "horizon_phases": 1,
    },
}


def sepo(path: Path, size: Size) -> Iterator[Row]:
    """Measure a whole iteration of SEPO in kuhn with reasoned replies.

    Random weights name no action, and a recovered one is not trained on, so the action after the mark is constrained.
    """
    settings = {**_SEPO, "style": "reasoned", "mode": "constrained", "max_new_tokens": size.new}
    recipe = SEPORecipe.read(_of_size(settings, path, size))
    with TemporaryDirectory() as run:
        yield from _iteration(SEPOAlgorithm(recipe, RunFolder(Path(run))), path)


def diplomacy(path: Path, size: Size) -> Iterator[Row]:
    """Measure a whole iteration of GRPO in Diplomacy."""
    recipe = GRPORecipe.read(_of_size(_GRPO, path, size))
    with TemporaryDirectory() as run:
        yield from _iteration(GRPOAlgorithm(recipe, RunFolder(Path(run))), path)


def _of_size(settings: dict[str, Any], path: Path, size: Size) -> dict[str, Any]:
    model = {"model": f"dir:{path}+dtype=bf16", "max_tokens_per_microbatch": size.microbatch}
    return {**model, **settings, "gradient_checkpointing": device() == "cuda"}


def _iteration(algorithm: SEPOAlgorithm | GRPOAlgorithm, path: Path) -> Iterator[Row]:
    """Measure rollouts and update of one iteration."""
    recipe = algorithm.recipe
    policy, game = policy_of(recipe, loaded(path)), make_game(recipe.games[0])
    collector = algorithm.collector(game, policy.player, Key(0))
    start = synchronized()
    batch = merge([collector.collect(0)])
    played = synchronized()
    policy.update(training_data(batch))
    yield Row(f"rollouts of {len(batch.episodes)} episodes", played - start, "s")
    yield Row("update", synchronized() - played, "s")
    yield Row("examples of the update", len(batch.examples), "examples")
    yield Row("sampled tokens trained on", sum(len(one.loss_positions) for one in batch.examples), "tokens")
    yield peak()


PARTS: dict[str, Callable[[Path, Size], Iterator[Row]]] = {
    "parity": parity,
    "engine": engine,
    "learner": learner,
    "vllm": vllm,
    "sepo": sepo,
    "diplomacy": diplomacy,
}
