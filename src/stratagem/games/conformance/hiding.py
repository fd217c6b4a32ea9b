"""A view holds no more than its seat may know: what it shows is a function of the seat's information set."""

from __future__ import annotations

from typing import Any

from stratagem.errors import CannotCompute
from stratagem.games.conformance.report import Broken, Transcript
from stratagem.games.conformance.walk import Case, Position, difference, every_episode, shown
from stratagem.games.key import Key

Seen = dict[tuple[Any, ...], tuple[dict[str, Any], Transcript]]


class Tally:
    """How often there was something to compare."""

    def __init__(self) -> None:
        self.met = 0
        self.redrawn = 0
        self.refused = False


def hidden(case: Case) -> str:
    """Equal information sets are shown alike, and what is redrawn behind a seat's back changes nothing for it."""
    seen: Seen = {}
    tally = Tally()
    done = every_episode(case, lambda case, key: _look_at_an_episode(case, key, seen, tally))
    redrawn = f"{tally.redrawn} redrawn states" if tally.redrawn else "nothing can be redrawn"
    return f"{done}, {tally.met} information sets met again, {redrawn}"


def _look_at_an_episode(case: Case, key: Key, seen: Seen, tally: Tally) -> None:
    for here in case.walk(key):
        for seat in range(case.game.spec.seats):
            acting = seat in here.state.to_act
            view = shown(here.state.view(seat), acting=acting)
            place = seat, acting, here.state.over, view["info_key"]
            earlier, transcript = seen.setdefault(place, (view, here.transcript))
            tally.met += earlier is not view
            if found := difference(view, earlier):
                says = f"seat {seat} is shown more than its information set {view['info_key']!r}, {found}"
                raise Broken(says, here.transcript, transcript)
    for here in case.closer(key):
        for seat in range(case.game.spec.seats):
            _redraw(here, seat, tally)


def _redraw(here: Position, seat: int, tally: Tally) -> None:
    if tally.refused and not tally.redrawn:
        return
    try:
        other = here.state.resample(seat, here.dice.at("redraw", seat))
    except CannotCompute:
        tally.refused = True
        return
    tally.redrawn += 1
    acting = seat in here.state.to_act
    if (other.to_act, other.over, other.round) != (here.state.to_act, here.state.over, here.state.round):
        raise Broken(f"what is redrawn for seat {seat} stands elsewhere in the game", here.transcript)
    if found := difference(shown(other.view(seat), acting=acting), shown(here.state.view(seat), acting=acting)):
        raise Broken(f"seat {seat} can tell a redrawn state from the true one, {found}", here.transcript)
