"""LoRA adapters: several on one base, new or from safetensors, and one function that activates one of them.

A change of the active adapter between a forward pass and its backward pass loses the gradients without an error, so one
`active` spans both. The base is never changed: weights are not merged, and switching back gives the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from stratagem.base.errors import UnknownName
from stratagem.games.key import Key
from stratagem.language.models.adapter_files import check_base, check_shapes, read_config, read_weights, write_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.quiet import quietly
from stratagem.language.models.reference import BadModel

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def add_adapter(
    model: LanguageModel,
    name: str,
    rank: int,
    alpha: float,
    targets: Sequence[str] | None = None,
    *,
    dropout: float = 0.0,
    seed: int = 0,
) -> None:
    """Add a new trainable adapter that changes nothing yet; it is not active until `active` says so.

    `dropout` is the share of its inputs that are dropped, and only within `dropping`.
    """
    from peft import LoraConfig

    if rank < 1:
        raise BadModel(f"An adapter has a rank of at least 1, not {rank}.")
    if not 0.0 <= dropout < 1.0:
        raise BadModel(f"The dropout of an adapter is a share from 0 to below 1, not {dropout:g}.")
    options: dict[str, Any] = {"r": rank, "lora_alpha": alpha, "lora_dropout": dropout, "task_type": "CAUSAL_LM"}
    _inject(model, name, LoraConfig(target_modules=adapted_layers(model, targets), **options), seed)


def copy_adapter(
    model: LanguageModel, source: str, name: str, *, trainable: bool = False, dropout: float | None = None
) -> None:
    """Add a copy of an adapter; frozen by default, and with its own `dropout` where one is given."""
    import torch

    theirs, config = adapter_weights(model, source), deepcopy(model.model.peft_config[source])
    config.lora_dropout = config.lora_dropout if dropout is None else dropout
    _inject(model, name, config, seed=0)
    with torch.no_grad():
        for key, weight in adapter_weights(model, name).items():
            weight.copy_(theirs[key])
            weight.requires_grad_(trainable)


def average_adapter(model: LanguageModel, into: str, source: str, decay: float) -> None:
    """Move the weights of one adapter towards another's by an exponential moving average with this `decay`."""
    import torch

    theirs = adapter_weights(model, source)
    with torch.no_grad():
        for key, weight in adapter_weights(model, into).items():
            weight.mul_(decay).add_(theirs[key].to(weight), alpha=1.0 - decay)


def load_adapter(model: LanguageModel, path: str | Path, name: str, *, trainable: bool = False) -> None:
    """Add an adapter from its folder; one that was made for another base is refused."""
    import torch

    folder = Path(path).expanduser()
    config = fitting_config(model, folder)
    read = read_weights(folder)
    _inject(model, name, config, seed=0)
    with torch.no_grad():
        for key, weight in adapter_weights(model, name).items():
            weight.copy_(read[key])
            weight.requires_grad_(trainable)


def check_loadable(model: LanguageModel, folder: Path) -> None:
    """Refuse an adapter that `load_adapter` would."""
    fitting_config(model, folder)
    read_weights(folder)


def fitting_config(model: LanguageModel, folder: Path) -> Any:
    """Read the configuration of an adapter in a folder; refused unless it is whole and made for this model."""
    config = read_config(folder)
    check_base(folder, model.name, model.fingerprint)
    config.target_modules = check_shapes(folder, model.name, config.r, _linears(model))
    return config


def save_adapter(model: LanguageModel, name: str, path: str | Path) -> None:
    """Write an adapter as safetensors into a new folder, with a note of its base."""
    weights = adapter_weights(model, name)
    base = {"name": model.name, "fingerprint": model.fingerprint}
    write_adapter(Path(path).expanduser(), weights, model.model.peft_config[name], base)


def save_zero_adapter(model: LanguageModel, path: str | Path) -> None:
    """Write an adapter that changes nothing: zeros at one layer, under which an engine reads the base."""
    import torch
    from peft import LoraConfig

    name, layer = next(iter(_linears(model).items()))
    weights = {
        f"{name}.lora_A.weight": torch.zeros(1, layer.in_features),
        f"{name}.lora_B.weight": torch.zeros(layer.out_features, 1),
    }
    config = LoraConfig(r=1, lora_alpha=1, target_modules=[name], task_type="CAUSAL_LM")
    write_adapter(Path(path), weights, config, {"name": model.name, "fingerprint": model.fingerprint})


def drop_adapter(model: LanguageModel, name: str) -> None:
    """Remove an adapter; the last one cannot go, since without any the model is another object."""
    check_adapter(model, name)
    if len(adapter_names(model)) == 1:
        raise BadModel(f"{name} is the only adapter of {model.name}, and one must stay.")
    before = current(model)
    if before == name:
        raise BadModel(f"{name} is at work, so it cannot be taken out of {model.name}.")
    trained = [weight for weight in model.model.parameters() if weight.requires_grad]
    with quietly():
        model.model.delete_adapter(name)
    for weight in trained:  # peft switches to another adapter, and on what is trained with it
        weight.requires_grad_(True)
    model.lora_layers = None
    for layer in lora_layers(model):
        layer._disable_adapters = False  # noqa: SLF001 - as in `_switch`
        layer._active_adapter = [adapter_names(model)[0]]  # noqa: SLF001
    _switch(model, before)


def adapter_names(model: LanguageModel) -> list[str]:
    """Names of the model's adapters, in the order in which they came."""
    return list(getattr(model.model, "peft_config", {}))


def check_adapter(model: LanguageModel, name: str) -> None:
    """Refuse a name that no adapter of the model has."""
    if name not in adapter_names(model):
        raise UnknownName("adapter", name, adapter_names(model))


