"""Client of a vLLM server: its models, its adapters, its tokenizer, and completions by token ids."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.remote.background import Background
from stratagem.language.engines.remote.mistakes import BadServer, bad_server, cause, is_mistake
from stratagem.language.engines.remote.replies import error_message, parse_json, quote_start
from stratagem.language.engines.remote.retries import Failure, Patience, pause
from stratagem.language.engines.remote.secret import key_for
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.language.engines.vllm.rows import KEY
from stratagem.language.engines.vllm.wire import Sending, SendingAnswer

if TYPE_CHECKING:
    from stratagem.language.engines.remote.connection import Connection

_WHERE = "the setting `address`"


class Client:
    """Requests to one server, each retried where that may help."""

    def __init__(self, url: str, patience: Patience, max_concurrent: int) -> None:
        from stratagem.language.engines.remote.connection import Connection

        self.url = url
        self._patience = patience
        self._secret = key_for(url)
        self._server = Background(partial(Connection, url, self._secret, patience, max_concurrent))

    # --- the server

    def models(self) -> list[dict[str, Any]]:
        """Return the models that the server lists, adapters among them."""
        try:
            listed = parse_json(self._server.run(lambda server: server.models()))
        except Failure as failure:
            self.refuse(failure)
        data = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(data, list):
            raise BadServer(f"The server at {self.url} lists no models: check {_WHERE}.")
        return [model for model in data if isinstance(model, dict)]

    def tokenize(self, model: str, text: str) -> list[int] | None:
        """Return the server's tokens of a text; None where it does not tell."""
        url = f"{self.url.removesuffix('/v1')}/tokenize"
        try:
            answer = parse_json(self._ask(url, {"model": model, "prompt": text, "add_special_tokens": False}))
        except Failure as failure:
            if failure.status in (404, 405):
                return None
            self.refuse(failure)
        return answer.get("tokens") if isinstance(answer, dict) else None

    def load(self, name: str, path: str) -> None:
        """Load an adapter from a folder that the server can read."""
        try:
            self._ask("/load_lora_adapter", {"lora_name": name, "lora_path": path})
        except Failure as failure:
            if failure.status == 404 and "lora" not in failure.full.lower():
                raise BadServer(
                    f"The server at {self.url} loads no adapters: start it with --enable-lora and "
                    "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True."
                ) from None
            raise BadServer(
                f"{cause(self.url, failure)}: it must be able to read {path}, so name a folder that it has at the same "
                "path in `adapters_folder`."
            ) from None

    def unload(self, name: str) -> None:
        """Unload an adapter; one that is gone is no error."""
        try:
            self._ask("/unload_lora_adapter", {"lora_name": name})
        except Failure as failure:
            if failure.status not in (400, 404):
                self.refuse(failure)

    def leave(self, names: Sequence[str]) -> None:
        """Unload adapters at the end; the first failure is the last try, since the server may be gone."""
        with suppress(Failure):
            for name in names:
                body = {"lora_name": name}
                self._server.run(lambda server, body=body: server.post("/unload_lora_adapter", body))  # type: ignore[misc]

    def _ask(self, path: str, body: dict[str, Any]) -> bytes:
        return self._server.run(lambda server: self._persist(server, path, body, Key(0)))

    # --- completions

    def start(
        self, model: str, tokens: Ids, some: Sequence[Sending], stop: int, salt: str
    ) -> Future[list[SendingAnswer]]:
        """Send all requests for one row; a failure says what is wrong as an error of the future."""
        bodies = [completion_body(model, tokens, one, stop, salt) for one in some]
        return self._server.start(lambda server: self._all(server, bodies))

    async def _all(self, server: Connection, bodies: Sequence[dict[str, Any]]) -> list[SendingAnswer]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._complete(server, body)) for body in bodies]
        return [task.result() for task in tasks]

    async def _complete(self, server: Connection, body: dict[str, Any]) -> SendingAnswer:
        async with server.slots:
            return read_completion(await self._persist(server, "/completions", body, Key(len(body["prompt"]))))

    async def _persist(self, server: Connection, path: str, body: dict[str, Any], key: Key) -> bytes:
        """Retry until there is an answer, or another try would not help."""
        for turn in count(1):
            try:
                return await server.post(path, body)
            except Failure as failure:
                if not failure.again or turn >= self._patience.tries:
                    raise
                asked = failure.asked
            await asyncio.sleep(pause(self._patience, turn, key, asked))
        raise AssertionError

    def refuse(self, failure: Failure, model: str = "") -> NoReturn:
        """Raise what a failure means to a user."""
        if is_mistake(failure, model) and failure.status != 404:
            raise bad_server(self.url, failure, self._secret, model, (), _WHERE) from None
        raise ServerFailed(
            f"{cause(self.url, failure)}, so nothing more is asked. Once it answers again, `stratagem train --resume` "
            "goes on from the last checkpoint."
        ) from None


def completion_body(model: str, tokens: Ids, sending: Sending, stop: int, salt: str) -> dict[str, Any]:
    """Return a request for tokens that our processor draws."""
    return {
        "model": model,
        "prompt": tokens,
        "max_tokens": sending.room,
        "temperature": 0.0,
        "logprobs": sending.best,
        "ignore_eos": True,
        "stop_token_ids": [stop],
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "cache_salt": salt,
        "vllm_xargs": {KEY: sending.data},
    }


def read_completion(body: bytes) -> SendingAnswer:
    """Read the tokens of a completion and the best tokens at each; whatever the input, else a `Failure`."""
    try:
        (choice,) = parse_json(body)["choices"]
        best = [_by_token(one) for one in choice["logprobs"]["top_logprobs"]]
        return SendingAnswer([int(token) for token in choice["token_ids"]], best)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise Failure(f"answered with no completion by token ids: {quote_start(error_message(body))}") from None


def _by_token(best: Mapping[str, float] | None) -> dict[int, float]:
    """Return log-probabilities by token id, which are written `token_id:5`."""
    return {int(name.removeprefix("token_id:")): float(value) for name, value in (best or {}).items()}
