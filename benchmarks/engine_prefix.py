"""50 prompts of 150 tokens that share 120: our engine against `generate` on the full batch."""

from __future__ import annotations

import random
from collections.abc import Iterator

from engine_orders import strings
from engine_replies import alike, fresh, ours, theirs
from engine_timing import Figure, count, race

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load

PROMPTS, TOKENS, SHARED = 50, 150, 120


def prompts(lm: LanguageModel) -> list[Ids]:
    """Rules that all of them share, and a position of its own for each."""
    orders = strings()
    shared = lm.encode("Orders of last season:\n" + "\n".join(orders))[:SHARED]
    made = []
    for row in range(PROMPTS):
        own = lm.encode(f"{row} units stand. " + ". ".join(random.Random(row).sample(orders, 10)))
        made.append((*shared, *own[: TOKENS - SHARED]))
    assert len(set(made)) == PROMPTS
    assert all(len(prompt) == TOKENS for prompt in made)
    return made


def measure(repeats: int) -> Iterator[Figure]:
    """Replies of one token and of eight."""
    lm = load("smollm2")
    asked = prompts(lm)
    ours(fresh(lm), asked[:2], 2)
    for length in (1, 8):
        yield from _replies(lm, asked, length, repeats)


def _replies(lm: LanguageModel, asked: list[Ids], length: int, repeats: int) -> Iterator[Figure]:
    """Our engine begins every repeat with nothing computed."""
    engines = [fresh(lm) for _ in range(repeats)]
    said: dict[str, list[Ids]] = {}

    def mine() -> None:
        said["ours"] = ours(engines.pop(), asked, length)

    def generate() -> None:
        said["theirs"] = theirs(lm, asked, length)

    found = race({"ours": mine, "theirs": generate}, repeats)
    name = f"{PROMPTS} prompts of {TOKENS} tokens, {SHARED} shared, {length} new"
    yield found["theirs"].figure(f"{name}: transformers' generate", "s")
    yield found["ours"].figure(f"{name}: ours", "s")
    yield found["ours"].times(found["theirs"], f"{name}: times as fast as transformers", "at least 5")
    yield count(f"{name}: replies that are the same", 100 * alike(said["ours"], said["theirs"]), "%")
