"""Base of engines of weights on this machine: the tokens of conversations, and the versions of policies."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from stratagem.language.decoding.vocabulary import Ids, TokenizersVocabulary, TransformersVocabulary, Vocabulary
from stratagem.language.engines.base import Call, Chat, PolicyId, Prompt
from stratagem.language.engines.reply import Reply
from stratagem.language.engines.streaming import StreamingEngine
from stratagem.language.models.adapter_files import digest
from stratagem.language.models.language_model import LanguageModel

_WORD = re.compile(r"[^A-Za-z0-9_-]+")


class LocalEngine(StreamingEngine):
    """Engine of one base model and the adapters on it."""

    def __init__(self, lm: LanguageModel) -> None:
        super().__init__()
        self.lm = lm
        self.vocabulary: Vocabulary = vocabulary_of(lm.tokenizer, int(lm.tokenizer.eos_token_id))
        self._ends = lm.stop_ids
        self._versions: dict[str, int] = {}
        self._tokens = lru_cache(maxsize=4096)(self._tokens_of)
        self._text = lru_cache(maxsize=1024)(lm.decode)

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
        return PolicyId(self.lm.name, adapter, self.version(adapter))

    def version(self, adapter: str) -> int:
        """Return the published version of an adapter (empty: of the base); 0 before the first."""
        return self._versions.get(adapter, 0)

    def _call(self, reply: Reply) -> Call:
        return reply.call(self.policy_id(reply.request.adapter), self._text(tuple(reply.tokens)), reply.ms)

    def _refusal(self, reply: Reply, longest: int) -> Call:
        """Return the call of a prompt that a context of `longest` tokens cannot hold."""
        request = reply.request
        return Call(
            policy=self.policy_id(request.adapter),
            prompt=request.prompt,
            text=self._too_long(request.prompt, longest),
            sampling=request.sampling,
            finish="error",
            num_prompt=len(request.prompt.tokens),
            ms=reply.ms,
        )

    def _too_long(self, prompt: Prompt, longest: int) -> str:
        return f"The prompt has {len(prompt.tokens)} tokens, and {self.name} reads from 1 to {longest - 1}."


def loaded_name(folder: Path) -> str:
    """Return the name in records of an adapter that is loaded from a folder: of the folder and of the weights."""
    return f"{_WORD.sub('_', folder.name).strip('_')}-{digest(folder)}".strip("-")


def vocabulary_of(tokenizer: Any, end: int) -> Vocabulary:
    """Return a copy of a tokenizer's fast backend that nobody else sets padding on.

    Without one, the tokenizer itself. `end` is the token that ends a reply.
    """
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None:
        return TransformersVocabulary(tokenizer, end)
    return TokenizersVocabulary(_copy_of(core.to_str()), end)


@lru_cache(maxsize=4)
def _copy_of(text: str) -> Tokenizer:
    """Return the backend that is written in a text; several engines of one model share it, and nobody changes it."""
    copy = Tokenizer.from_str(text)
    copy.no_padding()
    copy.no_truncation()
    return copy
