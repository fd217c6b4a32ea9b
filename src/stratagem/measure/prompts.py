"""Prompts behind an exact figure: a digest that says which words a player was asked in.

Play of the same game asks in prompts of the same set, so a record of play shows whether the figure is about it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stratagem.games.base import Json, View
from stratagem.games.choices import Choices
from stratagem.language.engines.base import Chat
from stratagem.players.base import Ask, Mix, Player, Turn, prompts_by, stated_by
from stratagem.players.members import NamesakePlayer


@dataclass(frozen=True)
class PromptSet:
    """Different prompts of a figure."""

    digest: str
    """Digest of the prompts in alphabetical order."""
    num: int
    """Number of different prompts."""

    def to_json(self) -> Json:
        """Return both by name."""
        return asdict(self)


def digest_of(chats: Iterable[Chat]) -> PromptSet:
    """Return the digest of prompts, each counted once, whatever their order."""
    texts = sorted({json.dumps(chat, ensure_ascii=True) for chat in chats})
    return PromptSet(hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest(), len(texts))


def prompts_of(player: Player, views: Sequence[View[Any]]) -> PromptSet | None:
    """Return the digest of the prompts in which a player is asked about situations; None if it reads no words."""
    if not player.traits.reads_words or not views:
        return None
    return digest_of(prompts_by(player, views) or map(_words, views))


def _words(view: View[Any]) -> Chat:
    """Return the texts of a view, for a player whose prompts are its own affair."""
    return ("rules", view.rules), ("situation", view.situation), ("choices", view.choices.summary())


class AskedOnce(NamesakePlayer):
    """Player that is asked in each prompt once, however many situations show it."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self._known: dict[tuple[Chat, Choices], Mix] = {}
        self._asked = set[Chat]()

    @property
    def prompts(self) -> PromptSet | None:
        """Digest of the prompts so far; None of a player that reads no words."""
        return digest_of(self._asked) if self._asked else None

    def turn(self, ask: Ask) -> Turn:
        return self.player.turn(ask)

    def policy(self, view: View[Any]) -> Mix:
        return self.policies([view])[0]

    def policies(self, views: Sequence[View[Any]]) -> list[Mix]:
        """Return the probabilities in many situations, in one batch."""
        if not self.traits.reads_words:
            return stated_by(self.player, views)
        chats = prompts_by(self.player, views)
        self._asked.update(chats or map(_words, views))
        if chats is None:
            return stated_by(self.player, views)
        keys = [(chat, view.choices) for chat, view in zip(chats, views, strict=True)]
        unknown = {key: view for key, view in zip(keys, views, strict=True) if key not in self._known}
        if unknown:
            self._known.update(zip(unknown, stated_by(self.player, list(unknown.values())), strict=True))
        return [self._known[key] for key in keys]
