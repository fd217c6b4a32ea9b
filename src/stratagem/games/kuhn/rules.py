"""Kuhn poker (Kuhn 1950): three cards, ante 1, bet 1; a match of several hands in which the seats take turns to open.

A seat sees the current hand only, so the twelve information sets are the whole policy, in a match as in one hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from stratagem.base.options import whole
from stratagem.games.base import Game, Node, RoundResult, Seat, State, View, pending
from stratagem.games.choices import Flat
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec

CARDS = "JQK"
_OPEN, _FACING = Flat(("PASS", "BET")), Flat(("FOLD", "CALL"))
_PENDING = pending(2)
_SAID = {"P": "passed", "B": "bet", "C": "called", "F": "folded"}
_PAID_LINES = {"PP": 0, "BC": 0, "PBC": 0, "BF": 1, "PBF": -1}
"""Terminal betting lines: 0 showdown, 1 the opener wins by a fold, -1 the other does."""


class KuhnFacts(NamedTuple):
    """The seat's card and the betting of this hand, as letters: P pass, B bet, C call, F fold."""

    seat: Seat
    card: str
    line: str
    opens: bool
    """True if this seat acts first in this hand."""

    @property
    def facing_bet(self) -> bool:
        """True if there is a bet to call."""
        return self.line.endswith("B")


class KuhnState(State[KuhnFacts]):
    """The two cards by seat and the betting line of the hand in play."""

    __slots__ = ("cards", "line")
    state_fields = ("cards", "line")
    record_fields = ()
    game: Kuhn

    def __init__(self, game: Kuhn, chance: Chance) -> None:
        super().__init__(game, chance)
        self.cards = ""
        self.line = ""

    def begin(self) -> None:
        """Deal a hand; its opener acts."""
        cards = self.chance.at("card", self.round)
        first, second = cards.at(0).integer(3), cards.at(1).integer(2)
        self.cards = CARDS[first] + CARDS[second + (second >= first)]
        self.line = ""
        self.to_act = (self.round % 2,)

    def view(self, seat: Seat) -> View[KuhnFacts]:
        opener = (self.round - self.over) % 2  # once it is over, the last hand stays in sight
        return View(self.game, seat, KuhnFacts(seat, self.cards[seat], self.line, seat == opener))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        try:
            action = actions[self.to_act[0]]
        except (IndexError, KeyError):
            raise self.refuse(actions) from None
        legal = _FACING if self.line.endswith("B") else _OPEN
        action = legal.first if action is None else action
        if action not in legal or len(actions) != 1:
            raise self.refuse(actions)
        self.line += action[0]
        if self.line not in _PAID_LINES:
            self.to_act = (1 - self.to_act[0],)
            return _PENDING
        gains = self.payoffs()
        self.round += 1
        if self.round < self.game.hands:
            self.begin()
        else:
            self.end()
        return RoundResult(gains)

    def payoffs(self) -> tuple[float, ...]:
        """Return the payoffs of the hand, whose betting is over."""
        opener = self.round % 2
        winner_by_fold = _PAID_LINES[self.line]
        if winner_by_fold:
            gain = 1.0 if (winner_by_fold == 1) == (opener == 0) else -1.0
        else:
            stake = 2.0 if self.line.endswith("C") else 1.0
            gain = stake if CARDS.index(self.cards[0]) > CARDS.index(self.cards[1]) else -stake
        return gain, -gain

    def resample(self, seat: Seat, chance: Chance) -> KuhnState:
        copy = self.fork(chance)
        others = [card for card in CARDS if card != self.cards[seat]]
        hidden = others[chance.at("resample").integer(2)]
        copy.cards = self.cards[seat] + hidden if seat == 0 else hidden + self.cards[seat]
        return copy


