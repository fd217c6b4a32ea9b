"""Episodes as a result: what was played, by whom, and for which payoffs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import bars
from stratagem.api.result import Plotted
from stratagem.evaluation.statistics import Estimate
from stratagem.games.base import Json
from stratagem.play.records import Episode, episode_json

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, repr=False)
class Episodes(Plotted):
    """Episodes in the order of play."""

    episodes: tuple[Episode, ...]
    """Episodes, each with its decisions."""

    @abstractmethod
    def payoffs(self) -> dict[str, Estimate]:
        """Return the mean payoff a round of each player."""

    def rows(self) -> list[Json]:
        """Return one row for each seat of each episode."""
        return [
            {
                "episode": episode.id,
                "game": episode.game,
                "deal": episode.group,
                "seat": seat,
                "player": name,
                "payoff": episode.payoffs[seat],
                "rounds": len(episode.rounds),
                "illegal_turns": episode.num_illegal[seat],
            }
            for episode in self.episodes
            for seat, name in enumerate(episode.players)
        ]

    def to_json(self) -> list[Json]:
        """Return the episodes with their decisions, as `stratagem play --json` prints them."""
        return [episode_json(episode) for episode in self.episodes]

    def plot(self) -> Figure:
        """Draw the mean payoff a round of each player."""
        return bars(f"{len(self.episodes)} episodes", "payoff a round", {"payoff": self.payoffs()})

    @one_sentence
    def save(self, path: str | Path) -> Path:
        """Write the episodes: as JSON to a path that ends in `.json`, else as a record to a new folder."""
        target = as_path(path, "file")
        if target.suffix == ".json":
            return super().save(target)
        from stratagem.play.store import fresh, write_shard

        folder = fresh(target)
        write_shard(folder, 0, list(self.episodes))
        return folder
