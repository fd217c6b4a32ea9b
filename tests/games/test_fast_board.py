"""The fast board of Diplomacy against the engine: positions, results, sheets and whole games are equal."""

import json
import random
from collections import Counter

import diplomacy
import numpy as np
import pytest
from diplomacy.tests.test_datc import TestDATC as Cases

from fast_boards import compared_game, differences, ordered, placed, scattered, switched
from stratagem.base.errors import IllegalAction
from stratagem.games import Key, make_game
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.engine import engine_at, position_of
from stratagem.games.diplomacy.fast.array_board import ArrayBoard
from stratagem.games.diplomacy.fast.text import board_array, order_code, orders_array
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

CASES = sorted(name for name in vars(Cases) if name.startswith("test_6_"))
LONG = [pytest.param(seed, marks=pytest.mark.long) for seed in range(40, 4000, 40)]


@pytest.mark.parametrize("first", [0, *LONG])
def test_fast_board_equals_engine_in_scattered_positions(first):
    """Dense boards with convoys that are attacked; every second one plays on into retreats."""
    seen = Counter()
    for seed in range(first, first + (12 if first == 0 else 40)):
        engine, dice = scattered(seed), random.Random(seed)
        board = ArrayBoard.at(position_of(engine))
        for _ in range(2):
            if engine.phase_type == "A" or engine.phase == "COMPLETED":
                break
            seen[engine.phase_type] += 1
            orders = ordered(engine, dice)
            seen["convoys"] += sum(" C " in line for own in orders.values() for line in own)
            board, wrong = differences(engine, board, orders)
            assert wrong == [], (seed, orders)
    assert min(seen["M"], seen["R"], seen["convoys"]) > 2


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 500, 6))])
def test_fast_board_equals_engine_over_whole_games(first):
    """500 games with the long tests."""
    seen = Counter()
    for seed in range(first, first + (2 if first == 0 else 6)):
        wrong, phases = compared_game(seed, 1908)
        assert wrong == [], seed
        seen.update(phases)
    assert min(seen[kind] for kind in "MRA") > 0


def test_fast_board_equals_engine_in_the_test_cases_of_adjudication(monkeypatch):
    """The Diplomacy Adjudicator Test Cases (Kruijswijk 2009), as the engine's own tests set them up."""
    compared, process = [], diplomacy.Game.process

    def both(game):
        board = ArrayBoard(board_array(position_of(game)))
        if game.phase_type == "M":
            lines = [f"{unit} {order}" for power in game.powers.values() for unit, order in power.orders.items()]
            orders = {"ALL": [line for line in lines if _is_known(line)]}
            after, results = board.play_orders(orders)
            process(game)
            codes = game.result_history.last_value()
            codes = {unit: tuple(sorted({code.message for code in own})) for unit, own in codes.items()}
            wrong = {unit: own for unit, own in codes.items() if own != results.get(unit)}
            assert (wrong, after.position) == ({}, position_of(game)), orders
            compared.append(len(lines))
        else:
            process(game)

    monkeypatch.setattr(diplomacy.Game, "process", both)
    for name in CASES:
        getattr(Cases(), name)()
    assert (len(CASES), len(compared)) >= (150, 140)


def test_convoyed_army_leaves_the_support_of_its_convoy_uncut():
    """A variant of the simple convoy paradox (Kruijswijk 2009, case 6.F.14), in which the supporter is dislodged.

    With its support cut, the army would weaken the fleet that carries it, and so have stopped itself.
    """
    engine = engine_at("standard", placed({"ENGLAND": ["A CLY", "A YOR", "F NWG"], "RUSSIA": ["F EDI"]}))
    board = ArrayBoard.at(position_of(engine))
    lines = ["A CLY - EDI VIA", "F NWG C A CLY - EDI", "A YOR S A CLY - EDI"]
    orders = {"ENGLAND": lines, "RUSSIA": ["F EDI S F NWG"]}
    assert board.play_orders(orders)[1]["F EDI"] == ("dislodged",)
    assert differences(engine, board, orders)[1] == []


def _is_known(line):
    try:
        return bool(order_code(line))
    except LookupError:
        return False