@dataclass(frozen=True, kw_only=True)
class Kuhn(Game[KuhnFacts]):
    """Several hands; the opener changes with every hand."""

    state = KuhnState
    largest: ClassVar = {"hands": 10_000}

    hands: int = 6

    def __post_init__(self) -> None:
        whole("Kuhn poker", "hands", self.hands, 1)

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="kuhn",
            family="kuhn",
            summary=self._summary,
            reference="Kuhn 1950; SEPO, appendix F",
            simultaneous=False,
            utility="zero-sum",
            rounds=self.hands,
            bounds=(-2.0 * self.hands, 2.0 * self.hands),
            chance=True,
            private_information=True,
            # hands know nothing of each other, but the opener alternates: there are two kinds of them
            independent_rounds=2 if self.hands > 1 else 0,
            symmetric=False,
            on_illegal="default",
            unit="chips a hand",
        )

    @property
    def _summary(self) -> str:
        hands = "six hands" if self.hands == 6 else f"{self.hands} hands"
        return "Kuhn poker, one hand." if self.hands == 1 else f"Kuhn poker, {hands}, the seats open in turn."

    def choices(self, facts: KuhnFacts) -> Flat:
        return _FACING if facts.line and facts.line[-1] == "B" else _OPEN

    def all_actions(self) -> tuple[str, ...]:
        return (*_OPEN, *_FACING)

    def state_key(self, facts: KuhnFacts) -> str:
        return f"{facts.card}:{facts.line}"

    def info_key(self, facts: KuhnFacts) -> str:
        return f"{facts.card}:{facts.line}"

    def vocabulary(self) -> tuple[str, ...]:
        return ("pass", "bet", "fold", "call", *CARDS, "poker", "chip", "pot")

    def rules(self, seat: Seat) -> str:
        hands = "one hand" if self.hands == 1 else f"{self.hands} hands, opening in turn,"
        return (
            f"You play {hands} of a poker game with three cards: J below Q below K.\n"
            "Both players put 1 chip in the pot and get one card each, which the other does not see.\n"
            "The opener may PASS or BET 1 chip; after a pass the other may PASS or BET. Facing a bet one may CALL with "
            "1 chip or FOLD. A fold gives the pot to the other; otherwise the higher card takes it."
        )

    def situation(self, facts: KuhnFacts) -> str:
        if not facts.line:
            told = "You open this hand." if facts.opens else "The other player opens this hand."
        else:
            actors = ("You", "The other player") if facts.opens else ("The other player", "You")
            told = " ".join(f"{actors[turn % 2]} {_SAID[letter]}." for turn, letter in enumerate(facts.line))
        return f"Your card is {facts.card}. {told}"

    def twin(self) -> KuhnTwin:
        return KuhnTwin(self)


class KuhnTwin:
    """One hand against OpenSpiel's `kuhn_poker`, whose two actions are pass (also fold) and bet (also call)."""

    def __init__(self, game: Kuhn) -> None:
        import pyspiel  # rules must load without an engine

        self.game = replace(game, hands=1)
        self.spiel: Any = pyspiel.load_game("kuhn_poker")

    def view(self, node: Node) -> View[KuhnFacts]:
        """Return our seat's view where the player to move at `node` stands."""
        seat, history = node.current_player(), node.history()
        return View(self.game, seat, KuhnFacts(seat, CARDS[history[seat]], _line(history[2:]), seat == 0))

    def action(self, node: Node, spiel_action: int) -> str:
        """Return our word for pass or bet at this node."""
        legal = _FACING if _line(node.history()[2:]).endswith("B") else _OPEN
        return legal.actions[spiel_action]

    def node(self, state: State[Any]) -> Node:
        """OpenSpiel's state for the hand in play, with the opener as its player 0."""
        if not isinstance(state, KuhnState):
            raise TypeError(f"a hand of kuhn is needed, not {type(state).__name__}")
        opener = state.round % 2
        node = self.spiel.new_initial_state()
        for seat in (opener, 1 - opener):
            node.apply_action(CARDS.index(state.cards[seat]))
        for letter in state.line:
            node.apply_action(int(letter in "BC"))
        return node

    def seat(self, state: State[Any], player: int) -> int:
        """Return the opener of the hand in play is OpenSpiel's player 0."""
        return (state.round + player) % 2


def _line(moves: list[int]) -> str:
    line = ""
    for move in moves:
        line += ("FC" if line.endswith("B") else "PB")[move]
    return line
