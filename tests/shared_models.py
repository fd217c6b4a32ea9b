"""The built-in models of the tests: each is loaded once in a process, and what asks for it is given a copy.

What is found out about a model by a probe is found out once, too, for each state of its weights. And demonstrators play
their games once: hundreds of episodes, of which a test takes some dozen decisions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from copy import deepcopy
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any

_SHARED = "shared_by_tests"
HOOKS = ("_forward_hooks", "_forward_pre_hooks")
"""Attributes of torch's modules with functions that change what a pass gives."""
SETS = 12
"""Number of sets of demonstrations that are kept."""
PROBES: dict[Hashable, Any] = {}
"""Results of probes; a test that changes how a model is read takes another dictionary."""


def share_models() -> None:
    """Have the built-in models copied, and probes kept, from here on, where the modules that do it were imported."""
    _wrap("stratagem.language.models.load", "load_weights", copied)
    _wrap("stratagem.language.models.load", "load_tokenizer", once_a_folder)
    _wrap("stratagem.language.models.load", "folder_fingerprint", once_a_folder)
    _wrap("stratagem.language.engines.choose_reader", "probe_reader", probed_reader)
    _wrap("stratagem.learn.demonstrations.scripted", "play_demonstrators", played_once)
    policy = sys.modules.get("stratagem.learn.policy")
    if policy is not None:
        _wrap_in(policy.PackProbe, "compare", compared)


def _wrap(module: str, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    if module in sys.modules:
        _wrap_in(sys.modules[module], name, wrapper)


def _wrap_in(owner: Any, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    if not hasattr(function := getattr(owner, name), _SHARED):
        shared = wrapper(function)
        setattr(shared, _SHARED, True)
        setattr(owner, name, shared)


def copied(load: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that loads a built-in model once for each state of its files, and then copies it."""
    from stratagem.language.models.reference import BUILT_IN

    kept: dict[tuple[Any, ...], Any] = {}

    @wraps(load)
    def model(ref: Any, folder: Path, device: str, dtype: str) -> Any:
        if ref.kind not in (*BUILT_IN, "small"):
            return load(ref, folder, device, dtype)
        key = (ref.kind, ref.four_bit, files_of(folder), device, dtype)
        if key not in kept:
            kept[key] = load(ref, folder, device, dtype)
        return deepcopy(kept[key])

    return model


def once_a_folder(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Return a function that reads something of a model once for each state of its files, and then copies it."""
    kept: dict[Hashable, Any] = {}

    @wraps(read)
    def read_once(folder: Path) -> Any:
        if (key := files_of(folder)) not in kept:
            kept[key] = read(folder)
        return deepcopy(kept[key])

    return read_once


def files_of(folder: Path) -> Hashable:
    """Return the state of the files of a model."""
    return str(folder), tuple((path.name, path.stat().st_mtime_ns) for path in sorted(folder.iterdir()))


def probed_reader(probe: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that probes a reader once for each state of a model, and then makes one without a probe."""
    from stratagem.language.engines.reader import SharingReader

    @wraps(probe)
    def probe_reader(lm: Any, attention: Any, budget: int, packed_mib: int, *, graphs: bool) -> Any:
        key = (state_of(lm.model), repr(attention), packed_mib > 0, graphs)
        if key in PROBES:
            return SharingReader(lm, attention, budget, packed_mib, graphs=graphs), PROBES[key]
        reader, PROBES[key] = probe(lm, attention, budget, packed_mib, graphs=graphs)
        return reader, PROBES[key]

    return probe_reader


def compared(compare: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that compares a way to read a pack once for each state of a model, which no probe outlives."""

    @wraps(compare)
    def compare_once(probe: Any, reads: Callable[..., Any], decoder: Any) -> Any:
        if "state" not in vars(probe):
            probe.state = state_of(probe.lm.model)
        key = (probe.state, repr(probe.attention), reads, type(decoder), decoder.checkpointing)
        if key not in PROBES:
            PROBES[key] = compare(probe, reads, decoder)
        return PROBES[key]

    return compare_once


def played_once(play: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that plays the last few sets of demonstrations once for each way in which players decide."""
    kept: dict[Hashable, Any] = {}

    @wraps(play)
    def play_once(game: Any, episodes: int, key: Any, cast: Any) -> Any:
        kinds = [kind for player in cast.make(game).values() for kind in type(player).__mro__]
        ways = [own for kind in (*type(game).__mro__, *kinds) for own in vars(kind).values()]
        functions = tuple(own for own in ways if isinstance(own, FunctionType))
        asked = (repr(game), episodes, key.value, repr(cast), functions)
        if asked not in kept:
            if len(kept) >= SETS:
                kept.pop(next(iter(kept)))
            kept[asked] = play(game, episodes, key, cast)
        return kept[asked]

    return play_once


def state_of(model: Any) -> Hashable:
    """Return what the outputs of a model follow from: its modules, what was changed on them, and its weights."""
    import torch

    layers = [
        (
            name,
            type(module),
            known["training"],
            known.get("forward"),
            *(hook for hooks in HOOKS for hook in known[hooks].values()),
            str(known.get("_active_adapter", "")),
            str(known.get("scaling", "")),
        )
        for name, module in model.named_modules()
        for known in [vars(module)]
    ]
    with torch.no_grad():
        weights = [float(weight.double().sum()) for weight in (*model.parameters(), *model.buffers())]
    return (*layers, *weights, repr(vars(model.config)))  # as JSON it takes longer than all before
