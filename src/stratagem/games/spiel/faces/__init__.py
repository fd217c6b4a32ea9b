"""The faces that come with the package, by the names people ask for."""

from __future__ import annotations

from stratagem.games.spiel.face import Face
from stratagem.games.spiel.faces.bargaining import Bargaining
from stratagem.games.spiel.faces.blind_auction import BlindAuction
from stratagem.games.spiel.faces.breakthrough import breakthrough
from stratagem.games.spiel.faces.connect_four import ConnectFour
from stratagem.games.spiel.faces.goofspiel import Goofspiel
from stratagem.games.spiel.faces.kuhn import SpielKuhnFace
from stratagem.games.spiel.faces.leduc import Leduc
from stratagem.games.spiel.faces.liars_dice import LiarsDice
from stratagem.games.spiel.faces.nim import Nim
from stratagem.games.spiel.faces.pig import Pig
from stratagem.games.spiel.faces.tic_tac_toe import TicTacToe

FACES: dict[str, Face] = {
    "tic-tac-toe": TicTacToe(),
    "connect-four": ConnectFour(),
    "breakthrough": breakthrough("breakthrough", 3, 8, "Breakthrough on three columns and eight rows."),
    "breakthrough-6x6": breakthrough("breakthrough-6x6", 6, 6, "Breakthrough on six columns and six rows."),
    "nim": Nim(),
    "pig": Pig(),
    "kuhn-spiel": SpielKuhnFace(),
    "leduc": Leduc(),
    "liars-dice": LiarsDice(),
    "blind-auction": BlindAuction(),
    "bargaining": Bargaining(),
    "goofspiel": Goofspiel(),
}
