"""What a model is asked and what it answers, for every engine; they know tokens and texts, and no games.

A player's request goes to the engine that it names. What may be said next is told by a `Guide`, so an engine needs no
other word for free text, constrained decoding or a single token. The answer is a `Call`: everything that a trainer
needs to compute the same probabilities again, and a record keeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from stratagem.decoding.vocabulary import Ids, Vocabulary
from stratagem.errors import BadParameter
from stratagem.games.key import Key

Chat = tuple[tuple[str, str], ...]
"""Roles (system, user, assistant) and what they say."""
Kind = Literal["sampled", "forced", "argmax"]
Finish = Literal["done", "length", "error"]


@dataclass(frozen=True)
class Sampling:
    """The distribution that tokens are drawn from: tempered, then cut to the likeliest."""

    temperature: float = 1.0
    """0 takes the likeliest token."""
    top_k: int = 0
    """Only the k likeliest tokens; 0 leaves all."""
    top_p: float = 1.0
    """Only the likeliest tokens that together have at least this probability."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < math.inf:
            raise BadParameter(f"A temperature is 0 or more, not {self.temperature}.")
        if self.top_k < 0:
            raise BadParameter(f"top_k is a number of tokens, or 0 for all of them, not {self.top_k}.")
        if not 0.0 < self.top_p <= 1.0:
            raise BadParameter(f"top_p is a probability above 0, not {self.top_p}.")


PLAIN = Sampling()
LIKELIEST = Sampling(temperature=0.0)


class Guide(Protocol):
    """What a reply may say next; the engine tells it every token, and stops when it is done."""

    @property
    def done(self) -> bool:
        """Whether the reply is complete."""
        ...

    @property
    def allowed(self) -> Ids | None:
        """The tokens that may come next, ascending; None where any may."""
        ...

    @property
    def forced(self) -> Sequence[int]:
        """The tokens that must come next; no model need be asked for them."""
        ...

    def advance(self, token: int) -> None:
        """Take note of the next token."""
        ...


class Prompt(NamedTuple):
    """A conversation up to where the model is to answer: its messages, and its tokens where the engine has any."""

    messages: Chat
    tokens: Ids = ()


class PolicyId(NamedTuple):
    """Whose probabilities these are: the base model, an adapter on it (empty for none), and how often it changed."""

    base: str
    adapter: str = ""
    version: int = 0


class Span(NamedTuple):
    """A stretch of a reply: only sampled tokens carry a gradient."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Ask for a reply."""

    engine: Engine
    prompt: Prompt
    guide: Guide
    key: Key
    """The dice: the same request and key give the same reply, whatever else is answered beside it."""
    adapter: str = ""
    sampling: Sampling = PLAIN
    max_new: int = 256
    extended: bool = False
    """Whether a later prompt will go on from this reply, so that its computation is worth keeping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A reply as it was produced."""

    policy: PolicyId
    prompt: Prompt
    text: str
    tokens: Ids = ()
    """All that was said, forced tokens and the end token included; empty where a server tells texts only."""
    spans: tuple[Span, ...] = ()
    """How the tokens came about; they cover all of them."""
    sampler_logprobs: tuple[float, ...] = ()
    """For each token its log-probability under the distribution that it was drawn from; 0 where nothing was drawn."""
    allowed: tuple[Ids | None, ...] = ()
    """For each token the set that it was drawn from, where one applied."""
    sampling: Sampling = PLAIN
    finish: Finish = "done"
    """Length: cut off by `max_new`; error: there was no reply, and `text` says why."""
    num_prompt: int = 0
    num_reply: int = 0
    """Tokens, as the engine or the server counts them."""
    ms: float = 0.0
    """The time of its batch, divided by the replies in it; for a server the time until the answer was there."""


class Node(NamedTuple):
    """A node of an exact policy: what was said after the prompt, and the tokens whose probability is wanted."""

    said: Ids
    wanted: Ids
    masked: bool
    """Whether only these tokens may be drawn; without it they are wanted among the whole vocabulary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """Ask for log-probabilities at several nodes below one prompt."""

    prompt: Prompt
    nodes: tuple[Node, ...]
    adapter: str = ""
    sampling: Sampling = PLAIN


Scores = tuple[tuple[float, ...], ...]
"""For each node the log-probabilities of the tokens wanted, under the distribution that a sampler would draw from."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do; a mode that needs more is refused."""

    masks: bool
    """Whether it obeys a guide token by token."""
    scores: bool
    """Whether it can say the probability of given tokens."""
    repeats: bool = True
    """Whether the same request gets the same reply again at no price; what others replied is kept."""


class Engine(Protocol):
    """Answers requests in batches, in order."""

    @property
    def name(self) -> str:
        """The text that names its base model."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokenizer as decoding sees it; refused where the engine has none."""
        ...

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a reply."""
        ...

    def begin(self, messages: Chat) -> Prompt:
        """The prompt of a conversation."""
        ...

    def follow(self, call: Call, user: str) -> Prompt:
        """The prompt that goes on from a reply with another message of the user."""
        ...

    def answer(self, requests: Sequence[Request]) -> list[Call]:
        """A reply to each request; a failure to get one is a call whose finish is `error`."""
        ...

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        """Log-probabilities for each request."""
        ...


Listener = Callable[[Request, Call], None]
"""Told of a reply as soon as it is there, perhaps on another thread."""


@runtime_checkable
class Tells(Protocol):
    """An engine that tells of each reply before its batch is complete."""

    listener: Listener | None


def answer(requests: Sequence[object]) -> list[Call]:
    """Send each request to its engine, everything for one engine in one batch; the order stays."""
    calls: dict[int, Call] = {}
    engines: dict[Engine, dict[int, Request]] = {}
    for place, request in enumerate(requests):
        if isinstance(request, Request):
            engines.setdefault(request.engine, {})[place] = request
        else:
            calls[place] = _no_request(request)
    for engine, asked in engines.items():
        calls.update(zip(asked, engine.answer(list(asked.values())), strict=True))
    return [calls[place] for place in range(len(requests))]


def _no_request(value: object) -> Call:
    """A player may yield anything; what is no request gets an answer that says so."""
    said = f"A player yielded a {type(value).__name__} where a Request was due."
    return Call(policy=PolicyId(""), prompt=Prompt(()), text=said, finish="error")
