"""Comparison of an engine with the learner's model: log-probabilities of one text, and of one reply of the engine.

The learner's model reads one text a pass. Its rounding is the difference between a text alone and the same text in a
padded batch; a difference of an engine that is a few times as large agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from stratagem.base.errors import StratagemError
from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import Call, PolicyNode, Prompt, Request, Sampling, ScoreRequest, TrainableEngine
from stratagem.language.engines.sampler import log_distribution
from stratagem.language.models.adapters import active
from stratagem.language.models.language_model import LanguageModel

_FLOOR = {"fp32": 1e-3}
"""Difference in nats that agrees whatever the model's rounding, by format."""
_SHORT_FLOOR = 0.1
"""The same for formats of 16 bits."""
_FACTOR, _CAP = 4.0, 0.5
"""Largest difference that agrees, in units of the model's rounding; and one in nats that never agrees."""
_CHAT = (("system", "You play a game."), ("user", "What do you play?"))
_SAMPLING = Sampling(temperature=0.8)
_LENGTH, _EVERY, _WANTED = 48, 8, 24
"""Number of tokens after the prompt, of tokens between two nodes, and of tokens that are scored at a node."""


class WrongReply(StratagemError):
    """Reply of an engine that no comparison of numbers is needed for."""


class Deviation(NamedTuple):
    """Largest difference between an engine and the learner's model."""

    case: str
    adapter: str
    nats: float
    num: int
    """Number of log-probabilities that were compared."""


class ComparisonGuide:
    """Guide of the comparison's reply: forced tokens, and sets of tokens to draw from."""

    def __init__(self, steps: Sequence[Ids]) -> None:
        self._steps = list(steps)

    @property
    def done(self) -> bool:
        return not self._steps

    @property
    def allowed(self) -> Ids | None:
        return self._steps[0] if self._steps else None

    @property
    def forced(self) -> Ids:
        return self._steps[0] if self._steps and len(self._steps[0]) == 1 else ()

    def advance(self, token: int) -> None:
        if token not in self._steps.pop(0):
            raise WrongReply(f"The engine ignores guides: it replied token {token}, which was not allowed.")


class EngineAnswer(NamedTuple):
    """Answer of an engine under one adapter: its scores of the nodes, and its reply."""

    scores: tuple[float, ...]
    """Log-probabilities of the scored tokens of all nodes, in order."""
    tokens: Ids
    """Tokens of the reply."""
    logprobs: tuple[float, ...]
    """Log-probabilities of these tokens that it came with."""


@dataclass(frozen=True)
class ComparisonTexts:
    """Texts of the comparison, about which any copy of an engine can be asked."""

    prompt: Prompt
    nodes: tuple[PolicyNode, ...]
    steps: tuple[Ids, ...]
    """Steps of the reply: the tokens that may come next."""

    def ask_batches(self, batches: Sequence[Sequence[str]], engine: TrainableEngine) -> list[list[EngineAnswer]]:
        """Ask an engine for the base (an empty name) and adapters of each batch; another tokenizer is refused."""
        if engine.begin(_CHAT).tokens != self.prompt.tokens:
            raise WrongReply(
                f"The engine has another tokenizer than the learner's {engine.lm.name}: the same conversation has "
                f"{len(engine.begin(_CHAT).tokens)} tokens there and {len(self.prompt.tokens)} here, or others; give "
                "both the same model."
            )
        return [self._ask(adapters, engine) for adapters in batches]

    def _ask(self, adapters: Sequence[str], engine: TrainableEngine) -> list[EngineAnswer]:
        score = [ScoreRequest(prompt=self.prompt, nodes=self.nodes, adapter=a, sampling=_SAMPLING) for a in adapters]
        scores = [tuple(value for row in rows for value in row) for rows in engine.score(score)]
        requests = [self._request(adapter, number, engine) for number, adapter in enumerate(adapters)]
        calls = _answer_requests(requests, engine)
        for call in calls:
            if call.failed or len(call.tokens) != len(self.steps):
                raise WrongReply(f"The engine replied nothing, or stopped before the guide was done: {call.text}")
        return [EngineAnswer(own, call.tokens, call.sampler_logprobs) for own, call in zip(scores, calls, strict=True)]

    def _request(self, adapter: str, number: int, engine: TrainableEngine) -> Request:
        return Request(
            engine=engine,
            prompt=self.prompt,
            guide=ComparisonGuide(self.steps),
            key=Key(number).at("comparison"),
            adapter=adapter,
            sampling=_SAMPLING,
            max_new_tokens=len(self.steps),
        )


