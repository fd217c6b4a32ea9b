"""Interaction (SCO-PAL, stage I): games between the policy and its opponents, in blocks that are saved one by one.

In self-play the policy holds all seats, and all decisions are its own. Otherwise it holds slot 0, which rotates over
the seats. A teacher such as `search(self)` searches with the policy inside: expert iteration (Anthony et al. 2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.scopal.settings import SELF, InteractionSettings
from stratagem.engines.caches import reset_caches
from stratagem.games.base import Game, View
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.play.match import Match, Setup
from stratagem.play.records import Episode
from stratagem.players.base import Ask, Mix, Player, Turn
from stratagem.players.catalogue import make_player
from stratagem.players.members import WrapperPlayer
from stratagem.players.model_player import ModelPlayer
from stratagem.prompting.base import Message
from stratagem.workers.shards import played


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
        self._known: dict[tuple[Message, ...], Mix] = {}

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
            Block(number, game, range(start, min(start + settings.block, settings.episodes)))
            for number, (game, start) in enumerate(
                (game, start) for game in games for start in range(0, settings.episodes, settings.block)
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
        return played(self._setups(block))

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
