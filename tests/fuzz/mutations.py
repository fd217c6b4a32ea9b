"""Mutations of a case: bytes, texts and JSON values, each drawn by its number."""

import copy
import json
import random

ODD = (
    "\x00",
    "\n",
    '"',
    "'",
    "\\",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "=",
    ",",
    ".",
    ":",
    "@",
    "/",
    "..",
    "~",
    "-",
    "#",
    "%s",
)
FAR = (
    "\u202e",
    "\ud800",
    "é",
    "日本",
    "🂡",
    "\x1b]52;c;x\x07",
    "a" * 300,
    "9" * 400,
    "((((" * 50,
    "nan",
    "inf",
    "1e999",
)
VALUES = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**63,
    -(2**70),
    0.5,
    1e308,
    "",
    "x",
    "\x00",
    "a" * 300,
    [],
    [1],
    ["x"],
    {},
    {"x": 1},
    [[]],
)


def text(said, dice):
    """A text with a few pieces cut out, doubled, moved or put in."""
    for _ in range(dice.choice((0, 1, 1, 2, 5))):
        start, end = sorted(dice.randint(0, len(said)) for _ in range(2))
        piece = dice.choice(
            (
                dice.choice(ODD),
                dice.choice(FAR),
                said[start:end] * 2,
                "",
                said[start : start + 3],
                dice.choice(ODD) * dice.choice((2, 60)),
            )
        )
        said = said[:start] + piece + said[dice.choice((start, end, min(len(said), start + 1))) :]
    return said


def octets(data, dice):
    """Bytes with some flipped, cut off, put in or moved."""
    damaged = bytearray(data)
    for _ in range(dice.choice((1, 1, 3, 20))):
        place = dice.randrange(len(damaged)) if damaged else 0
        what = dice.randrange(4)
        if what == 0 and damaged:
            damaged[place] ^= 1 << dice.randrange(8)
        elif what == 1:
            damaged[place:place] = dice.randbytes(dice.choice((1, 4, 8)))
        elif what == 2:
            del damaged[place : place + dice.choice((1, 4, 100))]
        elif damaged:
            damaged[place : place + 8] = dice.choice((b"\xff" * 8, b"\x00" * 8, b"\x01" + b"\x00" * 7))
    return bytes(damaged[: dice.randint(0, len(damaged))] if dice.random() < 0.2 else damaged)


def data(value, dice):
    """JSON data with one or more values, wherever they are, of another type or gone."""
    changed = copy.deepcopy(value)
    for _ in range(dice.choice((1, 1, 2, 4))):
        holders = list(_holders(changed))
        if not holders:
            return changed
        holder = dice.choice(holders)
        place = dice.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if dice.random() < 0.2:
            del holder[place]
        else:
            holder[place] = copy.deepcopy(dice.choice(VALUES))
    return changed


def _holders(value):
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


def as_json(value):
    return json.dumps(value)


def dice_of(target, number):
    return random.Random(f"{target}/{number}")
