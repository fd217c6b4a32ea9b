"""Exact exploitability: the gain of a best responder against a player that states its policy, beside its own value.

`nash_conv / seats` is the incentive to deviate when the player sits everywhere (Lanctot et al. 2017); `worst_advantage`
is the most that any opponent can earn above the player, which is what a pool of adversaries samples.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.evaluation.best_response import BUDGET, best_response
from stratagem.evaluation.expectation import expected
from stratagem.evaluation.policies import Stated, stated
from stratagem.games.base import Game, Json, Node, Twin, View
from stratagem.players.base import Player

Rows = dict[str, list[tuple[int, float]]]
"""Actions with their probabilities for each information state of OpenSpiel."""


@dataclass(frozen=True)
class Exact:
    """Figures a round, in the game's own unit, of a player that holds every seat but the responder's."""

    values: tuple[float, ...]
    """Value of the player at each seat against itself."""
    best_responses: tuple[float, ...]
    """Value of a best response at each seat."""
    worst_advantage: float
    """Largest mean advantage over the player that any opponent can have, averaged over the seats."""
    unit: str

    @property
    def gains(self) -> tuple[float, ...]:
        """Gain of a deviation at each seat."""
        return tuple(best - own for best, own in zip(self.best_responses, self.values, strict=True))

    @property
    def nash_conv(self) -> float:
        """NashConv: the sum of those gains."""
        return sum(self.gains)

    @property
    def exploitability(self) -> float:
        """Exploitability: NashConv divided by the number of seats."""
        return self.nash_conv / len(self.values)

    def to_json(self) -> Json:
        """Return every figure by name."""
        return asdict(self) | {"nash_conv": self.nash_conv, "exploitability": self.exploitability}


def exact(game: Game[Any], player: Player, budget: int = BUDGET) -> Exact:
    """Compute the exact exploitability of a player, or raise `CannotCompute` with the reason.

    `budget` situations may be walked by backward induction; a situation that a model is asked about counts as many as
    its traits say.
    """
    check_stated(player)
    if game.spec.seats < 2:
        raise CannotCompute(f"{game.spec.name} has one seat, so nobody can exploit anybody in it.")
    twin = hidden_twin(game)
    if twin is not None:
        return _by_twin(twin, player)
    return _by_induction(game.one_round() or game, player, budget)


def _by_induction(game: Game[Any], player: Player, budget: int) -> Exact:
    seats = range(game.spec.seats)
    responses = [best_response(game, player, seat, budget) for seat in seats]
    own = expected(game, [player] * len(seats), budget)
    length = own.sums["rounds", 0]
    return Exact(
        values=tuple(own.per_round(seat) for seat in seats),
        best_responses=tuple(response.payoff / length for response in responses),
        worst_advantage=max(0.0, sum(response.advantage for response in responses) / len(seats) / length),
        unit=game.spec.unit,
    )


def _by_twin(twin: Twin, player: Player) -> Exact:
    check_twin(twin)
    return of_table(twin, policy_table(twin, player))


def of_table(twin: Twin, table: Rows) -> Exact:
    """Return the figures of a table as a policy, in a zero-sum game of two seats."""
    import pyspiel  # only the exact figures of hidden-information games need the engine here

    root = twin.spiel.new_initial_state()
    values = pyspiel.expected_returns(root, pyspiel.TabularPolicy(table), -1, True)
    best = [pyspiel.TabularBestResponse(twin.spiel, seat, table).value_from_state(root) for seat in (0, 1)]
    total = sum(values)
    return Exact(
        values=tuple(values),
        best_responses=tuple(best),
        worst_advantage=max(0.0, sum(2 * response - total for response in best) / 2),
        unit=twin.game.spec.unit,
    )


def hidden_twin(game: Game[Any]) -> Twin | None:
    """OpenSpiel's game of a round, where something is hidden in it; other games are solved by backward induction."""
    game = game.one_round() or game
    return game.twin() if game.spec.private_information else None


def check_stated(player: Player) -> None:
    """Refuse a player that cannot state its probabilities."""
    if not player.traits.exact:
        raise CannotCompute(f"{player.name} cannot state its probabilities, so only play can measure it.")


def check_twin(twin: Twin) -> None:
    """Refuse a game that OpenSpiel's best response cannot solve."""
    spec = twin.game.spec
    if spec.utility not in ("zero-sum", "constant-sum") or spec.seats != 2:
        raise CannotCompute(f"OpenSpiel's best response needs a zero-sum game of two seats, which {spec.name} is not.")
    if not twin.spiel.get_type().provides_information_state_string:
        raise CannotCompute(f"OpenSpiel does not name the information sets of {spec.name}.")


def policy_table(twin: Twin, player: Player, budget: int = 2_000_000, asking: int = 100_000) -> Rows:
    """Return the player's policy at every information state of OpenSpiel's game, for both seats, in one batch."""
    nodes = _decisions(twin, budget)
    if player.traits.price > 1 and len(nodes) * player.traits.price > asking:
        raise CannotCompute(f"{twin.game.spec.name} has {len(nodes)} situations, too many to ask {player.name} about.")
    views = [twin.view(node) for node in nodes.values()]
    table = Rows()
    for (key, node), view, mix in zip(nodes.items(), views, stated(player, views), strict=True):
        legal = _legal(view, mix)
        table[key] = [(action, legal.get(twin.action(node, action), 0.0)) for action in node.legal_actions()]
    return table


def _decisions(twin: Twin, budget: int) -> dict[str, Node]:
    """Return a node of every information state with a decision."""
    nodes_found: dict[str, Node] = {}
    nodes: list[Node] = [twin.spiel.new_initial_state()]
    while nodes:
        node = nodes.pop()
        budget -= 1
        if budget < 0:
            raise CannotCompute(f"{twin.game.spec.name} has too many situations for an exact best response.")
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            nodes_found.setdefault(node.information_state_string(), node)
        nodes.extend(node.child(action) for action in node.legal_actions())
    return nodes_found


def _legal(view: View[Any], mix: Stated) -> dict[str, float]:
    """Replace the null action of a mixture by the action that the game plays for it."""
    legal = {action: p for action, p in mix.items() if action is not None}
    if None in mix:
        if view.game.spec.on_illegal != "default":
            raise CannotCompute(f"{view.game.spec.name} has no action for a reply that is none, so nothing is exact.")
        default = view.game.default_action(view.facts)
        legal[default] = legal.get(default, 0.0) + mix[None]
    return legal
