"""Loading of a model: its folder, its weights, its tokenizer, and its adapters."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stratagem.base.errors import MissingExtra
from stratagem.base.manifest import check_within
from stratagem.language.models.adapter_files import read_config
from stratagem.language.models.adapters import load_adapter
from stratagem.language.models.devices import (
    find_device,
    fuse_norms_on_gpu,
    leave_out_cudnn_attention,
    place,
    usual_dtype,
)
from stratagem.language.models.folder import check_folder, folder_fingerprint, hub_folder, read_json
from stratagem.language.models.gguf_file import check_file, gguf_folder
from stratagem.language.models.language_model import LanguageModel, first_line
from stratagem.language.models.number_format import FormatChoice, choose_format
from stratagem.language.models.quiet import quietly
from stratagem.language.models.reference import AUTO, BUILT_IN, DTYPES, BadModel, ModelRef, parse_model
from stratagem.language.models.run_models import resolve_model
from stratagem.language.models.shapes import ModelShape
from stratagem.language.models.small import SIZES, base_folder, small_folder
from stratagem.language.models.smollm2 import smollm2_folder
from stratagem.language.models.tiny import tiny_folder
from stratagem.language.models.unloaded import check_loads

_READ_TOO = ("adapter_config.json", "added_tokens.json", "special_tokens_map.json")
"""Files that transformers reads beside those of our own models, and that change what it makes of them."""


def load(ref: ModelRef | str, *, device: str | None = None, dtype: str | None = None) -> LanguageModel:
    """Load the model of a reference with all its adapters, in evaluation mode and frozen; no adapter is active."""
    return _load(ref, device, dtype, standalone=False)


def load_to_serve(ref: ModelRef | str, *, dtype: str | None = None) -> LanguageModel:
    """Load a model for an engine: one of our own without transformers, of which `complete_model` loads the rest."""
    return _load(ref, None, dtype, standalone=True)


def _load(ref: ModelRef | str, device: str | None, dtype: str | None, *, standalone: bool) -> LanguageModel:
    ref = resolve_model(parse_model(ref) if isinstance(ref, str) else ref)
    check_loads(ref)
    check_extras(ref)
    folder = folder_of(ref)
    device = device or find_device()
    dtype = dtype or ref.dtype or usual_dtype(folder, device)
    if dtype == AUTO:
        dtype = choose_dtype(ref, device).dtype
        ref = replace(ref, dtype=dtype)
    if dtype not in DTYPES:
        raise BadModel(f"There is no dtype {dtype!r}: say one of {', '.join((*DTYPES, AUTO))}.")
    if standalone and (parts := standalone_parts(ref, folder, device, dtype)) is not None:
        model, tokenizer = parts
    else:
        leave_out_cudnn_attention(device)
        model, tokenizer = load_weights(ref, folder, device, dtype), load_tokenizer(folder)
        device = device if ref.four_bit else place(model, device)
        fuse_norms_on_gpu(model, device)
    loaded = LanguageModel(
        model, tokenizer, ref.base, device, dtype, folder_fingerprint(folder), str(folder), source=_source(ref)
    )
    _speaks(loaded)
    for adapter in ref.adapters:
        load_adapter(loaded, adapter.path, adapter.name)
    return loaded


def complete_model(lm: LanguageModel) -> bool:
    """Replace a standalone model by that of transformers, which takes adapters; False if it was none."""
    from stratagem.language.models.standalone import StandaloneLlama

    if not isinstance(lm.model, StandaloneLlama):
        return False
    ref = parse_model(lm.source)
    lm.model, lm.tokenizer = load_weights(ref, Path(lm.folder), lm.device, lm.dtype), load_tokenizer(Path(lm.folder))
    return True


def standalone_parts(ref: ModelRef, folder: Path, device: str, dtype: str) -> tuple[Any, Any] | None:
    """Return the model and the tokenizer without transformers; None where they cannot be had."""
    import torch

    from stratagem.language.models.standalone import read_standalone
    from stratagem.language.models.standalone_tokenizer import read_tokenizer

    if device != "cpu" or ref.four_bit or ref.adapters or any((folder / name).exists() for name in _READ_TOO):
        return None
    try:
        tokenizer = read_tokenizer(folder)
        model = read_standalone(folder, getattr(torch, DTYPES[dtype])) if tokenizer else None
    except Exception:  # noqa: BLE001 - a damaged file, which transformers names, or reads without it
        return None
    if model is None:
        return None
    _check_finite(ref, model)
    return model, tokenizer


def choose_dtype(ref: ModelRef, device: str | None = None) -> FormatChoice:
    """Return the number format that suits a model on this machine, which takes a second."""
    folder = folder_of(resolve_model(ref))
    return choose_format(ModelShape.of(read_json(folder / "config.json")), device or find_device())


def check_present(text: str) -> None:
    """Refuse a model whose folder, file or adapter is not on this machine; nothing is loaded or fetched."""
    ref = resolve_model(parse_model(text))
    if ref.kind in ("api", "dir"):
        folder_of(ref)
    if ref.kind == "gguf":
        check_file(Path(ref.where).expanduser())
    for adapter in ref.adapters:
        read_config(Path(adapter.path).expanduser())


def _source(ref: ModelRef) -> str:
    """Return the text that loads the base of a reference from any working directory."""
    where = str(Path(ref.where).expanduser().resolve()) if ref.kind in ("dir", "gguf") else ref.where
    return str(replace(ref, where=where, adapters=()))


def _speaks(model: LanguageModel) -> None:
    """Refuse a model that cannot take a turn, before any is played."""
    turn = [{"role": "system", "content": "Play."}, {"role": "user", "content": "?"}]
    try:
        tokens = model.chat(turn)
        model.decode(tokens)
    except BadModel:
        raise
    except Exception as error:  # as above
        raise BadModel(f"The tokenizer of {model.name} cannot be used: {first_line(error)}") from error
    if not tokens:
        raise BadModel(f"The chat template of {model.name} writes nothing.")
    ends = model.model.generation_config.eos_token_id
    if not (ends is None or type(ends) is int or (isinstance(ends, list) and all(type(end) is int for end in ends))):
        raise BadModel(f"The model {model.name} names no token that ends a reply: eos_token_id is {ends!r}.")


def check_extras(ref: ModelRef) -> None:
    """Refuse a model whose packages are not installed."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtra(f"The model {ref.base}", "models")
    if ref.four_bit and find_spec("bitsandbytes") is None:
        raise MissingExtra("A model in 4 bits", "quantized")


