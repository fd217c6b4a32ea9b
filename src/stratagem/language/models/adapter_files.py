"""An adapter as a folder: safetensors, peft's configuration, and which base it was trained on.

Everything is checked against the model before the model is touched, so a refused adapter leaves no trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from hashlib import blake2b
from pathlib import Path
from typing import Any

from stratagem.base.cache import make_folder
from stratagem.base.manifest import check_within
from stratagem.language.models.folder import check_weights, read_json, read_shapes
from stratagem.language.models.reference import BadModel

WEIGHTS, CONFIG, BASE = "adapter_model.safetensors", "adapter_config.json", "base.json"
_FACTOR = re.compile(r"(?:base_model\.model\.)?(.+)\.lora_([AB])\.weight")
_FORMATS = ("float32", "bfloat16", "float16", "float64")
_KEPT = ("r", "lora_alpha", "lora_dropout", "use_rslora")
_REFUSED = ("modules_to_save", "use_dora", "lora_bias", "rank_pattern", "alpha_pattern", "trainable_token_indices")
"""LoRA variants that change more than two factors of one rank a layer."""


def read_config(folder: Path) -> Any:
    """Read the configuration of the adapter in a folder; anything but plain LoRA in safetensors is refused."""
    from peft import LoraConfig

    if not folder.is_dir():
        raise BadModel(f"There is no folder {str(folder)!r}: an adapter is a folder with {CONFIG} and {WEIGHTS}.")
    check_weights(folder, WEIGHTS)
    check_within(folder)
    data = read_json(folder / CONFIG)
    if data.get("peft_type") != "LORA" or any(data.get(name) for name in _REFUSED):
        raise BadModel(f"The adapter {str(folder)!r} is not plain LoRA: save it with peft_type LORA and nothing more.")
    try:
        return LoraConfig(**{key: data[key] for key in _KEPT if key in data}, task_type="CAUSAL_LM")
    except (TypeError, ValueError) as error:
        raise BadModel(f"The adapter {str(folder)!r} has a {CONFIG} that cannot be read: {error}.") from error


def digest(folder: Path) -> str:
    """Identify an adapter by its weights and its scale; empty where there are none."""
    if not (folder / WEIGHTS).is_file():
        return ""
    data = read_json(folder / CONFIG)
    scale = json.dumps([data.get(name) for name in ("r", "lora_alpha", "use_rslora")])
    return blake2b((folder / WEIGHTS).read_bytes() + scale.encode(), digest_size=4).hexdigest()


def check_base(folder: Path, name: str, fingerprint: str) -> None:
    """Compare the base with the one noted in the adapter's folder; adapters from elsewhere have no note."""
    if not (folder / BASE).is_file():
        return
    note = read_json(folder / BASE)
    if note.get("fingerprint") != fingerprint:
        made = f"{note.get('name')} ({note.get('fingerprint')})"
        raise BadModel(f"The adapter {str(folder)!r} was trained on {made} and does not fit {name} ({fingerprint}).")


def check_shapes(folder: Path, name: str, rank: int, linears: Mapping[str, Any]) -> list[str]:
    """Return the layers of the adapter's weights, if the model has them in these sizes."""
    factors: dict[str, set[str]] = {}
    for key, shape in read_shapes(folder / WEIGHTS).items():
        match = _FACTOR.fullmatch(key)
        layer = linears.get(match[1]) if match else None
        if not match or layer is None or shape != _shape(layer, match[2], rank):
            raise BadModel(f"The adapter {str(folder)!r} was made for another base than {name}: {key} does not fit.")
        factors.setdefault(match[1], set()).add(match[2])
    if not factors or any(len(halves) < 2 for halves in factors.values()):
        raise BadModel(f"The adapter {str(folder)!r} is incomplete: each of its layers needs lora_A and lora_B.")
    return list(factors)


def _shape(layer: Any, factor: str, rank: int) -> list[int]:
    return [rank, layer.in_features] if factor == "A" else [layer.out_features, rank]


def read_weights(folder: Path) -> dict[str, Any]:
    """Read the adapter's weights by their names in the base, as in `model.layers.0.mlp.up_proj.lora_A.weight`.

    A nan or an infinity is refused: in a batch of several adapters it would reach every row. So are whole numbers,
    which would be taken as they are and not as what a quantised adapter means by them.
    """
    from safetensors.torch import load_file

    weights = {key.removeprefix("base_model.model."): value for key, value in load_file(folder / WEIGHTS).items()}
    for key, value in weights.items():
        if str(value.dtype).removeprefix("torch.") not in _FORMATS:
            formats = ", ".join(_FORMATS)
            raise BadModel(f"The adapter {str(folder)!r} holds {key} as {value.dtype}: save it as one of {formats}.")
        if not value.isfinite().all():
            raise BadModel(f"The adapter {str(folder)!r} holds numbers in {key} that are not finite.")
    return weights


def write_adapter(folder: Path, weights: Mapping[str, Any], config: Any, base: Mapping[str, str]) -> None:
    """Write a new folder that peft can read too."""
    from safetensors.torch import save_file

    if folder.exists():
        raise BadModel(f"There is something at {str(folder)!r} already: save the adapter into a new folder.")

    def fill(temporary: Path) -> None:
        named = {f"base_model.model.{key}": value.detach().cpu().contiguous() for key, value in weights.items()}
        save_file(named, temporary / WEIGHTS, metadata={"format": "pt"})
        _repeatable(config).save_pretrained(temporary)
        (temporary / BASE).write_text(json.dumps(dict(base)) + "\n", encoding="utf-8")

    make_folder(folder, fill)


def _repeatable(config: Any) -> Any:
    """Return a configuration that is written alike on every machine.

    peft holds the layers in a set, whose order is that of a hash, and the base by its folder.
    """
    config = deepcopy(config)
    config.target_modules = sorted(config.target_modules)
    if Path(config.base_model_name_or_path or "").is_dir():
        config.base_model_name_or_path = None
    return config
