"""DumbBot's orders of a movement phase under promises: what a promise forbids is left out, what it demands is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stratagem.games.choices import Sheet
from stratagem.games.diplomacy.graph import Node, province
from stratagem.games.talk.diplomacy import Holders, Restraint, Supports, options_of
from stratagem.games.talk.language import Promise
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.base import Dice
from stratagem.players.diplomacy.campaign import Campaign, Pick, rank_nodes


class Pledge:
    """Promises of a power for one movement phase."""

    def __init__(self, promises: Sequence[Promise], eyes: Appraisal, holders: Holders) -> None:
        self._restraints = [promise for promise in promises if isinstance(promise, Restraint)]
        self._supports = [promise for promise in promises if isinstance(promise, Supports)]
        self._eyes = eyes
        self._holders = holders

    def allows(self, order: str) -> bool:
        """Return whether an order breaks no promise."""
        return not any(promise.breaks(order, self._eyes.power, self._holders) for promise in self._restraints)

    def supports(self, values: Mapping[Node, float]) -> dict[str, str] | None:
        """By province of a unit, the support that it promised; None where the promises cannot be kept together.

        The unit in the place of least value gives it.
        """
        given: dict[str, str] = {}
        for promise in self._supports:
            orders = {order[2:5]: order for order in self._ways(promise) if order[2:5] not in given}
            if not orders:
                return None
            units = (unit for unit in self._eyes.board.units(self._eyes.power) if province(unit) in orders)
            place = province(rank_nodes(units, values)[-1])
            given[place] = orders[place]
        return given

    def _ways(self, promise: Supports) -> Iterator[str]:
        """Yield the orders that keep a promise of support and break no other."""
        for order in options_of(self._eyes.board, self._eyes.power):
            if promise.gives(order, self._eyes.board) and self.allows(order):
                yield order


class PledgedCampaign(Campaign):
    """The orders of one movement phase, all of which keep a pledge."""

    def __init__(
        self, eyes: Appraisal, values: Mapping[Node, float], sheet: Sheet, dice: Dice, pick: Pick, pledge: Pledge
    ) -> None:
        super().__init__(eyes, values, sheet, dice, pick)
        self._pledge = pledge
        self._promised = pledge.supports(values) or {}

    def _decide(self, place: str, *, can_wait: bool) -> str | None:
        if place not in self._promised:
            return super()._decide(place, can_wait=can_wait)
        self._goes[place], self._orders[place] = self._units[place], self._promised[place]
        return None

    def _candidates(self, place: str, unit: Node, levels: Mapping[Node, float]) -> list[Node]:
        nodes = super()._candidates(place, unit, levels)
        return [node for node in nodes if node == unit or self._pledge.allows(f"{unit} - {node[2:]}")]

    def _support(self, place: str, *wanted: str) -> bool:
        return super()._support(place, *filter(self._pledge.allows, wanted))
