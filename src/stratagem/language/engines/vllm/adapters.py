"""Adapters in vLLM: a folder and a name for each version, and slots of which one stays empty.

vLLM's prefix cache knows an adapter by its name, so a name never comes twice: a version that is published again, or
with other weights, gets another. An adapter is written when it is first asked for. Loaded adapters beyond the slots
are removed, the least recently used first, and read from their folders again when they are needed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from itertools import count
from pathlib import Path
from weakref import finalize

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.language.engines.vllm.served_by import AdapterVersion, Runtime
from stratagem.language.models.adapter_files import read_config
from stratagem.language.models.adapters import adapter_names, save_adapter, save_zero_adapter
from stratagem.language.models.language_model import LanguageModel


class Adapters:
    """Adapters of the learner's model and those loaded from folders."""

    def __init__(self, lm: LanguageModel, engine: str, slots: int, max_rank: int, folder: str = "") -> None:
        """`engine` is its name in sentences; adapters are written below `folder` (empty: the system's own)."""
        self.lm = lm
        self.engine = engine
        self.slots = slots
        self.max_rank = max_rank
        self._root = Path(tempfile.mkdtemp(prefix="stratagem-vllm-", dir=folder or None))
        finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        self._numbers = count(1)
        self._versions: dict[str, AdapterVersion] = {}
        self._loaded: dict[str, AdapterVersion] = {}
        """AdapterVersions in vLLM's slots by adapter; the most recently used is last."""

    def __contains__(self, name: str) -> bool:
        return name in self._versions or name in adapter_names(self.lm)

    def check(self, name: str) -> None:
        """Refuse a name that no adapter has; an empty name is the base."""
        if name and name not in self:
            raise UnknownName("adapter", name, {*adapter_names(self.lm), *self._versions})

    def add(self, name: str, folder: Path) -> None:
        """Add the adapter of a folder, which is read in place."""
        self._check_rank(name, folder)
        self._versions[name] = AdapterVersion(name, next(self._numbers), folder, own=False)

    def current(self, name: str) -> AdapterVersion:
        """Return the present version of an adapter; one of the learner's is written if it changed."""
        if name not in self._versions:
            self._versions[name] = self._write_version(name)
        return self._versions[name]

    def _write_version(self, name: str) -> AdapterVersion:
        number = next(self._numbers)
        folder = self._root / f"{name}-{number}"
        save_adapter(self.lm, name, folder)
        self._check_rank(name, folder)
        return AdapterVersion(f"{name}-{number}", number, folder, own=True)

    def _check_rank(self, name: str, folder: Path) -> None:
        rank = read_config(folder).r
        if rank > self.max_rank:
            most = f"{self.engine} takes adapters up to rank {self.max_rank}"
            raise BadParameter(f"{most}, and {name} has rank {rank}: raise `max_rank`.")

    def zero(self) -> AdapterVersion:
        """Write an adapter that changes nothing, for servers on which rows of the base need one."""
        number = next(self._numbers)
        folder = self._root / f"zero-{number}"
        save_zero_adapter(self.lm, folder)
        return AdapterVersion(f"zero-{number}", number, folder, own=True)

    def forget(self, name: str, runtime: Runtime | None) -> None:
        """Forget the present version of an adapter: its weights changed, or it goes."""
        if (loaded := self._loaded.pop(name, None)) is not None and runtime is not None:
            runtime.unload(loaded)
        if (version := self._versions.pop(name, None)) is not None and version.own:
            shutil.rmtree(version.folder, ignore_errors=True)

    def forget_loaded(self) -> None:
        """Forget what is in vLLM's slots: vLLM was started anew."""
        self._loaded.clear()

    def ready(self, name: str, busy: Collection[str], runtime: Runtime) -> AdapterVersion | None:
        """Return the present version in a slot; None while all slots are taken by adapters in the batch (`busy`)."""
        version = self.current(name)
        if name not in self._loaded and len(self._loaded) >= self.slots:
            idle = next((other for other in self._loaded if other not in busy), None)
            if idle is None:
                return None
            runtime.unload(self._loaded.pop(idle))
        self._loaded.pop(name, None)
        self._loaded[name] = version
        return version
