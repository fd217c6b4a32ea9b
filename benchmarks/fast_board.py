"""Speed of Diplomacy's fast board against the engine, a movement phase of seven DumbBots at a time.

Run with `python benchmarks/fast_board.py` in an environment with the extra `fast`. CPU time, after compilation.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from stratagem.games.catalogue import make_game
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.engine import engine_at, process
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.fast.array_board import ArrayBoard, first_board
from stratagem.games.diplomacy.fast.chart import chart
from stratagem.games.diplomacy.fast.compiled import is_compiled
from stratagem.games.diplomacy.fast.phases import play_phase
from stratagem.games.diplomacy.fast.text import orders_array
from stratagem.games.key import Key
from stratagem.players.diplomacy.base import Dice
from stratagem.players.diplomacy.dumbbot import DumbBot
from stratagem.players.diplomacy.fast.sheets import write_sheet


def cost(run: Callable[[], Any], repeats: int) -> float:
    """Return the CPU time of a call in microseconds."""
    run()
    start = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - start) / repeats * 1e6


def positions(count: int) -> list[tuple[ArrayBoard, dict[str, list[str]]]]:
    """Movement phases of DumbBot's games against itself, with their orders."""
    found = list[tuple[ArrayBoard, dict[str, list[str]]]]()
    bot, key = DumbBot(), Key(0)
    assert bot.strays is not None
    while len(found) < count:
        board = first_board()
        for turn in range(20):
            acting = [power for power in board.powers if board.acts(power)]
            sheets = {p: write_sheet(board, p, key.at(len(found), turn, p), bot.appraisal, bot.strays) for p in acting}
            orders = {power: sheet.split("\n") for power, sheet in sheets.items() if sheet}
            if board.kind == "M":
                found.append((board, orders))
            board = board.play_orders(orders)[0]
    return found[:count]


def main() -> None:
    """Print a line for each way to play a movement phase, and to write one sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=40)
    phases, bot = positions(parser.parse_args().positions), DumbBot()
    rows: dict[str, list[float]] = {}
    game = make_game("diplomacy")
    for board, orders in phases:
        lines = orders_array(line for own in orders.values() for line in own)
        result = np.zeros(board.cells.shape[1], np.int32)
        position, power = board.position, next(iter(orders))
        facts = DiplomacyFacts(0, power, Board(engine_at("standard", position)), ())

        def engine_phase(position: str = position, orders: dict[str, list[str]] = orders) -> None:
            engine = engine_at("standard", position)
            process(engine, orders)
            Board(engine)

        def sheet(facts: DiplomacyFacts = facts) -> list[str]:
            return list(bot.lines(facts, game, Dice(Key(1))))  # type: ignore[arg-type]

        def kernel(board: ArrayBoard = board, lines: Any = lines, result: Any = result) -> None:
            play_phase(chart(), board.cells.copy(), lines, result)

        def fast_sheet(board: ArrayBoard = board, power: str = power) -> str | None:
            assert bot.strays is not None
            return write_sheet(board, power, Key(1), bot.appraisal, bot.strays)

        costs = {
            "phase: engine, from a position to the next board": cost(engine_phase, 3),
            "phase: fast board, with results as texts": cost(partial(board.play_orders, orders), 50),
            "phase: kernel alone": cost(kernel, 200),
            "sheet: DumbBot in Python": cost(sheet, 3),
            "sheet: DumbBot on the fast board, as text": cost(fast_sheet, 50),
        }
        for name, value in costs.items():
            rows.setdefault(name, []).append(value)
    print(f"compiled: {is_compiled()}, {len(phases)} positions, median CPU microseconds (largest)")
    for name, values in rows.items():
        print(f"{name:50} {np.median(values):8.0f}  ({max(values):.0f})")


if __name__ == "__main__":
    main()
