"""A vLLM server as the runtime of a batch: one request over HTTP for each entry of a row, and adapters by name."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from queue import SimpleQueue
from secrets import token_hex
from typing import NamedTuple, NoReturn

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.engines.remote.retries import Failure
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.language.engines.vllm.client import Client
from stratagem.language.engines.vllm.rows import Row, ScoreRow
from stratagem.language.engines.vllm.served_by import AdapterVersion, Output
from stratagem.language.engines.vllm.wire import SendingAnswer, read_reply, read_scores, sendings


@dataclass(frozen=True)
class ServerBase:
    """Base model as the server has it."""

    model: str
    """Name of the model on the server."""
    longest: int
    """Context length in tokens."""
    most_best: int
    """Largest number of best tokens that it reports."""
    max_rank: int
    """Largest rank of an adapter."""
    stop: int
    """Token by which our processor ends a reply."""
    end: int
    """Token that ends a reply for the tokenizer."""
    size: int
    """Vocabulary size of the model."""


class _SentRequest(NamedTuple):
    row: Row
    answers: Future[list[SendingAnswer]]


class ServerRuntime:
    """Open requests at a server."""

    def __init__(self, client: Client, base: ServerBase) -> None:
        self.client = client
        self.base = base
        self.zero: AdapterVersion | None = None
        """Adapter under which the base is read; None where vLLM reads rows of the base without one."""
        self._tag = f"stratagem-{token_hex(4)}"
        self._salt = token_hex(16)
        self._names = count()
        self._sent: dict[str, _SentRequest] = {}
        self._arrived: SimpleQueue[str] = SimpleQueue()
        self._adapters: set[str] = set()
        """Adapters of ours on the server."""

    @property
    def longest(self) -> int:
        """Maximum number of tokens of a prompt with its reply."""
        return self.base.longest

    def add(self, row: Row, tokens: Ids, room: int, adapter: AdapterVersion | None) -> str:
        """Send the requests for a row, and return their name."""
        base, name = self.base, str(next(self._names))
        adapter = adapter or self.zero
        model = base.model if adapter is None else self._load_adapter(adapter)
        some = sendings(row, room, base.stop, base.end, base.most_best)
        answers = self.client.start(model, tokens, some, base.stop, self._salt)
        self._sent[name] = _SentRequest(row, answers)
        answers.add_done_callback(lambda _: self._arrived.put(name))
        return name

    def _load_adapter(self, adapter: AdapterVersion) -> str:
        """Return the name of an adapter on the server, which is unlike those of other runs."""
        name = f"{self._tag}-{adapter.name}"
        if name not in self._adapters:
            self.client.load(name, str(adapter.folder.resolve()))
            self._adapters.add(name)
        return name

    def step(self, *, wait: bool = True) -> list[Output]:
        """Return the replies and scores that have arrived; with `wait`, at least one."""
        outputs = list[Output]()
        while self._sent and (not self._arrived.empty() or (wait and not outputs)):
            name = self._arrived.get()
            sent = self._sent.get(name)
            if sent is not None and not sent.answers.cancelled():
                outputs.append(self._output(name, sent))
        return outputs

    def _output(self, name: str, sent: _SentRequest) -> Output:
        del self._sent[name]
        error = sent.answers.exception()
        if error is not None:
            self._fail(error)
        answers = sent.answers.result()
        if isinstance(sent.row, ScoreRow):
            if not read_scores(sent.row, answers, self.base.most_best):
                self._raise_unread()
            return Output(name, [0], ended=True)
        truncated = sent.row.reply.request.sampling.truncates
        drawn = read_reply(answers[0], self.base.size, truncated=truncated)
        if drawn is None:
            self._raise_unread()
        return Output(name, answers[0].tokens, ended=True, drawn=drawn)

    def _fail(self, error: BaseException) -> NoReturn:
        """Raise what the first failure among the requests of a row means."""
        failure = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error
        if not isinstance(failure, Failure):
            raise error
        if failure.status == 404 and self._tag in failure.full:
            raise ServerFailed(
                f"The server at {self.client.url} no longer has the adapters of this run: it was started again. "
                "`stratagem train --resume` goes on from the last checkpoint."
            )
        self.client.refuse(failure, self.base.model)

    def _raise_unread(self) -> NoReturn:
        raise BadServer(
            f"The processor of the server at {self.client.url} could not read a request: it needs the tokenizer of the "
            "model, and the same version of Stratagem."
        )

    def abort(self, names: Sequence[str]) -> None:
        """Drop requests; the server stops work on a request whose connection is closed."""
        for name in names:
            if (sent := self._sent.pop(name, None)) is not None:
                sent.answers.cancel()

    def unload(self, adapter: AdapterVersion) -> None:
        """Unload a version of an adapter."""
        name = f"{self._tag}-{adapter.name}"
        if name in self._adapters:
            self._adapters.discard(name)
            self.client.unload(name)

    def reset(self) -> None:
        """Share no cached prefix with earlier requests: vLLM shares prefixes of one salt only."""
        self._salt = token_hex(16)

    def close(self) -> None:
        """Drop all requests, and unload our adapters, unless the server is gone."""
        self.abort(list(self._sent))
        self.client.leave(sorted(self._adapters))
        self._adapters.clear()
