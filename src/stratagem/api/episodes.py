"""Episodes as a result: what was played, by whom, and for which payoffs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.api.result import PlottedResult
from stratagem.api.transcript import Transcript, transcript
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.base import Json
from stratagem.measure.statistics import Estimate
from stratagem.playing.forks import replay
from stratagem.playing.records import Episode, episode_json
from stratagem.show.console import plain
from stratagem.training.runs.files import new_folder, write_file


@dataclass(frozen=True, repr=False)
class Episodes(PlottedResult):
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

    @one_sentence
    def episode(self, which: int | str = 1) -> Episode:
        """Return an episode by its number, from 1, or by its id."""
        known = {e.id: e for e in self.episodes} | {str(number): e for number, e in enumerate(self.episodes, 1)}
        if str(which) not in known:
            numbers = f"its number, 1 to {len(self.episodes)}"
            raise BadParameter(f"There is no episode called {str(which)!r}: name one by its id, or by {numbers}.")
        return known[str(which)]

    def transcript(self, which: int | str = 1) -> Transcript:
        """Return an episode turn by turn, as `stratagem show --episode` prints it."""
        return Transcript(plain(*transcript(self.episode(which))))

    @one_sentence
    def write_files(self, folder: str | Path, which: int | str = 1) -> list[Path]:
        """Write the pictures and the saved game of an episode to a new folder, where its game has them."""
        place, episode = as_path(folder, "folder"), self.episode(which)
        files = dict(replay(episode).files())
        if not files:
            raise StratagemError(f"{episode.game} has no files of its own.")

        def fill(empty: Path) -> None:
            for name, text in files.items():
                write_file(empty / name, text)

        new_folder(place, fill)
        return [place / name for name in files]

    @one_sentence
    def save(self, path: str | Path) -> Path:
        """Write the episodes: as JSON to a path that ends in `.json`, else as a record to a new folder."""
        target = as_path(path, "file")
        if target.suffix == ".json":
            return super().save(target)
        from stratagem.playing.store import fresh, write_shard

        folder = fresh(target)
        write_shard(folder, 0, list(self.episodes))
        return folder
