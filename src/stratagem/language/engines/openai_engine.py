"""A model behind a server that speaks OpenAI's chat protocol, as vLLM, llama.cpp, `transformers serve` and services do.

Replies are free text: the protocol has no masks and tells no scores of given words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from stratagem.base.errors import BadParameter, CannotCompute, MissingExtra
from stratagem.base.hosts import check_encrypted
from stratagem.language.decoding.vocabulary import Vocabulary
from stratagem.language.engines.base import Request, ScoreRequest, Scores
from stratagem.language.engines.remote.budget import current_budget
from stratagem.language.engines.remote.engine import RemoteEngine
from stratagem.language.engines.remote.mistakes import BadServer, bad_server, cause, is_mistake, lacks
from stratagem.language.engines.remote.protocol import Adjustments, adjustment, chat_body, check
from stratagem.language.engines.remote.replies import FILTERED, ServerReply, read_models, read_reply
from stratagem.language.engines.remote.retries import Failure, Patience
from stratagem.language.engines.remote.secret import key_for
from stratagem.language.engines.remote.tally import EngineTally, Prices, prices_of
from stratagem.language.engines.remote.terms import current
from stratagem.language.models.reference import ModelRef, parse_model

if TYPE_CHECKING:
    from stratagem.language.engines.remote.connection import Connection


class OpenAIEngine(RemoteEngine["Connection"]):
    """Engine of a model behind a server."""

    def __init__(
        self,
        ref: ModelRef | str,
        *,
        max_concurrent: int | None = None,
        patience: Patience | None = None,
        max_failures: float | None = None,
        prices: Prices | None = None,
    ) -> None:
        ref = parse_model(ref) if isinstance(ref, str) else ref
        if ref.url is None:
            raise BadParameter(f"{ref} is not behind a server: say api:MODEL@URL.")
        check_encrypted(ref.url)
        given: dict[str, Any] = {"max_concurrent": max_concurrent, "patience": patience, "max_failures": max_failures}
        terms = replace(current(), **{name: value for name, value in given.items() if value is not None})
        check_installed(f"The model {ref}")
        from stratagem.language.engines.remote.connection import Connection

        self._model, self._url = ref.where, ref.url
        self._secret = key_for(ref.url)
        self._adjustments: Adjustments = frozenset()
        super().__init__(
            str(ref),
            terms,
            partial(Connection, ref.url, self._secret, terms.patience, terms.max_concurrent),
            EngineTally(prices=prices or prices_of(ref.where)),
        )

    @property
    def vocabulary(self) -> Vocabulary:
        raise CannotCompute(
            f"{self.name} is behind a server, which does not tell its tokens: take a model of your own."
        )

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        raise CannotCompute(f"{self.name} is behind a server, which tells no probabilities: take a model of your own.")

    def submit(self, requests: Sequence[Request]) -> list[int]:
        for request in requests:
            check(request)
        if (budget := current_budget()) is not None:
            budget.check(self.name, self.tally.prices)
        return super().submit(requests)

    async def _try(self, server: Connection, request: Request) -> ServerReply:
        """Try once; where the server refuses a parameter, the next try has another one."""
        adjustments = self._adjustments
        try:
            return read_reply(await server.chat(chat_body(self._model, request, adjustments)), self._secret.hide)
        except Failure as failure:
            if failure.code in FILTERED:
                return ServerReply(text=f"{self._cause(failure)}.", finish="filter")
            needed = adjustment(failure)
            if needed is not None and needed not in adjustments:
                self._adjustments |= {needed}
                failure.adjusted = True
            raise

    @property
    def _place(self) -> str:
        return self._url

    def _cause(self, failure: Failure) -> str:
        return cause(self._url, failure)

    def _is_mistake(self, failure: Failure) -> bool:
        return is_mistake(failure, self._model)

    def _mistake(self, failure: Failure) -> BadServer | None:
        models = self._models() if lacks(failure, self._model) else []
        if failure.status == 400 and self._model in models:
            return None  # it is this request that the server refuses
        return bad_server(self._url, failure, self._secret, self._model, models)

    def _models(self) -> list[str]:
        """Return the models that the server lists; none where it does not."""
        try:
            return read_models(self._server.run(lambda server: server.models()), self._secret.hide)
        except Failure:
            return []


def check_installed(who: str) -> None:
    """Refuse a server where the packages that speak to it are missing."""
    if find_spec("openai") is None or find_spec("httpx2") is None:
        raise MissingExtra(who, "api")
