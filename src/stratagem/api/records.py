"""Records: `read_record` reads the episodes that an earlier call or command wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path, names_of
from stratagem.api.episodes import Episodes
from stratagem.api.mistakes import one_sentence
from stratagem.evaluation.statistics import Estimate, ratio
from stratagem.options import check_seed
from stratagem.play.records import Episode, deals_by_key
from stratagem.players.given import allow_given
from stratagem.show.cells import number
from stratagem.show.table import Table, text_table

if TYPE_CHECKING:
    from stratagem.api.evaluations import Evaluation

_LISTED = 20

__all__ = ["Record", "read_record"]


@dataclass(frozen=True, repr=False)
class Record(Episodes):
    """Recorded episodes."""

    folder: Path

    def payoffs(self) -> dict[str, Estimate]:
        """Return the mean payoff a round of each player, whatever it played and against whom."""
        names = dict.fromkeys(name for episode in self.episodes for name in episode.players)
        return {name: _pay(self.episodes, name) for name in names}

    @one_sentence
    def evaluate(self, metrics: Sequence[str] = (), *, by_seat: bool = False, seed: int = 0) -> Evaluation:
        """Compute the figures of an evaluation from the episodes, without playing."""
        from stratagem.api.evaluations import Evaluation  # loads all metrics, which a list of episodes does not need
        from stratagem.engines.outcomes import count_outcomes, counting_outcomes
        from stratagem.evaluation.recorded import reading_of, recorded

        names = names_of(metrics, "metric")
        allow_given(*names)
        check_seed(seed)
        with counting_outcomes() as outcomes:
            count_outcomes(call for episode in self.episodes for row in episode.decisions for call in row.calls)
            results = recorded(self.episodes, reading_of(self.folder, names, seats=by_seat, seed=seed))
        return Evaluation(tuple(results), self.folder.name, seed, outcomes=outcomes, requested=tuple(names))

    def listed(self, first: int = _LISTED) -> Table:
        """Return the table of the first episodes."""
        rows = [
            (str(place), e.id, ", ".join(e.players), str(len(e.rounds)), " ".join(number(pay, 2) for pay in e.payoffs))
            for place, e in enumerate(self.episodes[:first], 1)
        ]
        title = f"{self.folder}: {len(self.episodes)} episodes"
        return text_table(title, ("number", "id", "players", "rounds", "payoffs"), rows)

    def tables(self) -> list[Table]:
        return [self.listed()]


def _pay(episodes: Sequence[Episode], name: str) -> Estimate:
    """Return the mean payoff a round of a player; others may have replayed its deals, under groups of their own."""
    sat = [(episode, seat) for episode in episodes for seat, one in enumerate(episode.players) if one == name]
    deals = deals_by_key(episode for episode, _ in sat)
    return ratio(
        sat, lambda at: at[0].payoffs[at[1]], lambda at: max(1, len(at[0].rounds)), lambda at: deals[at[0].key]
    )


@one_sentence
def read_record(folder: str | Path, *, calls: bool = True) -> Record:
    """Read the episodes of a folder that `record=` or `--record` wrote, with the calls of models behind them.

    Without `calls` less is read, and an evaluation lacks the lengths and times of replies. The record of a run is in
    its folder `record`.
    """
    from stratagem.play.store import read_episodes

    place = as_path(folder, "record")
    return Record(tuple(read_episodes(place, calls=calls)), place)
