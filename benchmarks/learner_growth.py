"""Growth of packing and of a step of the learner with the number of rounds, at four sizes, with fitted exponents.

A game of so many rounds has one example a round: the rules, the rounds so far, and one token that was sampled. So its
tree has a number of tokens that is linear in the rounds, and its texts grow. `attention` is the same tree's number of
pairs of tokens that attend to each other: a step cannot grow more slowly than the larger of the two.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator

import torch
from engine_timing import Figure, count

from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.packing import BatchTexts, Pack, pack_texts
from stratagem.learn.pass_sizes import PackPlanner
from stratagem.learn.policy import Policy

ROUNDS = (25, 50, 100, 200)
BUDGET = 4096
GAMES, RULES, ROUND = 4, 100, 8
"""Number of games, and tokens of the rules and of a round."""


def examples(rounds: int) -> list[Example]:
    """One example for each round of each game."""
    rng, made = random.Random(0), list[Example]()
    rules = tuple(rng.randrange(1500) for _ in range(RULES))
    for _ in range(GAMES):
        text = rules
        for _ in range(rounds):
            text = (*text, *(rng.randrange(1500) for _ in range(ROUND)))
            made.append(Example(tokens=text, loss_positions=(len(text) - 1,), columns={"advantage": (1.0,)}))
    return made


def measure() -> Iterator[Figure]:
    """Processor time by number of rounds, and exponents."""
    torch.set_num_threads(1)
    lm = load("tiny")
    add_adapter(lm, "policy", 16, 32)
    policy, batches = Policy(lm, max_tokens_per_microbatch=BUDGET), {rounds: examples(rounds) for rounds in ROUNDS}
    optimizer = Optimizer(adapter_parameters(policy.lm, "policy"), OptimizerSettings(learning_rate=1e-6), 1000)
    learner = Learner(policy, PolicyGradient(), optimizer, adapter="policy")
    parts: dict[str, Callable[[int], object]] = {
        "packing": lambda rounds: _packed(batches[rounds]),
        "a step": lambda rounds: learner.update_once(batches[rounds]),
    }
    for name, part in parts.items():
        seconds = [_least(lambda rounds=rounds, part=part: part(rounds)) for rounds in ROUNDS]  # type: ignore[misc]
        for rounds, least in zip(ROUNDS, seconds, strict=True):
            yield count(f"{name}, {rounds} rounds", 1000 * least, "ms")
        yield count(f"{name}: exponent over rounds", exponent(seconds), "")
    tokens = [float(sum(len(pack.tokens) for pack in policy.packs(batches[rounds]))) for rounds in ROUNDS]
    yield count("tokens of the packs: exponent over rounds", exponent(tokens), "")
    pairs = [float(GAMES * sum(range(RULES + ROUND * rounds))) for rounds in ROUNDS]
    yield count("attention: exponent over rounds", exponent(pairs), "")


def _packed(batch: list[Example]) -> list[Pack]:
    """Pack a batch; a policy would remember its packs."""
    texts = BatchTexts(batch)
    return PackPlanner(BUDGET, prefix_batches=True).plan(pack_texts(texts, BUDGET), texts)


def _least(work: Callable[[], object]) -> float:
    work()
    seconds = []
    for _ in range(3):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def exponent(values: list[float]) -> float:
    """Slope of a line through the logarithms, by least squares."""
    x, y = [math.log(rounds) for rounds in ROUNDS], [math.log(value) for value in values]
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    slope = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return slope / math.fsum((a - mean_x) ** 2 for a in x)


if __name__ == "__main__":
    for figure in measure():
        print(f"{figure.median:10.3f} {figure.unit:6} {figure.name}", flush=True)
