"""Conformance of a game to the rules for games: `print(verify(MyGame()))`, with a transcript of each failure.

It plays random episodes and looks at every promise that players, forks, records and exact evaluation rely on.
"""

from __future__ import annotations

from stratagem.games.conformance.report import ConformanceReport, PlayedPath, RuleCheck
from stratagem.games.conformance.verify import RULES, verify
from stratagem.games.conformance.walk import at_random

__all__ = ["RULES", "ConformanceReport", "PlayedPath", "RuleCheck", "at_random", "verify"]
