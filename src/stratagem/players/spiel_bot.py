"""Bots of OpenSpiel as players: a registered one by its text, as in `openspiel:uniform_random`, or one from Python.

A player keeps no state, and a bot may. So a bot is made for each decision and led through the episode as OpenSpiel does
it: it is told what the others did, and it is made to do again what it did before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from stratagem.base.errors import BadParameter, CannotCompute, UnknownName, WrongKind
from stratagem.base.registry import NamedCall, parse_call
from stratagem.games.base import Game, Node, State, View
from stratagem.games.key import Key
from stratagem.games.spiel.engine import first_line
from stratagem.games.spiel.state import SpielState
from stratagem.players.base import Ask, Mix, Move, Traits
from stratagem.players.members import PlayerBase

Bot = Any
"""A `pyspiel.Bot`; OpenSpiel has no type stubs."""
MakeBot = Callable[[Any, int, int], Bot]
"""Function from a `pyspiel.Game`, the number of its player and a seed to a bot."""
_SEEDS = 2**31 - 1
"""A seed is a parameter of OpenSpiel, whose whole numbers are those of C++, signed and of 32 bits."""
_PARAMETERS: dict[str, tuple[str, type]] = {
    "fixed_action_preference": ("actions", str),
    "uniform_random": ("seed", int),
    "uniform_restricted_actions": ("policy_name", str),
}
"""The parameter of each bot that OpenSpiel 2.0 has registered, and its type."""


class _Position(NamedTuple):
    """Decision in OpenSpiel's terms."""

    spiel: Any
    """The `pyspiel.Game`."""
    node: Node
    player: int
    names: dict[int, str]
    """Our name of each legal action."""


class SpielBot(PlayerBase):
    """Plays as a bot of OpenSpiel, which is given the true state, as OpenSpiel gives it.

    Where the bot states its probabilities the action is drawn from them by key. Otherwise the bot draws, from a seed
    that holds for the episode.
    """

    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None, sees_hidden=True, exact=False)

    def __init__(self, *, name: str, make: MakeBot) -> None:
        self.name = name
        self.make = make

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that the bot cannot play, before it is played."""
        if game.twin() is None:
            raise BadParameter(f"{self.name} plays games that OpenSpiel has, and {game.spec.name} is none of them.")
        position = _position(game.start(Key(0)), None)
        for player in range(position.spiel.num_players()):
            self._bot(position.spiel, player, 0)

    def turn(self, ask: Ask) -> Move:
        position = _position(ask.peek(), ask.view)
        bot = self._bot(position.spiel, position.player, int(ask.episode, 16) % _SEEDS)
        self._lead(bot, position)
        number = self._number(bot, position, ask.key)
        if number not in position.names:
            return Move(None, said=f"{self.name} played {number}, which is no legal action.")
        return Move(position.names[number])

    def policy(self, view: View[Any]) -> Mix:
        raise CannotCompute(f"{self.name} is a bot of OpenSpiel: its probabilities are not read.")

    def _bot(self, spiel: Any, player: int, seed: int) -> Bot:
        import pyspiel

        bot = self.make(spiel, player, seed)
        if not isinstance(bot, pyspiel.Bot):
            raise WrongKind(f"bot of {self.name} for player {player}", "a `pyspiel.Bot`", bot)
        return bot

    def _number(self, bot: Bot, position: _Position, key: Key) -> int:
        if not bot.provides_policy():
            return int(bot.step(position.node))
        policy, _ = bot.step_with_policy(position.node)
        numbers, probabilities = zip(*policy, strict=True)
        return int(numbers[key.choose(probabilities)])

    def _lead(self, bot: Bot, position: _Position) -> None:
        """Lead a new bot through the episode so far."""
        bot.restart()
        node = position.spiel.new_initial_state()
        history = position.node.history()
        at = 0
        while at < len(history):
            if node.is_simultaneous_node():
                at += self._led_together(bot, position, node, history[at : at + node.num_players()])
                continue
            mover, action = node.current_player(), history[at]
            if mover == position.player:
                self._do_again(bot, node, action)
            else:
                bot.inform_action(node, mover, action)
            node.apply_action(action)
            at += 1

    def _led_together(self, bot: Bot, position: _Position, node: Node, joint: list[int]) -> int:
        """Lead a bot through a joint move, and return its length."""
        self._do_again(bot, node, joint[position.player])
        bot.inform_actions(node, joint)
        node.apply_actions(joint)
        return len(joint)

    def _do_again(self, bot: Bot, node: Node, action: int) -> None:
        """Make a bot do what it did before; one that states its probabilities is not asked for its own draw."""
        if bot.provides_force_action():
            bot.force_action(node, action)
        elif not bot.provides_policy() and bot.step(node) != action:
            raise CannotCompute(
                f"{self.name} does not play the same again with the same seed: let it draw from the seed alone, or "
                "provide `step_with_policy` or `force_action`."
            )


def _position(state: State[Any], view: View[Any] | None) -> _Position:
    """Return a decision in OpenSpiel's terms; without a view, that of the first seat to act."""
    if isinstance(state, SpielState):
        seat = state.to_act[0] if view is None else view.seat
        names = {number: name for name, number in state.facts(seat).menu.ids.items()}
        return _Position(state.game.engine.spiel, state.node.clone(), seat, names)
    twin = state.game.twin()
    if twin is None:
        raise CannotCompute(f"OpenSpiel does not have {state.game.spec.name}.")
    node = twin.node(state)
    names = {number: twin.action(node, number) for number in node.legal_actions()}
    return _Position(twin.spiel, node, node.current_player(), names)


def registered_bot(tail: str) -> SpielBot:
    """Make the player `openspiel:TAIL`: a bot that OpenSpiel has registered, with its parameters in brackets."""
    import pyspiel

    call = parse_call(tail)
    if call.name not in pyspiel.registered_bots():
        raise UnknownName("bot of OpenSpiel", call.name, pyspiel.registered_bots())
    return SpielBot(name=f"openspiel:{tail.strip()}", make=_RegisteredBot(call.name, _parameters(call)))


@dataclass(frozen=True)
class _RegisteredBot:
    """Maker of a registered bot; another process makes the same."""

    bot: str
    parameters: dict[str, Any]

    def __call__(self, spiel: Any, player: int, seed: int) -> Bot:
        import pyspiel

        try:
            return pyspiel.load_bot(self.bot, spiel, player, {"seed": seed, **self.parameters})
        except RuntimeError as error:
            raise BadParameter(f"OpenSpiel cannot make the bot {self.bot!r}: {first_line(error)}.") from error


def _parameters(call: NamedCall) -> dict[str, Any]:
    """Return the parameters of a bot; OpenSpiel itself ignores one that a bot does not have."""
    name, kind = _PARAMETERS.get(call.name, ("", object))
    if call.args or (name and call.kwargs.keys() - {name}):
        raise BadParameter(f"The OpenSpiel bot {call.name} has one parameter: openspiel:{call.name}({name}=...).")
    if kind is int and not all(type(value) is int for value in call.kwargs.values()):
        raise BadParameter(f"The parameter `{name}` of openspiel:{call.name} is a whole number.")
    return {option: str(value) if kind is str else value for option, value in call.kwargs.items()}
