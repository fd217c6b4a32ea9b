"""Comparison of an engine with the learner's model: log-probabilities of one text, and of one reply of the engine.

The learner's model reads one text a pass. Its rounding is the difference between a text alone and the same text in a
padded batch; a difference of an engine that is a few times as large agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class DecodingComparison:
    """Texts of the comparison, and the limit for this model."""

    def __init__(self, engine: TrainableEngine, lm: LanguageModel) -> None:
        self.engine = engine
        self.lm = lm
        self.prompt = self._prompt()
        size = lm.model.get_input_embeddings().num_embeddings
        self._ids = tuple((7 * index * index + 3 * index + 1) % size for index in range(_LENGTH + _WANTED))
        said = [self._ids[:end] for end in range(0, _LENGTH, _EVERY)]
        wanted = tuple(sorted({(11 * index * index + 5) % size for index in range(_WANTED)}))
        self.nodes = tuple(PolicyNode(ids, wanted, number % 2 == 1) for number, ids in enumerate(said))
        self.steps = _steps(self._ids, wanted)
        noise = _difference(self.learner(""), self._scores(_read_padded(lm, self._text)))
        self.limit = min(_CAP, max(_FLOOR.get(lm.dtype, _SHORT_FLOOR), _FACTOR * noise))
        """Largest difference in nats that agrees."""

    def _prompt(self) -> Prompt:
        prompt = self.engine.begin(_CHAT)
        own = tuple(self.lm.chat([{"role": role, "content": content} for role, content in _CHAT]))
        if prompt.tokens != own:
            raise WrongReply(
                f"The engine has another tokenizer than the learner's {self.lm.name}: the same conversation has "
                f"{len(prompt.tokens)} tokens there and {len(own)} here, or others; give both the same model."
            )
        return prompt

    @property
    def _text(self) -> Ids:
        return (*self.prompt.tokens, *self._ids[:_LENGTH])

    # --- by the learner's model

    def learner(self, adapter: str) -> torch.Tensor:
        """Return the scores of the nodes by the learner's model."""
        return self._scores(_logits(self.lm, self._text, adapter))

    def differs(self, adapter: str, scores: torch.Tensor) -> float:
        """Return by how much the learner's scores under an adapter differ from these."""
        return _difference(self.learner(adapter), scores)

    def _scores(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the scores of the nodes from the logits after every token of the text, in one row."""
        start = len(self.prompt.tokens) - 1
        return torch.cat([_at(logits[start + len(node.said)], node.wanted, node.masked) for node in self.nodes])

    # --- by the engine

    def compare(self, adapters: Sequence[str], case: str) -> Deviation:
        """Ask the engine for the base (an empty name) and adapters in one batch, and return the worst difference."""
        score = [ScoreRequest(prompt=self.prompt, nodes=self.nodes, adapter=a, sampling=_SAMPLING) for a in adapters]
        scores = [torch.tensor([value for row in rows for value in row]) for rows in self.engine.score(score)]
        calls = self._answer_requests([self._request(adapter, number) for number, adapter in enumerate(adapters)])
        found = list[Deviation]()
        for adapter, row, call in zip(adapters, scores, calls, strict=True):
            given, expected = self._reply_logprobs(call, adapter)
            nats = max(_difference(row, self.learner(adapter)), _difference(given, expected))
            found.append(Deviation(case, adapter, nats, len(row) + len(given)))
        worst = max(found, key=lambda one: one.nats if one.nats == one.nats else float("inf"))
        return worst._replace(num=sum(one.num for one in found))

    def _answer_requests(self, requests: Sequence[Request]) -> list[Call]:
        """Return the engine's replies, in order."""
        tickets = self.engine.submit(requests)
        calls: dict[int, Call] = {}
        while left := [ticket for ticket in tickets if ticket not in calls]:
            if not (answered := self.engine.poll(left)):
                raise WrongReply(f"The engine left {len(left)} requests without an answer.")
            calls.update(answered)
        return [calls[ticket] for ticket in tickets]

    def _request(self, adapter: str, number: int) -> Request:
        return Request(
            engine=self.engine,
            prompt=self.prompt,
            guide=ComparisonGuide(self.steps),
            key=Key(number).at("comparison"),
            adapter=adapter,
            sampling=_SAMPLING,
            max_new_tokens=len(self.steps),
        )

    def _reply_logprobs(self, call: Call, adapter: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the log-probabilities of a reply's drawn tokens: those that it came with, and the learner's."""
        drawn = [index for index, step in enumerate(self.steps) if len(step) > 1]
        if call.failed or len(call.tokens) != len(self.steps):
            raise WrongReply(f"The engine replied nothing, or stopped before the guide was done: {call.text}")
        logits = _logits(self.lm, (*call.prompt.tokens, *call.tokens), adapter)
        start = len(call.prompt.tokens) - 1
        expected = []
        for index in drawn:
            step = self.steps[index]
            expected.append(_at(logits[start + index], step, masked=True)[step.index(call.tokens[index])])
        return torch.tensor([call.sampler_logprobs[index] for index in drawn]), torch.stack(expected)


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
