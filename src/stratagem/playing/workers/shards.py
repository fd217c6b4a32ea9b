"""Play of tables in fixed shards, by the workers of the current plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from stratagem.base.errors import BadParameter
from stratagem.language.engines.caches import reset_caches
from stratagem.playing.dispatch import RequestQueue
from stratagem.playing.match import Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.playing.workers.copies import ShardCarrier, play_shard, played_alone
from stratagem.playing.workers.plan import WorkersPlan, current


def play_setups(setups: Iterable[Setup]) -> list[Episode]:
    """Play all setups, and return their episodes in the same order; each has an id of its own."""
    asked = list(setups)
    if twice := [name for name, count in Counter(setup.id for setup in asked).items() if count > 1]:
        raise BadParameter(
            f"Two episodes are called {twice[0]!r}, and one would be lost: give each an `id` of its own."
        )
    episodes = {episode.id: episode for episode in play_shards(asked)}
    return [episodes[setup.id] for setup in asked]


def shards_of(setups: Sequence[Setup], size: int) -> list[Sequence[Setup]]:
    """Cut setups into shards of `size` tables, in order; the last one may be smaller."""
    return [setups[start : start + size] for start in range(0, len(setups), size)]


def play_shards(
    setups: Sequence[Setup],
    queue: RequestQueue | None = None,
    *,
    is_finished: Callable[[Setup], bool] = lambda _: False,
) -> Generator[Episode, None, None]:
    """Play setups shard by shard, and yield the episodes; a shard whose episodes are all finished is left out.

    Tables whose players do not repeat themselves are played in this process, all together. `queue` answers the requests
    of this process; None is their own engines.
    """
    plan = current()
    if not all(setup.match.repeats for setup in setups):
        yield from play([setup for setup in setups if not is_finished(setup)], queue)
        return
    shards = [
        shard for shard in shards_of(setups, plan.tables_per_shard) if not all(is_finished(setup) for setup in shard)
    ]
    if plan.workers.separate:
        yield from _elsewhere(plan, shards)
    else:
        for shard in shards:
            yield from played_alone(shard, queue)
    reset_caches()  # what follows must not depend on where the shards were played


def _elsewhere(plan: WorkersPlan, shards: Sequence[Sequence[Setup]]) -> Iterator[Episode]:
    with ShardCarrier(plan) as carrier:
        for _, episodes in plan.workers.run(play_shard, [carrier.pack(shard) for shard in shards]):
            yield from episodes
