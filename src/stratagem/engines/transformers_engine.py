"""Engine on one machine: a transformers model that answers many requests, seats, games and adapters in one batch.

Shared prefixes of prompts are computed once and cached for the next batch; a finished reply leaves at once; forced
tokens are read but never drawn; the same prompt under the same weights is computed once, however many replies begin
with it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer

from stratagem.decoding.vocabulary import Ids, TokenizersVocabulary, TransformersVocabulary, Vocabulary
from stratagem.engines.base import Call, Capabilities, Chat, PolicyId, Prompt, Request, ScoreRequest, Scores
from stratagem.engines.choose_reader import reader_for
from stratagem.engines.reader import Reader
from stratagem.engines.reply import Reply
from stratagem.engines.sampler import draw
from stratagem.engines.scoring import scored
from stratagem.engines.transformers_settings import TransformersSettings
from stratagem.errors import CannotCompute
from stratagem.models.adapter_files import digest
from stratagem.models.adapters import adapter_names, dropped, load_adapter
from stratagem.models.language_model import LanguageModel

_WORD = re.compile(r"[^A-Za-z0-9_-]+")
_PASS = 16
"""Cost of a pass in tokens read."""
_DEFAULTS = TransformersSettings()


class TransformersEngine:
    """Engine of one base model and the adapters on it."""

    capabilities = Capabilities(masks=True, scores=True)

    def __init__(self, lm: LanguageModel, settings: TransformersSettings = _DEFAULTS) -> None:
        self.lm = lm
        self.rows = settings.rows
        self.vocabulary: Vocabulary = _vocabulary(lm)
        config = lm.model.config.get_text_config()
        self.longest = int(getattr(config, "max_position_embeddings", 1 << 30))
        """Context length of the model in tokens."""
        self.reader: Reader = reader_for(lm, settings.prefix_cache_mib * 2**20)
        self._ends = lm.stop_ids
        self._versions: dict[str, int] = {}
        self._tokens = lru_cache(maxsize=4096)(self._tokens_of)

    @property
    def name(self) -> str:
        return self.lm.name

    @property
    def ends(self) -> frozenset[int]:
        return self._ends

    def begin(self, messages: Chat) -> Prompt:
        return Prompt(messages, self._tokens(messages))

    def _tokens_of(self, messages: Chat) -> Ids:
        return tuple(self.lm.chat([{"role": role, "content": content} for role, content in messages]))

    def follow(self, call: Call, user: str) -> Prompt:
        """Extend a reply without tokenising it again: the closing and opening tokens are appended."""
        messages = (*call.prompt.messages, ("assistant", call.text), ("user", user))
        tokens = call.tokens
        while tokens and tokens[-1] in self._ends:
            tokens = tokens[:-1]
        return Prompt(messages, (*call.prompt.tokens, *tokens, *self.lm.after_reply(user)))

    def policy_id(self, adapter: str) -> PolicyId:
        """Return the present identity of an adapter's policy."""
        return PolicyId(self.lm.name, adapter, self._versions.get(adapter, 0))

    def publish(self, adapter: str, version: int) -> None:
        """Announce that the weights of an adapter (empty: of the base) have changed."""
        self._versions[adapter] = version
        self.reader.forget(adapter)

    def reset_cache(self) -> None:
        """Forget the cache of earlier batches, so that later results equal those of a new engine."""
        self.reader.reset()

    def load_adapter(self, path: str) -> str:
        """Load an adapter from its folder; its name in records names the folder and the weights."""
        folder = Path(path).expanduser()
        name = f"{_WORD.sub('_', folder.name).strip('_')}-{digest(folder)}".strip("-")
        if name not in adapter_names(self.lm):
            load_adapter(self.lm, folder, name)
        return name

    def drop_adapter(self, name: str) -> None:
        """Unload an adapter."""
        self.reader.forget(name)
        self._versions.pop(name, None)
        dropped(self.lm, name)

    def answer(self, requests: Sequence[Request]) -> list[Call]:
        calls: dict[int, Call] = {}
        with torch.inference_mode():
            for wave in self._waves(requests):
                calls.update(zip(wave, self._answer([requests[number] for number in wave]), strict=True))
        return [calls[number] for number in range(len(requests))]

    def _waves(self, requests: Sequence[Request]) -> Iterator[list[int]]:
        """Sort requests that begin alike together, so that a wave shares as much as it can."""
        order = iter(sorted(range(len(requests)), key=lambda n: (requests[n].adapter, requests[n].prompt.tokens)))
        while wave := list(islice(order, self.rows)):
            yield wave

    def _answer(self, requests: Sequence[Request]) -> list[Call]:
        start = time.perf_counter()
        replies = [Reply(request) for request in requests]
        for reply in replies:
            reply.take_forced()
        refused = {reply for reply in replies if not reply.over and not self._fits(reply)}
        able = [reply for reply in replies if not reply.over and reply not in refused]
        if able:
            with self.reader.weights.under([reply.request.adapter for reply in able]):
                self._write(able)
        self.reader.settle()
        ms = (time.perf_counter() - start) * 1000.0 / len(requests)
        return [self._refusal(reply, ms) if reply in refused else self._call(reply, ms) for reply in replies]

    def _fits(self, reply: Reply) -> bool:
        return 0 < reply.length < self.longest

    def _write(self, replies: Sequence[Reply]) -> None:
        """Draw first tokens after the prompts, and continue the replies that are not over."""
        texts = [reply.text for reply in replies]
        distinct = list(dict.fromkeys(texts))
        logits = self.reader.read(distinct)
        row_of = {text: row for row, text in enumerate(distinct)}
        for reply in replies:
            reply.pending.clear()
        self._draw(logits, [(reply, row_of[text]) for reply, text in zip(replies, texts, strict=True)])
        going = [(reply, text) for reply, text in zip(replies, texts, strict=True) if not self._over(reply)]
        finished = [
            (reply, text)
            for reply, text in zip(replies, texts, strict=True)
            if self._over(reply) and reply.request.extended
        ]
        if going or finished:
            self.reader.open([text for _, text in (*going, *finished)])
            self._go_on([reply for reply, _ in (*going, *finished)])

    def _over(self, reply: Reply) -> bool:
        return reply.over or reply.length >= self.longest

    def _draw(self, logits: torch.Tensor, rows: Sequence[tuple[Reply, int]]) -> None:
        draws = [reply.draw(row) for reply, row in rows]
        for (reply, _), drawing, drawn in zip(rows, draws, draw(logits, draws), strict=True):
            reply.take(drawn, drawing.allowed)

    def _go_on(self, live: list[Reply]) -> None:
        """Run pass after pass, until every reply is over."""
        while live := self._leave(live):
            width = width_for([len(reply.pending) for reply in live]) if self.reader.ragged else 1
            logits = self.reader.go_on([reply.pending[:width] for reply in live])
            for reply in live:
                del reply.pending[:width]
            self._draw(logits, [(r, row) for row, r in enumerate(live) if not r.pending and not self._over(r)])

    def _leave(self, live: list[Reply]) -> list[Reply]:
        """Remove the rows whose replies are over; replies that a later prompt extends are read to their end."""
        stay = [row for row, reply in enumerate(live) if self._stays(reply)]
        for row, reply in enumerate(live):
            if not self._stays(reply) and reply.request.extended:
                self.reader.retain(row, reply.text)
        if len(stay) == len(live) or not stay:
            return live if stay else []
        return [live[row] for row in self.reader.keep(stay)]

    def _stays(self, reply: Reply) -> bool:
        return not self._over(reply) or bool(reply.request.extended and reply.pending)

    def _call(self, reply: Reply, ms: float) -> Call:
        return reply.call(self.policy_id(reply.request.adapter), self.lm.decode(reply.tokens), ms)

    def _refusal(self, reply: Reply, ms: float) -> Call:
        request = reply.request
        return Call(
            policy=self.policy_id(request.adapter),
            prompt=request.prompt,
            text=self._too_long(request.prompt),
            sampling=request.sampling,
            finish="error",
            num_prompt=len(request.prompt.tokens),
            ms=ms,
        )

    def _too_long(self, prompt: Prompt) -> str:
        return f"The prompt has {len(prompt.tokens)} tokens, and {self.name} reads from 1 to {self.longest - 1}."

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        for request in requests:
            most = len(request.prompt.tokens) + max((len(ask.said) for ask in request.nodes), default=0)
            if not request.prompt.tokens or most >= self.longest:
                raise CannotCompute(self._too_long(request.prompt))
        with torch.inference_mode():
            return scored(self.reader, requests, self.rows)


def _vocabulary(lm: LanguageModel) -> Vocabulary:
    """Return a copy of the tokenizer's fast backend that nobody else sets padding on.

    Without one, the tokenizer itself.
    """
    core = getattr(lm.tokenizer, "backend_tokenizer", None)
    if core is None:
        return TransformersVocabulary(lm.tokenizer)
    copy = Tokenizer.from_str(core.to_str())
    copy.no_padding()
    copy.no_truncation()
    return TokenizersVocabulary(copy, int(lm.tokenizer.eos_token_id))


def width_for(pending: Sequence[int]) -> int:
    """Return the number of tokens a row to read in the next pass: the width with the best ratio of tokens to cost."""
    best, best_ratio = 1, 0.0
    for width in sorted(set(pending)):
        ratio = sum(min(count, width) for count in pending) / (_PASS + len(pending) * width)
        if ratio > best_ratio:
            best, best_ratio = width, ratio
    return best
