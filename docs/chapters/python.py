"""The Python interface: every function of `import stratagem` with its parameters, the results, the public modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module

import stratagem
from chapters.markdown import block, code, definition, notes, page, rule, table
from stratagem.api import FUNCTIONS, load_function
from stratagem.api.audit_comparisons import AuditComparison
from stratagem.api.audit_plans import PlannedAudit
from stratagem.api.audits import Audit, Ranking
from stratagem.api.collusions import CollusionMeasure
from stratagem.api.demonstrations import Demonstrations
from stratagem.api.dry_runs import DryRun
from stratagem.api.engines import Engines
from stratagem.api.evaluations import Evaluation
from stratagem.api.exploitabilities import ExploitabilityTable
from stratagem.api.games import GameCard, Games
from stratagem.api.matches import MatchResult
from stratagem.api.parameters import explained_parameters, purpose
from stratagem.api.players import Players
from stratagem.api.prompts import Prompts
from stratagem.api.recipes import Recipes
from stratagem.api.records import Record
from stratagem.api.reports import ReportPage
from stratagem.api.result import PlottedResult, Result
from stratagem.api.run_lists import Runs
from stratagem.api.runs import Run
from stratagem.api.steps import StepTable
from stratagem.api.sweeps import SweepComparison
from stratagem.api.talks import TalkMeasure
from stratagem.api.tournaments import Tournament
from stratagem.api.verification import Verification
from stratagem.api.views import ViewerPages
from stratagem.cli.commands import COMMANDS
from stratagem.show.web.server import Server

RESULTS = (
    *(MatchResult, Record, Evaluation, ExploitabilityTable, Tournament),
    *(TalkMeasure, CollusionMeasure, Audit, PlannedAudit, AuditComparison, Ranking),
    *(Run, Runs, DryRun, SweepComparison, ReportPage),
    *(Games, GameCard, Players, Recipes, Engines, Prompts, Verification, Demonstrations, StepTable),
)
SERVERS = (Server, ViewerPages)
"""Servers that `serve` and `view` return."""
MODULES = (
    "stratagem.games",
    "stratagem.games.conformance",
    "stratagem.players.base",
    "stratagem.language.prompting.base",
    "stratagem.language.engines.base",
    "stratagem.language.engines.spec",
    "stratagem.measure.metrics",
    "stratagem.learn.losses.base",
    "stratagem.learn.advantages.base",
    "stratagem.training.stage",
    "stratagem.training.algorithm",
)
"""Modules whose `__all__` is public, for extensions."""
BY_HAND = {
    "show": "`sg.read_record`",
    "watch": "It redraws one terminal until a run ends; `sg.load_run` has the figures, and `sg.view` the page.",
    "trust": "`sg.trust`, `sg.list_trusted`, `sg.forget`",
}
"""Functions of the commands that are written by hand."""
COMMON = ("to_pandas", "plot", "save", "forms", "rows", "to_json", "legend", "remarks")


def python() -> str:
    """The page."""
    return page(
        "Python",
        f"{rule(stratagem)} `import stratagem as sg` loads no library; a function loads what it needs when it is "
        "called. A game is given by its name or as a `Game`; a player by its name, as a `Player`, or as a function, "
        "which is then [an agent](../how-to/agents.md). A mistake is a `StratagemError` with one sentence. "
        "Progress is shown by a bar in a terminal, and in a notebook where tqdm is installed, and by a line now and "
        "then elsewhere; `progress=False` hides it.",
        table(
            ("function", "what it does"), ((f"[`sg.{name}`](#{name})", rule(load_function(name))) for name in FUNCTIONS)
        ),
        *(f"## {name}\n\n{_function(name)}" for name in FUNCTIONS),
        "## Results",
        "A result prints as a table, in a notebook too. These methods are those of all results; one without figures, "
        "such as a list, has no `plot`. A data frame needs pandas, and a picture the extra `plots`.",
        table(("method", "what it does"), ((code(f"{name}()"), rule(_common(name))) for name in COMMON)),
        *(f"### {cls.__name__}\n\n{definition(cls)}\n\n{_members(cls)}" for cls in RESULTS),
        "## Servers",
        *(f"### {cls.__name__}\n\n{definition(cls)}\n\n{_members(cls)}" for cls in SERVERS),
        "## Commands",
        "A command of the [command line](command-line.md) reads its options, calls these functions, and prints.",
        table(("command", "function"), _commands()),
        "## Public modules",
        "The names in `__all__` of these modules are for extensions.",
        table(("module", "names"), ((code(name), code(", ".join(_public(name)))) for name in MODULES)),
        "## Stability",
        "Public are the functions and results of this page, the public modules, the functions of "
        "`stratagem.integrations` on the pages *Coming from ...*, the command line, the keys of recipes, and the "
        "columns of records. Other modules may change in any version. Before a public name is removed "
        "or changes its meaning, at least one minor version keeps the old name and warns with a `DeprecationWarning` "
        "that says the new name. The changelog lists it under Deprecated. Before version 1.0 a minor version may "
        "remove what the one before deprecated. From 1.0 on only a major version does.",
    )


def _commands() -> Iterator[tuple[str, str]]:
    """Functions of each command, or what else it is made of."""
    for name, command in COMMANDS.items():
        called = [command.function, *(function for function, _ in command.instead.values())]
        names = [str(one).partition(":")[2] for one in called]
        public = ", ".join(code(f"sg.{one}") for one in names if one in FUNCTIONS)
        yield code(f"stratagem {name}"), BY_HAND.get(name, public)


def signature(called: str, what: Callable[..., object]) -> str:
    """Return a call with its parameters, a line each; a default that is no plain value is not spelt out."""
    lines = [f"{called}("]
    star = False
    shape = inspect.signature(what)
    for parameter in shape.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            lines.append("    *,")
            star = True
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        lines.append(f"    {stars}{parameter.name}: {parameter.annotation}{_default(parameter.default)},")
    return "\n".join([*lines, f") -> {shape.return_annotation}"])


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return ""
    return " = ..." if " at 0x" in repr(value) or len(repr(value)) > 60 else f" = {value!r}"


def _function(name: str) -> str:
    what = load_function(name)
    told = [(code(one.name), one.explanation) for one in explained_parameters(what) if one.explanation]
    shown = f"{block(signature(f'sg.{name}', what))}\n\n{purpose(what)}"
    return f"{shown}\n\n{table(('parameter', 'meaning'), told)}" if told else shown


def _common(name: str) -> object:
    return getattr(Result, name, None) or getattr(PlottedResult, name)


def _members(cls: type) -> str:
    return table(("member", "meaning"), _own(cls))


def _own(cls: type) -> Iterator[tuple[str, str]]:
    """Fields with a note, then public methods and properties that the common ones do not cover."""
    yield from ((code(name), note) for name, note in notes(cls).items() if not name.startswith("_"))
    bases = [base for base in cls.__mro__ if base.__module__.startswith("stratagem.")]
    names = dict.fromkeys(name for base in bases for name in vars(base) if not name.startswith("_"))
    for name in names:
        member = inspect.getattr_static(cls, name)
        told = rule(member)
        if name == "grids" or not told or (name in COMMON and told == rule(_common(name))):
            continue
        called = inspect.isfunction(member)
        if not called and not isinstance(member, property | cached_property):
            continue  # the default of a field
        yield code(f"{name}()" if called else name), told


def _public(name: str) -> list[str]:
    return list(import_module(name).__all__)
