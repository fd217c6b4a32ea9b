"""Check of hidden information: the content of a view is a function of the seat's information set."""

from __future__ import annotations

from typing import Any

from stratagem.games.conformance.redraws import Redraws
from stratagem.games.conformance.report import Broken, Transcript
from stratagem.games.conformance.walk import Case, difference, every_episode, shown
from stratagem.games.key import Key

Seen = dict[tuple[Any, ...], tuple[dict[str, Any], Transcript]]


class Tally:
    """Number of comparisons made."""

    def __init__(self) -> None:
        self.met = 0


def hidden(case: Case) -> str:
    """Check that equal information sets have equal views and that redraws cover what a seat does not see."""
    seen: Seen = {}
    tally, redraws = Tally(), Redraws(case)
    done = every_episode(case, lambda case, key: _look_at_an_episode(case, key, seen, tally, redraws))
    every_episode(case, redraws.look)
    redraws.compare_starts()
    return f"{done}, {tally.met} information sets met again, {redraws}"


def _look_at_an_episode(case: Case, key: Key, seen: Seen, tally: Tally, redraws: Redraws) -> None:
    for here in case.walk(key):
        for seat in range(case.game.spec.seats):
            acting = seat in here.state.to_act
            view = shown(here.state.view(seat), acting=acting)
            where = seat, acting, here.state.over, view["info_key"]
            earlier, transcript = seen.setdefault(where, (view, here.transcript))
            tally.met += earlier is not view
            if unlike := difference(view, earlier):
                says = f"seat {seat} is shown more than its information set {view['info_key']!r}, {unlike}"
                raise Broken(says, here.transcript, transcript)
            redraws.note(here.state, seat)
