"""Demonstration sets of SEPO's SFT stage: the number of examples of each game, and a plan to make them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from stratagem.demonstrations.scripted import Demonstration, demonstrations, num_episodes, shuffled
from stratagem.errors import BadParameter, UnknownName
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.options import within
from stratagem.prompting.catalogue import make_style

PUBLISHED: dict[str, dict[str, int]] = {
    "multi": {"ipd": 8_000, "auction": 8_000, "negotiation-v1": 15_988},
    "negotiation-v2": {"negotiation-v2": 4_000},
    "kuhn": {"kuhn": 8_000},
}
"""Number of examples of every game, by set (SEPO, appendix H; the split of `multi` is not published)."""
SETS: dict[str, dict[str, int]] = PUBLISHED | {name: {name: 8_000} for name in ("ipd", "auction", "negotiation-v1")}
"""Published sets, and a set for each of the other games alone."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Plan of demonstration sets: their names, seed, style and scale."""

    sets: tuple[str, ...] = tuple(PUBLISHED)
    seed: int = 42
    style: str = "reasoned"
    scale: float = 1.0
    """Factor on the published numbers of examples and episodes."""

    def __post_init__(self) -> None:
        within("A demonstration set", "scale", self.scale, 0.0)
        if not self.scale:
            raise BadParameter("A demonstration set needs `scale` above 0.")
        for name in self.sets:
            if name not in SETS:
                raise UnknownName("demonstration set", name, SETS)
        if len(set(self.sets)) < len(self.sets):
            raise BadParameter(f"Every demonstration set is named once, not {', '.join(self.sets)}.")
        for name in self.sets:
            self.streams(name)  # a style that does not suit a game is an error before anything is written

    def counts(self, name: str) -> dict[str, int]:
        """Return the number of examples of each game of a set."""
        return {game: max(1, round(count * self.scale)) for game, count in SETS[name].items()}

    def episodes(self, game: str) -> int:
        """Return the number of episodes against each opponent."""
        return ceil(num_episodes(make_bounded_game(game)) * self.scale)

    @property
    def total(self) -> int:
        """Number of examples of all sets."""
        return sum(sum(self.counts(name).values()) for name in self.sets)

    def streams(self, name: str) -> dict[str, Iterator[Demonstration]]:
        """Return lazy streams of the examples of one set, by game."""
        key, style = Key(self.seed), make_style(self.style)
        return {
            game: demonstrations(make_bounded_game(game), count, key, style=style, episodes=self.episodes(game))
            for game, count in self.counts(name).items()
        }

    def examples(self, name: str) -> Iterator[Demonstration]:
        """Yield the examples of one set, those of several games mixed."""
        streams = self.streams(name)
        games = [game for game, count in self.counts(name).items() for _ in range(count)]
        for game in shuffled(games, Key(self.seed).at("set", name)):
            yield next(streams[game])
