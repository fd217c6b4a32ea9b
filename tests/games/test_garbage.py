"""Fifteen thousand strings that no game asked for: nothing crashes, and nothing illegal is taken."""

import random
import sys
import unicodedata
from itertools import islice

import pytest

from stratagem.base.errors import IllegalAction
from stratagem.games import Key, make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.conformance.acting import garbage

TEXTS = [
    *(name for name in GAMES if name != "matrix"),
    "matrix(payoffs=[[(1, 0), (0, 1)], [(0, 1), (1, 0)]], labels=('A', 'B'))",
    "auction(seats=3)",
    "negotiation-v1(pie=100)",
    "spiel:kuhn_poker(players=3)",
    "spiel:chess",
]
STRINGS = 15_000
POSITIONS = 12
"""Of each game."""
LISTED = 10_000
"""Where no more actions are possible, what is taken is held against the list of them."""
_ALPHABETS = (
    "abcdefgxyz ABC 0123456789 -.,[]()*_`'\"#\n",
    "\x00\x01\x07\x08\x0b\x0c\x1b\x1c\x85\u2028\u2029\ufeff\u200b\u200d\u202e\ud800",
    "éßİıſﬁ½²٣५𝟗🂡🎲漢字\u0301\u0308",
    "".join(chr(n) for n in range(0x20, 0x3000, 37)),
)


def positions(game, seed):
    """A few tables of one game, at different depths."""
    for number in range(POSITIONS):
        key = Key(seed).at(number)
        state = game.start(key)
        for move in range(number * 2):
            after = state.fork()
            after.play({s: state.view(s).choices.sample(key.at("player", move, s)) for s in state.to_act})
            if after.over:
                break
            state = after
        yield state


def elsewhere():
    """Actions of all games, to be said in the wrong one."""
    for text in TEXTS:
        state = make_game(text).start(Key(0))
        for seat in state.to_act:
            yield from islice(state.view(seat).choices, 40)


def noise(rng, own, others):
    """One string: characters at random, a near miss, another game's action, or some of those run together."""
    kind = rng.randrange(9)
    if kind < 3:
        return "".join(rng.choices(rng.choice(_ALPHABETS), k=rng.choice((0, 1, 2, 5, 30, 200))))
    if kind == 3:
        return rng.choice(others)
    if kind == 4:
        return rng.choice(("", " ", "\n", ", ", " or ", "-", "\u200b")).join(
            rng.choices(own + others, k=rng.randint(2, 4))
        )
    action = rng.choice(own)
    if kind == 5:
        return rng.choice((action.lower(), action.upper(), action.swapcase(), action.title(), action[::-1]))
    if kind == 6:
        place = rng.randrange(len(action) + 1)
        return action[:place] + rng.choice(rng.choice(_ALPHABETS)) + action[place + rng.randrange(2) :]
    if kind == 7:
        return rng.choice(
            (f" {action}", f"{action} ", f"**{action}**", f"I play {action}.", f"-{action}", f"{action}0")
        )
    return unicodedata.normalize(rng.choice(("NFD", "NFKC")), action) + rng.choice(("", "\u0301", "\x00", "\n\n"))


def test_garbage_is_read_without_a_crash_and_never_taken():
    rng, others, said, read, refused = random.Random(5), list(elsewhere()), 0, 0, 0
    tables = [table for seed, text in enumerate(TEXTS) for table in positions(make_game(text), seed)]
    for table in tables:
        before, usual = table.dump(), {seat: table.view(seat).choices.first for seat in table.to_act}
        seat = rng.choice(table.to_act)
        choices = table.view(seat).choices
        own, known = list(islice(choices, 200)), set(choices) if choices.count <= LISTED else choices
        for _ in range(-(-STRINGS // len(tables))):
            text = noise(rng, own, others)
            reply = choices.parse(text)
            said += 1
            assert (reply.action in known) if reply.action is not None else reply.problem, (table.game, text)
            read += reply.action is not None
            assert (text in choices) == (text in known)
            if text not in known:
                refused += 1
                with pytest.raises(IllegalAction):
                    table.play({**usual, seat: text})
        assert table.dump() == before
    assert said >= STRINGS
    assert refused > 0.6 * said
    assert read > 0.1 * said


@pytest.mark.parametrize("text", TEXTS)
def test_very_long_replies_are_read_quickly(text):
    state = make_game(text).start(Key(1))
    choices = state.view(state.to_act[0]).choices
    for long in ("x" * 10**6, "\n" * 10**6, choices.first * 10**5, f"{choices.first} " * 10**5, "\u202e" * 10**6):
        reply = choices.parse(long)
        assert reply.action is None or reply.action in choices


def test_the_checkers_garbage_is_mostly_illegal():
    for text in TEXTS:
        state = make_game(text).start(Key(0))
        for seat in state.to_act:
            said = list(garbage(state, seat))
            assert sum(text not in state.view(seat).choices for text in said) > 0.5 * len(said)


def test_lone_surrogates_are_strings_too():
    """A model's bytes may decode to them; they are no action, and no error message may break on them."""
    state = make_game("ipd").start(Key(0))
    assert state.view(0).choices.parse("\ud800").problem == "illegal"
    with pytest.raises(IllegalAction) as caught:
        state.play({0: "\ud800", 1: "DEFECT"})
    assert str(caught.value).encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    assert "\ud800" not in str(caught.value)
