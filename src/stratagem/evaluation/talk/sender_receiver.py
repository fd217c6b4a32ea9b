"""The sender-receiver game as one message between two players that state their probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stratagem.errors import BadParameter
from stratagem.evaluation.exploitability.exact import check_stated
from stratagem.evaluation.policies import stated
from stratagem.evaluation.talk.figures import TalkFigures, talk_figures
from stratagem.evaluation.talk.signalling import Deal, Returns, Signalling
from stratagem.evaluation.talk.statements import Meanings, Statement
from stratagem.games.base import Game, View
from stratagem.games.bounded import make_bounded_game
from stratagem.games.sender_receiver import RECEIVER, SENDER, SenderReceiver, SenderReceiverFacts
from stratagem.players.base import Mix, Player
from stratagem.players.catalogue import make_player


def sender_receiver_figures(game: Game[Any] | str, sender: Player | str, receiver: Player | str) -> TalkFigures:
    """Compute the figures of the first message between these players, by name or as they are."""
    made = make_bounded_game(game)
    if not isinstance(made, SenderReceiver):
        raise BadParameter(f"{made.spec.name} is not the sender-receiver game.")
    return talk_figures(signalling(made, make_player(sender, made), make_player(receiver, made)), meanings(made))


def meanings(game: SenderReceiver) -> Meanings:
    """Return the meaning of each statement; labels have none."""
    return {message: Statement(frozenset({state}), "the state is") for message, state in game.meanings.items()}


def signalling(game: SenderReceiver, sender: Player, receiver: Player) -> Signalling:
    """Return the first round between two players."""
    states, messages = range(game.states), tuple(game.choices_of(SENDER))

    def returns(state: Deal, message: str, action: str) -> Returns:
        assert isinstance(state, int)
        return game.payoffs(state, float(action))

    spoken = _policies(sender, [_view(game, SENDER, state, None) for state in states])
    answered = _policies(receiver, [_view(game, RECEIVER, None, message) for message in messages])
    return Signalling(
        prior=dict.fromkeys(states, 1.0 / game.states),
        says=dict(zip(states, spoken, strict=True)),
        answers={(None, message): mix for message, mix in zip(messages, answered, strict=True)},
        returns=returns,
    )


def _view(game: SenderReceiver, seat: int, state: int | None, message: str | None) -> View[SenderReceiverFacts]:
    return View(game, seat, SenderReceiverFacts(seat, 0, state, message, ()))


def _policies(player: Player, views: list[View[SenderReceiverFacts]]) -> Iterator[Mix]:
    """Yield a player's policy in each view; a missing reply counts as the action that the game plays for it."""
    check_stated(player)
    for view, mix in zip(views, stated(player, views), strict=True):
        default = view.game.default_action(view.facts)
        total = {action: p for action, p in mix.items() if action is not None}
        yield {**total, default: total.get(default, 0.0) + mix[None]} if None in mix else total
