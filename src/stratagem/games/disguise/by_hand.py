"""Disguises made by hand: a mapping of words in Python, or a file in TOML or JSON.

```toml
times = 3
plus = 5
unit = "tals"
order = 7

[words]
BET = "ZUG"
PASS = "MOB"
```
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.options import is_number
from stratagem.games.base import Game
from stratagem.games.disguise.disguise import Disguise
from stratagem.games.disguise.substitution import lemma
from stratagem.games.disguise.vocabulary import known_words, vocabulary_of

OPTIONS = ("words", "order", "unit", "times", "plus")


def read_disguise(path: str | Path, game: Game[Any]) -> Disguise:
    """Read a disguise of this game from a file; its words must be one to one, and words of the game."""
    content = _read(Path(path))
    if unknown := sorted(set(content) - set(OPTIONS)):
        raise BadParameter(f"The disguise {path} has no setting {unknown[0]!r}; its settings are {', '.join(OPTIONS)}.")
    words, order, unit = content.get("words", {}), content.get("order"), content.get("unit", "")
    times, plus = content.get("times", 1), content.get("plus", 0)
    if not isinstance(words, dict) or not all(isinstance(new, str) for new in words.values()):
        raise BadParameter(f"The disguise {path} needs a table `words` from words of the game to other words.")
    if order is not None and type(order) is not int:
        raise BadParameter(f"The disguise {path} needs `order` as a whole number, not {order!r}.")
    if not isinstance(unit, str) or not is_number(times) or not is_number(plus):
        raise BadParameter(f"The disguise {path} needs `unit` as a text, and `times` and `plus` as numbers.")
    return by_hand(game, words, order=order, unit=unit, times=times, plus=plus)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise BadRecord(f"The disguise {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"The disguise {path} is no TOML (nor JSON, by its name): {error}.") from error
    if not isinstance(content, dict):
        raise BadParameter(f"The disguise {path} needs settings by name: {', '.join(OPTIONS)}.")
    return content


def by_hand(
    game: Game[Any],
    words: Mapping[str, str],
    *,
    order: int | None = None,
    unit: str = "",
    times: float = 1.0,
    plus: float = 0.0,
) -> Disguise:
    """Return a disguise of these words, in the case that the game declares; words may be exchanged for each other."""
    name, known = game.spec.name, {lemma(word).casefold(): word for word in vocabulary_of(game)}
    for word in words:
        if word.casefold() not in known:
            raise BadParameter(f"The game {name} has no word {word!r} to rename; its words are {', '.join(known)}.")
    new = [*(text.casefold() for text in words.values()), *([unit.casefold()] if unit else ())]
    if broken := [text for text in new if not text.isalpha()]:
        raise BadParameter(f"A disguise exchanges words for words of letters alone, unlike {broken[0]!r}.")
    if twice := next((text for text in new if new.count(text) > 1), None):
        raise BadParameter(f"A disguise of {name} is one to one, and {twice!r} would stand for two words.")
    renamed = {word.casefold() for word in words}
    if len(renamed) < len(words):
        raise BadParameter(f"A disguise of {name} has one new word for each of its words, in whatever case.")
    if kept := next((text for text in new if text in known_words(game) - renamed), None):
        raise BadParameter(f"A disguise of {name} is one to one, and {kept!r} is a word that the game keeps.")
    pairs = [(known[word.casefold()], text.casefold()) for word, text in words.items()]
    return Disguise(tuple(pairs), order, unit, float(times), float(plus))
