"""`verify` checks a game against everything that it declares and that players, forks and exact evaluation rely on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stratagem.games.base import Game
from stratagem.games.conformance import (
    acting,
    copies,
    declared,
    hiding,
    keys,
    outcomes,
    rounds,
    symmetry,
    texts,
    twins,
    varying,
)
from stratagem.games.conformance.report import (
    BrokenRule,
    ConformanceReport,
    NotApplicable,
    RuleCheck,
    describe_error,
    shorten_detail,
)
from stratagem.games.conformance.shrinking import ConformanceRule, smallest
from stratagem.games.conformance.walk import Chooser, VerifiedGame, at_random
from stratagem.games.key import Key

RULES: tuple[ConformanceRule, ...] = (
    ConformanceRule("spec", declared.spec),
    ConformanceRule("ends", declared.ends),
    ConformanceRule("legal", acting.legal, ("ends",)),
    ConformanceRule("results", declared.results, ("legal",)),
    ConformanceRule("seed", copies.seed, ("results",)),
    ConformanceRule("chance", copies.chance, ("seed",)),
    ConformanceRule("forks", copies.forks, ("seed",)),
    ConformanceRule("dump", copies.dump, ("forks",)),
    ConformanceRule("varies", varying.varies, ("forks",)),
    ConformanceRule("outcomes", outcomes.enumerated_outcomes, ("varies",)),
    ConformanceRule("views", copies.views, ("forks",)),
    ConformanceRule("choices", acting.choices, ("legal",)),
    ConformanceRule("illegal", acting.illegal, ("forks",)),
    ConformanceRule("default", acting.default, ("legal",)),
    ConformanceRule("null", acting.null, ("dump", "default")),
    ConformanceRule("utility", declared.utility, ("results",)),
    ConformanceRule("bounds", declared.bounds, ("null",)),
    ConformanceRule("signals", declared.signals, ("null",)),
    ConformanceRule("symmetry", symmetry.symmetry, ("outcomes",)),
    ConformanceRule("hidden", hiding.check_hiding, ("forks", "outcomes")),
    ConformanceRule("state-keys", keys.state_keys, ("outcomes",)),
    ConformanceRule("rounds", rounds.independent_rounds, ("outcomes",)),
    ConformanceRule("texts", texts.texts, ("legal",)),
    ConformanceRule("disguise", texts.disguise, ("texts", "choices", "outcomes")),
    ConformanceRule("positions", outcomes.check_positions, ("outcomes",)),
    ConformanceRule("twin", twins.twin, ("forks", "outcomes")),
)
"""Every check by name, foundations first."""


_KEY = Key(0)


def verify(
    game: Game[Any],
    *,
    episodes: int = 30,
    key: Key = _KEY,
    player: Chooser = at_random,
    rules: Sequence[ConformanceRule] = RULES,
    tries: int = 0,
    step: Callable[[str], None] = lambda rule: None,
) -> ConformanceReport:
    """Play `game` for some episodes and report each rule for games as kept or broken.

    `player` chooses the actions, from a view and a key; where random play shows little of a game, give a better one.
    Of what is broken, up to `tries` smaller episodes are tried to show it. `step` is called with the name of each rule.
    """
    checks: list[RuleCheck] = []
    unsettled: set[str] = set()
    for rule in rules:
        step(rule.name)
        missing = [need for need in rule.needs if need in unsettled]
        check = (
            RuleCheck(rule.name, "skipped", f"needs {' and '.join(missing)}")
            if missing
            else _check_rule(rule, VerifiedGame(game, episodes, key, player), tries)
        )
        if missing or check.outcome == "failed":
            unsettled.add(rule.name)
        checks.append(check)
    return ConformanceReport(game.spec.name, tuple(checks))


def _check_rule(rule: ConformanceRule, case: VerifiedGame, tries: int) -> RuleCheck:
    try:
        return RuleCheck(rule.name, "passed", rule.holds(case))
    except NotApplicable as reason:
        return RuleCheck(rule.name, "skipped", str(reason))
    except BrokenRule as found:
        fault = smallest(rule, case, found, tries)
        return RuleCheck(rule.name, "failed", shorten_detail(str(fault)), fault.transcripts)
    except Exception as error:  # noqa: BLE001 - whatever the rules under test raise is a finding
        return RuleCheck(rule.name, "failed", shorten_detail(describe_error(error, case.game)), (case.latest,))
