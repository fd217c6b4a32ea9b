"""Commands made from functions: a parameter becomes an argument or an option, and its explanation the help."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from stratagem.api.parameters import ExplainedParameter, explained_parameters, purpose
from stratagem.api.servers import servers
from stratagem.base.errors import BadParameter
from stratagem.cli.call import CommandCall
from stratagem.cli.commands import Command, function_named
from stratagem.cli.option_types import declared_parameter, value_of
from stratagem.cli.parameters import JsonOption, as_options
from stratagem.cli.plural import TAKEN
from stratagem.language.engines.remote.terms import ServerFailed

UNSEEN: dict[str, Callable[[bool], Any]] = {
    "progress": lambda json: not json,
    "command": lambda json: " ".join(["stratagem", *sys.argv[1:]]),
    "allow": lambda json: (),
}
"""Values of parameters that are no options, by whether JSON is printed; permissions have options of their own."""
HOW = ("engine", "workers", "ray", "strict")
"""Parameters that say how work is done."""
USED_BY_METRICS = ("prices",)
"""Terms for servers that have an effect on the figures of games that were played before."""


class OptionAlternative(NamedTuple):
    """Function that an option calls in place of the first."""

    option: str
    function: Callable[..., Any]
    value: str
    """Parameter that is the option's value; empty for a switch."""

    @property
    def name(self) -> str:
        """Name among the parameters of the parser."""
        return f"{self.option.strip('-').replace('-', '_')}_"

    @property
    def explanation(self) -> str:
        """Help of the option: what its value is, or what the function does."""
        told = {one.name: one.explanation for one in explained_parameters(self.function)}
        return told.get(self.value) or _first_paragraph(self.function)


def _first_paragraph(function: Callable[..., Any]) -> str:
    """Return what a function does; further paragraphs are about the use from Python."""
    return purpose(function).partition("\n\n")[0]


