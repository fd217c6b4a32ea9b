"""Face of described games: hands, open pieces, chips, choices and payoffs of the round in play."""

from __future__ import annotations

from stratagem.games.base import Json, Seat, State, View
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.events import DescribedFacts, Event
from stratagem.games.drawn.state import DescribedRules, DescribedState
from stratagem.games.drawn.steps.dealing import Deal, Swap
from stratagem.show.viewer.faces.base import STATIC, Actions, GameFace


class DescribedFace(GameFace):
    """Any described game: a row for each seat, from the state or from the view of a seat."""

    module = STATIC / "face_described.js"
    rules = DescribedRules
    game: DescribedRules

    def board(self) -> Json:
        known = self.game.description
        return {"name": known.name, "rounds": known.rounds, "unit": known.unit}

    def frame(self, state: State[DescribedFacts]) -> Json:
        assert isinstance(state, DescribedState)
        return self._frame_of_round(state, ended=state.over)

    def after(self, before: State[DescribedFacts], after: State[DescribedFacts], actions: Actions) -> Json:
        """Return the round in which the actions were played, also where the state has gone on to the next one."""
        copy = before.fork()
        assert isinstance(copy, DescribedState)
        copy.move(actions)
        return self._frame_of_round(copy, ended=not copy.to_act)

    def _frame_of_round(self, state: DescribedState, *, ended: bool) -> Json:
        known = self.game.description
        seats = [
            {
                "hand": [_name_piece(known, item, face) for item, face in state.hands[seat]],
                "actions": _actions_of(known, present_round(state.logs[seat]), seat),
                "put": state.put[seat],
                "out": state.out[seat],
                "gain": state.gains[seat] if ended else None,
            }
            for seat in range(known.seats)
        ]
        return {
            "round": min(state.round, known.rounds - 1),
            "open": [_name_piece(known, item, face) for item, face in state.open],
            "pot": sum(state.put),
            "seats": seats,
            "to_act": list(state.to_act),
        }

    def frame_of(self, view: View[DescribedFacts]) -> Json:
        """Return what one seat sees: chips follow from actions that it may not see, so they are left out."""
        known, facts = self.game.description, view.facts
        log = present_round(facts.log)
        gains = [event.what for event in log if event.kind == "pays"]
        seats = [
            {
                "hand": _own_hand(known, log, seat)
                if seat == facts.seat
                else _their_hand(known, log, seat, facts.seat),
                "actions": _actions_of(known, log, seat),
                "put": None,
                "out": False,
                "gain": float(gains[-1]) if gains and seat == facts.seat else None,
            }
            for seat in range(known.seats)
        ]
        return {
            "round": facts.round,
            "open": [{"item": known.items[one.step].name, "face": one.what} for one in log if one.kind == "opens"],
            "pot": None,
            "seats": seats,
            "to_act": [facts.seat] if facts.legal else [],
        }


def present_round(log: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events of the latest round."""
    begun = max((place for place, event in enumerate(log) if event.kind == "round"), default=-1)
    return log[begun + 1 :]


def _name_piece(known: GameDescription, item: int, face: int) -> Json:
    return {"item": known.items[item].name, "face": known.items[item].faces[face]}


def _actions_of(known: GameDescription, log: tuple[Event, ...], seat: Seat) -> list[Json]:
    """Return the actions of a seat that stand in a log, with the names of their choices."""
    return [
        {"name": known.steps[event.step].name, "word": event.what}
        for event in log
        if event.kind in ("plays", "hides") and event.seat == seat
    ]


def _own_hand(known: GameDescription, log: tuple[Event, ...], seat: Seat) -> list[Json]:
    """Return the pieces that a seat has been dealt; a swapped one has made room for the next."""
    hand = list[Json]()
    for event in log:
        step = known.steps[event.step] if event.kind == "plays" and event.seat == seat else None
        if isinstance(step, Swap) and event.what == step.swap:
            hand.remove(next(piece for piece in reversed(hand) if piece["item"] == step.item))
        elif event.kind == "gets":
            hand.append({"item": known.items[event.step].name, "face": event.what})
    return hand


def _their_hand(known: GameDescription, log: tuple[Event, ...], seat: Seat, own: Seat) -> list[Json]:
    """Return the pieces of another seat: those that were shown, or face down as many as it was surely dealt."""
    shown = [event for event in log if event.kind == "shows" and event.seat == seat]
    if shown:
        return [{"item": known.items[event.step].name, "face": event.what} for event in shown]
    held = {piece["item"] for piece in _own_hand(known, log, own)}
    deals = [step for step in known.steps if isinstance(step, Deal) and step.to == "each" and step.item in held]
    most = {item: sum(event.kind == "gets" and known.items[event.step].name == item for event in log) for item in held}
    return [
        {"item": item, "face": None}
        for item in dict.fromkeys(step.item for step in deals)
        for _ in range(min(most[item], sum(step.count for step in deals if step.item == item)))
    ]