def folder_of(ref: ModelRef) -> Path:
    """Return the folder of a model, made or fetched where it is not here yet."""
    if ref.kind == "api":
        raise BadModel(f"{ref.base} is behind a server and has no weights here: name a model of {', '.join(BUILT_IN)}.")
    if ref.kind in BUILT_IN:
        return tiny_folder(ref.kind)
    if ref.kind == "small":
        return small_folder()
    if ref.kind in SIZES:
        return base_folder(ref.kind)
    if ref.kind == "smollm2":
        return smollm2_folder()
    if ref.kind == "hf":
        return hub_folder(ref)
    path = Path(ref.where).expanduser()
    if ref.kind == "gguf":
        return gguf_folder(path)
    check_within(check_folder(path))
    return path


def load_weights(ref: ModelRef, folder: Path, device: str, dtype: str) -> Any:
    """Load the weights of a base without its adapters, frozen and in evaluation mode."""
    options: dict[str, Any] = {"dtype": DTYPES[dtype], "use_safetensors": True, "trust_remote_code": False}
    if ref.four_bit:
        options |= {"quantization_config": _four_bit(dtype), "device_map": {"": device}}
    try:
        with quietly():
            model, info = _class(folder).from_pretrained(folder, **options, output_loading_info=True)
    except Exception as error:  # transformers takes a wrong value for a right one until something breaks
        raise BadModel(f"The model {ref.base} cannot be loaded: {first_line(error)}") from error
    if missing := sorted(info["missing_keys"]):
        raise BadModel(f"The model {ref.base} lacks {len(missing)} of its weights, among them {missing[0]}.")
    _check_finite(ref, model)
    if ref.four_bit:
        _keep_differentiable(model)
    return model.eval().requires_grad_(False)


def _keep_differentiable(model: Any) -> None:
    """Keep 4-bit weights in the format with gradients.

    On processors with AVX-512 bitsandbytes packs them anew in a pass without gradients, and later backward passes stop
    at them without an error.
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


def _check_finite(ref: ModelRef, model: Any) -> None:
    """Refuse weights with a nan or an infinity, which would reach every figure."""
    for name, weight in model.named_parameters():
        if weight.is_floating_point() and not weight.isfinite().all():
            raise BadModel(f"The model {ref.base} holds numbers in {name} that are not finite.")


def _class(folder: Path) -> Any:
    """Return the class that reads a folder.

    A model that also sees pictures is loaded whole, and is then given text alone.
    """
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    speaks = type(config) in AutoModelForCausalLM._model_mapping  # noqa: SLF001 - there is no public way to ask
    return AutoModelForCausalLM if speaks else AutoModelForImageTextToText


def _four_bit(dtype: str) -> Any:
    import torch
    from transformers import BitsAndBytesConfig

    inner = getattr(torch, DTYPES[dtype])
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=inner)


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer with padding on the left, as generation needs it."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, padding_side="left")
    except Exception as error:  # as above
        raise BadModel(f"The tokenizer in {str(folder)!r} cannot be loaded: {first_line(error)}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer
