"""Language of every game: the class that the game names, or the one of its family."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.talk.diplomacy import DiplomacyLanguage
from stratagem.games.talk.groups import AuctionLanguage, PublicGoodsLanguage
from stratagem.games.talk.hidden import LiarsDiceLanguage, ResistanceLanguage
from stratagem.games.talk.language import Language
from stratagem.games.talk.languages import DivisionLanguage, KuhnLanguage, MatrixLanguage, PieLanguage

LANGUAGES: dict[str, type[Language[Any]]] = {
    "diplomacy": DiplomacyLanguage,
    "ipd": MatrixLanguage,
    "matrix": MatrixLanguage,
    "kuhn": KuhnLanguage,
    "auction": AuctionLanguage,
    "public-goods": PublicGoodsLanguage,
    "liars-dice": LiarsDiceLanguage,
    "resistance": ResistanceLanguage,
    "negotiation-v1": PieLanguage,
    "negotiation-v2": DivisionLanguage,
}
"""Languages by family of games; one is made with the game."""


@lru_cache(maxsize=1024)
def language_of(game: Game[Any]) -> Language[Any]:
    """Return the language of a game; one without sentences where neither the game nor its family has one."""
    if game.language is not None:
        own: object = game.language
        if not isinstance(own, type) or not issubclass(own, Language):
            raise BadParameter(f"The language of {game.spec.name} is {own!r}: it must be a subclass of Language.")
        return own(game)
    language = LANGUAGES.get(game.spec.family)
    return language(game) if language is not None and isinstance(game, language.rules) else Language(game)
