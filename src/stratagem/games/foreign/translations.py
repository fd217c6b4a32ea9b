"""Table of environments whose game OpenSpiel has, with the names of its actions and the units of its payoffs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stratagem.games.base import Node

Inner = Any
"""Environment of another package without its wrappers."""


@dataclass(frozen=True)
class Amount:
    """An amount at the table, such as the pot, here and in OpenSpiel."""

    here: Callable[[Inner], float]
    in_spiel: Callable[[Node], float]


@dataclass(frozen=True)
class Translation:
    """One game in two programs."""

    spiel: str
    """OpenSpiel's game."""
    name: Callable[[Node, int], str]
    """Name in the environment of an action of OpenSpiel's."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options with which the environment is this game."""
    deals: Callable[[Inner, tuple[int, ...]], tuple[int, ...]] = lambda inner, order: ()
    """OpenSpiel's chance outcomes at the start; `order` has the seat of each of its players."""
    first_acts: bool = False
    """True if OpenSpiel's player 0 is the seat that acts first."""
    paid: Callable[[Inner], tuple[float, ...]] | None = None
    """Payoffs in OpenSpiel's units; None where the environment's own returns have these units."""
    amounts: Mapping[str, Amount] = field(default_factory=dict)
    """Amounts to compare in each position."""


def new_node(translation: Translation) -> Node:
    """Return OpenSpiel's state before any deal, with simultaneous moves one after another."""
    import pyspiel

    game = pyspiel.load_game(translation.spiel)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    return game.new_initial_state()


def name_actions(translation: Translation, node: Node) -> dict[str, int]:
    """Return OpenSpiel's legal actions by their names in the environment."""
    return {translation.name(node, action): action for action in node.legal_actions()}


def numbers(node: Node, action: int) -> str:
    """Name an action by its number."""
    return str(action)


def in_brackets(node: Node, action: int) -> str:
    """Name an action by its number in brackets."""
    return f"[{action}]"


def columns(node: Node, action: int) -> str:
    """Name a column as TextArena's Connect Four does."""
    return f"[col {action}]"


def bets(node: Node, action: int) -> str:
    """Name the two actions of Kuhn poker, by what they mean where they are taken."""
    faces_a_bet = bool(node.information_state_string().count("b"))
    return ("[fold]", "[call]")[action] if faces_a_bet else ("[check]", "[bet]")[action]


def _kuhn_chips(inner: Inner) -> tuple[float, ...]:
    """Return the chips won in the hand; at the end the environment has taken the ante of a hand that is not played."""
    chips = inner.state.game_state["player_chips"]
    return tuple(float(chips[seat] + inner.ante) for seat in range(2))


def _kuhn_cards(inner: Inner, order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(inner.state.game_state["player_cards"][seat] for seat in order)


KUHN_POT = Amount(
    lambda inner: float(inner.state.game_state["pot"]),
    lambda node: float(sum(node.observation_tensor(0)[-2:])),  # the chips that each player has put in
)

TRANSLATIONS: dict[str, Translation] = {
    "textarena:KuhnPoker": Translation(
        spiel="kuhn_poker",
        name=bets,
        options={"max_rounds": 1},
        deals=_kuhn_cards,
        first_acts=True,
        paid=_kuhn_chips,
        amounts={"the pot": KUHN_POT},
    ),
    "textarena:TicTacToe": Translation(spiel="tic_tac_toe", name=in_brackets),
    "textarena:ConnectFour": Translation(spiel="connect_four", name=columns),
    "pettingzoo:tictactoe": Translation(spiel="tic_tac_toe", name=numbers),  # its cells are numbered by columns
    "pettingzoo:connect_four": Translation(spiel="connect_four", name=numbers),
    "pettingzoo:rps": Translation(spiel="matrix_rps", name=numbers, options={"max_cycles": 1}),
}
"""By package and the environment's name without its version."""
