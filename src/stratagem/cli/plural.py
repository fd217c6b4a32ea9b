"""Options of several words, as `--players a b`: repeated for the parser, and told where they took an argument."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from stratagem.cli.commands import PLURAL

TAKEN = "stratagem.words"
"""Key of a sentence on words that an option took, among the notes of a context of the parser."""


def spread(arguments: Sequence[str]) -> list[str]:
    """Repeat an option that takes several values before each of them, as the parser requires."""
    spread_out: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word not in PLURAL or not waiting or waiting[0].startswith("--"):
            spread_out.append(word)
            continue
        while waiting and not waiting[0].startswith("--"):
            spread_out += [word, waiting.pop(0)]
    return spread_out


def taken_words(args: Sequence[str]) -> str:
    """Return a sentence on the words that the last option of several took, where one may be an argument."""
    pairs = [(option, word) for option, word in pairwise(args) if option in PLURAL]
    words = [word for option, word in pairs if option == pairs[-1][0]]
    return f"{pairs[-1][0]} took {', '.join(words)}: write arguments before it." if len(words) > 1 else ""
