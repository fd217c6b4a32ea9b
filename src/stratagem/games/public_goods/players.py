"""Players of the public goods game; without a word about the second stage they spare everybody there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.games.base import View
from stratagem.games.public_goods.rules import ACTIONS, KEEPERS, SPARES, VERDICTS, PublicGoodsFacts
from stratagem.players.base import Player, Scripted, Traits


class Contributor(Scripted[PublicGoodsFacts]):
    """Player whose rule is whether it contributes, and whom it punishes in a game with a fine."""

    family = "public-goods"

    @abstractmethod
    def contributes(self, facts: PublicGoodsFacts) -> bool:
        """Return whether to contribute now."""

    def punishes(self, facts: PublicGoodsFacts) -> int:
        """Return the number of the verdict on this round."""
        return SPARES

    def strategy(self, view: View[PublicGoodsFacts]) -> str:
        facts = view.facts
        return VERDICTS[self.punishes(facts)] if facts.punishing else ACTIONS[not self.contributes(facts)]


class AlwaysContribute(Contributor):
    """Contributes: with everybody the social optimum."""

    def contributes(self, facts: PublicGoodsFacts) -> bool:
        return True


class AlwaysKeep(Contributor):
    """Keeps: the dominant action of one round, and the only play in equilibrium of several without a fine."""

    def contributes(self, facts: PublicGoodsFacts) -> bool:
        return False


@dataclass(frozen=True)
class ConditionalContributor(Contributor):
    """Contributes first, and then if at least a `share` of the others did so last (Fischbacher et al. 2001)."""

    traits = Traits(memory=1)
    share: float = 0.5

    def __post_init__(self) -> None:
        within(self, "share", self.share, 0.0, 1.0)

    def contributes(self, facts: PublicGoodsFacts) -> bool:
        if not facts.gave:
            return True
        others = facts.gave[-1][1:]
        return sum(others) >= self.share * len(others)


class GrimContributor(Contributor):
    """Contributes until somebody else keeps, and then never again."""

    traits = Traits(memory=None)

    def contributes(self, facts: PublicGoodsFacts) -> bool:
        return all(all(row[1:]) for row in facts.gave)


class Punisher(AlwaysContribute):
    """Contributes, and punishes who keeps (Fehr and Gächter 2002)."""

    def punishes(self, facts: PublicGoodsFacts) -> int:
        return KEEPERS


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "AlwaysContribute": AlwaysContribute,
    "AlwaysKeep": AlwaysKeep,
    "ConditionalContributor": ConditionalContributor,
    "GrimContributor": GrimContributor,
    "Punisher": Punisher,
}
"""Players by name."""
