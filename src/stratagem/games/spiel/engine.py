"""OpenSpiel's side of a game: loaded from its text, checked once, and described by the few facts that rules need.

A game that cannot be played here is refused with one sentence when it is made, not in the middle of an episode.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, CannotCompute, UnknownName
from stratagem.games.base import Node
from stratagem.games.spec import Utility
from stratagem.games.spiel.parameter_files import files_in_game
from stratagem.games.spiel.trial import survives

CHANCE, TOGETHER, TERMINAL = -1, -2, -4
"""OpenSpiel's ids of a player to move that is not a seat: `kChancePlayerId` and its fellows."""

_CRASHING = frozenset({"universal_poker", "repeated_poker"})
"""Games whose own parser ends the process on a bad parameter; these are tried in a process of their own first."""

_BOARDS = """
backgammon breakthrough catch cliff_walking clobber connect_four dots_and_boxes gomoku goofspiel havannah hex laser_tag
mancala markov_soccer mnk nim oshi_zumo othello pathfinding pentago pig quoridor tic_tac_toe twixt ultimate_tic_tac_toe
y
"""
_TELLING = frozenset(_BOARDS.split())
"""Games whose board, with the seat to move and the number of moves, fixes what can happen next.

Boards of others may leave something out, as those of go, whose superko rule forbids earlier positions.
"""

_UTILITIES: dict[str, Utility] = {
    "ZERO_SUM": "zero-sum",
    "CONSTANT_SUM": "constant-sum",
    "IDENTICAL": "common",
    "GENERAL_SUM": "general-sum",
}


class SpielEngine(NamedTuple):
    """A loaded game; two of the same text share it."""

    spiel: Any
    """The `pyspiel.Game`."""
    root: Node
    """Its first state. Nodes are never changed here: a play makes a new one."""
    short_name: str
    long_name: str
    seats: int
    utility: Utility
    total: float | None
    """Fixed sum of all seats' payoffs, if there is one."""
    bounds: tuple[float, float]
    simultaneous: bool
    chance: bool
    perfect: bool
    """True if nothing is hidden from anybody."""
    telling: bool
    """True if nothing is hidden and the board is known to tell what can happen next."""
    one_shot: bool
    says_information: bool
    says_observation: bool
    pays_on_the_way: bool
    """True if rewards fall before the end."""


@lru_cache(maxsize=256)
def load(text: str) -> SpielEngine:
    """Load the game that OpenSpiel knows by this text, such as `breakthrough(rows=8,columns=3)`."""
    import pyspiel

    check_text(text)
    try:
        files = files_in_game(text)
        spiel = _of_files(text, files, pyspiel) if files else pyspiel.load_game(text)
        _check_kind(text, spiel.get_type(), pyspiel)
        root = spiel.new_initial_state()
    except (RuntimeError, ValueError, LookupError, MemoryError, OverflowError) as error:
        raise BadParameter(f"OpenSpiel cannot make the game {text!r}: {first_line(error)}.") from error
    if root.is_terminal():
        raise BadParameter(f"The OpenSpiel game {text!r} is over before anybody moves: change its parameters.")
    return _describe(spiel, root)


def _of_files(text: str, files: Sequence[str], pyspiel: Any) -> Any:
    """Load a game that reads files; the engine's own message would quote them."""
    try:
        return pyspiel.load_game(text)
    except RuntimeError:
        raise BadParameter(
            f"OpenSpiel cannot make the game {text!r} from the file {' and '.join(files)}: it cannot be read, or it is "
            "not of the format of the game."
        ) from None


def check_text(text: str) -> None:
    """Refuse a text that names no game of OpenSpiel, or parameters that the game does not have."""
    import pyspiel

    name = text.partition("(")[0].strip()
    if name not in pyspiel.registered_names():
        raise UnknownName("OpenSpiel game", name, pyspiel.registered_names())
    try:
        given = pyspiel.game_parameters_from_string(text)
    except (RuntimeError, TypeError, ValueError, LookupError) as error:
        raise BadParameter(f"OpenSpiel cannot make the game {text!r}: {first_line(error)}.") from error
    if given.pop("name", None) != name:
        raise BadParameter(f"OpenSpiel cannot read the parameters of the game {text!r}.")
    known = {kind.short_name: kind for kind in pyspiel.registered_games()}[name].parameter_specification
    for option in given:
        if option not in known:
            options = ", ".join(sorted(known)) or "none"
            raise BadParameter(f"The OpenSpiel game {name} has no parameter {option!r}: it has {options}.")
    if given and name in _CRASHING and not survives(text):
        raise BadParameter(f"OpenSpiel cannot make the game {text!r}: its parameters do not fit together.")


def _check_kind(text: str, kind: Any, pyspiel: Any) -> None:
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise BadParameter(f"{text!r} is a mean-field game, which has no seats to sit at: choose a game of turns.")
    if kind.action_structs_only:
        raise BadParameter(f"{text!r} cannot list its legal actions: choose a game that numbers them.")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise BadParameter(f"{text!r} draws its chance unseen: choose a game that lists its chance outcomes.")


def _describe(spiel: Any, root: Node) -> SpielEngine:
    kind = spiel.get_type()
    utility = _UTILITIES[kind.utility.name]
    perfect = kind.information.name == "PERFECT_INFORMATION"
    return SpielEngine(
        spiel=spiel,
        root=root,
        short_name=kind.short_name,
        long_name=kind.long_name,
        seats=spiel.num_players(),
        utility=utility,
        total={"zero-sum": 0.0, "constant-sum": spiel.utility_sum()}.get(utility),
        bounds=(spiel.min_utility(), spiel.max_utility()),
        simultaneous=kind.dynamics.name == "SIMULTANEOUS",
        chance=kind.chance_mode.name != "DETERMINISTIC",
        perfect=perfect,
        telling=perfect and tells(spiel),
        one_shot=kind.information.name == "ONE_SHOT",
        says_information=kind.provides_information_state_string,
        says_observation=kind.provides_observation_string,
        pays_on_the_way=kind.reward_model.name == "REWARDS",
    )


def tells(spiel: Any) -> bool:
    """Return whether the boards of a `pyspiel.Game` are known to tell what can happen next."""
    return spiel.get_type().short_name in _TELLING


REDRAWS: dict[str, bool] = {}
"""By game, whether OpenSpiel can redraw what a seat does not see; each is tried once."""


def redraw_state(engine: SpielEngine, node: Node, seat: int, uniform: Callable[[], float]) -> Node:
    """Return a state in which OpenSpiel has redrawn what a seat does not see."""
    name = engine.short_name
    if name not in REDRAWS:
        with _without_errors():
            REDRAWS[name] = _can_redraw(node, seat)
    if not REDRAWS[name]:
        raise CannotCompute(f"OpenSpiel cannot redraw what a seat of {name} does not see.")
    return node.resample_from_infostate(seat, uniform)


def _can_redraw(node: Node, seat: int) -> bool:
    try:
        node.resample_from_infostate(seat, lambda: 0.5)
    except RuntimeError as error:
        return "not implemented" not in str(error)
    return True


@contextmanager
def _without_errors() -> Iterator[None]:
    """Discard what OpenSpiel itself prints to the standard error for an exception that is caught."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def first_line(error: Exception) -> str:
    """Return the engine's message in one line, without the position in its sources."""
    words = " ".join(str(error).split())
    words = re.sub(r"^\S+\.(cc|h):\d+ ", "", words)
    return (words[:200] or type(error).__name__).rstrip(".")
