"""Engine of a learner by vLLM, in this process or behind an address: requests, scores, and adapters by version."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.language.engines.base import Call, Request, Sampling, ScoreRequest, Scores
from stratagem.language.engines.local_engine import LocalEngine, loaded_name
from stratagem.language.engines.reader import AdapterText
from stratagem.language.engines.reply import Reply
from stratagem.language.engines.scoring import ScoredNode, node_of
from stratagem.language.engines.vllm.adapters import Adapters
from stratagem.language.engines.vllm.batch import VLLMBatch
from stratagem.language.engines.vllm.rows import ReplyRow, Row, ScoreRow
from stratagem.language.engines.vllm.served_by import Runtime
from stratagem.language.models.adapters import adapter_names, check_loadable, drop_adapter
from stratagem.language.models.language_model import LanguageModel


class CopyEngine(LocalEngine):
    """Engine of one base model and the adapters on it, which vLLM has copies of."""

    def __init__(self, lm: LanguageModel, adapters: Adapters, start: Callable[[], Runtime]) -> None:
        """`start` starts vLLM, or finds its server; it is called when the first request needs it."""
        super().__init__(lm)
        self.adapters = adapters
        self.batch = VLLMBatch(adapters, start)
        self._rows: dict[int, ReplyRow] = {}
        """Replies in progress by ticket."""
        self._wait = True
        """True if a poll waits for an answer."""

    @abstractmethod
    def _publish_base(self) -> None:
        """Answer by the base's present weights from now on."""

    # --- weights

    def publish(self, adapter: str, version: int) -> None:
        """Copy the present weights of an adapter (empty: of the base) before the next request under it."""
        self._check_idle()
        self._versions[adapter] = version
        if adapter:
            self.adapters.forget(adapter, self.batch.started)
        else:
            self._publish_base()

    def reset_cache(self) -> None:
        """Forget the cache of earlier batches, so that later results equal those of a new engine."""
        self._check_idle()
        if self.batch.started is not None:
            self.batch.started.reset()

    def _check_idle(self) -> None:
        if not self.batch.idle:
            raise RuntimeError("replies are in progress: fetch or cancel them first")

    def load_adapter(self, path: str) -> str:
        """Load an adapter from its folder; its name in records names the folder and the weights."""
        folder = Path(path).expanduser()
        name = loaded_name(folder)
        if name not in self.adapters:
            check_loadable(self.lm, folder)
            self.adapters.add(name, folder)
        return name

    def drop_adapter(self, name: str) -> None:
        """Unload an adapter."""
        self._check_idle()
        self.adapters.forget(name, self.batch.started)
        self._versions.pop(name, None)
        if name in adapter_names(self.lm):
            drop_adapter(self.lm, name)

    # --- requests

    def _work(self) -> Mapping[int, Call]:
        """Begin the waiting requests, and run passes until some replies are over."""
        waiting, self._waiting = self._waiting, {}
        calls = self._begin(waiting)
        while self._rows and not calls:
            calls = self._step(wait=self._wait)
            if not self._wait:
                break
        return calls

    def _step(self, *, wait: bool = True) -> dict[int, Call]:
        """Run a pass, and return the calls of the replies that are over; an error drops all that is in progress."""
        with ExitStack() as undo:
            undo.callback(self._rows.clear)
            undo.callback(self.batch.clear)
            calls = self._over(self.batch.step(wait=wait))
            undo.pop_all()
        return calls

    def _begin(self, requests: Mapping[int, Request]) -> dict[int, Call]:
        """Begin replies, and return the calls of those that need no model."""
        calls: dict[int, Call] = {}
        for request in requests.values():
            self.adapters.check(request.adapter)
            _check_sampling(request.sampling)
        for ticket, request in requests.items():
            reply = Reply(request, ticket)
            reply.take_forced()
            if reply.over:
                calls[ticket] = self._call(reply)
            elif not 0 < reply.length < self.batch.runtime.longest:
                calls[ticket] = self._refusal(reply, self.batch.runtime.longest)
            else:
                self._rows[ticket] = ReplyRow(reply)
        self.batch.add([self._rows[ticket] for ticket in requests if ticket in self._rows])
        return calls

    def _over(self, rows: Sequence[Row]) -> dict[int, Call]:
        """Return the calls of the replies among rows that are over."""
        replies = [row.reply for row in rows if isinstance(row, ReplyRow)]
        for reply in replies:
            del self._rows[reply.ticket]
        return {reply.ticket: self._call(reply) for reply in replies}

    def _abandon(self, tickets: Collection[int]) -> None:
        rows = [self._rows.pop(ticket) for ticket in tickets if ticket in self._rows]
        self.batch.cancel(rows)

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        nodes: dict[AdapterText, dict[ScoredNode, None]] = {}
        for request in requests:
            self._check_score(request)
            for ask in request.nodes:
                node = node_of(request, ask)
                nodes.setdefault(node.text, {})[node] = None
        rows = [ScoreRow(text, list(some)) for text, some in nodes.items()]
        self._run(rows)
        scores = {node: row.scores[node] for row in rows for node in row.nodes}
        return [tuple(scores[node_of(request, ask)] for ask in request.nodes) for request in requests]

    def _run(self, rows: Sequence[ScoreRow]) -> None:
        """Run passes until these rows are over; replies that end meanwhile are kept for `poll`."""
        with self._lock:
            self.batch.add(rows)
            try:
                while not all(row.taken for row in rows):
                    self._finished.update(self._step())
            finally:
                self.batch.cancel([row for row in rows if not row.taken])

    def _check_score(self, request: ScoreRequest) -> None:
        most = len(request.prompt.tokens) + max((len(ask.said) for ask in request.nodes), default=0)
        if not request.prompt.tokens or most >= self.batch.runtime.longest:
            raise CannotCompute(self._too_long(request.prompt, self.batch.runtime.longest))
        self.adapters.check(request.adapter)
        _check_sampling(request.sampling)


def _check_sampling(sampling: Sampling) -> None:
    """Refuse a sampler: the process of vLLM knows neither its file nor its package."""
    if sampling.explores:
        raise BadParameter(
            f"vLLM draws without the sampler {sampling.sampler}: leave it out, or take the engine transformers."
        )