class DecodingComparison:
    """Texts of the comparison, the learner's figures of them, and the limit for this model."""

    def __init__(self, lm: LanguageModel) -> None:
        self.lm = lm
        prompt = Prompt(_CHAT, tuple(lm.chat([{"role": role, "content": content} for role, content in _CHAT])))
        size = lm.model.get_input_embeddings().num_embeddings
        self._ids = tuple((7 * index * index + 3 * index + 1) % size for index in range(_LENGTH + _WANTED))
        said = [self._ids[:end] for end in range(0, _LENGTH, _EVERY)]
        wanted = tuple(sorted({(11 * index * index + 5) % size for index in range(_WANTED)}))
        nodes = tuple(PolicyNode(ids, wanted, number % 2 == 1) for number, ids in enumerate(said))
        self.texts = ComparisonTexts(prompt, nodes, tuple(_steps(self._ids, wanted)))
        self._replies: dict[tuple[str, Ids], torch.Tensor] = {}
        self._scores_of: dict[str, torch.Tensor] = {}
        noise = _difference(self.learner(""), self._scores(_read_padded(lm, self._text)))
        self.limit = min(_CAP, max(_FLOOR.get(lm.dtype, _SHORT_FLOOR), _FACTOR * noise))
        """Largest difference in nats that agrees."""

    @property
    def _text(self) -> Ids:
        return (*self.texts.prompt.tokens, *self._ids[:_LENGTH])

    def forget(self) -> None:
        """Forget the learner's figures: its weights have changed."""
        self._replies.clear()
        self._scores_of.clear()

    def learner(self, adapter: str) -> torch.Tensor:
        """Return the scores of the nodes by the learner's model."""
        return self._scores(_logits(self.lm, self._text, adapter))

    def differs(self, adapter: str, scores: torch.Tensor) -> float:
        """Return by how much the learner's scores under an adapter differ from these."""
        return _difference(self.learner(adapter), scores)

    def _scores(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the scores of the nodes from the logits after every token of the text, in one row."""
        start = len(self.texts.prompt.tokens) - 1
        return torch.cat([_at(logits[start + len(node.said)], node.wanted, node.masked) for node in self.texts.nodes])

    def judge(self, answers: Sequence[EngineAnswer], adapters: Sequence[str], case: str) -> Deviation:
        """Compare an engine's answers under adapters in one batch with the learner's, and return the worst difference.

        What the learner says of a text is computed once for all engines.
        """
        found = list[Deviation]()
        for adapter, answer in zip(adapters, answers, strict=True):
            if adapter not in self._scores_of:
                self._scores_of[adapter] = self.learner(adapter)
            given = torch.tensor([answer.logprobs[index] for index in self._drawn])
            scores, expected = torch.tensor(answer.scores), self._reply_logprobs(answer.tokens, adapter)
            nats = max(_difference(scores, self._scores_of[adapter]), _difference(given, expected))
            found.append(Deviation(case, adapter, nats, len(scores) + len(given)))
        worst = max(found, key=lambda one: one.nats if one.nats == one.nats else float("inf"))
        return worst._replace(num=sum(one.num for one in found))

    @property
    def _drawn(self) -> list[int]:
        """Indices of the drawn tokens of a reply."""
        return [index for index, step in enumerate(self.texts.steps) if len(step) > 1]

    def _reply_logprobs(self, tokens: Ids, adapter: str) -> torch.Tensor:
        """Return the learner's log-probabilities of a reply's drawn tokens."""
        if (known := self._replies.get((adapter, tokens))) is not None:
            return known
        logits = _logits(self.lm, (*self.texts.prompt.tokens, *tokens), adapter)
        start, expected = len(self.texts.prompt.tokens) - 1, list[torch.Tensor]()
        for index in self._drawn:
            step = self.texts.steps[index]
            expected.append(_at(logits[start + index], step, masked=True)[step.index(tokens[index])])
        return self._replies.setdefault((adapter, tokens), torch.stack(expected))


def _answer_requests(requests: Sequence[Request], engine: TrainableEngine) -> list[Call]:
    """Return the engine's replies, in order."""
    tickets = engine.submit(requests)
    calls: dict[int, Call] = {}
    while left := [ticket for ticket in tickets if ticket not in calls]:
        if not (answered := engine.poll(left)):
            raise WrongReply(f"The engine left {len(left)} requests without an answer.")
        calls.update(answered)
    return [calls[ticket] for ticket in tickets]


def _steps(ids: Ids, wanted: Ids) -> list[Ids]:
    """Return the steps of the reply: runs of forced tokens, and sets to draw from after each of them."""
    steps = list[Ids]()
    for run in (1, 12, 2):
        steps += [(token,) for token in ids[:run]]
        steps += [wanted, wanted[: len(wanted) // 2]]
    return steps


def _at(logits: torch.Tensor, tokens: Ids, masked: bool) -> torch.Tensor:
    """Return the log-probabilities of tokens under the sampling distribution, over these or over all tokens."""
    if masked:
        return log_distribution(logits[list(tokens)], _SAMPLING)
    return log_distribution(logits, _SAMPLING)[list(tokens)]


def _difference(some: torch.Tensor, others: torch.Tensor) -> float:
    return float((some - others).abs().max())


def _logits(lm: LanguageModel, tokens: Ids, adapter: str) -> torch.Tensor:
    """Return the logits after every token of a text, read alone."""
    with torch.no_grad(), active(lm, adapter or None):
        ids = torch.tensor([tokens], device=lm.model.device)
        logits: torch.Tensor = lm.model(input_ids=ids, use_cache=False).logits[0].float().cpu()
    return logits


def _read_padded(lm: LanguageModel, tokens: Ids) -> torch.Tensor:
    """Return the same where the text is read in a batch with a longer one, padded on the left."""
    pad = 16
    rows = [(*(0,) * pad, *tokens), (*tokens[:pad], *tokens)]
    mask = torch.tensor([[0] * pad + [1] * len(tokens), [1] * (pad + len(tokens))], device=lm.model.device)
    with torch.no_grad(), active(lm, None):
        ids = torch.tensor(rows, device=lm.model.device)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        output = lm.model(input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False)
    logits: torch.Tensor = output.logits[0, pad:].float().cpu()
    return logits
