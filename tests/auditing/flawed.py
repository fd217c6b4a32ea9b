"""Agents of known flaws that state nothing, so that an audit can only ask them."""

from dataclasses import dataclass
from typing import ClassVar

from stratagem.games.kuhn.players import NashApprox
from stratagem.players.base import Mix, Move, Scripted, Traits, draw

BLACK_BOX = Traits(stochastic=True, exact=False)


@dataclass(frozen=True)
class Equilibrium(Scripted):
    """Plays an equilibrium of Kuhn poker."""

    traits: ClassVar[Traits] = BLACK_BOX

    def strategy(self, view) -> str | Mix:
        return NashApprox().policy(view)

    def turn(self, ask):
        return Move(draw(self.policy(ask.view), ask.key))


@dataclass(frozen=True)
class FoldsKings(Equilibrium):
    """Folds one king in ten to a bet."""

    def strategy(self, view) -> str | Mix:
        facts = view.facts
        return {"CALL": 0.9, "FOLD": 0.1} if facts.card == "K" and facts.facing_bet else NashApprox().policy(view)


@dataclass(frozen=True)
class PassesKings(Equilibrium):
    """Passes a king after a pass, which a bet never does worse than."""

    def strategy(self, view) -> str | Mix:
        facts = view.facts
        return "PASS" if facts.card == "K" and not facts.facing_bet else NashApprox().policy(view)


@dataclass(frozen=True)
class Passive(Equilibrium):
    """Never bets, and never calls with less than a king."""

    def strategy(self, view) -> str | Mix:
        facts = view.facts
        if facts.facing_bet:
            return "CALL" if facts.card == "K" else "FOLD"
        return "PASS"


@dataclass(frozen=True)
class OpenPassive(Passive):
    """The same, which states its policy."""

    traits: ClassVar[Traits] = Traits()


@dataclass(frozen=True)
class Silent(Equilibrium):
    """Gives no legal reply one time in five."""

    def turn(self, ask):
        return Move(None, said="pardon?") if ask.key.at("silent").unit() < 0.2 else super().turn(ask)


@dataclass(frozen=True)
class Cooperates(Equilibrium):
    """Cooperates in a prisoner's dilemma, come what may."""

    def strategy(self, view) -> str | Mix:
        return view.choices.first
