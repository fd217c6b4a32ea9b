"""Tokenizer of our own models without transformers: the `tokenizers` library, and our chat template as a function."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from stratagem.language.models.bpe import CHAT, write_chat
from stratagem.language.models.folder import read_json

_FILE, _SETTINGS, _TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"
_CLASSES = ("TokenizersBackend", "PreTrainedTokenizerFast")
"""Classes of transformers that add nothing to the file of a tokenizer."""
_NAMED = ("bos_token", "eos_token", "pad_token")
_WITHOUT_EFFECT = {"backend", "is_local", "local_files_only", "model_max_length", "padding_side"}
_KNOWN = {*_NAMED, *_WITHOUT_EFFECT, "clean_up_tokenization_spaces", "extra_special_tokens", "tokenizer_class"}
MOST_KEPT = 4_000_000
"""Number of characters and tokens that are kept of pieces of texts: prompts of a game have their first in common."""
_ENTRY = 100
"""The same of a kept piece beside its characters and tokens, about."""


class StandaloneTokenizer:
    """Tokenizer with the methods that a `LanguageModel` uses, by the names that transformers gives them."""

    chat_template = CHAT

    def __init__(self, core: Tokenizer, end: str) -> None:
        core.no_padding()
        core.no_truncation()
        self.backend_tokenizer = core
        self.eos_token = end
        self.eos_token_id = core.token_to_id(end)
        self.added_tokens_decoder: Mapping[int, Any] = core.get_added_tokens_decoder()
        self._cut = _pattern_of_cuts(core)
        """Pattern of the special tokens, between which pieces are encoded by themselves; None where they are not."""
        self.kept: dict[str, array[int]] = {}
        """Tokens of pieces, by their text."""
        self._used = 0

    def __len__(self) -> int:
        """Return the number of tokens."""
        return int(self.backend_tokenizer.get_vocab_size(with_added_tokens=True))

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        """Return a conversation as a text; `tokenize` is False."""
        assert not tokenize
        return write_chat(messages, add_generation_prompt=add_generation_prompt)

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Return the tokens of a text."""
        if add_special_tokens or self._cut is None:
            return list(self.backend_tokenizer.encode(text, add_special_tokens=add_special_tokens).ids)
        return [token for piece in self._cut.split(text) if piece for token in self._tokens_of(piece)]

    def _tokens_of(self, piece: str) -> array[int]:
        """Return the tokens of a piece, kept from before; a full store is emptied, and soon has what is common."""
        if (known := self.kept.get(piece)) is None:
            known = array("I", self.backend_tokenizer.encode(piece, add_special_tokens=False).ids)
            size = len(piece) + len(known) + _ENTRY
            if size <= MOST_KEPT:  # a client of a server may send larger ones
                if self._used + size > MOST_KEPT:
                    self.kept, self._used = {}, 0
                self.kept[piece] = known
                self._used += size
        return known

    def decode(self, tokens: Sequence[int], *, skip_special_tokens: bool, clean_up_tokenization_spaces: bool) -> str:
        """Return the text of tokens; `clean_up_tokenization_spaces` is False."""
        assert not clean_up_tokenization_spaces
        return str(self.backend_tokenizer.decode(list(tokens), skip_special_tokens=skip_special_tokens))


def _pattern_of_cuts(core: Tokenizer) -> re.Pattern[str] | None:
    """Return the pattern of the special tokens; None where a piece between two may depend on what is around it."""
    added = list(core.get_added_tokens_decoder().values())
    plain = all(one.special and not (one.normalized or one.lstrip or one.rstrip or one.single_word) for one in added)
    if not added or not plain or core.normalizer is not None or core.pre_tokenizer is None:
        return None
    steps = json.loads(core.pre_tokenizer.__getstate__())
    if not {step["type"] for step in steps.get("pretokenizers", [steps])} <= {"Split", "ByteLevel"}:
        return None
    words = sorted((one.content for one in added), key=len, reverse=True)  # the longest counts where several begin
    return re.compile(f"({'|'.join(map(re.escape, words))})")


def read_tokenizer(folder: Path) -> StandaloneTokenizer | None:
    """Read a tokenizer; None where its folder is not as ours are, which transformers may still read."""
    if not all((folder / name).is_file() for name in (_FILE, _SETTINGS, _TEMPLATE)):
        return None
    settings = read_json(folder / _SETTINGS)
    if settings.get("tokenizer_class") not in _CLASSES or not {*settings} <= _KNOWN:
        return None
    if settings.get("clean_up_tokenization_spaces") is not False:
        return None
    if (folder / _TEMPLATE).read_text(encoding="utf-8") != CHAT:
        return None
    core = Tokenizer.from_file(str(folder / _FILE))
    special = {token.content for token in core.get_added_tokens_decoder().values() if token.special}
    named = [settings[name] for name in (*_NAMED, "extra_special_tokens")]
    if not {*named[:-1], *named[-1]} <= special:  # transformers would add the others
        return None
    return StandaloneTokenizer(core, settings["eos_token"])


__all__ = ["StandaloneTokenizer", "read_tokenizer"]