def test_unit_dislodged_without_a_retreat_is_no_result_of_winter():
    """Austria removes the army that took Budapest from an army with the same name."""
    state = json.loads(position_of(engine_at("standard")))
    units = {
        "AUSTRIA": ["A BOH", "A GAL", "A VIE"],
        "RUSSIA": ["A BUD"],
        "TURKEY": ["A RUM"],
        "ITALY": ["A SER", "A TRI"],
    }
    state |= {"name": "F1903M", "units": {power: units.get(power, []) for power in state["units"]}}
    state["centers"] = {power: ["VIE"] if power == "AUSTRIA" else [] for power in state["centers"]}
    engine = engine_at("standard", json.dumps(state))
    board = ArrayBoard.at(position_of(engine))
    lines = ["A BOH H", "A GAL - BUD", "A VIE S A GAL - BUD"]
    board, wrong = differences(engine, board, {"AUSTRIA": lines, "RUSSIA": ["A BUD H"]})
    assert (wrong, board.phase) == ([], "W1903A")
    assert differences(engine, board, {"AUSTRIA": ["A BUD D"]})[1] == []


def test_fast_sheets_are_those_of_the_engine():
    for seed in range(4):
        engine, dice = scattered(seed), random.Random(seed)
        for _ in range(3):
            board, fast = Board(engine), ArrayBoard.at(position_of(engine))
            for power in board.powers:
                assert fast.sheet(power) is None or fast.sheet(power).slots == board.sheet(power).slots
                assert (fast.acts(power), fast.due(power)) == (board.acts(power), board.due(power))
                assert fast.acts(power) is False or fast.sheet(power).fill == board.sheet(power).fill
                for name in ("units", "units_to_retreat", "centers"):
                    assert getattr(fast, name)(power) == getattr(board, name)(power)
            assert (fast.owners, fast.occupants, fast.phase) == (board.owners, board.occupants, board.phase)
            differences(engine, fast, ordered(engine, dice))


def test_fast_board_allows_what_the_sheet_offers():
    """Plain orders are allowed without a list of the possible ones; none is allowed that is not on it."""
    plain = 0
    for seed in range(8):
        board = ArrayBoard.at(position_of(scattered(seed)))
        for power in board.powers:
            sheet = board.sheet(power)
            for number in range(6) if sheet else ():
                action = sheet.sample(Key(seed).at(power, number))
                blind = ArrayBoard(board.cells)
                blind.orders_by_place = {}
                plain += blind.allows(power, action)
                assert board.allows(power, action)
                for other in board.powers:
                    assert not blind.allows(other, action) or other == power
    assert plain > 20
    assert not any(board.allows("FRANCE", wrong) for wrong in ("", "A PAR", "A PAR  - BUR", "A XYZ H", "WAIVE", "\n"))


@pytest.mark.parametrize("players", ["random", "dumbbot", "dumbbot-greedy", "dumbbot-ported-dipnet"])
def test_games_are_the_same_on_either_board(players, monkeypatch):
    """Actions, logs, classified orders and payoffs are equal, decision by decision."""
    played = []
    for fast in (False, True):
        switched(monkeypatch, fast)
        game = make_game(f"diplomacy(until=1902, judged={players == 'random'})")
        assert game.is_fast is fast
        match = Match(game, [make_player(players, game)] * 7)
        played.append(next(play(rotate_seats(match, 1, Key(4), name="fast"))))
    engine, fast = played
    assert [(row.action, row.info_key, row.parts) for row in fast.decisions] == [
        (row.action, row.info_key, row.parts) for row in engine.decisions
    ]
    assert fast.payoffs == engine.payoffs


def test_forks_on_the_fast_board_go_their_own_ways(monkeypatch):
    switched(monkeypatch, True)
    game = make_game("diplomacy(until=1903, judged=False)")
    state = game.start(Key(1))
    fork, other = state.fork(), state.fork(Key(2))
    state.play({seat: state.view(seat).choices.sample(Key(3).at(seat)) for seat in state.to_act})
    assert fork.position == other.position == game.start(Key(0)).position != state.position
    assert game.load(state.dump(), Key(1)).dump() == state.dump()
    with pytest.raises(IllegalAction, match="cannot play"):
        fork.play(dict.fromkeys(fork.to_act, "A PAR - MOS"))


def test_maps_and_powers_that_the_fast_board_does_not_know_are_played_on_the_engine(monkeypatch):
    switched(monkeypatch, True)
    assert not make_game("diplomacy(map=pure)").is_fast
    assert not make_game("diplomacy(only=[FRANCE, ITALY])").is_fast
    assert ArrayBoard.at('{"name":"S1901M"}') is None


def test_orders_array_is_by_province():
    orders = orders_array(["A PAR - BUR", "WAIVE", "F MAO S F GAS - SPA/NC"])
    assert np.flatnonzero(orders[:, 0]).tolist() == sorted(order_code(line).place for line in ("A PAR H", "F MAO H"))
