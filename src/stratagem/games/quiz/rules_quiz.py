"""Questions about the rules of a game, made from the game itself: legal actions, payoffs, and who moves next.

A position of random play is described as one seat sees it, under the rules in words. What is right follows from the
rules as they are played. A question whose answer chance would still change is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.all_actions import lines_of
from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.choices import Sheet
from stratagem.games.enumeration import Tape, outcomes
from stratagem.games.key import Chance, Key
from stratagem.games.quiz.questions import LETTERS, Item, Questions, among, drawn_order
from stratagem.games.spec import GameSpec

_TRIES = 40
"""Number of positions that are tried for a question."""
_LONGEST, _LONGEST_OF_SHEETS = 200, 4
"""Largest number of turns of an episode, and where an action is a sheet."""
_MOST_OUTCOMES = 64
_MOST_LINES = 3_000
_OTHER_ACTIONS = ("SWAP", "WAIT", "DOUBLE", "RESIGN")
"""Actions of no game here, where nearly all actions are legal everywhere."""


class Turn(NamedTuple):
    """Turn of an episode of random play."""

    state: State[Any]
    """State before it."""
    actions: Mapping[Seat, str]
    result: RoundResult


def _turns(game: Game[Any], chance: Chance) -> Iterator[Turn]:
    """Yield the turns of an episode of random play."""
    state = game.start(chance.at("deal"))
    for turn in range(_LONGEST_OF_SHEETS if _has_sheets(state) else _LONGEST):
        if state.over:
            return
        before = state.fork()
        actions = {seat: state.view(seat).choices.sample(chance.at("move", turn, seat)) for seat in state.to_act}
        yield Turn(before, actions, state.play(actions))


def _has_sheets(state: State[Any]) -> bool:
    """Return whether actions are sheets."""
    return isinstance(state.view(state.to_act[0]).choices, Sheet)


def _outcomes(turn: Turn) -> list[tuple[State[Any], RoundResult]]:
    """Return the ways in which a turn may come out, as chance has it."""
    return [(after, result) for _, after, result in islice(outcomes(turn.state, turn.actions), _MOST_OUTCOMES)]


def _draw_turn(chance: Chance, turns: list[Turn]) -> tuple[Turn, Seat]:
    """Draw a turn, and one of the seats that moved there."""
    turn = turns[chance.at("turn").integer(len(turns))]
    seats = sorted(turn.actions)
    return turn, seats[chance.at("seat").integer(len(seats))]


def legal(game: Game[Any], chance: Chance) -> Item | None:
    """Ask which of four actions a seat may choose."""
    turns = list(_turns(game, chance))
    turn, seat = _draw_turn(chance, turns)
    view, lines = turn.state.view(seat), _lines(turn, seat)
    elsewhere = dict.fromkeys(line for one in turns for other in one.actions for line in _lines(one, other))
    known = [line for line in elsewhere if line not in lines and line not in view.choices]
    wrong = [known[index] for index in drawn_order(chance.at("wrong"), len(known))[: len(LETTERS)]]
    wrong += [action for action in _OTHER_ACTIONS if action not in view.choices]
    right = lines[chance.at("right").integer(len(lines))]
    what = "Which of these lines may stand in your action" if isinstance(view.choices, Sheet) else "What may you play"
    return among(right, wrong, f"{_describe_turn(turn, seat)}\n\n{what} now?", chance)


def _lines(turn: Turn, seat: Seat) -> list[str]:
    """Return the actions of a seat, those of a sheet line by line."""
    lines = [line for line in lines_of(turn.state.view(seat).choices) if line]
    return lines[:_MOST_LINES]


def payoffs(game: Game[Any], chance: Chance) -> Item | None:
    """Ask for the payoff of a seat from the turn that closes a round."""
    if _has_sheets(game.start(chance.at("deal"))):  # what a sheet pays cannot be told from its words
        return None
    closing = [turn for turn in _turns(game, chance) if turn.result.closed]
    if not closing:
        return None
    turn, _ = _draw_turn(chance, closing)
    seat = chance.at("whose").integer(game.spec.seats)
    paid = {result.payoffs[seat] for _, result in _outcomes(turn)}
    if len(paid) > 1:
        return None
    right = paid.pop()
    near = [*(paid for one in closing for paid in one.result.payoffs), -right, right + 1.0, right - 1.0, right + 2.0]
    wrong = [_number(near[index]) for index in drawn_order(chance.at("wrong"), len(near))]
    asked = f"What does this pay you, in {game.spec.unit.partition(' a ')[0]}?"
    return among(_number(right), wrong, f"{_describe_turn(turn, seat, moves=True)}\n\n{asked}", chance)


def turns(game: Game[Any], chance: Chance) -> Item | None:
    """Ask who moves after a turn."""
    turn, seat = _draw_turn(chance, list(_turns(game, chance)))
    after = {state.to_act for state, _ in _outcomes(turn)}
    if len(after) > 1:
        return None
    right = _movers(after.pop(), seat, game.spec)
    ways = [(), tuple(range(game.spec.seats)), *((one,) for one in range(game.spec.seats))]
    wrong = [_movers(ways[index], seat, game.spec) for index in drawn_order(chance.at("wrong"), len(ways))]
    return among(right, wrong, f"{_describe_turn(turn, seat, moves=True)}\n\nWho moves next?", chance)


RULE_KINDS: Mapping[str, Callable[[Game[Any], Chance], Item | None]] = MappingProxyType(
    {"legal": legal, "payoffs": payoffs, "turns": turns}
)
"""Every kind of question about rules by name."""


def _describe_turn(turn: Turn, seat: Seat, *, moves: bool = False) -> str:
    """Describe a position to a seat; with `moves` also what the others see, and what is played."""
    view = turn.state.view(seat)
    parts = [view.rules, view.situation]
    if moves:
        spec = view.game.spec
        if spec.private_information:
            others = [one for one in range(spec.seats) if one != seat]
            parts += [f"{_who(one, seat, spec)} sees: {turn.state.view(one).situation}" for one in others]
        if spec.seats > 2 and not spec.seat_names:
            parts.append(f"Players are counted from 0, and you are player {seat}.")
        parts.append(" ".join(_write_move(one, seat, spec, turn.actions[one]) for one in sorted(turn.actions)))
    return "\n\n".join(parts)


def _write_move(mover: Seat, seat: Seat, spec: GameSpec, action: str) -> str:
    """Write an action in one line."""
    return f"{_who(mover, seat, spec)} play{'s' * (mover != seat)} {' / '.join(action.splitlines())}."


def _who(one: Seat, seat: Seat, spec: GameSpec) -> str:
    """Return the name of a seat in the eyes of another."""
    if one == seat:
        return "You"
    if spec.seat_names:
        return spec.seat_names[one]
    return "The other player" if spec.seats == 2 else f"Player {one}"


def _movers(to_act: tuple[Seat, ...], seat: Seat, spec: GameSpec) -> str:
    """Return the names of those who move."""
    if not to_act:
        return "Nobody: the game is over"
    if len(to_act) == spec.seats:
        return "All at once"
    return " and ".join(_who(one, seat, spec) for one in to_act)


def _number(value: float) -> str:
    return f"{value + 0.0:g}"


def rule_item(game: Game[Any], kind: str, chance: Chance) -> Item:
    """Return a question of a kind; refused where no position of random play gives one."""
    for number in range(_TRIES):
        item = RULE_KINDS[kind](game, chance.at("try", number))
        if item is not None and len(item.answers) == len(LETTERS):
            return item
    raise CannotCompute(f"{game.spec.name} gives no question of the kind {kind}.")


@lru_cache(maxsize=64)
def kinds_of(game: Game[Any]) -> tuple[str, ...]:
    """Return the kinds of questions that a game gives."""
    return tuple(kind for kind in RULE_KINDS if _is_asked(game, kind))


def _is_asked(game: Game[Any], kind: str) -> bool:
    try:
        rule_item(game, kind, Key(0))
    except CannotCompute:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class RulesQuiz(Questions):
    """One question about the rules of a game: `rules:GAME`, or of one kind, as in `rules:legal:GAME`."""

    asked: Game[Any]
    """Game whose rules are asked about."""
    text: str
    """Name of that game."""
    kind: str = ""
    """Kind of the question; empty for any."""

    def __post_init__(self) -> None:
        name = self.asked.spec.name
        if self.asked.spec.seats < 2:
            raise BadParameter(f"A quiz about rules needs a game of two seats or more, and {name} has one.")
        if self.kind and self.kind not in kinds_of(self.asked):
            raise BadParameter(
                f"{name} gives no questions of the kind {self.kind}, but {', '.join(kinds_of(self.asked))}."
            )

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec.of_questions(
            name=":".join(part for part in ("rules", self.kind, self.text) if part),
            family="quiz",
            summary=f"A question about the rules of {self.text}; a measure, not a game.",
            chance=True,
        )

    def draw_item(self, number: int, chance: Chance) -> Item:
        if isinstance(chance, Tape):
            raise CannotCompute(f"{self.spec.name} draws its questions from random play, so they cannot be enumerated.")
        kinds = [self.kind] if self.kind else kinds_of(self.asked)
        return rule_item(self.asked, kinds[chance.at("kind").integer(len(kinds))], chance)

    def rules(self, seat: Seat) -> str:
        return "You answer a question about the rules of a game. It has four answers, A to D, of which one is right."


def split_kind(tail: str) -> tuple[str, str]:
    """Return the kind of a quiz and the name of its game from what follows `rules:`; the kind is empty for any."""
    kind, colon, text = tail.partition(":")
    return (kind, text) if colon and kind in RULE_KINDS else ("", tail)
