"""From a reference to a model that can speak: weights, tokenizer, and how a conversation becomes tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stratagem.errors import MissingExtra
from stratagem.manifest import check_within
from stratagem.models.folder import check_folder, folder_fingerprint, hub_folder, read_json
from stratagem.models.gguf_file import gguf_folder
from stratagem.models.quiet import quietly
from stratagem.models.reference import BUILT_IN, DTYPES, BadModel, ModelRef, parse_model
from stratagem.models.run_models import resolved
from stratagem.models.small import small_folder
from stratagem.models.smollm2 import smollm2_folder
from stratagem.models.tiny import tiny_folder

_PLACE = "\u241ereply\u241e"
"""Stands for a reply where only what follows it is wanted."""
Message = Mapping[str, str]
"""A role (system, user or assistant) and its content."""


@dataclass(eq=False)
class LanguageModel:
    """A causal language model with its tokenizer; adapters are added to it in place."""

    model: Any
    """The transformers model; once it has an adapter, the peft model around it."""
    tokenizer: Any
    name: str
    """The text that names it, without adapters: whoever reads a record can load it again."""
    device: str
    dtype: str
    fingerprint: str
    """Changes with the weights, the configuration and the tokenizer."""
    lora_layers: tuple[Any, list[str], list[Any]] | None = field(default=None, init=False, repr=False)
    """The layers with adapters, as `adapters.lora_layers` found them, with what it found them for."""

    def chat(self, messages: Sequence[Message], *, reply: bool = True) -> list[int]:
        """The tokens of a conversation; with `reply`, up to where the model is to answer."""
        return self.encode(self.chat_text(messages, reply=reply))

    def chat_text(self, messages: Sequence[Message], *, reply: bool = True) -> str:
        """The conversation as the model's own template writes it, special tokens included."""
        turns = [{"role": message["role"], "content": self.harmless(message["content"])} for message in messages]
        if not self.tokenizer.chat_template:
            return "".join(f"{message['content']}\n\n" for message in turns)
        try:
            return self._rendered(turns, reply)
        except BadModel:
            if (merged := _without_system(turns)) is None:
                raise
            return self._rendered(merged, reply)

    def after_reply(self, user: str) -> list[int]:
        """The tokens between the end of a reply and the next one, when the user says this in between."""
        asked = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _PLACE}]
        text = self.chat_text([*asked, {"role": "user", "content": user}])
        return self.encode(text.rpartition(_PLACE)[2])

    def _rendered(self, messages: Sequence[Message], reply: bool) -> str:
        write = self.tokenizer.apply_chat_template
        try:
            text: str = write(list(messages), tokenize=False, add_generation_prompt=reply)
        except Exception as error:  # the template is a program of the model's folder, and may fail in any way
            raise BadModel(f"The chat template of {self.name} fails: {_first_line(error)}") from error
        return text

    def harmless(self, text: str) -> str:
        """The text with special tokens broken up: what a player says can end no message and begin none.

        Half characters, which no tokenizer takes, become question marks.
        """
        whole = text.encode(errors="replace").decode()
        return self._special.sub(lambda match: f"{match[0][0]} {match[0][1:]}", whole)

    @cached_property
    def _special(self) -> re.Pattern[str]:
        tokens = [token.content for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        return re.compile("|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True)) or "(?!)")

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, as it stands."""
        tokens: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, without special ones."""
        text: str = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    @property
    def stop_ids(self) -> frozenset[int]:
        """The tokens that end a reply."""
        ends = self.model.generation_config.eos_token_id
        listed = [ends] if isinstance(ends, int) else list(ends or ())
        return frozenset(id_ for id_ in [*listed, self.tokenizer.eos_token_id] if id_ is not None)

    @property
    def num_parameters(self) -> int:
        """How many numbers the model is made of, adapters included."""
        return sum(parameter.numel() for parameter in self.model.parameters())


def load(ref: ModelRef | str, *, device: str | None = None, dtype: str | None = None) -> LanguageModel:
    """The model of a reference with all its adapters, in evaluation mode and frozen; none of the adapters is active."""
    from stratagem.models.adapters import load_adapter

    ref = resolved(parse_model(ref) if isinstance(ref, str) else ref)
    _needs(ref)
    folder = _folder(ref)
    device = device or _device()
    dtype = dtype or ref.dtype or _dtype(folder, device)
    if dtype not in DTYPES:
        raise BadModel(f"There is no dtype {dtype!r}: say one of {', '.join(DTYPES)}.")
    model, tokenizer = _model(ref, folder, device, dtype), _tokenizer(folder)
    loaded = LanguageModel(model, tokenizer, ref.base, device, dtype, folder_fingerprint(folder))
    _speaks(loaded)
    for adapter in ref.adapters:
        load_adapter(loaded, adapter.path, adapter.name)
    return loaded


def _speaks(model: LanguageModel) -> None:
    """Refuse a model that cannot take a turn, before any is played."""
    turn = [{"role": "system", "content": "Play."}, {"role": "user", "content": "?"}]
    try:
        tokens = model.chat(turn)
        model.decode(tokens)
    except BadModel:
        raise
    except Exception as error:  # as above
        raise BadModel(f"The tokenizer of {model.name} cannot be used: {_first_line(error)}") from error
    if not tokens:
        raise BadModel(f"The chat template of {model.name} writes nothing.")
    ends = model.model.generation_config.eos_token_id
    if not (ends is None or type(ends) is int or (isinstance(ends, list) and all(type(end) is int for end in ends))):
        raise BadModel(f"The model {model.name} names no token that ends a reply: eos_token_id is {ends!r}.")


def _needs(ref: ModelRef) -> None:
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtra(f"The model {ref.base}", "models")
    if ref.four_bit and find_spec("bitsandbytes") is None:
        raise MissingExtra("A model in 4 bits", "quantized")


def _folder(ref: ModelRef) -> Path:
    if ref.kind == "api":
        raise BadModel(f"{ref.base} is behind a server and has no weights here: name a model of {', '.join(BUILT_IN)}.")
    if ref.kind in BUILT_IN:
        return tiny_folder(ref.kind)
    if ref.kind == "small":
        return small_folder()
    if ref.kind == "smollm2":
        return smollm2_folder()
    if ref.kind == "hf":
        return hub_folder(ref)
    path = Path(ref.where).expanduser()
    if ref.kind == "gguf":
        return gguf_folder(path)
    check_within(check_folder(path))
    return path


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _dtype(folder: Path, device: str) -> str:
    """Fp32, so that a processor changes no figure; on a GPU bf16, but what was saved in fp32 stays so."""
    import torch

    if not device.startswith("cuda") or _saved_in(folder) == "float32":
        return "fp32"
    return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"


def _saved_in(folder: Path) -> str | None:
    """The number format that a model's folder says its weights are in; older ones call it `torch_dtype`."""
    stated = read_json(folder / "config.json")
    match = stated.get("dtype") or stated.get("torch_dtype")
    return match if isinstance(match, str) else None


def _model(ref: ModelRef, folder: Path, device: str, dtype: str) -> Any:
    options: dict[str, Any] = {"dtype": DTYPES[dtype], "use_safetensors": True, "trust_remote_code": False}
    if ref.four_bit:
        options |= {"quantization_config": _four_bit(dtype), "device_map": {"": device}}
    try:
        with quietly():
            model, info = _class(folder).from_pretrained(folder, **options, output_loading_info=True)
    except Exception as error:  # transformers takes a wrong value for a right one until something breaks
        raise BadModel(f"The model {ref.base} cannot be loaded: {_first_line(error)}") from error
    if missing := sorted(info["missing_keys"]):
        raise BadModel(f"The model {ref.base} lacks {len(missing)} of its weights, among them {missing[0]}.")
    _check_finite(ref, model)
    return (model if ref.four_bit else model.to(device)).eval().requires_grad_(False)


def _check_finite(ref: ModelRef, model: Any) -> None:
    """Refuse weights that no training leaves: one nan reaches every figure."""
    for name, weight in model.named_parameters():
        if weight.is_floating_point() and not weight.isfinite().all():
            raise BadModel(f"The model {ref.base} holds numbers in {name} that are not finite.")


def _class(folder: Path) -> Any:
    """The class that reads a folder: where it also sees pictures, the whole of it, which is then given text alone."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    speaks = type(config) in AutoModelForCausalLM._model_mapping  # noqa: SLF001 - there is no public way to ask
    return AutoModelForCausalLM if speaks else AutoModelForImageTextToText


def _four_bit(dtype: str) -> Any:
    import torch
    from transformers import BitsAndBytesConfig

    inner = getattr(torch, DTYPES[dtype])
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=inner)


def _tokenizer(folder: Path) -> Any:
    """The tokenizer, filling up on the left, as generation needs it."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, padding_side="left")
    except Exception as error:  # as above
        raise BadModel(f"The tokenizer in {str(folder)!r} cannot be loaded: {_first_line(error)}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _without_system(messages: Sequence[Message]) -> list[Message] | None:
    """For a template that knows no system: what it says goes before the first thing the user says."""
    first, *rest = messages or ({"role": ""},)
    if first["role"] != "system" or not rest or rest[0]["role"] != "user":
        return None
    return [{"role": "user", "content": f"{first['content']}\n\n{rest[0]['content']}"}, *rest[1:]]
