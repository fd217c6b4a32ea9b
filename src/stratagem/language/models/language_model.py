"""Language model in memory: weights, tokenizer, and the tokens of a conversation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stratagem.language.models.reference import BadModel

_PLACE = "\u241ereply\u241e"
"""Stand-in for a reply where only the text after it is needed."""
Message = Mapping[str, str]
"""Role (system, user or assistant) and content."""


@dataclass(eq=False)
class LanguageModel:
    """A causal language model with its tokenizer; adapters are added to it in place."""

    model: Any
    """Transformers model; once it has an adapter, the peft model around it."""
    tokenizer: Any
    name: str
    """Text that names it, without adapters, so that a reader of a record can load it again."""
    device: str
    dtype: str
    fingerprint: str
    """Fingerprint of the weights, the configuration and the tokenizer."""
    folder: str = ""
    """Folder that it was loaded from; its weights are not changed there when they are trained."""
    source: str = ""
    """Text that loads the same weights in another process; empty where there is none."""
    reading: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """Sentence by component.

    Rollouts and training: whether it shares prefixes of texts, and why; engine: certificate of an engine with a copy.
    """
    lora_layers: tuple[Any, list[str], list[Any]] | None = field(default=None, init=False, repr=False)
    """Cached result of `adapters.lora_layers`, with the adapters it was found for."""

    def chat(self, messages: Sequence[Message], *, reply: bool = True) -> list[int]:
        """Return the tokens of a conversation; with `reply`, up to where the model is to answer."""
        return self.encode(self.chat_text(messages, reply=reply))

    def chat_text(self, messages: Sequence[Message], *, reply: bool = True) -> str:
        """Return the conversation as the model's own template writes it, special tokens included."""
        turns = [{"role": message["role"], "content": self.harmless(message["content"])} for message in messages]
        if not self.tokenizer.chat_template:
            return "".join(f"{message['content']}\n\n" for message in turns)
        try:
            return self._render_messages(turns, reply)
        except BadModel:
            if (merged := _without_system(turns)) is None:
                raise
            return self._render_messages(merged, reply)

    def after_reply(self, user: str) -> list[int]:
        """Return the tokens between the end of a reply and the next one, when the user says this in between."""
        asked = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _PLACE}]
        text = self.chat_text([*asked, {"role": "user", "content": user}])
        return self.encode(text.rpartition(_PLACE)[2])

    def _render_messages(self, messages: Sequence[Message], reply: bool) -> str:
        write = self.tokenizer.apply_chat_template
        try:
            text: str = write(list(messages), tokenize=False, add_generation_prompt=reply)
        except Exception as error:  # the template is a program of the model's folder, and may fail in any way
            raise BadModel(f"The chat template of {self.name} fails: {first_line(error)}") from error
        return text

    def harmless(self, text: str) -> str:
        """Break up special tokens in a text, so that no player's text can end or begin a message.

        Half characters, which no tokenizer takes, become question marks.
        """
        whole = text.encode(errors="replace").decode()
        return self._special.sub(lambda match: f"{match[0][0]} {match[0][1:]}", whole)

    @cached_property
    def _special(self) -> re.Pattern[str]:
        tokens = [token.content for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        return re.compile("|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True)) or "(?!)")

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, as it stands."""
        tokens: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without special ones."""
        text: str = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    @property
    def stop_ids(self) -> frozenset[int]:
        """Tokens that end a reply."""
        ends = self.model.generation_config.eos_token_id
        listed = [ends] if isinstance(ends, int) else list(ends or ())
        return frozenset(id_ for id_ in [*listed, self.tokenizer.eos_token_id] if id_ is not None)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _without_system(messages: Sequence[Message]) -> list[Message] | None:
    """Move the system message before the first message of the user, for a template without system messages."""
    first, *rest = messages or ({"role": ""},)
    if first["role"] != "system" or not rest or rest[0]["role"] != "user":
        return None
    return [{"role": "user", "content": f"{first['content']}\n\n{rest[0]['content']}"}, *rest[1:]]
