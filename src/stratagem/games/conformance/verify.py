"""`verify` checks a game against everything that it declares and that players, forks and exact evaluation rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stratagem.games.base import Game
from stratagem.games.conformance import (
    acting,
    copies,
    declared,
    disguising,
    hiding,
    keys,
    rounds,
    symmetry,
    texts,
    twins,
    varying,
)
from stratagem.games.conformance.report import Broken, Check, NotApplicable, Report, raised, shortened
from stratagem.games.conformance.shrinking import Rule, smallest
from stratagem.games.conformance.walk import Case, Chooser, at_random
from stratagem.games.key import Key

RULES: tuple[Rule, ...] = (
    Rule("spec", declared.spec),
    Rule("ends", declared.ends),
    Rule("legal", acting.legal, ("ends",)),
    Rule("results", declared.results, ("legal",)),
    Rule("seed", copies.seed, ("results",)),
    Rule("chance", copies.chance, ("seed",)),
    Rule("forks", copies.forks, ("seed",)),
    Rule("dump", copies.dump, ("forks",)),
    Rule("varies", varying.varies, ("forks",)),
    Rule("views", copies.views, ("forks",)),
    Rule("choices", acting.choices, ("legal",)),
    Rule("illegal", acting.illegal, ("forks",)),
    Rule("default", acting.default, ("legal",)),
    Rule("null", acting.null, ("dump", "default")),
    Rule("utility", declared.utility, ("results",)),
    Rule("bounds", declared.bounds, ("null",)),
    Rule("signals", declared.signals, ("null",)),
    Rule("symmetry", symmetry.symmetry, ("varies",)),
    Rule("hidden", hiding.hidden, ("forks",)),
    Rule("state-keys", keys.state_keys, ("varies",)),
    Rule("rounds", rounds.independent_rounds, ("varies",)),
    Rule("texts", texts.texts, ("legal",)),
    Rule("disguise", disguising.disguise, ("texts", "choices", "varies")),
    Rule("twin", twins.twin, ("forks",)),
)
"""Every check by name, foundations first."""


_KEY = Key(0)


def verify(
    game: Game[Any],
    *,
    episodes: int = 30,
    key: Key = _KEY,
    player: Chooser = at_random,
    rules: Sequence[Rule] = RULES,
    tries: int = 0,
) -> Report:
    """Play `game` for some episodes and report each rule for games as kept or broken.

    `player` chooses the actions, from a view and a key; where random play shows little of a game, give a better one.
    Of what is broken, up to `tries` smaller episodes are tried to show it.
    """
    checks: list[Check] = []
    unsettled: set[str] = set()
    for rule in rules:
        missing = [need for need in rule.needs if need in unsettled]
        check = (
            Check(rule.name, "skipped", f"needs {' and '.join(missing)}")
            if missing
            else _checked(rule, Case(game, episodes, key, player), tries)
        )
        if missing or check.outcome == "failed":
            unsettled.add(rule.name)
        checks.append(check)
    return Report(game.spec.name, tuple(checks))


def _checked(rule: Rule, case: Case, tries: int) -> Check:
    try:
        return Check(rule.name, "passed", rule.holds(case))
    except NotApplicable as reason:
        return Check(rule.name, "skipped", str(reason))
    except Broken as found:
        fault = smallest(rule, case, found, tries)
        return Check(rule.name, "failed", shortened(str(fault)), fault.transcripts)
    except Exception as error:  # noqa: BLE001 - whatever the rules under test raise is a finding
        return Check(rule.name, "failed", shortened(raised(error, case.game)), (case.latest,))
