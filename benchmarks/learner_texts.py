"""Training texts of both sides: exact lengths, with nothing shared but what the task shares."""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple


class PolicyStep(NamedTuple):
    """One policy-gradient step: so many prompts of so many tokens, so many replies to each of so many tokens."""

    prompts: int = 8
    prompt: int = 141
    generations: int = 4
    reply: int = 16


ROWS, LENGTH = 8, 128
"""One step on demonstrations: so many texts of so many tokens."""
STEM, ENDING = 96, 32
"""One step on judged replies, of as many texts: the tokens of the prompt, and of the reply with its end."""


def texts(tokenizer: Any, number: int, length: int, seed: int) -> list[str]:
    """Texts of words that are one token each, so their lengths are known; no two begin alike."""
    words = _words(tokenizer)
    rng = random.Random(seed)
    heads = rng.sample(words, number)
    made = ["".join([head, *rng.choices(words, k=length - 1)]) for head in heads]
    assert all(len(tokenizer(text)["input_ids"]) == length for text in made)
    return made


def _words(tokenizer: Any) -> list[str]:
    pieces = tokenizer.batch_decode([[token] for token in range(len(tokenizer))])
    words = [piece for piece in pieces if re.fullmatch(r" [a-z]{3,12}", piece)]
    return [word for word in words if len(tokenizer(word)["input_ids"]) == 1]


def reward(reply: list[int]) -> float:
    """A figure that differs from reply to reply, so that every group has a gradient."""
    return sum(token % 7 for token in reply) / len(reply)
