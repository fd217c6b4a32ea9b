"""Renamed figures: old names in recipes, runs, cards and stored JSON are read under the new ones.

Nothing writes an old name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

RENAMED_METRICS: Mapping[str, str] = {
    "exploit": "pool_advantage",
    "opponent_pay": "opponent_payoff",
    "pay": "payoff",
    "pay_error": "payoff_error",
    "robust": "shifted_payoff",
    "unscaled_pay": "unscaled_payoff",
}
"""New name by old name. Stored results outlive releases, so an entry stays."""
_OF_POOLS = ("exploit", "robust")
"""Old names that paths have in validations and evaluations alone; an algorithm of another package may log them, too."""
RENAMED_QUANTITIES: Mapping[str, str] = {
    "pay_random": "payoff_random",
    "pay_strong": "payoff_strong",
    "pool_exploit": "pool_advantage",
}
"""The same for figures of audits, which their game precedes."""
_DRAWN_AS = {new: old for old, new in RENAMED_QUANTITIES.items()}
_AGAINST = ".against"
"""End of the name of a difference from another agent."""


def present_metric(name: str) -> str:
    """Return the present name of a metric, which may be the last part of a path as in `kuhn/validation/pay`."""
    path, stroke, last = name.rpartition("/")
    if last in _OF_POOLS and path and not (path.endswith("validation") or path.startswith("evaluation/")):
        return name
    return f"{path}{stroke}{RENAMED_METRICS.get(last, last)}"


MetricName = Annotated[str, AfterValidator(present_metric)]
"""Name of a metric in a recipe or a sweep, which may be a former one."""


def present_table(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored table in which each key that is a metric has its present name.

    A table with both names has a metric of somebody else under the former one, which keeps it.
    """
    named = {key: _present_key(key) for key in table}
    return {key if named[key] != key and named[key] in table else named[key]: value for key, value in table.items()}


def present_keys(data: Any) -> Any:
    """Return stored data in which each key of each table that is a metric has its present name."""
    if isinstance(data, list):
        return [present_keys(value) for value in data]
    if not isinstance(data, dict):
        return data
    return {key: present_keys(value) for key, value in present_table(data).items()}


def _present_key(key: str) -> str:
    return key if ":" in key else present_metric(key)  # `run:runs/exploit` is a player


def present_figure(name: str) -> str:
    """Return the present name of a figure of an audit, as `kuhn.payoff_random` or `kuhn.payoff_random.against`."""
    return _with_quantity(name, RENAMED_QUANTITIES)


def drawn_figure(name: str) -> str:
    """Return the name of a figure of an audit in keys of chance, which is the first one that it ever had.

    A card that is compared again then has the same draws, and so the same limits.
    """
    return _with_quantity(name, _DRAWN_AS)


def _with_quantity(name: str, names: Mapping[str, str]) -> str:
    end = _AGAINST if name.endswith(_AGAINST) else ""
    game, dot, quantity = name.removesuffix(end).rpartition(".")
    return f"{game}{dot}{names.get(quantity, quantity)}{end}"
