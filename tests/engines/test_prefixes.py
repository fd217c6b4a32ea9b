"""The prefix cache returns what was stored, mixes nothing up, and stays within its bytes."""

import gc
import random
import weakref

import pytest
import torch

from stratagem.language.engines.prefixes import Prefixes, PrefixMatch

ROOMY = 1 << 30
BYTES = 8
"""Sizes of a token and of a row of logits here: one whole number each."""


def keep(prefixes, weights, text, logits=None):
    """Do with a text what the reader does; what is kept for a token is the token itself."""
    match = prefixes.match(weights, text)
    if match.length < len(text):
        rest = text[match.length :]
        prefixes.add(weights, match, rest, (torch.tensor(rest).reshape(1, 1, 1, -1, 1),))
    if logits is not None:
        prefixes.remember(prefixes.match(weights, text), torch.tensor([logits]))


def contents(match: PrefixMatch):
    """The tokens that a chain's pieces hold, put together as rows are loaded."""
    held = [
        token for segment, end in match.chain for token in segment.stored[0].flatten()[: end - segment.start].tolist()
    ]
    starts = [segment.start for segment, _ in match.chain]
    assert starts == [0, *(end for _, end in match.chain)][: len(starts)]
    return tuple(held)


def shared(one, other):
    return next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(map(len, (one, other)))
    )


def random_text(dice, tokens=2, most=12):
    return tuple(dice.randrange(tokens) for _ in range(dice.randint(1, most)))


@pytest.mark.parametrize("tokens", [1, 2, 3])
@pytest.mark.parametrize("seed", range(40))
def test_the_longest_known_beginning_is_found_and_holds_its_own_tokens(seed, tokens):
    dice, prefixes = random.Random(seed), Prefixes(ROOMY)
    known = {"a": {}, "": {}}
    for number in range(40):
        weights, text = dice.choice(["a", ""]), random_text(dice, tokens)
        asked = dice.random() < 0.5
        keep(prefixes, weights, text, number if asked else None)
        known[weights].setdefault(text, None)
        if asked:
            known[weights][text] = number
        weights, text = dice.choice(["a", ""]), random_text(dice, tokens)
        match = prefixes.match(weights, text)
        assert match.length == max((shared(text, other) for other in known[weights]), default=0)
        assert contents(match) == text[: match.length]
        logits = match.logits if match.length == len(text) else None
        assert (None if logits is None else int(logits)) == known[weights].get(text)
    assert prefixes.size == BYTES * sum(
        distinct(own) + sum(n is not None for n in own.values()) for own in known.values()
    )


def distinct(texts):
    """Return the number of tokens that hold all these texts, each beginning once."""
    return len({text[:end] for text in texts for end in range(1, len(text) + 1)})


def test_texts_that_begin_others_have_their_own_logits():
    prefixes = Prefixes(ROOMY)
    for number, text in enumerate([(1, 2, 3, 9), (1, 2, 3), (1, 2, 3, 4, 5), (1,), (1, 2, 3, 4), (1, 2, 3, 9, 9)]):
        keep(prefixes, "", text, number)
    found = {end: prefixes.match("", (1, 2, 3, 4, 5)[:end]).logits for end in range(1, 6)}
    assert {end: None if logits is None else int(logits) for end, logits in found.items()} == {
        1: 3, 2: None, 3: 1, 4: 4, 5: 2}  # fmt: skip


def test_remembering_again_takes_no_more_room():
    prefixes = Prefixes(ROOMY)
    keep(prefixes, "", (1, 2), 5)
    size = prefixes.size
    keep(prefixes, "", (1, 2), 6)
    assert prefixes.size == size == 3 * BYTES
    assert int(prefixes.match("", (1, 2)).logits) == 6


def test_weights_do_not_share():
    prefixes = Prefixes(ROOMY)
    keep(prefixes, "a", (1, 2, 3), 1)
    keep(prefixes, "b", (1, 2, 3, 4), 2)
    assert prefixes.match("", (1, 2, 3)).length == 0
    prefixes.drop("a")
    assert prefixes.match("a", (1, 2, 3)) == PrefixMatch((), 0)
    assert prefixes.match("b", (1, 2, 3, 4)).length == 4
    assert prefixes.size == 5 * BYTES
    prefixes.clear()
    assert prefixes.match("b", (1,)).length == prefixes.size == 0


def test_what_was_used_last_stays():
    prefixes = Prefixes(10 * BYTES)
    for start in range(6):
        keep(prefixes, "", (start, 10, 11), start)
    prefixes.match("", (0, 10, 11))
    prefixes.trim()
    assert prefixes.size == 8 * BYTES
    assert [prefixes.match("", (start, 10, 11)).length for start in range(6)] == [3, 0, 0, 0, 0, 3]


def test_ends_go_before_what_they_hang_on():
    prefixes = Prefixes(4 * BYTES)
    keep(prefixes, "", (1, 2, 3))
    keep(prefixes, "", (1, 2, 4, 5))
    keep(prefixes, "", (1, 2, 4, 6))
    prefixes.trim()
    assert prefixes.size <= 4 * BYTES
    assert prefixes.match("", (1, 2, 3)).length == 3


@pytest.mark.parametrize("seed", range(20))
def test_trimming_leaves_what_is_true(seed):
    dice, budget, said = random.Random(seed), 40 * BYTES, {}
    prefixes = Prefixes(budget)
    for number in range(60):
        text = random_text(dice, 3)
        said[text] = number
        keep(prefixes, "", text, number)
        if dice.random() < 0.3:
            prefixes.trim()
            assert prefixes.size <= budget
        text = dice.choice([*said])
        match = prefixes.match("", text)
        assert contents(match) == text[: match.length]
        if match.length == len(text) and match.logits is not None:
            assert int(match.logits) == said[text]


def test_a_budget_of_nothing_keeps_nothing():
    prefixes = Prefixes(0)
    keep(prefixes, "a", (1, 2, 3), 1)
    keep(prefixes, "", (1, 2), 1)
    prefixes.trim()
    assert prefixes.size == prefixes.match("a", (1,)).length == prefixes.match("", (1,)).length == 0


@pytest.mark.parametrize("forget", [lambda p: p.drop("a"), lambda p: p.clear(), lambda p: p.trim()])
def test_what_is_dropped_is_freed_at_once(forget):
    prefixes = Prefixes(0)
    for text in ((1, 2, 3), (1, 2, 4, 5), (1, 6)):
        keep(prefixes, "a", text, 1)
    held = [weakref.ref(segment.stored[0]) for segment, _ in prefixes.match("a", (1, 2, 4, 5)).chain]
    assert len(held) == 2
    assert all(tensor() is not None for tensor in held)
    gc.disable()
    try:
        forget(prefixes)
        assert not any(tensor() is not None for tensor in held)
    finally:
        gc.enable()
