"""Check of prompts that differ by what their seat must not know.

Equal information sets should have equal prompts, or prompts that differ for a reason of their own, such as a memory. A
leak shows where each prompt of an information set goes with other hidden states. If P prompts were dealt at random to
n_1 .. n_P of n decisions, they would tell the hidden states apart with at most the probability P! n_1! .. n_P! / n!.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from stratagem.base.errors import StratagemError
from stratagem.games.base import Seat
from stratagem.playing.forks import steps
from stratagem.playing.records import Episode
from stratagem.playing.store import read_columns, read_episodes
from stratagem.show.viewer.checks.base import CheckResult, DefectiveDecision, Source, faulty
from stratagem.show.viewer.decision_index import ShardIndex
from stratagem.show.viewer.prompts import Messages, prompts_of
from stratagem.show.viewer.replays import check_start

_KEY = ("episode", "turn", "seat", "attempt", "index")
_SETS, _REPLAYED = 12, 40
"""Number of information sets a shard, and of decisions of each prompt, that are played again."""
_ALL, _ONE = math.log(1e-3), math.log(1e-5)
"""Log-probability under which all sets together, and under which one alone, count as a leak."""
Hidden = tuple[str, ...]
"""State keys of the other seats."""


class _Set(NamedTuple):
    """Information set with several prompts."""

    rows: Mapping[str, Sequence[int]]
    """Decisions by prompt."""
    hidden: Mapping[str, Sequence[Hidden]]
    """Hidden states by prompt."""

    @property
    def tells(self) -> bool:
        """True if no hidden state went with two prompts."""
        by_prompt = [set(some) for some in self.hidden.values()]
        return sum(map(len, by_prompt)) == len(set().union(*by_prompt))

    @property
    def chance(self) -> float:
        """Log-probability that prompts dealt at random tell the hidden states apart."""
        sizes = [len(some) for some in self.hidden.values()]
        orders = math.lgamma(len(sizes) + 1) + sum(math.lgamma(size + 1) for size in sizes)
        return orders - math.lgamma(sum(sizes) + 1)


def leak(source: Source) -> CheckResult:
    """Look for information sets whose prompts tell hidden states apart."""
    sets = [(shard, one) for shard in source.shards for one in _sets(shard)]
    together = all(one.tells for _, one in sets) and sum(one.chance for _, one in sets) < _ALL
    places = [
        place for shard, one in sets if one.tells and (together or one.chance < _ONE) for place in _places(shard, one)
    ]
    seen, prompts = len(sets), sum(len(prompts_of(shard.folder, shard.number).messages) for shard in source.shards)
    if not prompts:
        return CheckResult("not checked", "There is no prompt.")
    varied = f"{seen} information sets had several prompts, and none goes with what is hidden."
    return faulty(
        places,
        "Seats read what they must not know: equal information sets have other prompts when other things are hidden.",
        varied if seen else "Seats with equal information read equal prompts.",
    )


def _sets(shard: ShardIndex) -> list[_Set]:
    """Return information sets with several prompts, in which several things were hidden."""
    varied = list(islice(_varied_decisions(shard), _SETS))
    if not varied:
        return []
    episodes = {episode.id: episode for episode in read_episodes(shard.folder, [shard.number], calls=False)}
    found = []
    for rows in varied:
        hidden = {prompt: _hidden_states(shard, own[:_REPLAYED], episodes) for prompt, own in rows.items()}
        hidden = {prompt: some for prompt, some in hidden.items() if some}
        if len(hidden) > 1 and len({one for some in hidden.values() for one in some}) > 1:
            found.append(_Set(rows, hidden))
    return found


def _varied_decisions(shard: ShardIndex) -> Iterator[dict[str, list[int]]]:
    """Yield the decisions by prompt of each information set that has several."""
    calls = read_columns(shard.folder, "calls", shard.number, (*_KEY, "prompt"))
    keys = read_columns(shard.folder, "decisions", shard.number, ("info_key",))["info_key"].to_pylist()
    rows, names = shard.rows_behind(calls), calls["prompt"].to_pylist()
    firsts = (calls["index"].to_numpy() == 0) & (calls["attempt"].to_numpy() == 0) & (rows >= 0)
    groups: dict[Any, dict[str, list[int]]] = defaultdict(dict)
    for place in np.flatnonzero(firsts).tolist():
        row = int(rows[place])
        group = (int(shard.player.codes[row]), int(shard.game.codes[row]), int(shard.seat[row]), keys[row])
        groups[group].setdefault(names[place], []).append(row)
    yield from (group for group in groups.values() if len(group) > 1)


def _hidden_states(shard: ShardIndex, rows: Sequence[int], episodes: Mapping[str, Episode]) -> list[Hidden]:
    """Return the hidden states of decisions whose episodes can be played again."""
    found = list[Hidden]()
    for row in rows:
        where = shard.where(row)
        try:
            found += other_deals(episodes[where["episode"]], int(shard.turn[row]), where["seat"], episodes)
        except StratagemError:
            continue
    return found


def other_deals(episode: Episode, turn: int, seat: Seat, episodes: Mapping[str, Episode]) -> Iterator[Hidden]:
    """Yield the facts of the other seats in a turn of an episode, as their state keys."""
    check_start(episode, episodes)
    for state, decisions in steps(episode, episodes):
        if decisions and decisions[0].turn == turn:
            yield tuple(state.view(other).state_key for other in range(state.game.spec.seats) if other != seat)


def _places(shard: ShardIndex, one: _Set) -> list[DefectiveDecision]:
    """Return some decisions of each prompt that says something which the others do not."""
    prompts = prompts_of(shard.folder, shard.number).messages
    said = {prompt: _own_line(prompt, prompts, one.rows) for prompt in one.hidden}
    return [
        DefectiveDecision(
            shard.where(row), f"Only with the others at {_name_state(one.hidden[prompt])} the prompt says {line!r}."
        )
        for prompt, line in said.items()
        for row in one.rows[prompt][:3]
        if line
    ]


def _name_state(hidden: Sequence[Hidden]) -> str:
    return " or ".join(sorted({", ".join(map(repr, one)) for one in hidden})[:3])


def _own_line(prompt: str, prompts: Mapping[str, Messages], rows: Mapping[str, Sequence[int]]) -> str:
    """Return the first line that only this prompt of the information set has."""
    others = {line for name in rows if name != prompt for _, said in prompts[name] for line in said.split("\n")}
    own = (line for _, said in prompts[prompt] for line in said.split("\n"))
    return next((line[:80] for line in own if line not in others), "")
