"""Imports by old names: a finder that answers them with the modules, classes and functions of the new names.

The copies of files in a run, and programs of users, import by the names of the release for which they were written.
Both names give the same object, so that a class is one class.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

_TABLE = "stratagem.base.renamed"


class MovedModules(MetaPathFinder):
    """Finder of what has an old name; it comes first, since a package that moved would be found twice."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to import a module that has an old name, or in which a name is old; None of other modules."""
        if not fullname.startswith("stratagem.") or fullname.startswith(_TABLE):
            return None  # the table itself is imported below
        from stratagem.base.renamed.modules import new_name
        from stratagem.base.renamed.names import CALLED_PACKAGES, RENAMED

        if new := new_name(fullname):
            return ModuleSpec(fullname, _SameModule(new))
        below = fullname.partition(".")[2]
        spec = PathFinder.find_spec(fullname, path) if below in RENAMED or below in CALLED_PACKAGES else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _WithOldNames(spec.loader.name, spec.loader.path)
        return spec


class _SameModule(Loader):
    """Loader that gives the module of another name."""

    def __init__(self, new: str) -> None:
        self.new = new
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module by its new name."""
        warnings.warn(f"{spec.name} is now {self.new}.", DeprecationWarning, stacklevel=2)
        module = import_module(self.new)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back, in whose place the import put that of the old name."""
        module.__spec__ = self.spec


class _WithOldNames(SourceFileLoader):
    """Loader of a module with old names, or that is called by one; the module itself has no code for this."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and let it answer old names."""
        from stratagem.base.renamed.names import CALLED_PACKAGES, RENAMED, CallablePackage, old_names_of

        super().exec_module(module)
        below = module.__name__.partition(".")[2]
        if below in RENAMED:
            module.__dict__["__getattr__"] = old_names_of(module)
        if below in CALLED_PACKAGES:
            module.__class__ = CallablePackage


def answer_old_names() -> None:
    """Install the finder, once."""
    if not any(isinstance(one, MovedModules) for one in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
