"""DumbBot on the fast board against DumbBot in Python: the same sheets from the same keys."""

import random

import numpy as np
import pytest

from fast_boards import ordered, scattered, switched
from stratagem.games import Key, make_game
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.engine import position_of, process
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.fast.array_board import ArrayBoard, first_board
from stratagem.games.diplomacy.fast.chart import chart
from stratagem.players.catalogue import make_player
from stratagem.players.diplomacy.base import Dice
from stratagem.players.diplomacy.dumbbot import DumbBot
from stratagem.players.diplomacy.fast.dice import below, new_dice
from stratagem.players.diplomacy.fast.rollouts import play_games
from stratagem.players.diplomacy.fast.sheets import write_sheet
from stratagem.players.diplomacy.fast.values import neighbourhood, weights_array
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

np.seterr(over="ignore")
GAME = make_game("diplomacy(judged=False)")
NAMES = ["dumbbot", "dumbbot-greedy", "dumbbot-tuned"]


@pytest.mark.parametrize("seed", [0, 7, 2**63 + 11])
def test_kernel_dice_are_keyed_dice(seed):
    key, dice = Key(seed).at("player"), new_dice(np.uint64(Key(seed).at("player").value))
    plain = Dice(key)
    for bound in (1, 2, 34, 100, 1 << 31):
        assert below(dice, bound) == plain.below(bound)


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(10, 1000, 10))])
@pytest.mark.parametrize("name", NAMES)
def test_fast_dumbbot_writes_the_sheets_of_dumbbot(name, first):
    """Movement, retreats and adjustments, from positions with many units out of place."""
    bot, phases = make_player(name, GAME), set()
    few = 3 if name == "dumbbot" else 1
    for seed in range(first, first + (few if first == 0 else 10)):
        engine, dice = scattered(seed), random.Random(seed)
        for turn in range(4):
            board, fast = Board(engine), ArrayBoard.at(position_of(engine))
            phases.add(board.kind)
            for power in board.powers:
                if (sheet := board.sheet(power)) is not None:
                    key = Key(seed).at(turn, power)
                    facts = DiplomacyFacts(GAME.powers.index(power), power, board, ())
                    action = sheet.canonical(bot.lines(facts, GAME, Dice(key)))
                    assert write_sheet(fast, power, key, bot.appraisal, bot.strays) == action
            process(engine, ordered(engine, dice))
            if engine.phase == "COMPLETED":
                break
    assert phases == {"M", "R", "A"} or (first == 0 and few == 1)


def test_whole_games_in_a_kernel_are_those_of_the_scheduler(monkeypatch):
    """The kernel's table key is the scheduler's, where no seat is rotated."""
    switched(monkeypatch, True)
    game = make_game("diplomacy(until=1902, judged=False)")
    episode = next(play(rotate_seats(Match(game, [make_player("dumbbot", game)] * 7), 1, Key(3), name="kernel")))
    seats = np.zeros(1, np.int32)
    keys = np.array([Key(episode.key).at("player").value], np.uint64)
    weights = np.stack([weights_array(DumbBot.appraisal.seasons)] * 2)
    until = np.full(1, 1902, np.int32)
    scores = play_games(chart(), neighbourhood(), first_board().cells, keys, seats, until, weights, np.array([50, 50]))
    centers = scores[0, :7].astype(float)
    assert episode.payoffs == pytest.approx(tuple(centers**2 / (centers**2).sum()))
