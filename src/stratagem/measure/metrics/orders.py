"""Metrics of Diplomacy: shares of a power's orders by their result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stratagem.games.base import ActionPart
from stratagem.games.diplomacy.results import Order, read_order
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Episode

Ordered = tuple[ActionPart, bool]
"""Result of an order, and whether the power itself made it fail.

It did if the order met another one of the same power, or if there was no sheet of orders to be read.
"""
_VOID = frozenset({"void support", "void convoy", "no convoy"})
SUPPORTS = frozenset({"critical support", "support", "cut support", "void support"})
_MOVES = frozenset({"move", "move home", "capture", "bounce", "no convoy"})


class Effective(Metric):
    """Orders of a movement phase that were neither void nor bounced by another unit of the same power."""

    name = "effective"
    better = "higher"
    digits = 2
    unit = "share of orders"

    def measure(self, sample: Sample) -> Estimate | None:
        return _share(sample, lambda _: True, is_effective)


class CoordinatedSupports(Metric):
    """Supports that matched the supported unit's action, whether or not that made a difference."""

    name = "coordinated"
    better = "higher"
    unit = "share of supports"

    def measure(self, sample: Sample) -> Estimate | None:
        return _share(sample, lambda part: part.kind in SUPPORTS, lambda part, _: part.kind != "void support")


class SupportShare(Metric):
    """Orders of a movement phase that were supports."""

    name = "supports"
    better = "neither"
    unit = "share of orders"

    def measure(self, sample: Sample) -> Estimate | None:
        return _share(sample, lambda _: True, lambda part, _: part.kind in SUPPORTS)


class BounceShare(Metric):
    """Moves that did not reach their destination."""

    name = "bounced"
    better = "neither"
    unit = "share of moves"

    def measure(self, sample: Sample) -> Estimate | None:
        return _share(sample, lambda part: _plain(part) in _MOVES, lambda part, _: part.kind in ("bounce", "no convoy"))


def _plain(part: ActionPart) -> str:
    """Return the kind of an order without the mark of support."""
    return part.kind.removeprefix("supported ")


def _share(
    sample: Sample, of: Callable[[ActionPart], bool], holds: Callable[[ActionPart, bool], bool]
) -> Estimate | None:
    """Return the share of some orders for which a condition holds; replays of one deal are one observation."""
    counts = []
    for matchup in sample.matchups:
        for episode in matchup.episodes:
            some = [holds(part, own) for part, own in orders_of(episode) if of(part)]
            if some:
                counts.append((episode, sum(some), len(some)))
    if not counts:
        return None
    return rate(counts, lambda row: row[1], lambda row: row[2], lambda row: row[0].group)


def orders_of(episode: Episode) -> Iterator[Ordered]:
    """Yield the agent's orders of movement phases, where the game judged them."""
    seat = episode.seat_of(0)
    for decision in episode.decisions:
        if decision.seat == seat:
            yield from of_sheet(decision.action, decision.parts)


def is_effective(part: ActionPart, own: bool) -> bool:
    """Return whether an order was neither void nor defeated by the power itself."""
    return part.kind not in _VOID and not own


def of_sheet(action: str | None, judged: Sequence[ActionPart]) -> Iterator[Ordered]:
    """Yield each order of a movement sheet with its result; an illegal sheet has no effective order."""
    parts = [part for part in judged if part.slot]
    if action is None:
        yield from ((part, True) for part in parts if part.kind == "hold")
        return
    lines = action.split("\n")
    if len(parts) != len(lines):
        return
    orders = [read_order(line) for line in lines]
    if not any(order.verb in ("H", "-", "S", "C") for order in orders):
        return
    stuck = [o for o, part in zip(orders, parts, strict=True) if o.verb != "-" or part.kind in ("bounce", "no convoy")]
    for order, part in zip(orders, parts, strict=True):
        yield part, part.kind == "bounce" and _met_own(orders, stuck, order)


def _met_own(orders: Sequence[Order], stuck: Sequence[Order], move: Order) -> bool:
    """Return whether an own unit went to the destination of a move, or stood there and did not get away."""
    others = [other for other in orders if other.unit != move.unit]
    went = any(other.verb == "-" and other.target == move.target for other in others)
    return went or any(other.unit != move.unit and other.unit[2:5] == move.target for other in stuck)
