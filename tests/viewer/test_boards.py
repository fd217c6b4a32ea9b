"""Boards of OpenSpiel's games, which the page makes from the moves: they show what the engine writes of a state."""

import re
from itertools import islice
from pathlib import Path

import pytest
from read_boards import boards_of

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.show.viewer.faces import base
from stratagem.show.viewer.replays import replay_episode

KEYS = 4


def numbers(text):
    return [int(number) for number in re.findall(r"-?\d+", text)]


def line_after(text, start):
    return re.search(rf"{start}(.*)", text)[1]


def grid(text):
    """Squares of a board, without labels of rows and columns."""
    return [re.sub(r"^\d", "", row) for row in text.strip().split("\n") if not re.fullmatch(r" [a-z]+", row)]


def read_kuhn(text):
    cards, line = numbers(text), text.split()[2:]
    return ["JQK"[card] for card in cards[:2]], "".join(line)


def read_leduc(text):
    public, *private = numbers(line_after(text, r"Cards [^:]*:"))
    words = [part.strip().lower() for part in re.findall(r"sequence: ?(.*)", text)]
    return [["JQK"[card // 2] for card in private], "JQK"[public // 2] if public >= 0 else None, words]


def read_bargaining(text):
    pool, first, second, _, *offers = [[int(n) for n in re.findall(r"\w: (\d+)", row)] for row in text.split("\n")]
    return [pool, [first, second], [offer for offer in offers if offer]]


WRITTEN = {
    "tic-tac-toe": grid,
    "connect-four": grid,
    "breakthrough": grid,
    "breakthrough-6x6": grid,
    "nim": lambda text: numbers(text)[1:],
    "spiel:nim(pile_sizes=2;3)": lambda text: numbers(text)[1:],
    "pig": numbers,
    "spiel:pig(piglet=True,winscore=12)": numbers,
    "kuhn-spiel": read_kuhn,
    "leduc": read_leduc,
    "liars-dice": lambda text: text,
    "blind-auction": lambda text: [numbers(part) for part in text.split(";") if part],
    "bargaining": read_bargaining,
    **dict.fromkeys(
        ("goofspiel", *(f"spiel:goofspiel(num_cards=4,points_order={order})" for order in ("ascending", "descending"))),
        lambda text: [numbers(line_after(text, start)) for start in ("P0 hand:", "P1 hand:", "sequence:", "Points:")],
    ),
}
"""Readings of the engine's text, by game."""


def bets(board):
    return [[bet["word"] for bet in round_of_bets] for round_of_bets in board["bets"]]


def auction(board):
    if board["values"]:
        return [board["values"]]
    (row,) = board["past"]
    made = [int(bid) for bid in row["bids"] if bid is not None]
    return [row["values"], made] if row["payoffs"][0] is None else [row["values"], made, [row["best"].index(True)]]


SHOWN = {
    "grid": lambda board: ["".join(row).lower() for row in board["cells"]],
    "nim": lambda board: board["piles"],
    "pig": lambda board: [*board["scores"], board["total"], board["mover"]],
    "kuhn-spiel": lambda board: (board["cards"], "".join(word[0] for word in bets(board)[0])),
    "leduc": lambda board: [board["cards"], board["open"], [", ".join(words) for words in bets(board)]],
    "liars_dice": lambda board: " ".join(
        [*map(str, board["dice"]), *(f"{count}-{face}" for count, face in board["bids"])]
        + ["Liar"] * (board["called"] is not None)
    ),
    "auction": auction,
    "items": lambda board: [board["pool"], board["values"], [row["bundles"][row["by"]] for row in board["demands"]]],
    "goofspiel": lambda board: [*board["hands"], board["prizes"], board["points"]],
}
"""The same readings of a board, by face or game."""


def episode_of(text, key):
    game = make_game(text)
    match = Match(game, [make_player("random", game)] * game.spec.seats)
    (episode,) = play(list(islice(rotate_seats(match, 1, Key(key), name="board"), 1)))
    return episode


@pytest.mark.parametrize("name", WRITTEN)
def test_board_from_the_moves_is_that_of_the_engine(name):
    episodes = [episode_of(name, key) for key in range(KEYS)]
    drawn = [replay_episode(episode) for episode in episodes]
    assert {one["face"] for one in drawn} != {"text"}
    shown = SHOWN[name] if name in SHOWN else SHOWN[drawn[0]["face"]]
    for episode, boards in zip(episodes, boards_of(*drawn), strict=True):
        texts = [str(state.node) for state, _ in steps(episode)]
        assert len(texts) > 1
        for text, board in zip(texts, boards, strict=True):
            assert shown(board) == WRITTEN[name](text), text


def test_python_reads_no_text_of_the_engine():
    folder = Path(base.__file__).parent
    assert [path.name for path in folder.glob("*.py") if "import re\n" in path.read_text("utf-8")] == []
    assert not re.search(r"\bstr\(|_string\(", (folder / "spiel.py").read_text("utf-8"))
