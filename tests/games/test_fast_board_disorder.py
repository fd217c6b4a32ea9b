"""Powers that order too little on the fast board, against the engine: units hold, disband, or are removed by its rule.

The engine removes the unit that is farthest from home, fleets before armies, and then by name.
"""

import json
import random

import pytest

from fast_boards import differences, ordered, placed, scattered
from stratagem.games.diplomacy.engine import engine_at, position_of
from stratagem.games.diplomacy.fast.array_board import ArrayBoard
from stratagem.games.diplomacy.fast.chart import chart, names


def in_winter(seed):
    """Return an engine in Winter with units anywhere, of which most powers have more than centres."""
    engine, dice = scattered(seed), random.Random(seed)
    state = json.loads(position_of(engine))
    centers = sorted(place for own in state["centers"].values() for place in own)
    dice.shuffle(centers)
    owned = {power: [centers.pop() for _ in range(dice.randint(0, 3))] for power in state["centers"]}
    return engine_at("standard", json.dumps({**state, "name": "W1903A", "centers": owned})), dice


def fewer(orders, dice):
    """Return only some of the orders of each power; of some powers none."""
    return {power: dice.sample(own, dice.randint(0, len(own))) for power, own in orders.items()}


LONG = [pytest.param(seed, marks=pytest.mark.long) for seed in range(200, 4000, 200)]


@pytest.mark.parametrize("first", [0, *LONG])
def test_fast_board_removes_the_units_that_the_engine_removes(first):
    """With fewer removals than are due; the board has as many units as centres afterwards."""
    missing = 0
    for seed in range(first, first + (60 if first == 0 else 200)):
        engine, dice = in_winter(seed)
        board = ArrayBoard.at(position_of(engine))
        due = {power: max(0, -board.due(power)) for power in board.powers}
        orders = fewer(ordered(engine, dice), dice)
        missing += sum(due[power] - len(own) for power, own in orders.items() if due[power])
        after, wrong = differences(engine, board, orders)
        assert wrong == [], (seed, orders)
        for power in board.powers:
            assert not due[power] or len(after.units(power)) == len(after.centers(power))
    assert missing > 100


def test_fast_board_equals_engine_where_orders_are_missing():
    """Units without an order hold or disband, in movement and in retreats."""
    seen = set()
    for seed in range(30):
        engine, dice = scattered(seed), random.Random(seed)
        board = ArrayBoard.at(position_of(engine))
        for _ in range(2):
            if engine.phase_type == "A" or engine.phase == "COMPLETED":
                break
            seen.add(engine.phase_type)
            orders = fewer(ordered(engine, dice), dice)
            board, wrong = differences(engine, board, orders)
            assert wrong == [], (seed, orders)
    assert seen == {"M", "R"}


def test_steps_from_home_are_those_of_the_engine():
    engine = engine_at("standard")
    for node, number in names().node.items():
        for power, column in names().power.items():
            wanted = engine._get_distance_to_home(node[0], node[2:], engine.powers[power].homes)
            assert chart().from_home[number, column] == wanted, (node, power)


@pytest.mark.parametrize(
    ("units", "left"),
    [
        (["A PAR", "A SPA", "A MOS"], ["A PAR", "A SPA"]),  # the farthest goes
        (["A BUR", "A SPA", "F ENG"], ["A BUR", "A SPA"]),  # of equals a fleet
        (["A BUR", "A GAS", "A PIC"], ["A GAS", "A PIC"]),  # and then the first by name
        (["A PAR", "F NTH", "F STP/NC", "F BLA"], ["A PAR", "F NTH"]),
    ],
)
def test_power_in_civil_disorder_loses_the_farthest_unit_a_fleet_the_first_by_name(units, left):
    """France has two centres and orders nothing."""
    state = json.loads(placed({"FRANCE": units}, "W1902A"))
    state["centers"] = {power: ["BRE", "PAR"] if power == "FRANCE" else [] for power in state["centers"]}
    board = ArrayBoard.at(position_of(engine_at("standard", json.dumps(state))))
    after, results = board.play_orders({"FRANCE": []})
    assert [*after.units("FRANCE")] == left
    assert {results[unit] for unit in units} == {()}
