"""An episode of Diplomacy: a position that plays replace, and everything that was ordered on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from stratagem.base.errors import BadRecord
from stratagem.games.abilities import TimedState
from stratagem.games.base import ActionPart, Json, RoundResult, Said, Seat, State, View
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.coasts import orders_as_read
from stratagem.games.diplomacy.engine import Engine, Results, engine_at, module, process, release, win_of
from stratagem.games.diplomacy.facts import DiplomacyFacts, Log, is_log
from stratagem.games.diplomacy.replay import GLOBAL, Press, replay_files
from stratagem.games.diplomacy.results import Phase
from stratagem.games.diplomacy.table import DiplomacyTable
from stratagem.games.key import Chance

PLACES = (50.0, 25.0, 15.0, 10.0, 5.0, 2.0, 0.0)
"""The bonus for a place, first to seventh, of league-trained no-press Diplomacy's public code."""
CENTER, UNIT, SURVIVAL = 2.0, 0.2, 0.5
"""Reward for a centre, a unit, and survival in that code."""


def sum_of_squares(centers: Sequence[int], winner: int | None = None) -> tuple[float, ...]:
    """Square the own centres over the sum of all squares; a solo takes all.

    Chance in a mirror match is 1 in 7.
    """
    if winner is not None:
        return tuple(float(seat == winner) for seat in range(len(centers)))
    total = sum(count * count for count in centers)
    return tuple(count * count / total if total else 1.0 / len(centers) for count in centers)


def outcome(centers: Sequence[int], units: Sequence[int]) -> tuple[float, ...]:
    """Return the reward at the end: by centre, unit and survival, and a bonus by place, which ties share."""
    bonus = share_bonus(centers)
    return tuple(
        CENTER * own + UNIT * count + SURVIVAL * bool(own or count) + place
        for own, count, place in zip(centers, units, bonus, strict=True)
    )


def share_bonus(centers: Sequence[int]) -> tuple[float, ...]:
    """Return the bonus for each one's place; places that are tied for are shared."""
    rewards = []
    for own in centers:
        above, level = sum(other > own for other in centers), sum(other == own for other in centers)
        places = [PLACES[place] if place < len(PLACES) else 0.0 for place in range(above, above + level)]
        rewards.append(sum(places) / level)
    return tuple(rewards)


