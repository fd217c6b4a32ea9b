"""Check of hidden information: the content of a view is a function of the seat's information set."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import islice
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Seat, State
from stratagem.games.conformance.report import BrokenRule, PlayedPath
from stratagem.games.conformance.walk import EpisodePosition, VerifiedGame, content_of, difference, every_episode
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

    def __init__(self, case: VerifiedGame) -> None:
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
            self.met[_place(state, seat)].add(_hidden_state(state, seat))

    def look(self, case: VerifiedGame, key: Key) -> None:
        """Redraw some positions of an episode for every seat."""
        for here in case.closer(key):
            for seat in range(case.game.spec.seats):
                if self.redrawn or not self.refused:
                    self._redraw(here, seat)

    def _redraw(self, here: EpisodePosition, seat: Seat) -> None:
        draws = here.dice.at("redraw", seat)
        try:
            found = _looked_through(here, seat, here.state.resample(seat, draws))
        except CannotCompute:
            self.refused = True
            return
        self.redrawn += 1
        if self.case.game.spec.private_information and not here.state.over:
            self._vary(here, seat, found)

    def _vary(self, here: EpisodePosition, seat: Seat, hidden: Hidden) -> None:
        """Redraw until two redraws differ, where play met several states or none has differed yet."""
        several = len(self.met[_place(here.state, seat)])
        self.varied += several > 1
        if several < 2 and self.differed:
            return
        draws = here.dice.at("vary", seat)
        if any(_hidden_state(here.state.resample(seat, draws.at(n)), seat) != hidden for n in range(_DRAWS)):
            self.differed = True
        elif several > 1:
            says = f"{_DRAWS} redraws for seat {seat} are all alike, though it knows as much of {several} states"
            raise BrokenRule(says, here.transcript)

    def compare_starts(self) -> None:
        """Count the redraws of the first states against the deals that a seat cannot tell apart."""
        if not self.redrawn or not self.case.game.spec.private_information:
            return
        if not self.differed:
            raise BrokenRule("something is private, and no redraw for any seat ever differs", self.case.latest)
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
            odds[_hidden_state(state, seat)] += probability
        key, state = self.case.key.at("starts", seat), deals[0][1]
        try:
            drawn = [_hidden_state(state.resample(seat, key.at(n)), seat) for n in range(_COUNTED)]
        except CannotCompute:
            return
        if found := _unlike(Counter(drawn), odds):
            raise BrokenRule(f"redraws for seat {seat} at the start are no fair draw: {found}", PlayedPath(key))


def _looked_through(here: EpisodePosition, seat: Seat, other: State[Any]) -> Hidden:
    """Check a redrawn state against the true one, and return what is hidden in it."""
    state, acting = here.state, seat in here.state.to_act
    if (other.to_act, other.over, other.round) != (state.to_act, state.over, state.round):
        raise BrokenRule(f"what is redrawn for seat {seat} stands elsewhere in the game", here.transcript)
    if fault := difference(content_of(other.view(seat), acting=acting), content_of(state.view(seat), acting=acting)):
        raise BrokenRule(f"seat {seat} can tell a redrawn state from the true one, {fault}", here.transcript)
    return _hidden_state(other, seat)


def _hidden_state(state: State[Any], seat: Seat) -> Hidden:
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


Seen = dict[tuple[Any, ...], tuple[dict[str, Any], PlayedPath]]


class ComparisonTally:
    """Number of comparisons made."""

    def __init__(self) -> None:
        self.met = 0


def check_hiding(case: VerifiedGame) -> str:
    """Check that equal information sets have equal views and that redraws cover what a seat does not see."""
    seen: Seen = {}
    tally, redraws = ComparisonTally(), Redraws(case)
    done = every_episode(case, lambda case, key: _look_at_an_episode(case, key, seen, tally, redraws))
    every_episode(case, redraws.look)
    redraws.compare_starts()
    return f"{done}, {tally.met} information sets met again, {redraws}"


def _look_at_an_episode(case: VerifiedGame, key: Key, seen: Seen, tally: ComparisonTally, redraws: Redraws) -> None:
    for here in case.walk(key):
        for seat in range(case.game.spec.seats):
            acting = seat in here.state.to_act
            view = content_of(here.state.view(seat), acting=acting)
            where = seat, acting, here.state.over, view["info_key"]
            earlier, transcript = seen.setdefault(where, (view, here.transcript))
            tally.met += earlier is not view
            if unlike := difference(view, earlier):
                says = f"seat {seat} is shown more than its information set {view['info_key']!r}, {unlike}"
                raise BrokenRule(says, here.transcript, transcript)
            redraws.note(here.state, seat)
