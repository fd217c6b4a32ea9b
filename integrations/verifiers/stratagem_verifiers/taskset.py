"""Tasks without end: one deal from each seat after the other, with the keys of `stratagem.play`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import verifiers.v1 as vf

from stratagem.games.catalogue import describe
from stratagem_verifiers.config import DealsConfig


class DealData(vf.TaskData):
    """One episode to play."""

    deal: int
    """Number of the deal; all its episodes replay the same draws."""
    turn: int
    """Number of places by which the seats have rotated."""


class Deal(vf.Task[DealData, vf.State, vf.TaskConfig]):
    """One episode to play; the environment scores it."""


class Deals(vf.Taskset[Deal, DealsConfig]):
    """Deals of a game; a rotation of the seats replays each deal."""

    INFINITE = True

    def load(self) -> Iterator[Deal]:
        game = self.config.made()
        for number in count():
            deal, turn = divmod(number, game.spec.seats)
            name = f"{describe(game)}/{self.config.seed}/{deal}.{turn}"
            yield Deal(DealData(name=name, deal=deal, turn=turn), self.config.task)
