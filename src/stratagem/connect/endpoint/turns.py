"""Turns at an endpoint: a seat's decision in one position, and the free reply of a model."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.connect.endpoint.positions import SeatPosition
from stratagem.connect.endpoint.refusal import RefusedRequest
from stratagem.games.base import State, View
from stratagem.games.key import Key
from stratagem.language.decoding.guides import OneToken
from stratagem.language.decoding.stream import TextStream
from stratagem.language.decoding.vocabulary import Ids, Vocabulary
from stratagem.language.engines.base import Call, Chat, Engine, Prompt, Request
from stratagem.language.prompting.past import Past
from stratagem.players.base import Ask, Mix, Move, Player
from stratagem.players.speaker import Speaker

_TAIL = 12
"""Number of the prompt's last tokens that settle how a reply begins."""


class ChatAnswer(NamedTuple):
    """Answer to a request: one of its choices."""

    text: str
    """Text of the answer; a stop text has ended it."""
    finish: str
    """Reason of the end: stop or length."""
    how: str
    """Origin of the action, as records name it; `text` for a reply that is no decision of a game."""
    num_prompt: int = 0
    num_reply: int = 0
    """Numbers of tokens of models; 0 where no model was asked."""
    mix: Mix | None = None
    """Probability of every action, where it was asked for."""
    action: str = ""
    """Action of a decision, whole, or the reply that names none."""


class SeatAsk(Ask):
    """Turn of a seat away from a table; the key of its draws is that of the request."""

    __slots__ = ("_own",)

    def __init__(self, view: View[Any], key: Key, state: State[Any] | None) -> None:
        super().__init__(view, key, 0, 0, 0, state)
        self._own = key

    @property
    def key(self) -> Key:
        return self._own

    def seeing(self, view: View[Any], past: Past | None = None) -> SeatAsk:
        """Return the same turn with another view; there is no past to change."""
        return SeatAsk(view, self._own, self._state)


def decide(
    player: Player, place: SeatPosition, key: Key, *, states: bool = False
) -> Generator[Request, Call, ChatAnswer]:
    """Ask a player for its decision; with `states` for its probabilities, too."""
    shown = place.state if player.traits.sees_hidden or player.traits.searches else None
    turn = player.turn(SeatAsk(place.view, key, shown))
    move = turn if isinstance(turn, Move) else (yield from turn)
    if not isinstance(move, Move):
        raise RefusedRequest(f"{player.name} answered with a {type(move).__name__} in place of a move.", status=500)
    return _answer(move, place.view, _mix(player, place.view) if states else None)


def _mix(player: Player, view: View[Any]) -> Mix:
    try:
        return player.policy(view)
    except CannotCompute as error:
        raise RefusedRequest(str(error), param="logprobs") from None


def _answer(move: Move, view: View[Any], mix: Mix | None) -> ChatAnswer:
    """Return the action, or the reply that names none."""
    if move.action is None and move.how == "error":
        raise RefusedRequest(f"The player gave no answer: {move.said}", status=502, code="player_error")
    legal = move.action is not None and move.action in view.choices
    said = move.action if move.said is None else move.said
    cut = not legal and bool(move.calls) and move.calls[-1].finish == "length"
    text = (move.action if legal else said) or ""
    return ChatAnswer(
        text=text,
        finish="length" if cut else "stop",
        how=move.how if legal else "illegal",
        num_prompt=sum(call.num_prompt for call in move.calls),
        num_reply=sum(call.num_reply for call in move.calls),
        mix=mix,
        action=text,
    )


class Until:
    """Guide of free text, until the model ends it or a stop text stands in it."""

    forced: Ids = ()
    allowed: Ids | None = None

    def __init__(self, stops: Sequence[str], vocabulary: Vocabulary, ends: frozenset[int], before: Ids) -> None:
        self._stops = stops
        self._ends = ends
        self._stream = TextStream(vocabulary, before)
        self._text = ""
        self._reach = max(map(len, stops), default=0)
        self.done = False

    def advance(self, token: int) -> None:
        if token in self._ends:
            self.done = True
            return
        piece = self._stream.add(token)
        self._text = (self._text + piece)[-(self._reach + len(piece)) :]
        self.done = any(stop in self._text for stop in self._stops)


def reply(
    speaker: Speaker, messages: Sequence[tuple[str, str]], text: str | None, key: Key, stops: Sequence[str]
) -> Generator[Request, Call, ChatAnswer]:
    """Ask a model for a free reply to messages, or for what follows a text."""
    engine = speaker.engine
    try:
        prompt = _prompt(engine, tuple(messages), text)
    except StratagemError as error:
        raise RefusedRequest(str(error)) from None
    masks = engine.capabilities.masks
    guide = Until(stops, engine.vocabulary, engine.ends, prompt.tokens[-_TAIL:]) if masks else OneToken()
    call = yield speaker.ask(prompt, guide, key, speaker.max_new_tokens)
    if call.finish == "error":
        status = 400 if masks else 502  # a model on this machine refuses what it cannot read, a server may fail
        raise RefusedRequest(f"The model gave no answer: {call.text}", status=status, code="player_error")
    cut, stopped = until(call.text, stops)
    finish = "length" if call.finish == "length" and not stopped else "stop"
    return ChatAnswer(cut, finish, "text", call.num_prompt, call.num_reply)


def _prompt(engine: Engine, messages: Chat, text: str | None) -> Prompt:
    """Return a chat as the model's template writes it, or a text as it stands."""
    return engine.begin(messages) if text is None else Prompt(messages, tuple(engine.vocabulary.encode(text)))


def until(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Return the text before the first stop text, and whether there is one."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def log(probability: float) -> float:
    """Return a logarithm for JSON, which has no infinity; OpenAI writes -9999 there."""
    return math.log(probability) if probability > 0.0 else -9999.0
