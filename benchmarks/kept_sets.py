"""Ratios of trainer to sampler under top-p, with kept sets and without them, and the cost of a set.

First the ratio of the trainer's to the sampler's probability of each sampled token, before any step: over the kept set
of the token, and over the whole vocabulary as most trainers compute it. Second, the bytes of a set. With another model
or mode:

    python benchmarks/kept_sets.py --model smollm2 --mode recover --style reasoned
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from stratagem.algorithms.reinforce import REINFORCERecipe, SelfPlayCollector
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.kept_set import KeptSet
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.training.online import policy_of

VOCABULARY = 151_936
"""Vocabulary of the costs, that of Qwen 3."""


def rollouts(options: argparse.Namespace) -> tuple[Learner, Sequence[Example]]:
    """Play an iteration of REINFORCE in kuhn, and return the learner with its examples."""
    settings = {name: getattr(options, name) for name in ("model", "mode", "style", "top_p", "max_new_tokens")}
    recipe = REINFORCERecipe.read({"games": ["kuhn"], "temperature": 1.0, **settings})
    policy = policy_of(recipe, load(options.model))
    batch = SelfPlayCollector(recipe.reinforce, make_game("kuhn"), policy.player, Key(0)).collect(0)
    return policy.learner, batch.examples


def deviation(learner: Learner, examples: Sequence[Example], sampled: torch.Tensor) -> str:
    """Describe the ratios of the learner's probabilities to the sampler's."""
    ratio = (learner.outputs(examples).logprobs.cpu() - sampled).exp()
    apart = (ratio - 1.0).abs()
    return f"ratio - 1 at most {apart.max():.2g}, {apart.mean():.2g} on average over {len(ratio)} tokens"


def costs() -> None:
    """Print the bytes of sets of several sizes."""
    rng = np.random.default_rng(0)
    print(f"\nbytes of a set of a vocabulary of {VOCABULARY} tokens, and as 32-bit numbers")
    for count in (1, 10, 100, 1000, 10_000, VOCABULARY // 2, VOCABULARY - 1000, VOCABULARY):
        ids = np.sort(rng.choice(VOCABULARY, count, replace=False))
        print(f"{count:>8,} tokens {len(KeptSet.of(ids, VOCABULARY).packed):>8,} {4 * count:>8,}")


def main() -> None:
    """Print the ratios of one iteration, and the bytes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--mode", default="free")
    parser.add_argument("--style", default="plain")
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--max-new-tokens", type=int, default=24)
    learner, examples = rollouts(parser.parse_args())
    sampled = torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]])
    sets = [some for one in examples for some in one.allowed if isinstance(some, KeptSet)]
    print("over the kept sets:       ", deviation(learner, examples, sampled))
    print("over the whole vocabulary:", deviation(learner, [replace(one, allowed=()) for one in examples], sampled))
    sizes = [len(some) for some in sets]
    packed = np.mean([len(some.packed) for some in sets])
    print(f"kept: {np.mean(sizes):.0f} of {sets[0].size} tokens on average, {packed:.0f} bytes a sampled token")
    costs()


if __name__ == "__main__":
    main()
