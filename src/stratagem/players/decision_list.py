"""Base of players that are decision lists: the first rule that applies and whose action is legal is played.

`stratagem audit --write-exploiter FILE.py` writes such players.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game, View
from stratagem.games.catalogue import describe
from stratagem.players.base import Scripted, Traits
from stratagem.players.fact_values import FactValues, fact_values

Rule: TypeAlias = tuple[bool, str]
"""True if the rule applies, and its action."""
RuleList: TypeAlias = Callable[[FactValues], Iterator[Rule]]


class DecisionList(Scripted[Any]):
    """Player of the rules in `lists`, by game; where no rule has a legal action, it takes the first one."""

    traits: ClassVar[Traits] = Traits(memory=None, reads_words=True)
    lists: ClassVar[Mapping[str, RuleList]] = {}
    """Rules by game; those of a game also play it with other parameters."""

    def check(self, game: Game[Any]) -> None:
        """Refuse a game without rules."""
        if self._rules(game) is None:
            raise BadParameter(f"{self.name} has no rules for {describe(game)}: it plays {', '.join(self.lists)}.")

    def strategy(self, view: View[Any]) -> str:
        rules = self._rules(view.game)
        for applies, action in rules(fact_values(view)) if rules else ():
            if applies and action in view.choices:
                return action
        return view.choices.first

    def _rules(self, game: Game[Any]) -> RuleList | None:
        """Return the rules of a game, or of the same game with other parameters."""
        text = describe(game)
        same = [name for name in self.lists if name == text] or [
            name for name in self.lists if name.partition("(")[0] == text.partition("(")[0]
        ]
        return type(self).lists[same[0]] if same else None


__all__ = ["DecisionList", "FactValues", "Rule", "RuleList"]
