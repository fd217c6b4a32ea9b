"""Parameters of functions, and options of commands, that others replaced; until release 0.5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stratagem.base.errors import BadParameter

REPLACED: Mapping[str, Mapping[str, str]] = {
    "evaluate": {
        "exact_budget": "`exploitability='exact'` with `effort=`",
        "exploit_budget": "`exploitability='search'` or `exploitability='learn'` with `effort=`",
        "exploit_by": "`exploitability=`, which takes search, learn or a player",
        "exploit_deals": "`exploitability='search(deals=20)'`",
        "policy_replies": "`exploitability='replies'` with `effort=`",
        "by_opponent": "--all",
    },
    "exploitability": {
        "exact_budget": "`how='exact'` with `effort=`",
        "policy_replies": "`how='replies'` with `effort=`",
    },
}
"""Present words by function and former parameter."""

REPLACED_COMMANDS: Mapping[str, str] = {
    "labels": "`python experiments/label_scan.py`, in a clone of the repository",
}
"""Present words by former command, and by former function of `import stratagem`."""


def refuse_replaced(function: str, given: Iterable[str]) -> None:
    """Answer a former parameter with the present words."""
    for name in given:
        if new := REPLACED.get(function, {}).get(name):
            raise BadParameter(f"`{name}=` was replaced: say {new}.")
