"""Faces of OpenSpiel's games: the page draws the moves of the history, and no text of the engine is read."""

from __future__ import annotations

from itertools import islice
from typing import Any, ClassVar

from stratagem.games.base import Game, Json, State, View
from stratagem.games.negotiation_v2 import ITEMS
from stratagem.games.spiel.rules import SpielRules
from stratagem.games.spiel.state import SpielState
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace

_COUNTS, _VALUES = 8, 11
"""Sizes of the engine's sets of numbers in bargaining: 0 to 7 items of a kind, and values from 0 to 10."""
GRIDS = ("tic-tac-toe", "connect-four", "breakthrough", "breakthrough-6x6")
"""Games on a grid, by our names; other sizes have no labels."""


class SpielFace(StateFace):
    """Dumped state with who made each move, where -1 is chance; the board has the parameters of the engine."""

    rules = SpielRules
    fixed: ClassVar[Json] = {}
    """Parameters that a game must have to be drawn."""

    @classmethod
    def fits(cls, game: Game[Any]) -> bool:
        if not isinstance(game, SpielRules):
            return False
        parameters = game.engine.spiel.get_parameters()
        return all(parameters.get(name) == value for name, value in cls.fixed.items())

    def board(self) -> Json:
        assert isinstance(self.game, SpielRules)
        return {"game": self.game.engine.short_name, **self.game.engine.spiel.get_parameters()}

    def frame(self, state: State[Any]) -> Json:
        return {**super().frame(state), "moves": [[one.player, one.action] for one in _node(state).full_history()]}


class DealtFace(SpielFace):
    """Game of private cards, dice or bids, which are seen from the moves that a seat knows."""

    def frame_of(self, view: View[Any]) -> Json:
        return {"moves": [list(move) for move in view.facts.moves]}


class CardsFace(DealtFace):
    """One hand of Kuhn or Leduc poker."""

    module = STATIC / "face_cards.js"


class GridFace(SpielFace):
    """Boards of squares."""

    module = STATIC / "face_grid.js"

    @classmethod
    def fits(cls, game: Game[Any]) -> bool:
        return super().fits(game) and game.spec.name in GRIDS


class NimFace(SpielFace):
    """Piles of nim."""

    module = STATIC / "face_nim.js"


class PigFace(SpielFace):
    """Scores, the total of the turn, and the die that was thrown last."""

    module = STATIC / "face_pig.js"
    fixed: ClassVar[Json] = {"players": 2}


class LiarsDiceFace(DealtFace):
    """One die each, and the bids."""

    module = STATIC / "face_liars_dice.js"


class GoofspielFace(SpielFace):
    """Both hands, the prizes so far, and the points."""

    module = STATIC / "face_goofspiel.js"
    fixed: ClassVar[Json] = {"players": 2, "num_turns": -1}


class BlindAuctionFace(DealtFace):
    """One sealed-bid auction."""

    module = STATIC / "face_auction.js"


class BargainingFace(SpielFace):
    """Pool, values and offers, as the engine has them: a history has only the number of an instance and of an offer."""

    module = STATIC / "face_items.js"

    def board(self) -> Json:
        return {**super().board(), "items": ITEMS}

    def frame(self, state: State[Any]) -> Json:
        node = _node(state)
        instance, last = node.instance(), node.full_history()[-1]
        agreed = last.player >= 0 and last.action == node.agree_action()
        offers = [offer.quantities for offer in node.offers()]
        shown = {"pool": instance.pool, "values": instance.values, "offers": offers}
        return {**shown, "agreed": agreed, "over": state.over}

    def frame_of(self, view: View[Any]) -> Json:
        """Read the seat's tensor: if they agreed, a one at the number of offers, and numbers as one more ones."""
        told, most = iter(view.facts.tensor), self.board()["max_turns"]
        agreed, count = bool(next(told)), list(islice(told, most + 1)).index(1.0)
        pool, own, *offers = [
            [int(sum(islice(told, width))) - 1 for _ in ITEMS] for width in (_COUNTS, _VALUES, *[_COUNTS] * count)
        ]
        values = [own if seat == view.seat else None for seat in (0, 1)]
        return {"pool": pool, "values": values, "offers": offers, "agreed": agreed, "over": view.facts.over}


def _node(state: State[Any]) -> Any:
    """Return the engine's state."""
    assert isinstance(state, SpielState)
    return state.node