class DiplomacyState(TimedState[DiplomacyFacts]):
    """State of an episode. The engine is set up on demand, and forks share what has been computed.

    Where the game is fast, boards are arrays, and no engine is set up.
    """

    __slots__ = ("_engine", "known", "log", "text")
    state_fields = ("position", "log")
    game: DiplomacyTable

    def __init__(self, game: DiplomacyTable, chance: Chance) -> None:
        self._engine: Engine | None = None
        super().__init__(game, chance)
        self.text = ""
        self.log: Log = ()
        self.known: Board | None = None
        """Cached board; forks share it."""

    def __del__(self) -> None:
        if self._engine is not None:
            release(self._engine)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the position, from which the engine is set up again."""
        return _load_state, (self.game, self.dump(), self.chance)

    def begin(self) -> None:
        if self.game.is_fast:
            module()  # its map is needed
            from stratagem.games.diplomacy.fast.array_board import first_board  # loads numba

            self._stand(first_board())
        else:
            self._engine = engine_at(self.game.map)
            self._stand(Board(self._engine))

    @property
    def position(self) -> str:
        """Position of the present phase as a text."""
        return self.text if self.known is None else self.known.position

    @position.setter
    def position(self, text: str) -> None:
        self.text, self.known, self._engine = text, None, None

    @property
    def board(self) -> Board:
        """Board of the present phase."""
        if self.known is None:
            self.known = Board(self._at_work())
        return self.known

    def view(self, seat: Seat) -> View[DiplomacyFacts]:
        return View(self.game, seat, DiplomacyFacts(seat, self.game.powers[seat], self.board, self.log))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != set(self.to_act):
            raise self.refuse(actions)
        orders: dict[str, list[str]] = {}
        for seat, given in actions.items():
            power = self.game.powers[seat]
            action = self.game.default_action(self.view(seat).facts) if given is None else given
            if not self.board.allows(power, action):
                raise self.refuse(actions)
            orders[power] = action.split("\n")
        phase = self._play_phase(orders)
        parts = {seat: phase.parts(self.game.powers[seat]) for seat in actions} if self.game.judged else None
        while not self.to_act and not self.over:  # only powers in civil disorder have something to do
            self._play_phase({})
        return self._pay_parts(parts)

    def _play_phase(self, orders: Mapping[str, list[str]]) -> Phase:
        """Play one phase and move to the next."""
        before, read = self.board, orders_as_read(orders, self.game.coasts)
        after, results = self._after(before, read)
        lines = tuple((power, line, _codes(line, results)) for power, own in sorted(orders.items()) for line in own)
        self.log = (*self.log, (before.phase, lines))
        self._stand(after)
        return Phase(self.game.map, before, read, results)

    def _after(self, before: Board, orders: Mapping[str, Sequence[str]]) -> tuple[Board, Results]:
        """Return the next board and the results of the orders."""
        if (played := getattr(before, "play_orders", None)) is not None:
            found: tuple[Board, Results] = played(orders)
            return found
        engine = self._at_work()
        results = process(engine, orders)
        return Board(engine), results

    def _at_work(self) -> Engine:
        if self._engine is None:
            self._engine = engine_at(self.game.map, self.position)
        return self._engine

    def _stand(self, board: Board) -> None:
        """Take over a board; the game is over when the last year has been counted."""
        self.known = board
        if board.over or self._is_counted(board):
            self.round = 1
            self.end()
        else:
            self.to_act = self._due()

    def _due(self) -> tuple[Seat, ...]:
        return tuple(seat for seat, power in enumerate(self.game.powers) if self.board.acts(power))

    def powers_in_movement(self) -> tuple[Seat, ...]:
        """Return the seats that have units or centres before a movement; none before retreats and adjustments."""
        if self.over or self.board.kind != "M":
            return ()
        powers = enumerate(self.game.powers)
        return tuple(seat for seat, power in powers if self.board.units(power) or self.board.centers(power))

    def _is_counted(self, board: Board) -> bool:
        return board.year > self.game.until or (board.year == self.game.until and board.kind == "A")

    def _pay_parts(self, parts: Mapping[Seat, tuple[ActionPart, ...]] | None) -> RoundResult:
        if not self.over:
            return RoundResult(self.game.nothing, closed=False, parts=parts)
        if parts is not None:
            ends = enumerate(self.outcome())
            parts = {seat: (*parts.get(seat, ()), ActionPart("", "outcome", reward)) for seat, reward in ends}
        counts, winner = self.centers(), self.winner()
        signals = {
            "centers": tuple(count / len(self.game.centers) for count in counts),
            "alive": tuple(
                float(bool(c or self.board.units(p))) for c, p in zip(counts, self.game.powers, strict=True)
            ),
            "solo": tuple(float(seat == winner) for seat in range(len(counts))),
        }
        return RoundResult(sum_of_squares(counts, winner), parts=parts, signals=signals)

    def standing(self) -> tuple[float, ...]:
        """Return the sum-of-squares score if the game were counted here: a unit in a centre owns it."""
        owners = self.board.owners | {place: power for place, (power, _) in self.board.occupants.items()}
        owned = [owners[place] for place in self.game.centers if place in owners]
        counts = {power: owned.count(power) for power in self.board.powers}
        best = max(counts, key=lambda power: counts[power])
        alone = counts[best] >= win_of(self.game.map) and list(counts.values()).count(counts[best]) == 1
        winner = self.game.powers.index(best) if alone and best in self.game.powers else None
        return sum_of_squares([counts[power] for power in self.game.powers], winner)

    def clock(self, turn: int) -> int:
        return turn if self.over else self.board.clock

    def centers(self) -> tuple[int, ...]:
        """Return the number of centres of each seat."""
        return tuple(len(self.board.centers(power)) for power in self.game.powers)

    def outcome(self) -> tuple[float, ...]:
        """Return the reward of each seat for the present position, as a trainer pays it at the end."""
        return outcome(self.centers(), [len(self.board.units(power)) for power in self.game.powers])

    def winner(self) -> Seat | None:
        """Seat that won alone; None where the game was cut, goes on, or a power without a seat won."""
        if not self.board.over:
            return None
        counts = [len(self.board.centers(power)) for power in self.board.powers]
        best = self.board.powers[counts.index(max(counts))]
        return self.game.powers.index(best) if best in self.game.powers else None

    def fork(self, chance: Chance | None = None) -> Self:
        copy = type(self)(self.game, chance or self.chance)
        copy.round, copy.over, copy.to_act, copy.log = self.round, self.over, self.to_act, self.log
        copy.text, copy.known = self.text, self.known
        return copy

    def restore(self, data: Json) -> None:
        super().restore(data)
        text = self.position
        self.known = Board(self._at_work())
        if self.known.position != text:
            raise BadRecord(f"This is no position on the map {self.game.map}: the engine reads it as another one.")
        if not self.over and self.to_act != self._due():
            raise BadRecord(
                f"This is no state of diplomacy: in {self.board.phase} others are to act than {self.to_act}."
            )
        if not is_log(self.log, self.known.powers):
            raise BadRecord("This is no state of diplomacy: its log does not tell phase by phase who ordered what.")
        if self.game.is_fast:
            from stratagem.games.diplomacy.fast.array_board import ArrayBoard  # loads numba

            self.known = ArrayBoard.at(text) or self.known

    def files(self) -> Iterator[tuple[str, str]]:
        return replay_files(self.game.map, self.log, coasts=self.game.coasts)

    def files_with(self, messages: Sequence[Said]) -> Iterator[tuple[str, str]]:
        """Yield the files with the messages in them."""
        return replay_files(self.game.map, self.log, list(self._press(messages)), coasts=self.game.coasts)

    def _press(self, messages: Sequence[Said]) -> Iterator[Press]:
        """Yield the messages that were sent, with the names of the engine."""
        names = self.game.powers
        for phase, sender, reader, text in messages:
            if text:
                yield Press(phase, names[sender], names[reader] if reader >= 0 else GLOBAL, text)

    def resample(self, seat: Seat, chance: Chance) -> Self:
        return self.fork(chance)


def _load_state(game: DiplomacyTable, data: Json, chance: Chance) -> State[DiplomacyFacts]:
    return game.load(data, chance)


def _codes(line: str, results: Results) -> tuple[str, ...]:
    return results.get(" ".join(line.split()[:2]), ())
