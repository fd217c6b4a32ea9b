"""One table: a state, its seats and players, and the turn in progress.

A seat that answers nothing legal, or whose player raises, is a recorded event; the game's own rule says what follows.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.games.abilities import clock_of, standing_of
from stratagem.games.base import RoundResult, Seat, View
from stratagem.games.safety.base import Signals, all_signals
from stratagem.language.engines.base import Call
from stratagem.language.prompting.past import NOTHING
from stratagem.players.base import Ask, Move
from stratagem.players.protocol import Recall
from stratagem.playing.match import Setup
from stratagem.playing.results import (
    LONGEST_ROUND,
    WRONG,
    add_payoffs,
    beyond_its_rounds,
    endless_round,
    wrong_payoffs,
    wrong_result,
)
from stratagem.playing.rows import DecisionRows, Row

_FAULTS = (Exception, SystemExit)
"""Errors of a player. A player that leaves the program would end the command without a word."""
_MOST_SAID = 2000
"""Number of characters of an illegal reply that are stored."""


class OpenTurn(NamedTuple):
    """Turn that waits for the answer to a request."""

    view: View[Any]
    attempt: int
    generator: Generator[Any, Call, Move]
    request: Any


class Table:
    """Setup in play; `advance` goes on until a player's request is open or the episode is over."""

    __slots__ = (
        "_limited",
        "_match",
        "_moves",
        "_new",
        "_open",
        "_recalls",
        "_round",
        "_round_start",
        "_rows",
        "_slots",
        "_turn",
        "episode",
        "setup",
        "state",
    )

    def __init__(self, setup: Setup, *, detail: bool) -> None:
        self.setup = setup
        self._match, self._slots = setup.match, setup.slots
        self.state = setup.begin()
        self.episode = setup.episode(self.state)
        self._rows = DecisionRows(len(self._slots)) if detail else None
        # a chain of comparisons, which is false where one of the three is set
        self._limited = not setup.rounds is setup.turns is setup.until is None
        self._turn = setup.forked_at
        self._moves: dict[Seat, str | None] = {}
        self._open: dict[Seat, OpenTurn] = {}
        self._new: list[Seat] = []
        self._recalls: dict[Seat, Recall] | None = {} if setup.match.recalls and setup.state is None else None
        self._round = self._match.nothing
        self._round_start = self._turn
        """Turn at which the round in play began."""

    def advance(self) -> bool:
        """Play on; True when the episode is over, False when requests are open."""
        state, waiting = self.state, self._open
        while not state.over and not (self._limited and self._stops()):
            moves = self._moves
            for seat in state.to_act:
                if seat not in moves and seat not in waiting:
                    self._ask(seat, 0)
            if waiting:
                return False
            self._play()
        self._finish()
        return True

    def _finish(self) -> None:
        self.episode.finished = self.state.over
        if self.setup.counted and not self.state.over:
            self._count()
        if self._rows is not None:
            self.episode.put_rows(self._rows)

    def _stops(self) -> bool:
        """Return whether the limits of the setup are reached."""
        rounds, turns = self.setup.rounds, self.setup.turns
        if rounds is not None and len(self.episode.rounds) >= rounds:
            return True
        if turns is not None and self._turn - self.setup.forked_at >= turns:
            return True
        return self.setup.until is not None and clock_of(self.state, self._turn) >= self.setup.until

    @property
    def open_round(self) -> tuple[float, ...]:
        """Payoffs of the round in play so far, by seat; they join those of the episode when it closes."""
        return self._round

    def new_requests(self) -> list[tuple[Seat, Any]]:
        """Return the requests that were opened since the last time, in the order of the seats."""
        seats, self._new = sorted(self._new), []
        return [(seat, self._open[seat].request) for seat in seats]

    def answer(self, seat: Seat, completion: Call) -> None:
        """Give a seat what it asked for."""
        turn = self._open.pop(seat)
        self._go_on(seat, turn.view, turn.attempt, turn.generator, completion)

    def _ask(self, seat: Seat, attempt: int, refused: str | None = None) -> None:
        setup, state = self.setup, self.state
        slot, match = self._slots[seat], self._match
        player = match.players[slot]
        view = state.view(seat)
        if player is None:
            return self._settle(seat, view, Move(state.game.default_action(view.facts), "absent"), attempt)
        try:
            shown = state if match.shown[slot] else None
            recall = None if self._recalls is None else self._recalls.get(seat, ())
            key = setup.draw_keys[slot] if setup.draw_keys else setup.key
            past = setup.pasts[slot] if setup.pasts else NOTHING
            answer = player.turn(Ask(view, key, slot, self._turn, attempt, shown, past, recall, refused))
        except _FAULTS as error:  # data, and no other table suffers
            answer = _move_of_error(error)
        if type(answer) is not Move and isinstance(answer, Generator):  # the second question takes ten times as long
            return self._go_on(seat, view, attempt, answer, None)
        return self._settle(seat, view, answer, attempt)

    def _go_on(
        self,
        seat: Seat,
        view: View[Any],
        attempt: int,
        generator: Generator[Any, Call, Move],
        sent: Call | None,
    ) -> None:
        try:
            request = next(generator) if sent is None else generator.send(sent)
        except StopIteration as stop:
            return self._settle(seat, view, stop.value, attempt)
        except _FAULTS as error:
            return self._settle(seat, view, _move_of_error(error), attempt)
        if request is None or isinstance(request, Move):
            return self._settle(seat, view, _move_of_misplaced("yielded", request, "a request"), attempt)
        self._open[seat] = OpenTurn(view, attempt, generator, request)
        self._new.append(seat)
        return None

    def _settle(self, seat: Seat, view: View[Any], answer: object, attempt: int) -> None:
        """Take a legal move; otherwise ask again if the game allows it, or apply the game's rule."""
        move = answer if isinstance(answer, Move) else _move_of_misplaced("answered", answer, "a Move or a generator")
        action = move.action
        legal = isinstance(action, str) and action in view.choices
        if self._rows is not None:
            self._rows.append(self._row(seat, view, move, attempt, legal=legal))
        if not legal:
            if attempt < self._match.retries:
                failed = move.how == "error"  # no reply that the player could be told of
                return self._ask(seat, attempt + 1, None if failed else str(move.said or action or ""))
            self.episode.num_illegal[seat] += 1
            action = None
        self.episode.num_decisions[seat] += 1
        self._moves[seat] = action
        if self._recalls is not None:
            self._recalls[seat] = (*self._recalls.get(seat, ()), (view.info_key, action))
        return None

    def _row(self, seat: Seat, view: View[Any], move: Move, attempt: int, *, legal: bool) -> Row:
        """Return the decision in the order of `FIELDS`."""
        action, how, calls, reply = move
        if not legal:
            reply, action, how = action if reply is None else reply, None, how if how == "error" else "illegal"
        state, turn = self.state, self._turn
        return (
            state.round,
            turn,
            clock_of(state, turn),
            seat,
            self._slots[seat],
            attempt,
            view.state_key,
            view.info_key,
            action,
            how,
            None if reply is None else _storable_text(reply),
            _calls(calls) if calls else (),
        )

    def _play(self) -> None:
        moves, state, match = self._moves, self.state, self._match
        result = state.play(moves)
        try:
            closed = result.closed
            if closed or any(result.payoffs):
                self._round = add_payoffs(self._round, result.payoffs)
        except WRONG as error:
            raise wrong_result(state.game, result) from error
        if self._rows is not None:
            self._rows.close_turn(result)
        if match.onlookers:
            self._show(moves)
        self._moves = {}
        self._turn = turn = self._turn + 1
        if closed or state.over:
            self._close_round(all_signals(match.safety, state, moves, result))
            if len(self.episode.rounds) > match.most_rounds:
                raise beyond_its_rounds(state.game)
        elif turn - self._round_start >= LONGEST_ROUND:
            raise endless_round(state.game)

    def _show(self, moves: Mapping[Seat, str | None]) -> None:
        """Show the position after a turn to those who look on."""
        for slot, player in self._match.onlookers:
            open_state = (self.state, moves) if player.traits.sees_hidden else (None, None)
            player.look(self.state.view(self.episode.seat_of(slot)), *open_state)

    def _count(self) -> None:
        """Pay the value of the position where the game is stopped."""
        payoffs = standing_of(self.state)
        if payoffs is None:
            raise BadParameter(f"{self.state.game.spec.name} states no value of a position before the end.")
        try:
            self._round = add_payoffs(self._round, payoffs)
        except WRONG as error:
            raise wrong_payoffs(self.state.game, payoffs, "standing") from error
        if self._rows is not None:
            self._rows.credit(RoundResult(payoffs))
        self._close_round()

    def _close_round(self, signals: Signals | None = None) -> None:
        episode, match = self.episode, self._match
        episode.rounds.append(self._round)
        episode.payoffs = [before + payoff for before, payoff in zip(episode.payoffs, self._round, strict=True)]
        self._round, self._round_start = match.nothing, self._turn
        if signals:
            kept = episode.signals
            for name, values in signals.items():
                if name in kept:
                    kept[name].append(values)
                else:
                    kept[name] = [values]
        for slot, player in match.listeners:
            seat = episode.seat_of(slot)
            player.hear(self.state.view(seat), episode.rounds[-1][seat], over=self.state.over)


def _move_of_error(error: Exception | SystemExit) -> Move:
    """Treat a player that raised as silent."""
    return Move(None, "error", said=f"{type(error).__name__}: {_storable_text(error)}")


def _move_of_misplaced(did: str, value: object, due: str) -> Move:
    return Move(None, "error", said=f"{did} {_storable_text(value)} where {due} was due")


def _calls(given: object) -> tuple[Call, ...]:
    """Return the calls of a move; anything else in their place is dropped."""
    return tuple(call for call in given if isinstance(call, Call)) if isinstance(given, tuple | list) else ()


def _storable_text(value: object) -> str:
    """Make a text that can be stored and is the same in every run, whatever a player returned."""
    try:
        text = str(value) if isinstance(value, (str, *_FAULTS)) else re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    except Exception:  # noqa: BLE001 - a broken __repr__ is the player's fault too
        text = f"a {type(value).__name__} that cannot be shown"
    text = text if len(text) <= _MOST_SAID else text[:_MOST_SAID] + "…"
    return text.encode(errors="backslashreplace").decode()
