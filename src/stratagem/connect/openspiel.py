"""Our players as bots of OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453), and its bots as our players."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyspiel

from stratagem.base.errors import BadParameter, IllegalAction, WrongKind
from stratagem.connect.session import check_number, deal_key
from stratagem.games.base import Game, Node, State, View
from stratagem.games.key import Key
from stratagem.games.spiel.bridge import SpielGame
from stratagem.games.spiel.engine import CHANCE, TOGETHER, load
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.history import HistoryStep, replay
from stratagem.players.base import Ask, Player
from stratagem.players.given import GameLike, PlayerLike, as_game, as_player
from stratagem.players.spiel_bot import MakeBot, SpielBot
from stratagem.playing.asking import answer_turn

__all__ = ["PlayerBot", "bot", "player"]


def bot(player: PlayerLike, game: GameLike, seat: int, *, seed: int = 0) -> PlayerBot:
    """Return a player of ours as a bot of OpenSpiel for `game.twin().spiel`, OpenSpiel's game.

    `restart` begins the next deal: the draws of the player are those of the same deal of `stratagem.play`.
    """
    return PlayerBot(player, as_game(game), seat, seed)


def player(bots: MakeBot | Sequence[Any], name: str) -> SpielBot:
    """Return bots of OpenSpiel as a player of ours: one bot a player of the game, or a function that makes one.

    The function gets the `pyspiel.Game`, the number of its player and a seed, and returns a `pyspiel.Bot`.
    """
    if not isinstance(name, str):
        raise WrongKind("name of a player", "a text", name)
    if callable(bots):
        return SpielBot(name=name, make=bots)
    if isinstance(bots, pyspiel.Bot):
        bots = [bots]  # most bots are made for one player, and end the process in the place of another
    if not isinstance(bots, Sequence) or not all(isinstance(one, pyspiel.Bot) for one in bots):
        wanted = "a list with a `pyspiel.Bot` for each player, or a function that makes one"
        raise WrongKind("bot of OpenSpiel", wanted, bots)
    listed = dict(enumerate(bots))
    return SpielBot(name=name, make=lambda spiel, player, seed: listed.get(player))


class PlayerBot(pyspiel.Bot):  # type: ignore[misc]  # OpenSpiel has no type stubs
    """A player of ours in a game of OpenSpiel; `spiel` is that game.

    It keeps no state but the number of the deal, which `restart` and `restart_at` raise by one.
    """

    def __init__(self, given: PlayerLike, game: Game[Any], seat: int, seed: int) -> None:
        pyspiel.Bot.__init__(self)
        check_number("seed", seed)
        self._side = _Side(game, seat)
        self.player = as_player(given, self._side.game)
        self._side.check(self.player)
        self.spiel = self._side.spiel
        self.deal = -1
        """Number of the deal in play."""
        self._seed = seed

    def restart(self) -> None:
        """Begin the next deal."""
        self.deal += 1

    def restart_at(self, state: Node) -> None:
        """Begin the next deal, in whatever position."""
        self.deal += 1

    def step(self, state: Node) -> int:
        """Return the action of the player, by OpenSpiel's number."""
        view = self._side.view(state)
        key, attempt, action = deal_key(self._seed, max(0, self.deal)), 0, None
        while action is None and attempt <= view.game.spec.retries:
            ask = self._side.ask(state, view, key, attempt, self.player)
            action, attempt = answer_turn(self.player.turn(ask)).action, attempt + 1
        return self._side.number(state, view, action, self.player.name)

    def provides_policy(self) -> bool:
        """Return whether the player states its probabilities."""
        return self.player.traits.exact

    def get_policy(self, state: Node) -> list[tuple[int, float]]:
        """Return the probability of each action, by OpenSpiel's number."""
        view = self._side.view(state)
        mix = self.player.policy(view)
        return [(self._side.number(state, view, action, self.player.name), p) for action, p in mix.items()]

    def step_with_policy(self, state: Node) -> tuple[list[tuple[int, float]], int]:
        """Return the probabilities and the action."""
        return self.get_policy(state), self.step(state)

    def provides_force_action(self) -> bool:
        """Return True: the player follows any history."""
        return True

    def force_action(self, state: Node, action: int) -> None:
        """Take note of an action; the next state has it in its history."""


class _Side:
    """One seat of a game, and the same seat in OpenSpiel's game."""

    def __init__(self, game: Game[Any], seat: int) -> None:
        twin = game.twin()
        if twin is None:
            raise BadParameter(f"OpenSpiel does not have {game.spec.name}, so no bot can play it there.")
        if type(seat) is not int or not 0 <= seat < game.spec.seats:
            raise BadParameter(f"{game.spec.name} has the seats 0 to {game.spec.seats - 1}, and not {seat!r}.")
        self._twin = twin
        self.game = twin.game
        self.spiel = game.engine.spiel if isinstance(game, SpielGame) else twin.spiel
        self._engine = load(str(self.spiel))
        self._seat = seat

    def check(self, player: Player) -> None:
        """Refuse a player that looks at our states where there are none of them."""
        traits = player.traits
        if (traits.sees_hidden or traits.searches) and not isinstance(self.game, SpielGame):
            raise BadParameter(
                f"{player.name} looks at the table itself, which OpenSpiel's {self._engine.short_name} shows in a game "
                f"of OpenSpiel only: name the game spiel:{self._engine.short_name}."
            )

    def view(self, node: Node) -> View[Any]:
        """Return our view of a position."""
        if not isinstance(self.game, SpielGame):
            return self._twin.view(node)
        return View(self.game, self._seat, SpielFacts(self.game, node.clone(), self._seat))

    def ask(self, node: Node, view: View[Any], key: Key, attempt: int, player: Player) -> Ask:
        """Return the question that a table of ours would put in this position."""
        traits = player.traits
        steps = [step for step in replay(self._engine, node.history()) if step.mover != CHANCE and step.actions]
        state = self._state(node, key) if traits.sees_hidden or traits.searches else None
        recall = tuple(self._recall_decisions(steps)) if traits.searches else None
        return Ask(view, key, self._seat, len(steps), attempt, state, recall=recall)

    def number(self, node: Node, view: View[Any], action: str | None, player: str) -> int:
        """Return OpenSpiel's number of our action."""
        names = self._names(node, view)
        if action is None or action not in names:
            raise IllegalAction(
                f"{player} has no legal action, and OpenSpiel has no rule for that; legal are {', '.join(names)}."
            )
        return names[action]

    def _names(self, node: Node, view: View[Any]) -> dict[str, int]:
        if isinstance(self.game, SpielGame):
            return dict(view.facts.menu.ids)
        return {self._twin.action(node, number): number for number in node.legal_actions()}

    def _state(self, node: Node, key: Key) -> State[Any]:
        paid = list(node.returns()) if self._engine.pays_on_the_way else [0.0] * self._engine.seats
        data = {"history": node.history(), "paid": paid, "forfeited": False}
        return self.game.load(data, key.at("chance"))

    def _recall_decisions(self, steps: list[HistoryStep]) -> Iterator[tuple[str, str | None]]:
        """Yield the earlier decisions of the seat: information sets and actions."""
        for node, mover, actions in steps:
            together = mover == TOGETHER
            if mover == self._seat or (together and node.legal_actions(self._seat)):
                view = self.view(node)
                number = actions[self._seat if together else 0]
                yield view.info_key, next(name for name, n in self._names(node, view).items() if n == number)
