"""Reply in progress: its tokens, their origin, and the tokens that the model has not read yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from stratagem.language.engines.base import Call, Finish, Kind, PolicyId, Request, Span
from stratagem.language.engines.kept_set import TokenSet
from stratagem.language.engines.reader import AdapterText
from stratagem.language.engines.sampler import Draw, SampledToken


@dataclass(eq=False, slots=True)
class Reply:
    """Reply to a request, up to the present token."""

    request: Request
    ticket: int = -1
    """Ticket of the request."""
    ms: float = 0.0
    """Share of the time of the passes that it was in, in milliseconds."""
    tokens: list[int] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    allowed: list[TokenSet | None] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    """Tokens that the model has not read yet."""

    def take_forced(self) -> None:
        """Append the forced tokens, up to a choice or the end."""
        guide = self.request.guide
        while (room := self.request.max_new_tokens - len(self.tokens)) > 0 and (run := list(guide.forced)):
            for token in run[:room]:
                guide.advance(token)
                self._append(token, "forced", 0.0, None)

    def draw(self, row: int) -> Draw:
        """Return the next token to draw, from a row of the logits."""
        request = self.request
        return Draw(row, request.key, len(self.tokens), request.guide.allowed, request.sampling)

    def take(self, drawn: SampledToken) -> None:
        """Append a drawn token and the tokens it forces."""
        self.request.guide.advance(drawn.token)
        kind: Kind = "sampled" if self.request.sampling.temperature > 0.0 else "argmax"
        self._append(drawn.token, kind, drawn.logprob, drawn.allowed)
        if not self.over:
            self.take_forced()

    def _append(self, token: int, kind: Kind, logprob: float, allowed: TokenSet | None) -> None:
        self.tokens.append(token)
        self.kinds.append(kind)
        self.logprobs.append(logprob)
        self.allowed.append(allowed)
        self.pending.append(token)

    @property
    def over(self) -> bool:
        return self.request.guide.done or len(self.tokens) >= self.request.max_new_tokens

    @property
    def length(self) -> int:
        """Number of tokens of the prompt and of the reply."""
        return len(self.request.prompt.tokens) + len(self.tokens)

    @property
    def finish(self) -> Finish:
        return "done" if self.request.guide.done else "length"

    @property
    def text(self) -> AdapterText:
        """The prompt and the tokens so far."""
        return AdapterText(self.request.adapter, (*self.request.prompt.tokens, *self.tokens))

    def call(self, policy: PolicyId, text: str, ms: float = 0.0) -> Call:
        """Return the reply as it was produced, by a policy; `text` is its tokens as a text."""
        request = self.request
        return Call(
            policy=policy,
            prompt=request.prompt,
            text=text,
            tokens=tuple(self.tokens),
            spans=self.spans(),
            sampler_logprobs=tuple(self.logprobs),
            allowed=tuple(self.allowed),
            sampling=request.sampling,
            finish=self.finish,
            num_prompt=len(request.prompt.tokens),
            num_reply=len(self.tokens),
            ms=ms,
        )

    def spans(self) -> tuple[Span, ...]:
        """Stretches of one kind."""
        result = list[Span]()
        for index, kind in enumerate(self.kinds):
            if result and result[-1].kind == kind:
                result[-1] = result[-1]._replace(end=index + 1)
            else:
                result.append(Span(kind, index, index + 1))
        return tuple(result)
