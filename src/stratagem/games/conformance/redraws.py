"""Checks of redrawn states: indistinguishable from the true one, and with the conditional distribution.

Hidden from a seat is what the other seats know. Where play met several such states in one information set, so must
redraws. At the start of a game nobody has acted, so the distribution of redraws is the conditional distribution of the
deals, which is compared exactly where there are few of them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import islice
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.games.base import Seat, State
from stratagem.games.conformance.report import Broken, Transcript
from stratagem.games.conformance.walk import Case, Position, difference, shown
from stratagem.games.enumeration import starts
from stratagem.games.key import Key

Hidden = tuple[str, ...]
"""The information sets of the other seats."""
Place = tuple[Any, ...]
"""A seat's information set, round and turn."""
_DRAWS = 40
"""Most redraws until two differ."""
_STARTS = 200
"""Number of deals beyond which a game is not enumerated."""
_SETS = 6
"""Number of information sets a seat whose redraws are counted at the start."""
_COUNTED = 400
"""Number of redraws counted for each."""
_SIGMAS = 5.0
"""Tolerated error of a count, in standard errors."""


class Redraws:
    """Hidden states met in each information set, and the checks of `State.resample`."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.met: defaultdict[Place, set[Hidden]] = defaultdict(set)
        self.redrawn = 0
        self.varied = 0
        self.differed = False
        self.refused = False

    def __str__(self) -> str:
        if not self.redrawn:
            return "nothing can be redrawn"
        private = self.case.game.spec.private_information
        return f"{self.redrawn} redrawn states" + (f", {self.varied} of them among several" if private else "")

    def note(self, state: State[Any], seat: Seat) -> None:
        """Store what was hidden from a seat."""
        if self.case.game.spec.private_information and not state.over:
            self.met[_place(state, seat)].add(_hidden(state, seat))

    def look(self, case: Case, key: Key) -> None:
        """Redraw some positions of an episode for every seat."""
        for here in case.closer(key):
            for seat in range(case.game.spec.seats):
                if self.redrawn or not self.refused:
                    self._redraw(here, seat)

    def _redraw(self, here: Position, seat: Seat) -> None:
        draws = here.dice.at("redraw", seat)
        try:
            found = _looked_through(here, seat, here.state.resample(seat, draws))
        except CannotCompute:
            self.refused = True
            return
        self.redrawn += 1
        if self.case.game.spec.private_information and not here.state.over:
            self._vary(here, seat, found)

    def _vary(self, here: Position, seat: Seat, hidden: Hidden) -> None:
        """Redraw until two redraws differ, where play met several states or none has differed yet."""
        several = len(self.met[_place(here.state, seat)])
        self.varied += several > 1
        if several < 2 and self.differed:
            return
        draws = here.dice.at("vary", seat)
        if any(_hidden(here.state.resample(seat, draws.at(n)), seat) != hidden for n in range(_DRAWS)):
            self.differed = True
        elif several > 1:
            says = f"{_DRAWS} redraws for seat {seat} are all alike, though it knows as much of {several} states"
            raise Broken(says, here.transcript)

    def compare_starts(self) -> None:
        """Count the redraws of the first states against the deals that a seat cannot tell apart."""
        if not self.redrawn or not self.case.game.spec.private_information:
            return
        if not self.differed:
            raise Broken("something is private, and no redraw for any seat ever differs", self.case.latest)
        try:
            deals = list(islice(starts(self.case.game), _STARTS + 1))
        except CannotCompute:
            return
        if len(deals) > _STARTS:
            return
        for seat in range(self.case.game.spec.seats):
            sets: defaultdict[Place, list[tuple[float, State[Any]]]] = defaultdict(list)
            for probability, state in deals:
                sets[_place(state, seat)].append((probability, state))
            for some in islice(sets.values(), _SETS):
                self._count(seat, some)

    def _count(self, seat: Seat, deals: list[tuple[float, State[Any]]]) -> None:
        odds: defaultdict[Hidden, float] = defaultdict(float)
        for probability, state in deals:
            odds[_hidden(state, seat)] += probability
        key, state = self.case.key.at("starts", seat), deals[0][1]
        try:
            drawn = [_hidden(state.resample(seat, key.at(n)), seat) for n in range(_COUNTED)]
        except CannotCompute:
            return
        if found := _unlike(Counter(drawn), odds):
            raise Broken(f"redraws for seat {seat} at the start are no fair draw: {found}", Transcript(key))


def _looked_through(here: Position, seat: Seat, other: State[Any]) -> Hidden:
    """Check a redrawn state against the true one, and return what is hidden in it."""
    state, acting = here.state, seat in here.state.to_act
    if (other.to_act, other.over, other.round) != (state.to_act, state.over, state.round):
        raise Broken(f"what is redrawn for seat {seat} stands elsewhere in the game", here.transcript)
    if fault := difference(shown(other.view(seat), acting=acting), shown(state.view(seat), acting=acting)):
        raise Broken(f"seat {seat} can tell a redrawn state from the true one, {fault}", here.transcript)
    return _hidden(other, seat)


def _hidden(state: State[Any], seat: Seat) -> Hidden:
    return tuple(state.view(other).info_key for other in range(state.game.spec.seats) if other != seat)


def _place(state: State[Any], seat: Seat) -> Place:
    return seat, state.to_act, state.over, state.round, state.view(seat).info_key


def _unlike(counts: Counter[Hidden], odds: Mapping[Hidden, float]) -> str:
    """Return the first hidden state whose frequency its conditional probability does not admit."""
    total, number = math.fsum(odds.values()), counts.total()
    for hidden in sorted({*counts, *odds}):
        share = odds.get(hidden, 0.0) / total
        if abs(counts[hidden] - number * share) > _SIGMAS * math.sqrt(number * share * (1.0 - share)) + 1e-9:
            return f"{counts[hidden]} of {number} are {hidden}, whose share is {share:.3f}"
    return ""
