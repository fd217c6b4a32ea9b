"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from stratagem.cli import completion
from stratagem.files import check_writable

Seed = Annotated[int, typer.Option(help="Seed of all randomness.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Record = Annotated[Path | None, typer.Option("--record", help="Folder for the episodes and decisions, as Parquet.")]


def _writable(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written before the work, and not after it."""
    if path is not None:
        check_writable(path)
    return path


Out = Annotated[Path | None, typer.Option("--out", callback=_writable, help="JSON file for the figures.")]


def _terms(name: str, kind: type[float]) -> Callable[[typer.Context, float | None], float | None]:
    """Set the terms for servers while the command runs."""

    def take(context: typer.Context, value: float | None) -> float | None:
        if value is not None:
            from stratagem.engines.remote.terms import changed

            context.with_resource(changed(**{name: kind(value)}))
        return value

    return take


def _served(context: typer.Context, text: str | None) -> str | None:
    """Serve local models by an engine while the command runs."""
    if text is not None:
        from stratagem.engines.open import served_by
        from stratagem.training.engine import read_engine

        context.with_resource(served_by(read_engine(text).value))
    return text


def _spend(context: typer.Context, text: str | None) -> str | None:
    """Cap what the command spends."""
    if text is not None:
        from stratagem.engines.remote.budget import read_budget, spending

        context.with_resource(spending(read_budget(text)))
    return text


def _price(context: typer.Context, path: Path | None) -> Path | None:
    """Take the prices of a file while the command runs."""
    if path is not None:
        from stratagem.engines.remote.tally import priced, read_prices

        context.with_resource(priced(read_prices(path)))
    return path


Budget = Annotated[
    str | None,
    typer.Option(
        "--budget", callback=_spend, help="Cap on calls, tokens or money at servers: 2000calls, 100000tokens, 5usd."
    ),
]
PriceList = Annotated[
    Path | None, typer.Option("--prices", callback=_price, help="TOML file with the prices of models behind servers.")
]
Engine = Annotated[
    str | None,
    typer.Option(
        callback=_served,
        help="Engine of local models, as in `transformers(rows=16)`: stratagem engines.",
        autocompletion=completion.engines,
    ),
]


def _work(context: typer.Context, number: int | None) -> int | None:
    """Give the work of the command to workers."""
    address = context.params.get("ray")
    if number is not None or address is not None:
        from stratagem.workers.kinds import workers_of
        from stratagem.workers.plan import working

        context.with_resource(working(workers_of(number, address)))
    return number


Workers = Annotated[
    int | None,
    typer.Option(callback=_work, min=1, help="Processes that share the work; with --ray, workers on the cluster."),
]
Ray = Annotated[
    str | None,
    typer.Option(is_eager=True, help="Ray cluster for the work: its address, `auto`, or `local` for a new one here."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue the record in --record; recorded requests are not repeated.")
]
Timeout = Annotated[
    float | None,
    typer.Option(callback=_terms("timeout", float), help="Timeout of a request to a server in seconds (120)."),
]
Tries = Annotated[
    int | None, typer.Option(callback=_terms("tries", int), help="Maximum tries of a request to a server (5).")
]
Concurrency = Annotated[
    int | None,
    typer.Option(callback=_terms("max_concurrent", int), help="Maximum concurrent requests to a server (16)."),
]


def max_failed(exit_code: int = 1) -> Any:
    """Return the option that ends a command with an error where more requests than a share had no reply.

    The figures are printed and written before.
    """

    def take(context: typer.Context, value: float | None) -> float | None:
        from stratagem.engines.outcomes import failing_above
        from stratagem.engines.remote.terms import MAX_FAILED, changed

        limit = MAX_FAILED if value is None else value
        context.with_resource(changed(max_failed=limit))  # refuses what is no share
        context.with_resource(changed(max_failed=1.0))  # results would say the same sentence a second time
        context.with_resource(failing_above(limit, exit_code))
        return value

    return typer.Option(
        callback=take,
        help=f"Maximum share of requests without a reply (0.02). Above it the command ends with status {exit_code}.",
    )


MaxFailed = Annotated[float | None, max_failed()]
MaxFailures = Annotated[
    float | None,
    typer.Option(
        callback=_terms("max_failures", float),
        help="Maximum share of failed requests of a server (0.05). Fewer than 3 failures never stop, unless it is 0.",
    ),
]
SERVERS: Mapping[str, Any] = {
    "timeout": Timeout,
    "tries": Tries,
    "concurrency": Concurrency,
    "max_failures": MaxFailures,
    "max_failed": MaxFailed,
    "budget": Budget,
    "prices": PriceList,
}
"""Options of a command that asks models behind servers."""
WORK: Mapping[str, Any] = {"workers": Workers, "ray": Ray}
"""Options of a command whose work is shared."""
LOCAL: Mapping[str, Any] = {"engine": Engine}
"""Option of a command that plays local models."""


def with_options(*blocks: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of several blocks, which act by their callbacks; they stand before `--json`."""
    added = {name: kind for block in blocks for name, kind in block.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints, signature = get_type_hints(command, include_extras=True), inspect.signature(command)
        own = [one.replace(annotation=hints[name]) for name, one in signature.parameters.items()]
        more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in added.items()]
        last = [one for one in own if one.name == "json"]
        first = [one for one in own if one.name != "json"]
        every = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*first, *more, *last)]

        @wraps(command)
        def run(**given: Any) -> None:
            command(**{name: value for name, value in given.items() if name not in added})

        vars(run).pop("__wrapped__")  # its signature is that of the command with the options
        run.__annotations__ = {**{one.name: one.annotation for one in every}, "return": None}
        vars(run)["__signature__"] = signature.replace(parameters=every)
        return run

    return decorate
