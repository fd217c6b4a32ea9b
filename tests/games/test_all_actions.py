"""Actions of a whole game: declared, or found by a walk."""

from dataclasses import dataclass

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games import Flat, Game, GameSpec, RoundResult, State, View
from stratagem.games.all_actions import BUDGET, all_actions_of, lines_of
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Sheet, Slot
from stratagem.games.diplomacy.game import orders_of
from stratagem.games.key import Key


class CountingState(State[int]):
    """Rounds in which more and more is allowed."""

    def view(self, seat):
        return View(self.game, seat, self.round)

    def play(self, actions):
        self.round += 1
        if self.round == self.game.rounds:
            self.end()
        return RoundResult((0.0,))


@dataclass(frozen=True, kw_only=True)
class Counting(Game[int]):
    """A game that declares nothing."""

    state = CountingState
    rounds: int = 4
    drawn: bool = False
    markov: bool = True

    @property
    def spec(self):
        return GameSpec(name="counting", family="counting", summary="A", seats=1, rounds=self.rounds, bounds=(0, 0),
                        simultaneous=False, utility="general-sum", chance=False, private_information=False,
                        markov=self.markov, symmetric=True)  # fmt: skip

    def choices(self, facts):
        return Flat(str(number) for number in range(facts + 2))

    def rules(self, seat):
        return "Count."

    def situation(self, facts):
        return "Counting."


@pytest.mark.parametrize("markov", [True, False])
def test_undeclared_actions_are_found_by_a_walk(markov):
    assert all_actions_of(Counting(markov=markov)) == ("0", "1", "2", "3", "4")


def test_a_game_too_large_for_a_walk_is_refused():
    with pytest.raises(CannotCompute, match="too large to find all of its actions: declare them"):
        all_actions_of(Counting(rounds=BUDGET))


@pytest.mark.parametrize("text", ["ipd", "auction", "public-goods", "negotiation-v1", "kuhn(hands=2)", "quiz"])
def test_declared_actions_are_those_of_the_positions(text):
    game, met = make_game(text), set()
    for seed in range(20):
        state = game.start(Key(seed))
        while not state.over:
            choices = {seat: state.view(seat).choices for seat in state.to_act}
            met |= {action for one in choices.values() for action in one}
            draws = Key(seed).at(state.round, *state.to_act, len(met))
            state.play({seat: one.sample(draws.at(seat)) for seat, one in choices.items()})
    assert set(all_actions_of(game)) == met
    assert len(all_actions_of(game)) == len(met)


def test_lines_of_a_sheet_and_the_empty_slot():
    slots = [Slot("one", ("a", "b")), Slot("two", ("b", "c"))]
    assert list(lines_of(Sheet(slots))) == ["a", "b", "b", "c"]
    assert list(lines_of(Sheet(slots, 1))) == ["a", "b", "b", "c", ""]
    assert Sheet(slots, 1).by_slot("c") == ("", "c")
    assert Sheet(slots, 1).by_slot("b") == ("b", "")
    assert Sheet(slots).by_slot("b\nb") == ("b", "b")


def test_orders_of_diplomacy_hold_every_order_that_is_offered():
    orders, offered = set(orders_of("standard")), set()
    state = make_game("diplomacy(until=1903, judged=False)").start(Key(3))
    turn = 0
    while not state.over:
        choices = {seat: state.view(seat).choices for seat in state.to_act}
        offered |= {line for one in choices.values() for line in lines_of(one)}
        state.play({seat: one.sample(Key(turn).at(seat)) for seat, one in choices.items()})
        turn += 1
    assert len(offered) > 600
    assert offered <= orders
    for line in ("A PAR H", "F STP/SC - BOT", "A LON - BEL VIA", "F NTH C A LON - BEL", "A MUN S A BER - KIE", "WAIVE"):
        assert line in orders
    assert "A LON - PAR" not in orders
    assert "F PAR H" not in orders
