"""Fixtures of the label tests: a tokenizer of letters, and an engine whose probabilities follow from a formula."""

import math
import re

from stratagem.games.catalogue import make_game
from stratagem.language.engines.base import Capabilities, Prompt
from stratagem.language.prompting.catalogue import make_style
from stratagem.measure.labels import scene_of


class Characters:
    """A token a character, but for Q, which is two."""

    size, end = 200, 0

    def __init__(self):
        self.spelt = {}

    def encode(self, text):
        return [ord(character) for character in text.replace("Q", "\x01\x02")]

    def encode_all(self, texts):
        return [self.encode(text) for text in texts]

    def decode(self, ids):
        return "".join(map(chr, ids)).replace("\x01\x02", "Q")

    def decode_all(self, rows):
        return [self.decode(row) for row in rows]


def spoken(letter, prompt):
    """Return the engine's score of a letter: its place in the alphabet, in thousandths, twice that if just played."""
    own = re.search(r"you played (\w)", prompt)
    return (ord(letter) - 64) / 1000 * (2 if own and own[1] == letter else 1)


class Formula:
    """Answers score requests by `spoken`, and keeps them."""

    name = "formula"

    def __init__(self, scores=True):
        self.capabilities = Capabilities(masks=True, scores=scores)
        self.vocabulary = Characters()
        self.ends: frozenset[int] = frozenset()
        self.batches = []

    def begin(self, messages):
        return Prompt(messages, tuple(self.vocabulary.encode(messages[-1][1] + "\n")))

    def score(self, requests):
        self.batches.append(list(requests))
        return [tuple(self.node(request.prompt, ask) for ask in request.nodes) for request in requests]

    def node(self, prompt, ask):
        return tuple(math.log(spoken(chr(token), prompt.messages[-1][1])) for token in ask.wanted)


def scene(game="ipd-shapellm", style="shapellm-state", seat=1):
    return scene_of(make_game(game), make_style(style), seat)
