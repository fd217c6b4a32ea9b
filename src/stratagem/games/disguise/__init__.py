"""Disguises: the rules of a game in other words, with a proof that the game is the same."""

from stratagem.games.disguise.by_hand import by_hand, read_disguise
from stratagem.games.disguise.disguise import Disguise, DisguisedView, generate_disguise
from stratagem.games.disguise.proof import Proof, prove
from stratagem.games.disguise.vocabulary import vocabulary_of

__all__ = [
    "Disguise",
    "DisguisedView",
    "Proof",
    "by_hand",
    "generate_disguise",
    "prove",
    "read_disguise",
    "vocabulary_of",
]
