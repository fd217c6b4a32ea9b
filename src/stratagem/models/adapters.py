"""LoRA adapters: several on one base, new or from safetensors, and one place that says which of them is at work.

Changing the active adapter between a forward pass and its backward pass loses the gradients without an error, so one
`active` spans both. The base is never changed: weights are not merged, and switching back gives the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stratagem.errors import UnknownName
from stratagem.games.key import Key
from stratagem.models.adapter_files import check_base, check_shapes, read_config, read_weights, write_adapter
from stratagem.models.load import LanguageModel
from stratagem.models.reference import BadModel

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def add_adapter(
    model: LanguageModel, name: str, rank: int, alpha: float, targets: Sequence[str] | None = None, *, seed: int = 0
) -> None:
    """Add a new adapter that changes nothing yet and can be trained; it is not active until `active` says so."""
    from peft import LoraConfig

    if rank < 1:
        raise BadModel(f"An adapter has a rank of at least 1, not {rank}.")
    modules = _targets(model, targets)
    config = LoraConfig(r=rank, lora_alpha=alpha, target_modules=modules, task_type="CAUSAL_LM")  # type: ignore[arg-type]
    _inject(model, name, config, seed)


def load_adapter(model: LanguageModel, path: str | Path, name: str, *, trainable: bool = False) -> None:
    """Add an adapter from its folder; one that was made for another base is refused."""
    import torch

    folder = Path(path).expanduser()
    config = read_config(folder)
    check_base(folder, model.name, model.fingerprint)
    config.target_modules = check_shapes(folder, model.name, config.r, _linears(model))
    read = read_weights(folder)
    _inject(model, name, config, seed=0)
    with torch.no_grad():
        for key, weight in _weights(model, name).items():
            weight.copy_(read[key])
            weight.requires_grad_(trainable)


def save_adapter(model: LanguageModel, name: str, path: str | Path) -> None:
    """Write an adapter as safetensors into a new folder, with what it says about its base."""
    weights = _weights(model, name)
    base = {"name": model.name, "fingerprint": model.fingerprint}
    write_adapter(Path(path).expanduser(), weights, model.model.peft_config[name], base)


def adapter_names(model: LanguageModel) -> list[str]:
    """The adapters that the model has, in the order in which they came."""
    return list(getattr(model.model, "peft_config", {}))


def check_adapter(model: LanguageModel, name: str) -> None:
    """Complain about a name that no adapter of the model has."""
    if name not in adapter_names(model):
        raise UnknownName("adapter", name, adapter_names(model))


def adapter_parameters(model: LanguageModel, name: str) -> list[Any]:
    """The weights of one adapter: what an optimiser is given."""
    return list(_weights(model, name).values())


def _weights(model: LanguageModel, name: str) -> dict[str, Any]:
    """The same by their names in a file, which are peft's without the adapter's own."""
    check_adapter(model, name)
    split = ((key.split("."), weight) for key, weight in model.model.get_base_model().named_parameters())
    return {
        ".".join([*parts[:-2], parts[-1]]): weight
        for parts, weight in split
        if parts[-2] == name and parts[-3] in ("lora_A", "lora_B")
    }


@contextmanager
def active(model: LanguageModel, name: str | None) -> Iterator[None]:
    """Within, this adapter is at work, or with None the base alone; afterwards, what was before."""
    if name is not None:
        check_adapter(model, name)
    before = current(model)
    _switch(model, name)
    try:
        yield
    finally:
        _switch(model, before)


@contextmanager
def mixed(model: LanguageModel) -> Iterator[None]:
    """Within, each row obeys peft's `adapter_names` (`__base__` for none), which is ignored while the base is alone."""
    before, names = current(model), adapter_names(model)
    _switch(model, names[0] if names else None)
    try:
        yield
    finally:
        _switch(model, before)


def current(model: LanguageModel) -> str | None:
    """The adapter at work; None where it is the base alone."""
    if not adapter_names(model):
        return None
    layer = next(lora_layers(model), None)
    return None if layer is None or layer.disable_adapters else layer.active_adapters[0]


def lora_layers(model: LanguageModel) -> Iterator[Any]:
    """The layers that have adapters."""
    from peft.tuners.lora import LoraLayer

    return (module for module in model.model.modules() if isinstance(module, LoraLayer))


def _switch(model: LanguageModel, name: str | None) -> None:
    """Switch as peft does, but leave it to the trainer which weights are trained."""
    if not adapter_names(model):
        return
    trained = [(weight, weight.requires_grad) for weight in model.model.parameters()]
    if name is None:
        model.model.base_model.disable_adapter_layers()
    else:
        model.model.base_model.enable_adapter_layers()
        model.model.set_adapter(name)
    for weight, flag in trained:
        weight.requires_grad_(flag)


def _inject(model: LanguageModel, name: str, config: Any, seed: int) -> None:
    """Put the adapter into the base: the first time, peft's model is wrapped around it."""
    import torch
    from peft import get_peft_model

    if not _NAME.fullmatch(name) or name in "lora_":
        raise BadModel(f"An adapter cannot be called {name!r}: take letters, digits, - and _, and no part of lora_.")
    if name in adapter_names(model):
        raise BadModel(f"The model has an adapter called {name!r} already: give this one another name.")
    before, training = current(model), model.model.training
    trained = [weight for weight in model.model.parameters() if weight.requires_grad]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Key(seed).at(name).value >> 1)
        if adapter_names(model):
            model.model.add_adapter(name, config)
        else:
            model.model = get_peft_model(model.model, config, adapter_name=name)
    model.model.train(training)
    for weight in [*trained, *adapter_parameters(model, name)]:
        weight.requires_grad_(True)
    _switch(model, before)


def _linears(model: LanguageModel) -> dict[str, Any]:
    """The linear layers of the language model by full name; what reads pictures, and the head, are not among them."""
    import torch

    base = model.model.get_base_model() if adapter_names(model) else model.model
    inside = {id(module) for module in base.get_decoder().modules()}
    named = {name: module for name, module in base.named_modules() if id(module) in inside}
    layers = {name: getattr(module, "base_layer", module) for name, module in named.items() if ".lora_" not in name}
    linear = {name: layer for name, layer in layers.items() if isinstance(layer, torch.nn.Linear)}
    return {name: layer for name, layer in linear.items() if not name.endswith(".base_layer")}


def _targets(model: LanguageModel, targets: Sequence[str] | None) -> list[str]:
    """The full names of the layers that are asked for by their last names; all of them by default."""
    linears = _linears(model)
    known = {name.rpartition(".")[2] for name in linears}
    for target in targets or ():
        if target not in known:
            raise UnknownName("linear layer in the language model", target, known)
    return [name for name in linears if not targets or name.rpartition(".")[2] in targets]
