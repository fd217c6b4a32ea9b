"""Language of Diplomacy: peace, support, demilitarised provinces and alliances, for the orders of the next movement.

A promise is kept or broken by the sheet of orders that its speaker writes in the phase. It is void where no order that
the speaker may give could break it, or where no order could keep it. So a promise that costs nothing is not counted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from stratagem.games.base import Said, Seat, State, View
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.attacks import find_attacks, held_by
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import graph_of, province
from stratagem.games.diplomacy.results import read_order
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.games.talk.language import Intent, Language, MoveRequest, Promise
from stratagem.games.talk.reading_rules import spellings, spellings_of

Holders = dict[str, str]
"""By province, the power that holds it."""


def holders_of(board: Board, game: Diplomacy) -> Holders:
    """By province, the power at the table that has a unit there, or owns its centre where there is none."""
    return {place: game.powers[seat] for place, seat in held_by(board, game).items()}


def options_of(board: Board, power: str) -> Iterator[str]:
    """Yield every order that a power may give now."""
    sheet = board.sheet(power)
    for slot in sheet.slots if sheet else ():
        yield from slot.options


class _OfPhase(Promise):
    """Promise, or request, for the next movement phase alone."""

    def lapses(self, view: View[DiplomacyFacts]) -> bool:
        return view.facts.board.kind == "M"


@dataclass(frozen=True)
class Restraint(_OfPhase):
    """Promise to give no order of some kind."""

    @abstractmethod
    def breaks(self, order: str, power: str, holders: Holders) -> bool:
        """Return whether an order of this power is one of those."""

    def kept(self, view: View[DiplomacyFacts], action: str) -> bool | None:
        """Return whether no order is one of those; None outside movement, or where none could be."""
        board, power = view.facts.board, view.facts.power
        if board.kind != "M" or not isinstance(view.game, Diplomacy):
            return None
        holders = holders_of(board, view.game)
        if any(self.breaks(line, power, holders) for line in action.split("\n")):
            return False
        return True if any(self.breaks(line, power, holders) for line in options_of(board, power)) else None


@dataclass(frozen=True)
class Peace(Restraint):
    """Promise that no order enters, or supports an attack on, what another power holds."""

    power: str

    def breaks(self, order: str, power: str, holders: Holders) -> bool:
        return self.power != power and self.power in find_attacks([order], holders)


@dataclass(frozen=True)
class Alliance(Restraint):
    """Promise to attack one power or nobody."""

    against: str

    def breaks(self, order: str, power: str, holders: Holders) -> bool:
        return any(victim not in (self.against, power) for victim in find_attacks([order], holders))


@dataclass(frozen=True)
class Demilitarised(Restraint):
    """Promise that no unit moves to a province."""

    province: str

    def breaks(self, order: str, power: str, holders: Holders) -> bool:
        read = read_order(order)
        return read.verb == "-" and read.target == self.province


@dataclass(frozen=True)
class _Support:
    """Support of a power's move into a province."""

    text: str
    power: str
    province: str

    def gives(self, order: str, board: Board) -> bool:
        """Return whether an order is such a support."""
        return _supported_move(order, board) == (self.power, self.province)

    def kept(self, view: View[DiplomacyFacts], action: str) -> bool | None:
        """Return whether an order is such a support; None outside movement, or where none could be."""
        board = view.facts.board
        if board.kind != "M":
            return None
        if any(self.gives(line, board) for line in action.split("\n")):
            return True
        return False if any(self.gives(line, board) for line in options_of(board, view.facts.power)) else None


class Supports(_Support, _OfPhase):
    """Promise to support a power into a province."""


class AsksSupport(_Support, _OfPhase, MoveRequest):
    """Request to support a power into a province."""


def _supported_move(order: str, board: Board) -> tuple[str, str] | None:
    """Return the power whose move an order supports, and the province that it is to enter; None if it supports none."""
    read = read_order(order)
    if read.verb != "S" or not read.to_move or read.helped not in board.occupants:
        return None
    return board.occupants[read.helped][0], read.target


