"""Interaction (SCO-PAL, stage I): games between the policy and its opponents, in blocks that are saved one by one.

In self-play the policy holds all seats, and all decisions are its own. Otherwise it holds slot 0, which rotates over
the seats. A teacher such as `search(self)` searches with the policy inside: expert iteration (Anthony et al. 2017).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, field_validator

from stratagem.base.settings import FiniteSettings
from stratagem.games.base import Game, View
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.engines.caches import reset_caches
from stratagem.language.models.decoding_settings import SamplingSettings
from stratagem.language.prompting.base import ChatMessage
from stratagem.players.base import Ask, Mix, Player, Turn
from stratagem.players.catalogue import make_player
from stratagem.players.members import WrapperPlayer
from stratagem.players.model_player import ModelPlayer
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.workers.shards import play_setups

SELF = "self"
"""Name of the policy itself as an opponent: self-play."""


class InteractionSettings(SamplingSettings, FiniteSettings):
    """Stage I: players and number of games."""

    episodes: int = Field(default=1000, ge=1)
    """Number of episodes of each game; seats alternate."""
    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Opponents, each with its share of the games; `self`, or any player by name."""
    teachers: dict[str, float] = Field(default={})
    """Players of all seats in place of the policy, each with its share of the games; their games are imitated.
    `self` inside a name is the policy, as in `search(self)`. Without any the policy plays."""
    temperature: float = Field(default=0.7, gt=0.0)
    """Sampling temperature of the policy in these games."""
    episodes_per_step: int = Field(default=250, ge=1)
    """Number of episodes of a step: they are played in parallel, and a checkpoint follows."""
    records: tuple[str, ...] = ()
    """Folders of records of games that were played before; with any, no game is played."""

    @property
    def searches_with_policy(self) -> bool:
        """True if every teacher has the policy inside, so that it plays anew in each iteration."""
        return bool(self.teachers) and all(re.search(rf"\b{SELF}\b", name) for name in self.teachers)

    @field_validator("opponents", "teachers")
    @classmethod
    def _positive(cls, shares: dict[str, float]) -> dict[str, float]:
        if min(shares.values(), default=1.0) <= 0.0:
            raise ValueError("every share is more than 0: leave out who is not to play")
        return shares


@dataclass(frozen=True)
class Block:
    """Episodes of one game that are played in parallel."""

    number: int
    game: Game[Any]
    episodes: range


class Remembering(WrapperPlayer):
    """Policy as it stands, asked once about each prompt: the rollouts of a search ask about few of them, often."""

    player: ModelPlayer

    def __init__(self, learner: ModelPlayer) -> None:
        self.player = learner
        self.name, self.traits = learner.name, learner.traits
        self._known: dict[tuple[ChatMessage, ...], Mix] = {}

    def turn(self, ask: Ask) -> Turn:
        return self.player.turn(ask)

    def policy(self, view: View[Any]) -> Mix:
        prompt = tuple(self.player.speaker.style.messages(view))
        if prompt not in self._known:
            self._known[prompt] = self.player.policy(view)
        return self._known[prompt]


class Interaction:
    """All games of an iteration."""

    def __init__(
        self,
        settings: InteractionSettings,
        games: Sequence[Game[Any]],
        learner: ModelPlayer,
        key: Key,
        name: str = "0",
        earlier: Player | None = None,
    ) -> None:
        """`name` is the prefix of episode names; `earlier` plays in place of the opponents."""
        self.settings = settings
        self.learner = learner
        self.earlier = earlier
        self.key = key
        self.name = name
        self.blocks = [
            Block(number, game, range(start, min(start + settings.episodes_per_step, settings.episodes)))
            for number, (game, start) in enumerate(
                (game, start) for game in games for start in range(0, settings.episodes, settings.episodes_per_step)
            )
        ]
        self._matches = {describe(game): self._matches_of(game) for game in games}

    def _matches_of(self, game: Game[Any]) -> dict[str, Match]:
        """Return a match with every opponent."""
        others = game.spec.seats - 1
        if teachers := self.settings.teachers:
            known = {SELF: Remembering(self.learner)}
            return {name: Match(game, [make_player(name, game, known)] * (others + 1)) for name in teachers}
        if self.earlier is not None:
            return {self.earlier.name: Match(game, [self.learner, *[self.earlier] * others])}
        return {
            name: Match(game, [self.learner, *[self.learner if name == SELF else make_player(name, game)] * others])
            for name in self.settings.opponents
        }

    def play(self, block: Block) -> list[Episode]:
        """Play the episodes of a block."""
        reset_caches()
        return play_setups(self._setups(block))

    def _setups(self, block: Block) -> Iterator[Setup]:
        text, seats = describe(block.game), block.game.spec.seats
        for number in block.episodes:
            key = self.key.at(text, number)
            yield Setup(
                id=f"{self.name}/{text}/{number}",
                match=self._draw(self._matches[text], key),
                slots=tuple((seat - number) % seats for seat in range(seats)),
                key=key,
                purpose="train",
            )

    def _draw(self, matches: dict[str, Match], key: Key) -> Match:
        """Draw the match of one episode by the shares of the teachers or opponents."""
        if len(matches) == 1:
            return next(iter(matches.values()))
        shares = list((self.settings.teachers or self.settings.opponents).values())
        total = sum(shares)
        return list(matches.values())[key.at("opponent").choose([share / total for share in shares])]
