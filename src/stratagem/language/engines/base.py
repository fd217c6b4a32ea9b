"""Requests and replies of models, for every engine; they know tokens and texts, and no games.

A player's request goes to the engine that it names. A `Guide` defines the allowed next tokens, so an engine needs no
other interface for free text, constrained decoding or a single token. The answer is a `Call`: everything that a trainer
needs to compute the same probabilities again, and a record keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

from stratagem.games.key import Key
from stratagem.language.decoding.sampling import LIKELIEST, PLAIN, Sampling
from stratagem.language.decoding.vocabulary import Ids, Vocabulary
from stratagem.language.models.language_model import LanguageModel

if TYPE_CHECKING:
    from stratagem.language.engines.kept_set import TokenSet

Chat = tuple[tuple[str, str], ...]
"""Messages with their roles (system, user, assistant)."""
Kind = Literal["sampled", "forced", "argmax"]
Finish = Literal["done", "length", "refusal", "filter", "error", "timeout", "exit", "malformed"]
FAILED: frozenset[Finish] = frozenset({"error", "timeout", "exit", "malformed"})
"""Ends of calls that have no reply."""
UNSAID: frozenset[Finish] = FAILED | {"refusal", "filter"}
"""Ends of calls whose text names no action, whatever is in it."""


class Guide(Protocol):
    """Constraint on a reply; the engine passes it every token, and stops when it is done."""

    @property
    def done(self) -> bool:
        """True if the reply is complete."""
        ...

    @property
    def allowed(self) -> Ids | None:
        """Tokens that may come next, ascending; None where any may."""
        ...

    @property
    def forced(self) -> Sequence[int]:
        """Tokens that must come next; no model need be asked for them."""
        ...

    def advance(self, token: int) -> None:
        """Advance by the next token."""
        ...


class Prompt(NamedTuple):
    """Conversation up to the model's answer: its messages, and its tokens where the engine has any."""

    messages: Chat
    tokens: Ids = ()


class PolicyId(NamedTuple):
    """Identity of a policy: the base model, an adapter on it (empty for none), and the number of its updates."""

    base: str
    adapter: str = ""
    version: int = 0


class Alternative(NamedTuple):
    """Token that was possible at a position of a reply, and its log-probability."""

    token: bytes
    logprob: float


class Span(NamedTuple):
    """Stretch of a reply; only sampled tokens carry a gradient."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Request for a reply."""

    engine: Engine
    prompt: Prompt
    guide: Guide
    key: Key
    """Random key: the same request and key give the same reply, whatever else is answered beside it."""
    adapter: str = ""
    sampling: Sampling = PLAIN
    max_new_tokens: int = 256
    extended: bool = False
    """True if a later prompt will extend this reply, so that its computation is worth caching."""
    alternatives: int = 0
    """Number of likeliest tokens to tell at each position with their log-probabilities; 0 for none."""
    extra_body: str = ""
    """Further fields of the body of a request to a server, as a JSON object; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Reply as it was produced."""

    policy: PolicyId
    prompt: Prompt
    text: str
    tokens: Ids = ()
    """All tokens of the reply, forced tokens and the end token included; empty where a server gives texts only."""
    spans: tuple[Span, ...] = ()
    """Origin of the tokens; the spans cover all of them."""
    sampler_logprobs: tuple[float, ...] = ()
    """Log-probability of each token under its sampling distribution, that of a sampler included; 0 if forced."""
    allowed: tuple[TokenSet | None, ...] = ()
    """Allowed set of each token, where one applied: that of the guide, or with top-k or top-p the set that was kept."""
    sampling: Sampling = PLAIN
    finish: Finish = "done"
    """Reason of the end.

    Length: cut off by `max_new_tokens`. Refusal: the model declined. Filter: a filter of the server withheld the rest.
    There was no reply, and `text` says why: timeout, exit (the process of an agent ended), malformed (the answer could
    not be read), error (any other reason).
    """
    num_prompt: int = 0
    num_reply: int = 0
    """Number of tokens, as the engine or the server counts them."""
    ms: float = 0.0
    """Time of its batch in milliseconds, divided by the replies in it; for a server the time until the answer."""
    alternatives: tuple[tuple[Alternative, ...], ...] = ()
    """For each token, where they were asked for: the token itself, and others in its place. They are not recorded."""
    reasoning: str = ""
    """Thoughts that a server told apart from the reply; no action is read from them."""
    answer_id: str = ""
    """Id that a server gave its answer; a cache that answers again gives it again. Empty without one."""

    @property
    def failed(self) -> bool:
        """True if there was no reply."""
        return self.finish in FAILED


