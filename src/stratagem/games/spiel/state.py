"""An episode of an OpenSpiel game: nodes that play replaces, chance drawn by key, payoffs as the engine's returns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.base import Json, Node, RoundResult, Seat, State, View
from stratagem.games.key import Chance
from stratagem.games.spiel.engine import CHANCE, TERMINAL, TOGETHER, redraw_state
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.history import after_joint, replay
from stratagem.games.spiel.rules import SpielRules


class SpielState(State[SpielFacts]):
    """State of an episode. The node is never changed in place, so views and forks may share it."""

    __slots__ = ("draws", "forfeited", "known", "node", "paid")
    game: SpielRules

    def __init__(self, game: SpielRules, chance: Chance) -> None:
        super().__init__(game, chance)
        self.draws = 0
        """Number of chance draws so far: the index of the next one."""
        self.paid = game.nothing
        self.forfeited = False
        self.known: dict[Seat, SpielFacts] = {}

    def arrive(self, node: Node) -> None:
        """Move to `node`, or to where chance leads from there."""
        mover = node.current_player()
        while mover == CHANCE:
            node = self._draw_chance(node)
            mover = node.current_player()
        self.node = node
        self.known = {}
        if mover >= 0:
            self.to_act = self.game.alone[mover]
        elif mover == TOGETHER:
            self.to_act = tuple(seat for seat in range(self.game.engine.seats) if node.legal_actions(seat))
        else:
            self._end()

    def _draw_chance(self, node: Node) -> Node:
        outcomes = node.chance_outcomes()
        weights = [probability for _, probability in outcomes]
        draw = self.chance.at("chance", self.draws)
        self.draws += 1
        even = weights.count(weights[0]) == len(weights)
        return node.child(outcomes[draw.integer(len(weights)) if even else draw.choose(weights)][0])

    def _end(self) -> None:
        self.over, self.to_act, self.round = True, (), 1

    def facts(self, seat: Seat) -> SpielFacts:
        """Return the knowledge of `seat`, cached for each position."""
        facts = self.known.get(seat)
        if facts is None:
            facts = self.known[seat] = SpielFacts(self.game, self.node, seat)
        return facts

    def view(self, seat: Seat) -> View[SpielFacts]:
        return View(self.game, seat, self.facts(seat))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        seats, engine = self.to_act, self.game.engine
        if len(actions) != len(seats) or not seats:
            raise self.refuse(actions)
        if len(seats) == 1 and not engine.simultaneous:
            seat = seats[0]
            number = self.facts(seat).menu.ids.get(actions.get(seat))  # type: ignore[arg-type]
            if number is not None:
                self.arrive(self.node.child(number))
                return self._pay()
        try:
            ids = [None if (action := actions[seat]) is None else self.facts(seat).menu.ids[action] for seat in seats]
        except KeyError:
            raise self.refuse(actions) from None
        if None in ids:
            return self._forfeit([seat for seat in seats if actions[seat] is None])
        self.arrive(self._next(ids))
        return self._pay()

    def _next(self, ids: list[int | None]) -> Node:
        if self.node.current_player() != TOGETHER:
            return self.node.child(ids[0])
        joint = [0] * self.game.engine.seats
        for seat, number in zip(self.to_act, ids, strict=True):
            joint[seat] = number or 0
        return after_joint(self.node, joint)

    def _pay(self) -> RoundResult:
        if not self.over and not self.game.engine.pays_on_the_way:
            return self.game.pending
        return self._settle(tuple(self.node.returns()))

    def _settle(self, totals: tuple[float, ...]) -> RoundResult:
        """Pay the difference between the totals and what has been paid."""
        payoffs = tuple(total - had for total, had in zip(totals, self.paid, strict=True))
        self.paid = totals
        return RoundResult(payoffs, closed=self.over)

    def _forfeit(self, silent: list[Seat]) -> RoundResult:
        """End the game: silent seats get the least payoff, and fixed sums stay as they are.

        Where the others could then get more than the game ever pays, they get that, and the silent share the rest.
        """
        engine, others = self.game.engine, self.game.engine.seats - len(silent)
        (least, most), shares = engine.bounds, list(self.paid)
        if engine.utility == "common":
            shares = [least] * engine.seats
        elif engine.total is not None and others:
            share = min(most, (engine.total - least * len(silent)) / others)
            least, shares = (engine.total - share * others) / len(silent), [share] * engine.seats
        elif engine.total is not None:
            shares = [engine.total / engine.seats] * engine.seats
        if others:
            shares = [least if seat in silent else share for seat, share in enumerate(shares)]
        self.forfeited = True
        self._end()
        return self._settle(tuple(shares))

    def fork(self, chance: Chance | None = None) -> SpielState:
        copy = SpielState(self.game, self.chance if chance is None else chance)
        copy.node, copy.known, copy.draws, copy.paid = self.node, self.known, self.draws, self.paid
        copy.over, copy.to_act, copy.round, copy.forfeited = self.over, self.to_act, self.round, self.forfeited
        return copy

    def dump(self) -> Json:
        return {"history": self.node.history(), "paid": list(self.paid), "forfeited": self.forfeited}

    def resume(self, data: Json) -> None:
        """Resume at the position where `dump` was written."""
        steps = list(replay(self.game.engine, data["history"]))
        self.draws = sum(step.mover == CHANCE for step in steps[:-1])
        self.arrive(steps[-1].node)
        self.paid, self.forfeited = tuple(data["paid"]), data["forfeited"]
        if self.forfeited:
            self._end()

    def resample(self, seat: Seat, chance: Chance) -> SpielState:
        copy = self.fork(chance)
        engine = self.game.engine
        if not (engine.perfect or engine.one_shot or self.node.current_player() == TERMINAL):
            copy.node, copy.known = self._redraw_node(seat, chance), {}
        return copy

    def _redraw_node(self, seat: Seat, chance: Chance) -> Node:
        """Redraw with the engine and replay its history: some engines change a state without changing its history."""
        name, indices = self.game.spec.name, count()
        try:
            node = redraw_state(self.game.engine, self.node, seat, lambda: _unit(chance.at("resample", next(indices))))
            *_, last = replay(self.game.engine, node.history())
        except (RuntimeError, BadRecord) as error:
            raise CannotCompute(f"OpenSpiel cannot redraw what a seat of {name} does not see.") from error
        if SpielFacts(self.game, last.node, seat).information != self.facts(seat).information:
            raise CannotCompute(f"OpenSpiel redraws {name} into another information set.")
        return last.node


def _unit(draw: Chance) -> float:
    return draw.integer(1 << 53) / 2.0**53
