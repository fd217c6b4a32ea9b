"""`verify` holds a game to everything that it declares and that players, forks and exact evaluation rely on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from stratagem.games.base import Game
from stratagem.games.conformance import acting, copies, declared, hiding, keys, symmetry, texts, twins
from stratagem.games.conformance.report import Broken, Check, NotApplicable, Report, shortened
from stratagem.games.conformance.walk import Case, Chooser, at_random
from stratagem.games.key import Key


class Rule(NamedTuple):
    """A check, and the checks without which it could not be told what it found."""

    name: str
    holds: Callable[[Case], str]
    """Says what was looked at; raises `Broken` or `NotApplicable`."""
    needs: tuple[str, ...] = ()


_COPIES = ("ends", "seed", "forks")

RULES: tuple[Rule, ...] = (
    Rule("spec", declared.spec),
    Rule("ends", declared.ends),
    Rule("seed", copies.seed, ("ends",)),
    Rule("chance", copies.chance, ("ends", "seed")),
    Rule("forks", copies.forks, ("ends", "seed")),
    Rule("dump", copies.dump, _COPIES),
    Rule("views", copies.views, _COPIES),
    Rule("choices", acting.choices, ("ends",)),
    Rule("legal", acting.legal, _COPIES),
    Rule("illegal", acting.illegal, _COPIES),
    Rule("default", acting.default, ("ends",)),
    Rule("null", acting.null, (*_COPIES, "default")),
    Rule("utility", declared.utility, ("ends",)),
    Rule("bounds", declared.bounds, ("ends", "null")),
    Rule("signals", declared.signals, ("ends", "null")),
    Rule("symmetry", symmetry.symmetry, _COPIES),
    Rule("hidden", hiding.hidden, _COPIES),
    Rule("state-keys", keys.state_keys, _COPIES),
    Rule("texts", texts.texts, ("ends",)),
    Rule("twin", twins.twin, _COPIES),
)
"""Every check by name, foundations first."""


_KEY = Key(0)


def verify(game: Game[Any], *, episodes: int = 30, key: Key = _KEY, player: Chooser = at_random) -> Report:
    """Play `game` for some episodes and say which of the rules for games it keeps.

    `player` chooses the actions, from a view and a key; where random play shows little of a game, give a better one.
    """
    checks: dict[str, Check] = {}
    for rule in RULES:
        checks[rule.name] = _checked(rule, Case(game, episodes, key, player), checks)
    return Report(game.spec.name, tuple(checks.values()))


def _checked(rule: Rule, case: Case, earlier: dict[str, Check]) -> Check:
    if missing := [need for need in rule.needs if earlier[need].outcome == "failed" or "needs" in earlier[need].detail]:
        return Check(rule.name, "skipped", f"needs {' and '.join(missing)}")
    try:
        return Check(rule.name, "passed", rule.holds(case))
    except NotApplicable as reason:
        return Check(rule.name, "skipped", str(reason))
    except Broken as fault:
        return Check(rule.name, "failed", shortened(str(fault)), fault.transcripts)
    except Exception as error:  # noqa: BLE001 - whatever the rules under test raise is a finding
        return Check(rule.name, "failed", shortened(f"raised {type(error).__name__}: {error}"), (case.latest,))
