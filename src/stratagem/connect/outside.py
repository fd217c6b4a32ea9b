"""Model that another program asks: its seat's requests are answered in that program's event loop."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NoReturn

from stratagem.base.errors import CannotCompute
from stratagem.language.decoding.vocabulary import Vocabulary
from stratagem.language.engines.base import (
    Call,
    Capabilities,
    Chat,
    Finish,
    PolicyId,
    Prompt,
    Request,
    RequestAnswer,
    ScoreRequest,
    Scores,
)
from stratagem.language.engines.remote.replies import LONGEST, sound
from stratagem.language.prompting.base import Style
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker


@dataclass(frozen=True, eq=False)
class Outside:
    """Engine without a model: `playing.asking` passes its requests on, and `call` makes their answers."""

    name: str

    capabilities = Capabilities(masks=False, scores=False, repeats=False)
    ends = frozenset[int]()

    @property
    def vocabulary(self) -> Vocabulary:
        raise CannotCompute(f"{self.name} is asked by another program, which does not tell its tokens.")

    def begin(self, messages: Chat) -> Prompt:
        return Prompt(messages)

    def follow(self, call: Call, user: str) -> Prompt:
        return Prompt((*call.prompt.messages, ("assistant", call.text), ("user", user)))

    def submit(self, requests: Sequence[Request]) -> NoReturn:
        raise CannotCompute(f"{self.name} is asked by another program, so it plays only there.")

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[RequestAnswer]:
        return []

    def cancel(self, tickets: Collection[int]) -> None:
        """Do nothing: no request is open here."""

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        raise CannotCompute(f"{self.name} is asked by another program, which tells no probabilities.")

    def call(
        self,
        request: Request,
        text: str,
        *,
        finish: Finish = "done",
        num_prompt: int = 0,
        num_reply: int = 0,
        seconds: float = 0.0,
    ) -> Call:
        """Return the answer to a request."""
        return Call(
            policy=PolicyId(self.name),
            prompt=request.prompt,
            text=sound(text)[:LONGEST],
            sampling=request.sampling,
            finish="length" if finish == "done" and len(text) > LONGEST else finish,
            num_prompt=num_prompt,
            num_reply=num_reply,
            ms=seconds * 1e3,
        )

    def player(self, style: Style) -> ModelPlayer:
        """Return the player that this model is: it answers in free text."""
        return ModelPlayer(name=self.name, speaker=Speaker(engine=self, style=style), mode="free")
