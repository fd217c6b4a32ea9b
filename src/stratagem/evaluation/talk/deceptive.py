"""Deceptive statements of a speaker, exact where both players state their probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.evaluation.talk.exchange import Exchange
from stratagem.evaluation.talk.exchange_figures import deceives
from stratagem.evaluation.talk.sender_receiver import signalling
from stratagem.evaluation.talk.talk_tree import TalkTree
from stratagem.games.base import Game, Seat
from stratagem.games.sender_receiver import SENDER, SenderReceiver, SenderReceiverFacts
from stratagem.games.talk import Talk, talk_in
from stratagem.games.tree_walk import BUDGET
from stratagem.players.base import Player

LEAST = 1e-9
"""Smallest difference of two returns that counts."""
Deceptive = Mapping[tuple[str, str], bool]
"""Verdict on each false statement, by the speaker's information set and the message."""


def deceptive_statements(game: Game[Any], players: Sequence[Player], speaker: Seat, budget: int = BUDGET) -> Deceptive:
    """Return which false statements of the first exchange deceive; raise `CannotCompute` where that is not exact.

    A statement deceives if, against the true statement of the same form, it raises the speaker's expected return and
    lowers the reader's. `players` are by seat.
    """
    if game.spec.seats != 2:
        raise CannotCompute(f"Deception is exact between two seats, and {game.spec.name} has {game.spec.seats}.")
    if isinstance(game, SenderReceiver) and game.rounds == 1:
        return _of_sender(game, *players) if speaker == SENDER else {}
    if (talk := talk_in(game)) is not None:
        return _of_talk(talk, players, speaker, budget)
    raise CannotCompute(f"{game.spec.name} has no exact figures of messages.")


def _of_sender(game: SenderReceiver, sender: Player, receiver: Player) -> Deceptive:
    talk = signalling(game, sender, receiver)
    found = {}
    for state in range(game.states):
        facts = SenderReceiverFacts(SENDER, 0, state, None, ())
        for message, meant in game.meanings.items():
            if meant != state:
                own, other = _change(talk.value(state, message), talk.value(state, game.messages[state]))
                found[game.info_key(facts), message] = is_deceptive(own, other)
    return found


def _of_talk(game: Talk, players: Sequence[Player], speaker: Seat, budget: int) -> Deceptive:
    sent = Exchange(TalkTree(game, players, budget), speaker).sent
    return {
        (one.known.view.info_key, one.line): bool(deceives(one, sent, speaker)) for one in sent if one.truth is False
    }


def is_deceptive(gain: float, change: float, least: float = LEAST) -> bool:
    """Return whether a false statement deceives that adds so much to the speaker's return and to the reader's."""
    return gain > least and change < -least


def _change(said: Sequence[float], true: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(said, true, strict=True)]


__all__ = ["LEAST", "Deceptive", "deceptive_statements", "is_deceptive"]
