"""How open members of a league are, exactly, where the game is small: each alone, mixed, and averaged over training."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from stratagem.algorithms.league.seats import Seats
from stratagem.errors import CannotCompute
from stratagem.evaluation.exact import Rows, check_stated, check_twin, exact, hidden_twin, of_table, policy_table
from stratagem.evaluation.mixture import mixed
from stratagem.games.base import Game, Json
from stratagem.league.member import Member


class Openness:
    """The exact exploitability of members and of their mixtures; None where there is none to be had."""

    def __init__(self, game: Game[Any], seats: Seats, budget: int) -> None:
        self.game = game
        self.seats = seats
        self.budget = budget
        self.twin = hidden_twin(game) if budget else None
        self._tables: dict[str, Rows] = {}

    def of(self, member: Member) -> float | None:
        """A member's own."""
        if not self.budget:
            return None
        if self.twin is not None:
            return self.mixture([member], [1.0])
        try:
            return exact(self.game, self.seats.player(member), self.budget).exploitability
        except CannotCompute:
            return None

    def mixture(self, members: Sequence[Member], shares: Sequence[float]) -> float | None:
        """That of whoever draws one of these for a whole game; only where something is hidden and all is walked."""
        some = [(member, share) for member, share in zip(members, shares, strict=True) if share > 0.0]
        if self.twin is None or not some:
            return None
        try:
            check_twin(self.twin)
            tables = [self._table(member) for member, _ in some]
        except CannotCompute:
            return None
        table = mixed(self.twin, tables, [share for _, share in some]) if len(tables) > 1 else tables[0]
        return of_table(self.twin, table).exploitability

    def _table(self, member: Member) -> Rows:
        assert self.twin is not None
        if member.name not in self._tables:
            player = self.seats.player(member)
            check_stated(player)
            self._tables[member.name] = policy_table(self.twin, player)
            self.seats.trim()
        return self._tables[member.name]

    def over_time(self, line: Sequence[Member]) -> list[Json]:
        """For each of a learner's checkpoints its own, and that of the average of all up to it."""
        if self.twin is None:
            return []
        return [
            {"step": so_far[-1].step, "own": self.of(so_far[-1]), "average": self.mixture(so_far, [1.0] * len(so_far))}
            for so_far in accumulate(([member] for member in line), lambda before, one: [*before, *one])
        ]
