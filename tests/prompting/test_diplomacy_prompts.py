"""Prompts of Diplomacy list all possible orders, in every kind of phase."""

import pytest

from stratagem.games import Key, make_game
from stratagem.prompting.catalogue import make_style

GAME = make_game("diplomacy(until=1904, judged=False)")


def told(view, style):
    """The blocks of what the seat is told, without the rules and the situation that stand before."""
    return make_style(style).messages(view)[-1].content.partition(view.situation)[2]


def positions():
    """Every decision of a game of random play in which somebody has to retreat, with its phase."""
    state, key, turn = GAME.start(Key(19)), Key(19), 0
    while not state.over:
        views = {seat: state.view(seat) for seat in state.to_act}
        yield from ((state.board.kind, view) for view in views.values())
        state.play({seat: view.choices.sample(key.at(turn, seat)) for seat, view in views.items()})
        turn += 1


def spelt(line):
    """The orders that a line of the compact prompt stands for."""
    unit, _, rest = line.partition(": ")
    return [f"{unit} {one}" if " " in unit else one for one in rest.split(" | ")]


def test_every_order_can_be_written_from_the_compact_prompt():
    kinds = set()
    for kind, view in positions():
        kinds.add(kind)
        lines = [line for line in told(view, "diplomacy-compact").splitlines() if ": " in line]
        sheet = view.game.choices(view.facts)
        assert [sorted(spelt(line)) for line in lines] == [sorted(slot.options) for slot in sheet.slots]
    assert kinds == {"M", "R", "A"}


def test_a_dislodged_unit_is_told_its_own_ways_out():
    """And not the neighbours of the unit that took its place."""
    seen = 0
    for kind, view in positions():
        if kind == "R":
            text = told(view, "diplomacy-windows")
            for slot in view.game.choices(view.facts).slots:
                unit = " ".join(slot.options[0].split(" ")[:2])
                ways = [option.rpartition(" R ")[2] for option in slot.options if " R " in option]
                (line,) = [line for line in text.splitlines() if line.startswith(f"{unit} -> ")]
                assert [way.split(" (")[0] for way in line.partition(" -> ")[2].split(", ")] == (ways or ["nowhere"])
                seen += 1
    assert seen


@pytest.mark.parametrize("style", ["diplomacy-minimal", "diplomacy-counts", "diplomacy-verbose"])
def test_the_other_prompts_are_told_in_every_phase(style):
    assert all(told(view, style).strip() for _, view in positions())
