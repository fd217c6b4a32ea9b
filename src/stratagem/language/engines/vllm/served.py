"""Rows of a vLLM server: each comes as data with its request, and the processor walks its guide.

An error in a processor would end the server for everybody, so a request that cannot be read gets a row without a
report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any, Protocol, cast

from stratagem.base.errors import StratagemError
from stratagem.base.files import parse_json
from stratagem.games.key import Key
from stratagem.language.decoding.guide_data import GuideReader
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import Engine, Guide, Prompt, Request, Sampling
from stratagem.language.engines.local_engine import vocabulary_of
from stratagem.language.engines.reader import AdapterText
from stratagem.language.engines.reply import Reply
from stratagem.language.engines.sampler import SampledToken
from stratagem.language.engines.scoring import ScoredNode
from stratagem.language.engines.vllm.report import Entries, drawn_entries, value_entries
from stratagem.language.engines.vllm.rows import KEY, NOTHING, ReplyRow, Row, ScoreRow, row_numbered
from stratagem.language.engines.vllm.wire import MOST_FACT, PROTOCOL

_BAD_DATA = (StratagemError, ValueError, ArithmeticError, LookupError, TypeError, RuntimeError, AttributeError)
"""Errors of data that another version, or somebody else, has written."""


_texts = count()


class HeldRequest(Protocol):
    """Request of ours in vLLM's batch."""

    @property
    def listens(self) -> bool:
        """True if it needs the tokens that vLLM has appended."""
        ...

    def row(self, said: Sequence[int]) -> Row | None:
        """Return its row after these tokens; None where it is gone."""
        ...


@dataclass(frozen=True)
class NumberedRequest:
    """Request of an engine in this process, which has the row."""

    number: int
    listens: bool = False

    def row(self, said: Sequence[int]) -> Row | None:
        return row_numbered(self.number)


class Next:
    """Guide of one token, of which only the set is known; it lets all earlier tokens pass."""

    done = False
    forced: Ids = ()

    def __init__(self, allowed: Sequence[int] | None) -> None:
        self.allowed = None if allowed is None else tuple(allowed)

    def advance(self, token: int) -> None:
        """Take a token."""


@dataclass(eq=False)
class ServedReply(ReplyRow):
    """Reply of another process: it ends by a token when the guide is done, or where a run is better read at once."""

    stop: int = 0
    best: int = 2
    """Number of entries that the answer can hold."""

    def entries(self) -> Entries:
        if self.reply.over or self.has_run:
            return [(self.stop, 0.0)]
        if self.reply.pending or self.drawn is None:
            return super().entries()
        return drawn_entries(self.drawn, self.best)


@dataclass(eq=False)
class ServedScore(ScoreRow):
    """Node of another process, and those of its tokens that are reported."""

    piece: Ids = ()

    def entries(self) -> Entries:
        (node,) = self.nodes
        scores = dict(zip(node.wanted, self.scores[node], strict=True))
        return value_entries({token: scores[token] for token in self.piece})


@dataclass(eq=False)
class Facts(ScoreRow):
    """Numbers about the server."""

    facts: Sequence[int] = ()

    def entries(self) -> Entries:
        return value_entries({number: -float(min(MOST_FACT, fact)) for number, fact in enumerate(self.facts)})


@dataclass(eq=False)
class UnreadableRequest(ScoreRow):
    """Request that could not be read, or whose tokens left its guide."""

    def entries(self) -> Entries:
        return NOTHING


class ServedRequest:
    """Request over HTTP, with its row."""

    listens = True

    def __init__(self, row: Row) -> None:
        self._row = row
        self._num_taken = 0

    def row(self, said: Sequence[int]) -> Row | None:
        try:
            while self._num_taken < len(said) and not self._row.over(1 << 40):
                token = said[self._num_taken]
                self._row.take(token, SampledToken(token, 0.0))
                self._num_taken += 1
        except _BAD_DATA:
            self._row = _unreadable_request()
        return self._row


def _unreadable_request() -> UnreadableRequest:
    return UnreadableRequest(AdapterText("", ()), ())