class PolicyNode(NamedTuple):
    """Node of an exact policy: the tokens after the prompt, and the tokens to score."""

    said: Ids
    wanted: Ids
    masked: bool
    """True to normalise over these tokens only; without it, over the whole vocabulary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """Request for log-probabilities at several nodes below one prompt."""

    prompt: Prompt
    nodes: tuple[PolicyNode, ...]
    adapter: str = ""
    sampling: Sampling = PLAIN


Scores = tuple[tuple[float, ...], ...]
"""Log-probabilities of the requested tokens of each node, under the sampling distribution."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of an engine; a mode that needs more is refused."""

    masks: bool
    """True if it obeys a guide token by token."""
    scores: bool
    """True if it can score given tokens."""
    repeats: bool = True
    """True if the same request gets the same reply again at no price; replies of other engines are logged."""
    copies: bool = False
    """True if it answers by a copy of the learner's weights; a run compares the two before it trains."""
    samplers: bool = False
    """True if it draws by the sampler that a request names."""


class RequestAnswer(NamedTuple):
    """Answer to a request, by the ticket of the request."""

    ticket: int
    call: Call


class Engine(Protocol):
    """Answers open requests, in any order.

    A reply follows from its request, and not from the requests beside it.
    """

    @property
    def name(self) -> str:
        """Text that names its base model."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def vocabulary(self) -> Vocabulary:
        """Tokenizer as decoding sees it; refused where the engine has none."""
        ...

    @property
    def ends(self) -> frozenset[int]:
        """Tokens that end a reply."""
        ...

    def begin(self, messages: Chat) -> Prompt:
        """Return the prompt of a conversation."""
        ...

    def follow(self, call: Call, user: str) -> Prompt:
        """Return the prompt that extends a reply with another message of the user."""
        ...

    def submit(self, requests: Sequence[Request]) -> list[int]:
        """Take requests, and return a ticket for each."""
        ...

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[RequestAnswer]:
        """Return the answers to those of the open tickets that are answered; a failure is a call that says `error`.

        With `wait`, at least one. Without it, an engine that computes elsewhere returns at once.
        """
        ...

    def cancel(self, tickets: Collection[int]) -> None:
        """Forget open requests."""
        ...

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        """Score each request by log-probabilities."""
        ...


class TrainableEngine(Engine, Protocol):
    """Engine that answers by weights which change while it lives.

    The base has the empty name, each adapter a name of its own. Bit-identical results are promised from one
    `reset_cache` to the next, for the same requests in the same order.
    """

    @property
    def lm(self) -> LanguageModel:
        """Learner's model, with all its adapters."""
        ...

    def version(self, adapter: str) -> int:
        """Return the published version of an adapter (empty: of the base); 0 before the first."""
        ...

    def publish(self, adapter: str, version: int) -> None:
        """Answer by the learner's present weights of an adapter (empty: of the base), as this version of the policy."""
        ...

    def load_adapter(self, path: str) -> str:
        """Load an adapter from its folder and return its name; a folder that is loaded already is not read again."""
        ...

    def drop_adapter(self, name: str) -> None:
        """Unload an adapter."""
        ...

    def reset_cache(self) -> None:
        """Forget all computation for earlier requests, so that later results equal those of a new engine."""
        ...


Listener = Callable[[Request, Call], None]
"""Callback for a reply as soon as it is there, perhaps on another thread."""


@runtime_checkable
class Tells(Protocol):
    """Engine that reports each reply before its batch is complete."""

    listener: Listener | None


@runtime_checkable
class HoldsCopy(Protocol):
    """Engine that answers by a copy of the learner's weights, which it makes again where it needs it."""

    def release_copy(self) -> None:
        """Free the copy, as before an update, so that its memory is the learner's."""
        ...


__all__ = [
    "FAILED",
    "LIKELIEST",
    "PLAIN",
    "UNSAID",
    "Alternative",
    "Call",
    "Capabilities",
    "Engine",
    "Guide",
    "HoldsCopy",
    "PolicyId",
    "Prompt",
    "Request",
    "RequestAnswer",
    "Sampling",
    "ScoreRequest",
    "Scores",
    "Span",
    "TrainableEngine",
]
