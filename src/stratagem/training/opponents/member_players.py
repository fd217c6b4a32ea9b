"""Members as players: learners by their own adapters; adapters of snapshots are loaded when they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stratagem.games.base import Game
from stratagem.language.engines.base import TrainableEngine
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.training.opponents.member import Member


class MemberPlayers:
    """Players of the members, with a least-recently-used cache of loaded adapters."""

    def __init__(
        self,
        folder: Path,
        game: Game[Any],
        engine: TrainableEngine,
        learners: Mapping[str, ModelPlayer],
        max_loaded: int,
    ) -> None:
        """`max_loaded` is the number of snapshots' adapters in memory at once."""
        self.folder = folder
        self.game = game
        self.engine = engine
        self.learners = learners
        self.max_loaded = max_loaded
        self._bots: dict[str, Player] = {}
        self._loaded: dict[str, str] = {}
        """Names of the loaded adapters by member; the most recently used is last."""

    def player(self, member: Member) -> Player:
        """Return the player of a member."""
        if member.learns:
            return self.learners[member.name]
        if member.player:
            if member.name not in self._bots:
                self._bots[member.name] = make_player(member.player, self.game)
            return self._bots[member.name]
        return self._model_player(member.name, self._adapter(member) if member.adapter else "")

    def _model_player(self, name: str, adapter: str) -> ModelPlayer:
        """Return the base under an adapter, with the learners' prompt style and sampling."""
        learner = next(iter(self.learners.values()))
        return ModelPlayer(name=name, speaker=replace(learner.speaker, adapter=adapter), mode=learner.mode)

    def _adapter(self, member: Member) -> str:
        loaded = self._loaded.pop(member.name, None) or self.engine.load_adapter(str(self.folder / member.adapter))
        self._loaded[member.name] = loaded
        return loaded

    def trim(self) -> None:
        """Drop the least recently used adapters beyond the limit; not while games are being played."""
        while len(self._loaded) > self.max_loaded:
            name = next(iter(self._loaded))
            adapter = self._loaded.pop(name)
            if adapter not in self._loaded.values():
                self.engine.drop_adapter(adapter)
