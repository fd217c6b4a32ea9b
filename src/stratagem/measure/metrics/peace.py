"""Metrics of Diplomacy: peace between powers, and kingmaking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stratagem.games.base import Seat
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.games.talk import moving
from stratagem.measure.hostility import hostility
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.metrics.standing import ends
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate, jackknife
from stratagem.playing.forks import steps
from stratagem.playing.records import Episode

Sheets = Mapping[Seat, str | None]


def kingmakers(episode: Episode) -> tuple[Seat, ...]:
    """Return the losers who could have prevented the solo by holding in the last movement phase.

    None without a solo.
    """
    last: DiplomacyState | None = None
    played: list[Sheets] = []
    winner: Seat | None = None
    for before, rows in steps(episode):
        if (state := moving(before)) is None:
            continue
        assert isinstance(state, DiplomacyState)
        winner = state.winner()
        orders = {row.seat: row.action for row in rows}
        if rows and state.board.kind == "M":
            last, played = state, [orders]
        elif rows:
            played.append(orders)
    return () if winner is None or last is None else decisive(last, played, winner)


def decisive(state: DiplomacyState, played: Sequence[Sheets], winner: Seat) -> tuple[Seat, ...]:
    """Return the other seats that could have prevented the solo by holding in this movement phase.

    `played` are its orders and those of the phases that follow, which are given again as far as they still can be.
    """
    orders, *after = played
    if _winner_after(state, orders, after) != winner:
        return ()
    others = [seat for seat in orders if seat != winner]
    return tuple(seat for seat in others if _winner_after(state, {**orders, seat: None}, after) != winner)


def _winner_after(state: DiplomacyState, orders: Sheets, after: Sequence[Sheets]) -> Seat | None:
    """Return the winner after these orders and the retreats that follow; new retreats disband."""
    here, later = state.fork(), iter(after)
    here.play(orders)
    while not here.over and here.board.kind == "R":
        orders_there = next(later, {})
        here.play({seat: _still(here, seat, orders_there.get(seat)) for seat in here.to_act})
    return here.winner()


def _still(state: DiplomacyState, seat: Seat, sheet: str | None) -> str | None:
    """Return the same orders, as far as they are possible here."""
    return sheet if sheet is not None and sheet in state.view(seat).choices else None


class PeaceIndex(Metric):
    """Tacit alliance index of the agent and the others: the relative reduction of their attacks; equals have 0.

    An order that moves into a province which another power holds is an attack, for every unit that could make one.
    """

    name = "peace"
    better = "neither"
    unit = "relative reduction of attacks"
    null_case = "0, which equals have"

    def measure(self, sample: Sample) -> Estimate | None:
        if not isinstance(sample.moves, Diplomacy):
            return None
        rows: dict[str, list[float]] = {}
        for episode in (episode for episode in ends(sample) if episode.decisions):
            counts, agent = hostility(episode), episode.seat_of(0)
            mine = np.zeros(counts.attacks.shape, dtype=bool)
            mine[agent, :] = mine[:, agent] = True
            row = rows.setdefault(episode.group, [0.0] * 4)
            for index, some in enumerate((counts.attacks[mine], counts.chances[mine])):
                row[index] += float(some.sum())
            for index, some in enumerate((counts.attacks[~mine], counts.chances[~mine]), 2):
                row[index] += float(some.sum())
        whole = np.sum(list(rows.values()), axis=0) if rows else np.zeros(4)
        if not whole[1:].all():
            return None
        return jackknife([list(rows.values())], lambda t: 1.0 - (t[0, 0] / t[0, 1]) / (t[0, 2] / t[0, 3]))

    def null(self, sample: Sample) -> float | None:
        return 0.0 if isinstance(sample.moves, Diplomacy) else None


class Kingmaking(Metric):
    """Games that another power won alone and would not have, had the agent's units held in the last movement phase."""

    name = "kingmaking"
    better = "lower"
    unit = "share of games"

    def measure(self, sample: Sample) -> Estimate | None:
        if not isinstance(sample.moves, Diplomacy):
            return None
        episodes = [episode for episode in ends(sample) if episode.decisions]
        if not episodes:
            return None
        return rate(episodes, _made_a_king, lambda _: 1.0, lambda e: e.group)


def _made_a_king(episode: Episode) -> float:
    """Return whether the agent is one of the seats whose orders decided the solo."""
    return float(episode.seat_of(0) in kingmakers(episode))
