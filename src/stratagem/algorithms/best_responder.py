"""The opponent that is worst for a stated policy: what a probe is played against in place of a pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.errors import CannotCompute
from stratagem.evaluation.exact import policy_table
from stratagem.games.base import Game, View
from stratagem.players.base import Mix, Player, Scripted, Traits


@dataclass(frozen=True)
class BestResponder(Scripted[Any]):
    """Plays the best response to one policy, by a table over information sets; exact when it was made."""

    traits: ClassVar[Traits] = Traits(memory=None)
    table: Mapping[str, str]

    @property
    def name(self) -> str:
        return "best-response"

    def strategy(self, view: View[Any]) -> str | Mix:
        return self.table[view.info_key]


def best_responder(game: Game[Any], player: Player) -> BestResponder:
    """The best responder at every seat, by OpenSpiel's best response to the player at all others."""
    import pyspiel

    game = game.one_round() or game
    twin = game.twin()
    if twin is None or game.spec.seats != 2 or not game.spec.private_information:
        raise CannotCompute(f"There is no oracle that plays {game.spec.name} as a best response: take the pool.")
    rows = policy_table(twin, player)
    root = twin.spiel.new_initial_state()
    best: dict[str, int] = {}
    for seat in (0, 1):
        response = pyspiel.TabularBestResponse(twin.spiel, seat, rows)
        response.value_from_state(root)
        best |= response.get_best_response_actions()
    table: dict[str, str] = {}
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            chosen = best.get(node.information_state_string(), node.legal_actions()[0])
            table[twin.view(node).info_key] = twin.action(node, chosen)
        nodes.extend(node.child(action) for action in node.legal_actions())
    return BestResponder(table)
