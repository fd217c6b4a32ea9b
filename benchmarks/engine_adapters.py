"""Seven seats with an adapter each: one batch against one adapter after the other."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from engine_orders import OWN, strings
from engine_replies import alike, fresh, ours, theirs
from engine_timing import Figure, count, race

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load

SEATS = ("AUSTRIA", "ENGLAND", "FRANCE", "GERMANY", "ITALY", "RUSSIA", "TURKEY")
RANK, LENGTH, REPLIES = 8, 40, 4


def add_adapters(lm: LanguageModel) -> None:
    """An adapter a seat, each of which changes what the model says."""
    for seat, name in enumerate(SEATS):
        add_adapter(lm, name, RANK, 2.0 * RANK, seed=seat)
        dice = torch.Generator().manual_seed(seat)
        for weight in adapter_parameters(lm, name):
            if not weight.any():
                weight.data.copy_(torch.randn(weight.shape, generator=dice) * 0.02)


def prompts(lm: LanguageModel) -> list[Ids]:
    """About 100 tokens a seat: the same rules, then its own name and orders."""
    orders = strings()
    rules = "Say which order comes next. Units: " + ", ".join(OWN) + ".\n"
    return [
        tuple(lm.encode(rules + f"You are {name}. " + ". ".join(orders[seat::60]))[: 96 + seat])
        for seat, name in enumerate(SEATS)
    ]


def measure(repeats: int) -> Iterator[Figure]:
    """Our engine both ways, transformers switching adapters, and peft's own mixed batch."""
    lm = load("smollm2")
    add_adapters(lm)
    asked, said = prompts(lm), dict[str, list[Ids]]()
    engines = [fresh(lm) for _ in range(2 * repeats)]

    def batch() -> None:
        said["batch"] = ours(engines.pop(), asked, LENGTH, SEATS)

    def in_turn() -> None:
        engine = engines.pop()
        said["turn"] = [ours(engine, [asked[s]], LENGTH, [name])[0] for s, name in enumerate(SEATS)]

    def switching() -> None:
        said["generate"] = []
        for seat, name in enumerate(SEATS):
            lm.model.set_adapter(name)
            said["generate"] += theirs(lm, [asked[seat]], LENGTH)

    def peft_batch() -> None:
        theirs(lm, asked, LENGTH, adapter_names=list(SEATS))

    ours(fresh(lm), asked, 2, SEATS)
    with active(lm, SEATS[0]):
        sides = {"batch": batch, "turn": in_turn, "generate": switching, "peft": peft_batch}
        found = race(sides, repeats)
    name = f"{len(SEATS)} adapters, {len(asked[0])} to {len(asked[-1])} tokens, {LENGTH} new"
    yield found["batch"].figure(f"{name}: ours, one batch", "s")
    yield found["turn"].figure(f"{name}: ours, one after the other", "s")
    yield found["generate"].figure(f"{name}: transformers' generate, one after the other", "s")
    yield found["peft"].figure(f"{name}: transformers' generate, peft's mixed batch", "s")
    yield found["batch"].times(found["turn"], f"{name}: times as fast as ours one after the other", "at least 5")
    yield found["batch"].times(found["generate"], f"{name}: times as fast as transformers", "at least 5")
    yield found["batch"].times(found["peft"], f"{name}: times as fast as peft's mixed batch")
    yield count(f"{name}: replies that are the same", 100 * alike(said["batch"], said["generate"]), "%")
    yield count(f"{name}: different replies among seats", len(set(said["batch"])), "")
    yield from measure_several(lm, repeats)


def measure_several(lm: LanguageModel, repeats: int) -> Iterator[Figure]:
    """Several replies an adapter, and the same rows without adapters: the rest is the products of factors."""
    asked = [(*prompt[:-1], 1000 + number) for prompt in prompts(lm) for number in range(REPLIES)]
    names, engine, said = [name for name in SEATS for _ in range(REPLIES)], fresh(lm), dict[str, list[Ids]]()

    def batch(side: str, adapters: list[str]) -> None:
        engine.reset_cache()
        said[side] = ours(engine, asked, LENGTH, adapters)

    def in_turn(side: str, adapters: list[str]) -> None:
        engine.reset_cache()
        said[side] = []
        for start in range(0, len(asked), REPLIES):
            end = start + REPLIES
            said[side] += ours(engine, asked[start:end], LENGTH, adapters[start:end])

    base = [""] * len(asked)
    found = race(
        {
            "batch": lambda: batch("batch", names),
            "turn": lambda: in_turn("turn", names),
            "base": lambda: batch("base", base),
            "base in turn": lambda: in_turn("base", base),
        },
        repeats,
    )
    name = f"{len(SEATS)} adapters, {REPLIES} replies each"
    yield found["batch"].figure(f"{name}: ours, one batch", "s")
    yield found["base"].figure(f"{name}: ours, the same rows without adapters", "s")
    yield found["batch"].times(found["turn"], f"{name}: times as fast as ours one after the other")
    yield found["base"].times(found["base in turn"], f"{name}: the same without adapters")
    yield count(f"{name}: replies that are the same", 100 * alike(said["batch"], said["turn"]), "%")
