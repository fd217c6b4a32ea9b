"""Served player: the answers of one player to requests about one game.

A request with a position, or with a prompt of the game, gets the player's decision there. Other messages are for
language models, which answer them freely.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.connect.endpoint.bodies import ChatRequest
from stratagem.connect.endpoint.desk import Desk
from stratagem.connect.endpoint.positions import PromptIndex, SeatPosition, read_position
from stratagem.connect.endpoint.refusal import RefusedRequest
from stratagem.connect.endpoint.threads import Threads
from stratagem.connect.endpoint.turns import ChatAnswer, decide, reply, until
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, Request
from stratagem.language.prompting.base import Style
from stratagem.players.base import Player
from stratagem.players.human import at_keyboard
from stratagem.players.members import ModelUse, layers, members_of
from stratagem.players.model_player import ModelPlayer
from stratagem.players.protocol import begin_turn
from stratagem.players.speaker import Speaker

Turn = Generator[Request, Call, ChatAnswer]
_KEPT = 32
"""Number of sampling settings of a model to cache."""


class ServedPlayer:
    """Player behind an endpoint."""

    def __init__(
        self, player: Player, game: Game[Any], styles: Mapping[str, Style], desk: Desk, threads: Threads
    ) -> None:
        if at_keyboard(player):
            raise BadParameter(f"{player.name} answers at this keyboard and cannot be served.")
        self.player = player
        self.game = game
        self._model_use = members_of(player).model_use()
        self._has_model = any(members_of(layer).model_use() is not None for layer in layers(player))
        self._desk = desk
        self._threads = threads
        self._indices = [PromptIndex(self.game, styles, by_state_key=self._plays_by_state_key)]
        self._sampled = lru_cache(_KEPT)(self._with_sampling)

    @property
    def name(self) -> str:
        """Name of the player with its version."""
        return f"{self.player.name}@{self.player.traits.version}"

    @property
    def _plays_by_state_key(self) -> bool:
        """True if states that look the same now are the same to the player."""
        traits, spec = self.player.traits, self.game.spec
        searches = (traits.sees_hidden or traits.searches) and not spec.private_information
        return spec.markov and (traits.memory == 0 or searches or self._model_use is not None)

    def find(self, asked: ChatRequest) -> Future[SeatPosition | None]:
        """Begin to find the position that a request is about; None is for a free reply."""
        return self._threads.start(lambda: self._place(asked))

    def start(self, asked: ChatRequest, place: SeatPosition | None) -> list[Future[list[ChatAnswer]]]:
        """Begin to answer."""
        key = Key(secrets.randbits(64) if asked.seed is None else asked.seed)
        keys = [key.at("choice", index) if index else key for index in range(asked.n)]
        turns = [partial(self._turn, asked, place, own) for own in keys]
        if self._has_model:
            return [self._desk.start(partial(_list_calls, turn)) for turn in turns]
        return [self._threads.start_all([partial(self._answer, turn) for turn in turns])]

    def _place(self, asked: ChatRequest) -> SeatPosition | None:
        position = asked.position
        if position is not None and position.state is not None:
            return read_position(self.game, position.state, position.seat)
        known = next(filter(None, (index.find(asked.chat) for index in self._indices)), ())
        places = [one for one in known if position is None or one.view.seat == position.seat]
        if places:
            return self._shown_place(places)
        if self._model_use is not None and position is None:
            return None
        why = self._indices[0].obstacle or "These messages are no prompt of the game in the styles of this server."
        raise RefusedRequest(
            f"{self.player.name} cannot tell the position: {why} Send it as the field `stratagem`, an object with the "
            "`state` that State.dump returns and the `seat`.",
            param="stratagem",
            code="unknown_position",
        )

    def _shown_place(self, places: Sequence[SeatPosition]) -> SeatPosition:
        """Return the position that a prompt shows."""
        whole = "the state and the seat"
        if self.player.traits.sees_hidden and self.game.spec.private_information:
            why = "looks at what is hidden, which no prompt tells"
        elif len(places) == 1 or self._is_one(places):
            return places[0]
        else:
            why = f"may do different things in the {len(places)} positions that have this prompt"
            if len(seats := {place.view.seat for place in places}) > 1:
                why += f", of seats {' and '.join(map(str, sorted(seats)))}"
                whole = f"the seat, or {whole},"
        raise RefusedRequest(
            f"{self.player.name} {why}: send {whole} as the field `stratagem`.",
            param="stratagem",
            code="unknown_position",
        )

    def _is_one(self, places: Sequence[SeatPosition]) -> bool:
        """Return whether the player does the same in all of these positions."""
        if self._model_use is not None:
            style = self._model_use.speaker.style
            return len({tuple(style.messages(place.view)) for place in places}) == 1
        if self._has_model:
            return False
        try:
            first, *others = (self.player.policy(place.view) for place in places)
        except CannotCompute:
            return False
        return all(other == first for other in others)

    def _turn(self, asked: ChatRequest, place: SeatPosition | None, key: Key) -> Turn:
        if place is None:
            assert self._model_use is not None
            return self._reply(self._model_use.speaker, asked, key)
        return self._decision(asked, place, key)

    def _decision(self, asked: ChatRequest, place: SeatPosition, key: Key) -> Turn:
        player = self._sampled(asked.temperature, asked.top_p, asked.max_tokens)
        answer = yield from decide(player, place, key, states=asked.top_logprobs is not None)
        if asked.max_tokens is not None and answer.num_reply > asked.max_tokens:
            raise RefusedRequest(
                f"This decision took {answer.num_reply} tokens, more than max_tokens={asked.max_tokens}: raise it.",
                param="max_tokens",
            )
        return answer._replace(text=until(answer.text, asked.stops)[0])

    def _reply(self, speaker: Speaker, asked: ChatRequest, key: Key) -> Turn:
        if asked.top_logprobs is not None:
            raise RefusedRequest("Only decisions have log-probabilities: send a `position`.", param="logprobs")
        sampled = _set_sampling(speaker, asked.temperature, asked.top_p, asked.max_tokens)
        return reply(sampled, asked.chat, asked.text, key, asked.stops)

    def _with_sampling(self, temperature: float | None, top_p: float | None, max_tokens: int | None) -> Player:
        """Return the player under the sampling that a request asks for."""
        if self._model_use is not None:
            speaker = _set_sampling(self._model_use.speaker, temperature, top_p, max_tokens)
            return ModelPlayer(name=self.player.name, speaker=speaker, mode=_mode(self._model_use))
        for option, value in (("temperature", temperature), ("top_p", top_p)):
            if value not in (None, 1.0) and self.player.traits.stochastic:
                raise RefusedRequest(
                    f"{self.player.name} draws from probabilities of its own, so {option} can only be 1: leave it out.",
                    param=option,
                )
        return self.player

    def _answer(self, turn: Callable[[], Turn]) -> ChatAnswer:
        """Run a turn in this thread, and the rest of it at the desk if it asks a model."""
        rest = begin_turn(turn())
        return rest if isinstance(rest, ChatAnswer) else self._desk.start(lambda: rest).result()


def _mode(use: ModelUse) -> str:
    """Return the mode of a player; one without answers directly where its engine can be held to the actions."""
    return use.mode or ("direct" if use.speaker.engine.capabilities.masks else "free")


def _set_sampling(speaker: Speaker, temperature: float | None, top_p: float | None, max_tokens: int | None) -> Speaker:
    own = speaker.sampling
    sampling = replace(
        own,
        temperature=own.temperature if temperature is None else temperature,
        top_p=own.top_p if top_p is None else top_p,
    )
    return replace(
        speaker,
        sampling=sampling,
        max_new_tokens=speaker.max_new_tokens if max_tokens is None else max_tokens,
    )


def _list_calls(turn: Callable[[], Turn]) -> Generator[Request, Call, list[ChatAnswer]]:
    return [(yield from turn())]