def adapter_parameters(model: LanguageModel, name: str) -> list[Any]:
    """Return the weights of one adapter, for an optimizer."""
    return list(adapter_weights(model, name).values())


def adapter_weights(model: LanguageModel, name: str) -> dict[str, Any]:
    """Return the weights of one adapter by their names in a file, which are peft's without the adapter's own."""
    check_adapter(model, name)
    split = ((key.split("."), weight) for key, weight in model.model.get_base_model().named_parameters())
    return {
        ".".join([*parts[:-2], parts[-1]]): weight
        for parts, weight in split
        if parts[-2] == name and parts[-3] in ("lora_A", "lora_B")
    }


def active_weights(model: LanguageModel) -> list[Any]:
    """Return the weights that a forward pass reads: those of the base, and of the active adapter."""
    named = model.model.named_parameters()
    base = [weight for name, weight in named if ".lora_A." not in name and ".lora_B." not in name]
    name = current(model)
    return base if name is None else [*base, *adapter_parameters(model, name)]


@contextmanager
def active(model: LanguageModel, name: str | None) -> Iterator[None]:
    """Activate this adapter within, or with None the base alone; afterwards, the former one."""
    if name is not None:
        check_adapter(model, name)
    before = current(model)
    _switch(model, name)
    try:
        yield
    finally:
        _switch(model, before)


def dropout_of(model: LanguageModel, name: str) -> float:
    """Return the dropout probability of an adapter in training."""
    check_adapter(model, name)
    return float(model.model.peft_config[name].lora_dropout)


@contextmanager
def dropping(model: LanguageModel, name: str | None, key: Key) -> Iterator[None]:
    """Apply the adapter's dropout within, drawn by this key; without any, nothing is changed."""
    import torch

    if name is None or not dropout_of(model, name):
        yield
        return
    droppers = [layer.lora_dropout[name] for layer in lora_layers(model) if name in layer.lora_dropout]
    device = torch.device(model.model.device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(key.value >> 1)
        try:
            for dropper in droppers:
                dropper.train()
            yield
        finally:
            for dropper in droppers:
                dropper.eval()


def current(model: LanguageModel) -> str | None:
    """Return the active adapter; None for the base alone."""
    if not adapter_names(model):
        return None
    layer = next(iter(lora_layers(model)), None)
    return None if layer is None or layer.disable_adapters else layer.active_adapters[0]


def lora_layers(model: LanguageModel) -> Sequence[Any]:
    """Return the layers that have adapters, cached, since to find them walks the whole model."""
    from peft.tuners.lora import LoraLayer

    known = (model.model, adapter_names(model))
    if model.lora_layers is None or model.lora_layers[0] is not known[0] or model.lora_layers[1] != known[1]:
        model.lora_layers = (*known, [module for module in model.model.modules() if isinstance(module, LoraLayer)])
    return model.lora_layers[2]


def _switch(model: LanguageModel, name: str | None) -> None:
    """Set on each layer what peft's switch would, without a change of `requires_grad`.

    peft's own walks over all modules and weights several times: 20 ms even of a small model, at every batch.
    """
    if adapter_names(model) and current(model) != name:
        for layer in lora_layers(model):
            layer._disable_adapters = name is None  # noqa: SLF001 - the public switches also set what is trained
            if name is not None:
                layer._active_adapter = [name]  # noqa: SLF001


def _inject(model: LanguageModel, name: str, config: Any, seed: int) -> None:
    """Put the adapter into the base; the first time, peft's model is wrapped around it."""
    import torch
    from peft import get_peft_model

    from stratagem.language.models.lora_linear import quicken

    if not _NAME.fullmatch(name) or name in "lora_":
        raise BadModel(f"An adapter cannot be called {name!r}: take letters, digits, - and _, and no part of lora_.")
    if name in adapter_names(model):
        raise BadModel(f"The model has an adapter called {name!r} already: give this one another name.")
    before, training = current(model), model.model.training
    trained = [weight for weight in model.model.parameters() if weight.requires_grad]
    with torch.random.fork_rng(devices=[]), quietly():
        torch.manual_seed(Key(seed).at(name).value >> 1)
        if adapter_names(model):
            model.model.add_adapter(name, config)
        else:
            model.model = get_peft_model(model.model, config, adapter_name=name)
    model.model.train(training)
    for layer in lora_layers(model):
        quicken(layer)
    for weight in [*trained, *adapter_parameters(model, name)]:
        weight.requires_grad_(True)
    _switch(model, before)


def _linears(model: LanguageModel) -> dict[str, Any]:
    """Return the linear layers of the language model by full name, without vision layers and the head."""
    import torch

    base = model.model.get_base_model() if adapter_names(model) else model.model
    inside = {id(module) for module in base.get_decoder().modules()}
    named = {name: module for name, module in base.named_modules() if id(module) in inside}
    layers = {name: getattr(module, "base_layer", module) for name, module in named.items() if ".lora_" not in name}
    linear = {name: layer for name, layer in layers.items() if isinstance(layer, torch.nn.Linear)}
    return {name: layer for name, layer in linear.items() if not name.endswith(".base_layer")}


def adapted_layers(model: LanguageModel, targets: Sequence[str] | None) -> list[str]:
    """Return the full names of the layers given by their last names, and refuse others; all of them by default."""
    linears = _linears(model)
    known = {name.rpartition(".")[2] for name in linears}
    for target in targets or ():
        if target not in known:
            raise UnknownName("linear layer in the language model", target, known)
    return [name for name in linears if not targets or name.rpartition(".")[2] in targets]
