"""Members as players: learners by their own adapters, others by theirs, which are loaded when somebody meets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stratagem.algorithms.league.standing import Standing
from stratagem.engines.base import TrainableEngine
from stratagem.games.base import Game
from stratagem.league.member import Member
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.training.policy import TrainablePolicy


class Seats:
    """Makes a player of every member; of adapters that nobody has met for longest, some are dropped."""

    def __init__(
        self,
        folder: Path,
        game: Game[Any],
        engine: TrainableEngine,
        learners: Mapping[str, TrainablePolicy],
        most: int,
    ) -> None:
        """`most` members' adapters are held at once."""
        self.folder = folder
        self.game = game
        self.engine = engine
        self.learners = learners
        self.most = most
        self._bots: dict[str, Player] = {}
        self._held: dict[str, str] = {}
        """By member, what its adapter is called in the model; who was met last stands last."""

    @classmethod
    def of(cls, standing: Standing, game: Game[Any]) -> Seats:
        """Of a league as it stands."""
        most = standing.recipe.league.max_loaded_adapters
        return cls(standing.run.path, game, standing.engine, standing.learners, most)

    def player(self, member: Member) -> Player:
        """Who plays for a member."""
        if member.learns:
            return self.learners[member.name].player
        if member.player:
            if member.name not in self._bots:
                self._bots[member.name] = make_player(member.player, self.game)
            return self._bots[member.name]
        return self._speaking(member.name, self._adapter(member) if member.adapter else "")

    def _speaking(self, name: str, adapter: str) -> ModelPlayer:
        """The base under an adapter, speaking as the learners do."""
        hero = next(iter(self.learners.values())).player
        return ModelPlayer(name=name, speaker=replace(hero.speaker, adapter=adapter), mode=hero.mode)

    def _adapter(self, member: Member) -> str:
        held = self._held.pop(member.name, None) or self.engine.load_adapter(str(self.folder / member.adapter))
        self._held[member.name] = held
        return held

    def trim(self) -> None:
        """Drop what is too much, those first whom nobody has met for longest; not while games are being played."""
        while len(self._held) > self.most:
            name = next(iter(self._held))
            adapter = self._held.pop(name)
            if adapter not in self._held.values():
                self.engine.drop_adapter(adapter)
