"""Members as players: learners by their own adapters; adapters of snapshots are loaded when they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from stratagem.games.base import Game
from stratagem.language.engines.base import TrainableEngine
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.training.opponents.member import Member


class _AdapterOnEngine(NamedTuple):
    """Adapter that an engine has loaded, by its name there."""

    engine: TrainableEngine
    adapter: str


class MemberPlayers:
    """Players of the members, with a least-recently-used cache of loaded adapters."""

    def __init__(
        self,
        folder: Path,
        game: Game[Any],
        learners: Mapping[str, ModelPlayer],
        max_loaded: int,
        on_base: Mapping[str, ModelPlayer] | None = None,
    ) -> None:
        """`max_loaded` is the number of snapshots' adapters in memory at once.

        `on_base` has a learner on each base, by the base's fingerprint; by default the first learner is on all.
        """
        self.folder = folder
        self.game = game
        self.learners = learners
        self.on_base = on_base or {}
        self.max_loaded = max_loaded
        self._bots: dict[str, Player] = {}
        self._loaded: dict[str, _AdapterOnEngine] = {}
        """Loaded adapters by member; the most recently used is last."""

    def player(self, member: Member) -> Player:
        """Return the player of a member."""
        if member.learns:
            return self.learners[member.name]
        if member.player:
            if member.name not in self._bots:
                self._bots[member.name] = make_player(member.player, self.game)
            return self._bots[member.name]
        return self._model_player(member, self._adapter(member) if member.adapter else "")

    def _model_player(self, member: Member, adapter: str) -> ModelPlayer:
        """Return a member's base under an adapter, with the learners' prompt style and sampling."""
        learner = self._on_base_of(member)
        return ModelPlayer(name=member.name, speaker=replace(learner.speaker, adapter=adapter), mode=learner.mode)

    def _on_base_of(self, member: Member) -> ModelPlayer:
        """Return a learner on the base of a member."""
        return self.on_base[member.base] if member.base in self.on_base else next(iter(self.learners.values()))

    def _adapter(self, member: Member) -> str:
        if (loaded := self._loaded.pop(member.name, None)) is None:
            engine = cast("TrainableEngine", self._on_base_of(member).speaker.engine)
            loaded = _AdapterOnEngine(engine, engine.load_adapter(str(self.folder / member.adapter)))
        self._loaded[member.name] = loaded
        return loaded.adapter

    def trim(self) -> None:
        """Drop the least recently used adapters beyond the limit; not while games are being played."""
        while len(self._loaded) > self.max_loaded:
            name = next(iter(self._loaded))
            loaded = self._loaded.pop(name)
            if loaded not in self._loaded.values():
                loaded.engine.drop_adapter(loaded.adapter)
