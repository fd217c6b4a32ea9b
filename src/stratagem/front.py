"""Names that `import stratagem` offers, each loaded when it is first used; `__init__.pyi` says their types."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

FUNCTIONS = {
    "game": "names",
    "player": "names",
    "play": "matches",
    "evaluate": "evaluations",
    "exploitability": "exploitabilities",
    "tournament": "tournaments",
    "talk": "talks",
    "collusion": "collusions",
    "audit": "audits",
    "plan_audit": "audit_plans",
    "compare_audits": "audits",
    "rank_audits": "audits",
    "train": "trainings",
    "dry_run": "dry_runs",
    "sweep": "sweeps",
    "reproduce": "reproductions",
    "load_run": "runs",
    "upgrade": "upgrades",
    "read_record": "records",
    "report": "reports",
    "games": "games",
    "players": "players",
    "recipes": "recipes",
    "engines": "engines",
    "runs": "run_lists",
    "prompt": "prompts",
    "verify": "verification",
    "new": "extensions",
    "data": "demonstrations",
    "steps": "steps",
    "serve": "endpoints",
    "view": "views",
    "export_replays": "views",
    "servers": "servers",
    "allow": "consents",
    "trust": "consents",
    "trusted": "consents",
    "forget": "consents",
}
"""Module of `stratagem.api` by the name of its function."""
PACKAGES = ("games", "players")
"""Functions with the name of a package, which is called in their place."""
FORMER = {"engines": "language.engines", "play": "playing", "runs": "training.runs"}
"""Functions with the former name of a package, by the present name: an import by that name binds the package."""
_PACKAGE = "stratagem"


def function(name: str) -> Any:
    """Load a function of the front door."""
    return getattr(import_module(f"{_PACKAGE}.api.{FUNCTIONS[name]}"), name)


def attribute(name: str) -> Any:
    """Return an attribute of the package that is not loaded yet."""
    if name in PACKAGES:
        return import_module(f"{_PACKAGE}.{name}")  # the package, which can be called
    if name == "StratagemError":
        return getattr(import_module(f"{_PACKAGE}.base.errors"), name)
    if name not in FUNCTIONS:
        raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}")
    return function(name)


class Front(ModuleType):
    """Module `stratagem`: a package in it that has the name of a function becomes one that can be called.

    An import of `stratagem.playing.match`, a former name, binds `stratagem.play` to the package that it means.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if (name in PACKAGES or name in FORMER) and isinstance(value, ModuleType):
            value.__class__ = CallablePackage
        super().__setattr__(name, value)


class CallablePackage(ModuleType):
    """Package with the name of a function: to call it is to call the function of `stratagem.api`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of this name."""
        return self._function(*args, **kwargs)

    @property
    def _function(self) -> Any:
        package = self.__name__.removeprefix(f"{_PACKAGE}.")
        return function(next((name for name, present in FORMER.items() if present == package), package))

    @property
    def __wrapped__(self) -> Any:
        """Function behind the package, from which `inspect.signature` reads its parameters."""
        return self._function