class GeneratedCommand:
    """Command with the parameters of its function, and of those that options call in its place."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.function = function_named(command.function)
        self.alternatives = [
            OptionAlternative(option, function_named(text), value) for option, (text, value) in command.instead.items()
        ]

    @cached_property
    def parameters(self) -> dict[str, ExplainedParameter]:
        """All parameters by name, each as the first function that has it explains it."""
        found: dict[str, ExplainedParameter] = {}
        values = [other.value for other in self.alternatives]
        for one in explained_parameters(self.function):
            found[one.name] = one
        for other in self.alternatives:
            for one in explained_parameters(other.function):
                if one.name not in values:
                    found.setdefault(one.name, one._replace(positional=False))
        return {name: one for name, one in found.items() if name not in UNSEEN}

    def as_typed_function(self) -> Callable[..., None]:
        """Return a function with the types from which the parser reads arguments and options."""

        def run(context: typer.Context, **given: Any) -> None:
            self._run(context)

        shown = {"context": (typer.Context, Parameter.empty), **dict(self._declare_parameters())}
        parameters = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in shown.items()
        ]
        vars(run)["__signature__"] = inspect.Signature(parameters)
        run.__annotations__ = {name: kind for name, (kind, _) in shown.items()}
        run.__doc__ = as_options(_first_paragraph(self.function))
        return run

    def _declare_parameters(self) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """Yield each parameter of the parser with its annotation and default."""
        for name, parameter in self.parameters.items():
            shown, needed = self.command.names.get(name, ""), parameter.required and not self.alternatives
            yield name, declared_parameter(parameter, shown, needed=needed)
        for other in self.alternatives:
            kind, default = (Path | None, None) if other.value else (bool, False)
            yield other.name, (Annotated[kind, typer.Option(other.option, help=other.explanation)], default)
        if self.command.more:
            yield "everything", (Annotated[bool, typer.Option("--all", help="Print all figures.")], False)
        if self.command.json:
            yield "json", (JsonOption, False)

    def _run(self, context: typer.Context) -> None:
        """Call the function that the options choose with the parameters that were given."""
        given = {name: value for name, value in context.params.items() if is_given(context, name)}
        json, everything = (bool(given.pop(name, False)) for name in ("json", "everything"))
        other = next((one for one in self.alternatives if one.name in given), None)
        function = self.function if other is None else other.function
        if other is not None:
            given = self._given_to(other, given, context)
        names = inspect.signature(function).parameters
        if idle := [name for name in given if name not in names]:
            switches = " or ".join(one.option for one in self.alternatives)
            raise BadParameter(
                f"Leave out what has an effect with {switches} alone: {_list_parameters(context, idle)}."
            )
        if missing := [name for name in _required_parameters(function) if name not in given]:
            free = [
                one.option for one in self.alternatives if not set(missing) & set(_required_parameters(one.function))
            ]
            raise BadParameter(
                f"Name {_list_parameters(context, missing)}{''.join(f', or use {option}' for option in free)}. "
                f"{context.meta.get(TAKEN, '')}".rstrip()
            )
        values = {name: value_of(one, given[name]) for name, one in self.parameters.items() if name in given}
        hidden = {name: make(json) for name, make in UNSEEN.items() if name in names}
        run = function_named(f"stratagem.cli.{self.command.runs}")
        with self._answering(function):
            run(CommandCall(function, {**given, **values, **hidden}, json, everything, self.command.more))

    @contextmanager
    def _answering(self, function: Callable[..., Any]) -> Iterator[None]:
        """Name options in the place of parameters in an error, and give a server's failure the command's status."""
        try:
            yield
        except BadParameter as error:
            if (said := str(error)).startswith(f"{function.__name__} needs `"):
                error.args = (re.sub(r"`(\w+)`", lambda found: self._option(found[1]), said, count=1),)
            raise
        except ServerFailed as failed:
            failed.exit_code = max(failed.exit_code, self.command.unanswered)
            raise

    def _option(self, name: str) -> str:
        shown = self.command.names.get(name, "")
        return shown if shown.startswith("-") else f"--{name.replace('_', '-')}"

    def _given_to(self, other: OptionAlternative, given: dict[str, Any], context: typer.Context) -> dict[str, Any]:
        """Return what was given to the function of an option; what has no effect there is refused, since it misleads.

        A switch such as --dry-run rehearses the work, so that it may stand beside the options that say how it is done.
        """
        names = inspect.signature(other.function).parameters
        terms = [name for name in inspect.signature(servers).parameters if is_given(context, name)]
        effective = (*names, other.name, *(USED_BY_METRICS if other.value else (*HOW, *terms)))
        if idle := [name for name in (*given, *terms) if name not in effective]:
            raise BadParameter(
                f"Beside {other.option} leave out what has no effect there: {_list_parameters(context, idle)}."
            )
        value = {other.value: given[other.name]} if other.value else {}
        return {name: given[name] for name in given if name in names} | value


def _required_parameters(function: Callable[..., Any]) -> list[str]:
    """Return the parameters of a function that have no default."""
    return [name for name, one in inspect.signature(function).parameters.items() if one.default is one.empty]


def is_given(context: typer.Context, name: str) -> bool:
    """Return whether a parameter was written on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _list_parameters(context: typer.Context, names: Iterable[str]) -> str:
    """Return parameters as they are written, in a sentence."""
    return ", ".join(sorted(option_of(context, name) for name in names))


def option_of(context: typer.Context, name: str) -> str:
    """Return a parameter as it is written: its option, such as --no-chance, or the name of an argument."""
    parameter: Any = next(one for one in context.command.params if one.name == name)
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name)
    off = parameter.secondary_opts if context.params.get(name) is False else ()
    return str((*off, *parameter.opts)[0])


def typed_function(command: Command) -> Callable[..., None]:
    """Return a function from which the parser reads the options of a command."""
    return GeneratedCommand(command).as_typed_function()


def typed_options(function: Callable[..., Any], take: Callable[..., None]) -> Callable[..., None]:
    """Return a function with the parameters of another as options, whose values are given to a callback."""
    annotations = {one.name: declared_parameter(one, callback=take)[0] for one in explained_parameters(function)}

    def options(**given: Any) -> None:
        """Declare the options."""

    parameters = [Parameter(n, Parameter.KEYWORD_ONLY, default=None, annotation=a) for n, a in annotations.items()]
    vars(options)["__signature__"] = inspect.Signature(parameters)
    options.__annotations__ = annotations
    return options
