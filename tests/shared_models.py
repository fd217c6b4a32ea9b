"""The built-in models of the tests: each is loaded once in a process, and what asks for it is given a copy.

What a probe finds out is found out once, too: a way to read that agreed is taken for all models of the same modules,
whatever their weights. And demonstrators play their games once: hundreds of episodes, of which a test takes some dozen
decisions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from copy import copy, deepcopy
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any

_SHARED = "shared_by_tests"
HOOKS = ("_forward_hooks", "_forward_pre_hooks")
"""Attributes of torch's modules with functions that change what a pass gives."""
SETS = 12
"""Number of sets of demonstrations that are kept."""
REFUSED = "refused"
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
    """Return a function that reads a tokenizer or a digest once for each state of a model's files; then it copies it.

    Copies have settings of their own; the fast backend, which nobody changes and is dear to copy, is the same.
    """
    kept: dict[Hashable, Any] = {}

    @wraps(read)
    def read_once(folder: Path) -> Any:
        if (key := files_of(folder)) not in kept:
            kept[key] = read(folder)
        own = copy(kept[key])
        for name, value in getattr(own, "__dict__", {}).items():
            if isinstance(value, dict | list):
                setattr(own, name, deepcopy(value))
        return own

    return read_once


def files_of(folder: Path) -> Hashable:
    """Return the state of the files of a model."""
    return str(folder), tuple((path.name, path.stat().st_mtime_ns) for path in sorted(folder.iterdir()))


def probed_reader(probe: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that probes a reader once for each structure of a model, and then makes one without a probe."""
    from stratagem.language.engines.reader import SharingReader

    @wraps(probe)
    def probe_reader(lm: Any, attention: Any, budget: int, packed_mib: int, *, graphs: bool) -> Any:
        way = (repr(attention), packed_mib > 0, graphs)
        known = _known(structure := structure_of(lm.model), lm.model, way)
        if known is not None:
            return SharingReader(lm, attention, budget, packed_mib, graphs=graphs), known
        reader, result = probe(lm, attention, budget, packed_mib, graphs=graphs)
        _keep(structure, lm.model, way, result)
        return reader, result

    return probe_reader


def compared(compare: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that compares a way to read a pack once for each structure of a model."""

    @wraps(compare)
    def compare_once(probe: Any, reads: Callable[..., Any], decoder: Any) -> Any:
        if "structure" not in vars(probe):
            probe.structure = structure_of(probe.lm.model)
        way = (repr(probe.attention), reads, type(decoder), decoder.checkpointing)
        known = _known(probe.structure, probe.lm.model, way)
        if known is None:
            known = compare(probe, reads, decoder)
            _keep(probe.structure, probe.lm.model, way, known)
        return known

    return compare_once


def _known(structure: Hashable, model: Any, way: Hashable) -> Any:
    """Return the result of a probe: that of any model of the structure if it agreed, else of one with these weights."""
    if (agreed := PROBES.get((structure, way))) is not None or not PROBES.get((REFUSED, structure, way)):
        return agreed
    return PROBES.get((structure, weights_of(model), way))


def _keep(structure: Hashable, model: Any, way: Hashable, result: Any) -> None:
    if getattr(result, "agrees", False):
        PROBES[structure, way] = result
    else:  # odd weights may be the reason
        PROBES[REFUSED, structure, way] = True
        PROBES[structure, weights_of(model), way] = result


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


def structure_of(model: Any) -> Hashable:
    """Return what a way to read a model may depend on: its modules, what was changed on them, and its settings."""
    layers = [
        (
            name,
            type(module),
            known["training"],
            known.get("forward"),
            *(hook for hooks in HOOKS for hook in known[hooks].values()),
            *((weight.shape, weight.dtype) for weight in known["_parameters"].values() if weight is not None),
            str(known.get("_active_adapter", "")),
            str(known.get("scaling", "")),
        )
        for name, module in model.named_modules()
        for known in [vars(module)]
    ]
    return (*layers, str(model.device), repr(vars(model.config)))  # as JSON it takes longer than all before


def weights_of(model: Any) -> Hashable:
    """Return sums of the weights of a model."""
    import torch

    with torch.no_grad():
        return tuple(float(weight.double().sum()) for weight in (*model.parameters(), *model.buffers()))