def check_data(extra: object) -> None:
    """Refuse a request with data that no processor of this version can read."""
    text = extra.get(KEY) if isinstance(extra, dict) else None
    if not isinstance(text, str):
        return
    data = parse_json(text)
    if not isinstance(data, dict) or data.get("protocol") != PROTOCOL:
        raise ValueError(f"this server's Stratagem reads version {PROTOCOL} of the protocol, and not {text[:80]!r}")


class Holder:
    """Reader of the requests in vLLM's batch."""

    def __init__(self, config: Any, *, in_order: bool) -> None:
        """`config` is vLLM's; `in_order` says that a step begins when the tokens of the one before are known."""
        self._config = config
        self._in_order = in_order
        self._reader = cache(self._reader_for)

    def hold(self, extra: object) -> HeldRequest | None:
        """Return the request with these `extra_args`; None where it is none of ours."""
        value = extra.get(KEY) if isinstance(extra, dict) else None
        if isinstance(value, str):
            return ServedRequest(self._read(value))
        return NumberedRequest(value) if isinstance(value, int) else None

    def _read(self, text: str) -> Row:
        try:
            data = parse_json(text)
            kinds = {"hello": self._hello, "reply": self._reply, "score": self._score}
            return kinds[data["row"]](data)
        except _BAD_DATA:
            return _unreadable_request()

    def _hello(self, data: Mapping[str, Any]) -> Row:
        lora = self._config.lora_config
        most = self._config.model_config.max_logprobs
        facts = (
            PROTOCOL,
            int(self._in_order),
            0 if lora is None else int(lora.max_loras),
            0 if lora is None else int(lora.max_lora_rank),
            MOST_FACT if most < 0 else int(most),
            int(str(self._config.device_config.device) == "cpu"),
        )
        return Facts(AdapterText("", ()), (), facts=facts)

    def _reply(self, data: Mapping[str, Any]) -> Row:
        request = Request(
            engine=cast("Engine", None),  # nobody asks it here
            prompt=Prompt((), ()),
            guide=self._guide(data["guide"], int(data["end"])),
            key=Key(int(data["key"])),
            sampling=_sampling(data),
            max_new_tokens=int(data["most"]),
        )
        reply = Reply(request)
        reply.take_forced()
        while len(reply.tokens) < len(data["said"]):
            reply.take(SampledToken(int(data["said"][len(reply.tokens)]), 0.0))
        if reply.tokens != data["said"]:
            raise ValueError("the guide forces other tokens here")
        reply.pending.clear()
        return ServedReply(reply, stop=self._check_tokens([data["stop"]])[0], best=int(data["best"]))

    def _guide(self, data: Mapping[str, Any], end: int) -> Guide:
        if data["kind"] == "next":
            return Next(None if data["allowed"] is None else self._check_tokens(data["allowed"]))
        return self._reader(end).read(data)

    def _reader_for(self, end: int) -> GuideReader:
        """Return the reader of guides, by the tokenizer that the server has."""
        from transformers import AutoTokenizer

        config = self._config.model_config
        tokenizer = AutoTokenizer.from_pretrained(config.tokenizer, revision=config.tokenizer_revision)
        return GuideReader(vocabulary_of(tokenizer, end))

    def _score(self, data: Mapping[str, Any]) -> Row:
        wanted = self._check_tokens(data["wanted"])
        text = AdapterText("", (next(_texts),))  # nodes of two requests are never one
        node = ScoredNode(text, wanted, bool(data["masked"]), _sampling(data))
        return ServedScore(node.text, [node], piece=self._check_tokens(data["piece"]))

    def _check_tokens(self, tokens: Sequence[int]) -> Ids:
        """Return tokens that the model has."""
        size = self._config.model_config.get_vocab_size()
        if not tokens or not all(type(token) is int and 0 <= token < size for token in tokens):
            raise ValueError("no tokens of this model")
        return tuple(tokens)


def _sampling(data: Mapping[str, Any]) -> Sampling:
    temperature, top_k, top_p, *min_p = data["sampling"]
    return Sampling(float(temperature), int(top_k), float(top_p), float(min_p[0]) if min_p else 0.0)
