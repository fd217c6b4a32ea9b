"""A tokenizer trained on some texts: byte-level BPE, with the special tokens and the chat of our own models."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PAD, BOS, EOS, END = "<|pad|>", "<|bos|>", "<|eos|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
SPECIAL = (PAD, BOS, EOS, *ROLES, END)
"""Special tokens; their ids are their indices."""
CONTEXT = 8192
CHAT = (
    "{{ '<|bos|>' }}{% for message in messages %}"
    "{% if message['role'] not in ['system', 'user', 'assistant'] %}"
    "{{ raise_exception('A role is system, user or assistant.') }}{% endif %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
"""Chat template: each message is its role, its text and an end, with nothing between, so a reply begins a line."""


def write_chat(messages: Sequence[Mapping[str, str]], *, add_generation_prompt: bool) -> str:
    """Write a conversation as `CHAT` does, without a library of templates."""
    if any(message["role"] not in ("system", "user", "assistant") for message in messages):
        raise ValueError("A role is system, user or assistant.")
    turns = "".join(f"<|{message['role']}|>{message['content']}{END}" for message in messages)
    return f"{BOS}{turns}{'<|assistant|>' if add_generation_prompt else ''}"


def digest_texts(texts: Iterable[str], pieces: str, vocabulary: int) -> str:
    """Compute eight characters that change with what a tokenizer is trained on: texts, pieces, special tokens, size."""
    key_text = "\0".join((*texts, pieces, CHAT, *SPECIAL, str(vocabulary)))
    return hashlib.blake2b(key_text.encode(), digest_size=4).hexdigest()


def trained_tokenizer(texts: Iterable[str], pieces: str, vocabulary: int) -> Any:
    """Train a tokenizer with at most so many tokens, none of which crosses the end of a piece.

    Every byte is a token.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    cut = pre_tokenizers.Split(Regex(pieces), "isolated")
    spelt = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cut, spelt])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BOS,
        eos_token=EOS,
        additional_special_tokens=[*ROLES, END],
        chat_template=CHAT,
        model_max_length=CONTEXT,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
