"""Records: `read_record` reads the episodes that an earlier call or command wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_output, as_path, names_of
from stratagem.api.episodes import Episodes
from stratagem.api.mistakes import one_sentence
from stratagem.api.transcript import episode_table
from stratagem.base.options import check_seed
from stratagem.measure.statistics import Estimate, ratio
from stratagem.players.given import allow_given
from stratagem.playing.records import Episode, deals_by_key
from stratagem.show.table import ResultTable, text_table

if TYPE_CHECKING:
    from stratagem.api.evaluations import Evaluation

_LISTED = 20

__all__ = ["Record", "evaluate_record", "read_record"]


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
        from stratagem.language.engines.outcomes import count_outcomes, counting_outcomes
        from stratagem.measure.metrics import METRICS
        from stratagem.measure.recorded import figures_of_record, reading_of

        names = names_of(metrics, "metric")
        allow_given(*names)
        check_seed(seed)
        with counting_outcomes() as outcomes:
            count_outcomes(call for episode in self.episodes for row in episode.decisions for call in row.calls)
            results = figures_of_record(self.episodes, reading_of(self.folder, names, seats=by_seat, seed=seed))
        return Evaluation(
            tuple(results), self.folder.name, seed, outcomes=outcomes, requested=tuple(map(METRICS.present_name, names))
        )

    def listed(self, first: int = _LISTED) -> ResultTable:
        """Return the table of the first episodes."""
        return episode_table(self.folder, self.episodes[:first], len(self.episodes))

    def tables(self) -> list[ResultTable]:
        from stratagem.measure.figures.catalogue import figures_of  # loads all metrics, as above

        rows = self.payoffs().items() if self.episodes else []
        payoffs = text_table(f"{self.folder}: payoffs", ("player", *figures_of("payoff")), rows)
        return [self.listed(), replace(payoffs, main=False)]


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

    The record of a run is in its folder `record`.

    Args:
        folder: Folder of the record.
        calls: False to read less; an evaluation then lacks the lengths and times of replies.
    """
    from stratagem.playing.store import read_episodes

    place = as_path(folder, "record")
    return Record(tuple(read_episodes(place, calls=calls)), place)


@one_sentence
def evaluate_record(
    folder: str | Path,
    *,
    metrics: str | Sequence[str] = (),
    by_seat: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
) -> Evaluation:
    """Compute the figures of a record from its games, without playing.

    Args:
        folder: Record whose figures are computed from its games; nothing is played, so there is no exploitability.
        metrics: Additional metrics.
        by_seat: True for figures by seat, too; where seats have names they are always there.
        seed: Seed of all randomness.
        out: JSON file for the figures; a file of that name is replaced.
    """
    file = as_output(out)
    found = read_record(folder).evaluate(names_of(metrics, "metric"), by_seat=by_seat, seed=seed)
    if file is not None:
        found.save(file)
    return found