class DiplomacyLanguage(Language[DiplomacyFacts]):
    """`Peace with X`, `Alliance against X`, `I will demilitarise P`, `I will` and `Please support X into P`."""

    key = "diplomacy"
    rules = Diplomacy
    turn = "movement phase"
    game: Diplomacy

    def talkers(self, state: State[DiplomacyFacts]) -> tuple[Seat, ...]:
        """Return the seats that have units or centres; nobody talks before retreats and adjustments."""
        return state.powers_in_movement() if isinstance(state, DiplomacyState) else ()

    def occasion(self, state: State[DiplomacyFacts]) -> int:
        """Return the number of phases before this one."""
        return len(state.log) if isinstance(state, DiplomacyState) else 0

    def files(self, state: State[DiplomacyFacts], messages: Sequence[Said]) -> Iterator[tuple[str, str]]:
        return state.files_with(messages) if isinstance(state, DiplomacyState) else state.files()

    def sets(self) -> dict[str, tuple[str, ...]]:
        return {"power": self.game.powers, "province": self._places}

    def spellings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        return {"power": spellings(self.game.powers, spellings_of("nations")), "province": spellings(self._places)}

    @cached_property
    def _places(self) -> tuple[str, ...]:
        """Provinces of the map."""
        return tuple(sorted({province(node) for node in graph_of(self.game.map).nodes}))

    def sentences(self) -> Iterator[Intent]:
        places = self._places
        yield from map(_peace, self.game.powers)
        yield from map(_alliance, self.game.powers)
        yield from map(_demilitarise, places)
        for power in self.game.powers:
            for place in places:
                yield _supports(power, place)
                yield _asks(power, place)

    def intents(self, view: View[DiplomacyFacts]) -> tuple[Intent, ...]:
        """Return what matters on the board now: sentences about units that could do it, which everybody sees."""
        return _offers_of(self.game, view.facts.board, view.facts.power)


def _peace(power: str) -> Peace:
    return Peace(DiplomacyLanguage.say("peace", power=power), power)


def _alliance(power: str) -> Alliance:
    return Alliance(DiplomacyLanguage.say("alliance", power=power), power)


def _demilitarise(place: str) -> Demilitarised:
    return Demilitarised(DiplomacyLanguage.say("demilitarised", province=place), place)


def _supports(power: str, place: str) -> Supports:
    return Supports(DiplomacyLanguage.say("supports", power=power, province=place), power, place)


def _asks(power: str, place: str) -> AsksSupport:
    return AsksSupport(DiplomacyLanguage.say("asks_support", power=power, province=place), power, place)


@lru_cache(maxsize=512)
def _offers_of(game: Diplomacy, board: Board, power: str) -> tuple[Intent, ...]:
    """Return the sentences of a power in a movement phase."""
    if board.kind != "M":
        return ()
    others = [p for p in game.powers if p != power and (board.units(p) or board.centers(p))]
    helped = {place for other in others for whom, place in _able(game, board, other) if whom == power}
    return (
        *map(_peace, others),
        *(map(_alliance, others) if len(others) > 1 else ()),
        *map(_demilitarise, _between(board, power, others)),
        *(_supports(whom, place) for whom, place in _able(game, board, power) if whom in others),
        *(_asks(power, place) for place in sorted(helped)),
    )


@lru_cache(maxsize=512)
def _able(game: Diplomacy, board: Board, power: str) -> tuple[tuple[str, str], ...]:
    """Return whose moves a power could support, and into which provinces, none of them held by either."""
    holders = holders_of(board, game)
    found = {pair for line in options_of(board, power) if (pair := _supported_move(line, board)) and pair[0] != power}
    return tuple(sorted((whom, place) for whom, place in found if holders.get(place) not in (whom, power)))


def _between(board: Board, power: str, others: list[str]) -> list[str]:
    """Return the empty provinces, no centres of the power, that it and another power could enter."""
    near = {place for other in others for place in _enterable_provinces(board, other)}
    return sorted((_enterable_provinces(board, power) & near) - set(board.occupants) - set(board.centers(power)))


@lru_cache(maxsize=512)
def _enterable_provinces(board: Board, power: str) -> frozenset[str]:
    """Return the provinces that units of a power could enter without a convoy."""
    lines = (line for line in options_of(board, power) if " - " in line and not line.endswith(" VIA"))
    return frozenset(order.target for order in map(read_order, lines) if order.verb == "-")
