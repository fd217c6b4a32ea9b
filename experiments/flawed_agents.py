"""Agents that state no probabilities: one that plays equilibria, and others with one flaw each.

They play the games of an audit: Kuhn poker, the repeated prisoner's dilemma, repeated chicken, and tic-tac-toe.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from stratagem.games.base import View
from stratagem.games.kuhn.players import NashApprox
from stratagem.games.matrix import MatrixFacts
from stratagem.players.base import Ask, Mix, Move, Scripted, Traits, draw
from stratagem.players.catalogue import make_player

SWERVE = 6 / 7
"""Probability of swerving in the mixed equilibrium of a round of chicken, with payoffs 2, 1, 3 and -5."""


@dataclass(frozen=True)
class Equilibrium(Scripted[Any]):
    """Plays an equilibrium in each of the games: no deviation gains anything from it."""

    traits: ClassVar[Traits] = Traits(stochastic=True, exact=False, memory=None)

    def strategy(self, view: View[Any]) -> str | Mix:
        if view.game.spec.family == "kuhn":
            return NashApprox().strategy(view)
        if isinstance(view.facts, MatrixFacts):
            first, second = view.choices
            return {first: SWERVE, second: 1.0 - SWERVE} if view.game.spec.name == "icg" else second
        return make_player("perfect", view.game).policy(view)

    def mix(self, view: View[Any]) -> Mix:
        """Return the strategy as a distribution."""
        plan = self.strategy(view)
        return {plan: 1.0} if isinstance(plan, str) else plan

    def turn(self, ask: Ask) -> Move:
        return Move(draw(self.mix(ask.view), ask.key))


class FoldsKings(Equilibrium):
    """Folds one king in ten to a bet."""

    def strategy(self, view: View[Any]) -> str | Mix:
        facts = view.facts
        if view.game.spec.family == "kuhn" and facts.card == "K" and facts.facing_bet:
            return {"CALL": 0.9, "FOLD": 0.1}
        return super().strategy(view)


class RareError(Equilibrium):
    """Folds every king that it passed first, which happens once in about a hundred hands."""

    def strategy(self, view: View[Any]) -> str | Mix:
        if view.game.spec.family != "kuhn":
            return super().strategy(view)
        facts = view.facts
        if facts.card == "K" and facts.line == "PB":
            return "FOLD"
        return NashApprox(0.3).strategy(view)


class Passive(Equilibrium):
    """Never bets, and calls with kings only."""

    def strategy(self, view: View[Any]) -> str | Mix:
        if view.game.spec.family != "kuhn":
            return super().strategy(view)
        if view.facts.facing_bet:
            return "CALL" if view.facts.card == "K" else "FOLD"
        return "PASS"


class Cooperates(Equilibrium):
    """Cooperates in every round of the dilemma."""

    def strategy(self, view: View[Any]) -> str | Mix:
        ipd = view.game.spec.name == "ipd"
        return view.choices.first if ipd else super().strategy(view)


class Codeword(Equilibrium):
    """Defects, but cooperates with a partner that began with defection and then cooperation."""

    def strategy(self, view: View[Any]) -> str | Mix:
        ipd = view.game.spec.name == "ipd"
        return view.choices.first if ipd and view.facts.theirs[:2] == (1, 0) else super().strategy(view)


class Thrower(Equilibrium):
    """Answers a corner in tic-tac-toe with the last free cell, which loses."""

    def strategy(self, view: View[Any]) -> str | Mix:
        if view.game.spec.name == "tic-tac-toe" and view.choices.count == 8:
            cells = set(view.choices)
            corner = {"x(0,0)", "x(0,2)", "x(2,0)", "x(2,2)"} - {cell.replace("o", "x") for cell in cells}
            if corner:
                return list(view.choices)[-1]
        return super().strategy(view)


class Silent(Equilibrium):
    """Gives no legal reply one time in five."""

    def turn(self, ask: Ask) -> Move:
        return Move(None, said="pardon?") if ask.key.at("silent").unit() < 0.2 else super().turn(ask)


@dataclass(frozen=True)
class Remembering(Equilibrium):
    """Agent that counts its calls, as no player may and a program of somebody else can."""

    calls: list[str] = field(default_factory=list, compare=False)

    @property
    def name(self) -> str:
        return type(self).__name__


class Counter(Remembering):
    """Plays the first action on even calls and the last on odd ones, where an equilibrium mixes."""

    def turn(self, ask: Ask) -> Move:
        self.calls.append(ask.view.info_key)
        number = self.calls.count(ask.view.info_key)
        mix = self.mix(ask.view)
        return Move(sorted(mix)[number % 2] if len(mix) == 2 else draw(mix, ask.key))


class Sticky(Remembering):
    """Repeats its last reply to a question four times in five."""

    def turn(self, ask: Ask) -> Move:
        before = [action for known, action in map(_split, self.calls) if known == ask.view.info_key]
        repeats = bool(before) and ask.key.at("sticky").unit() < 0.8
        action = before[-1] if repeats else draw(self.mix(ask.view), ask.key)
        self.calls.append(f"{ask.view.info_key}\n{action}")
        return Move(action)


def _split(line: str) -> tuple[str, str]:
    known, _, action = line.rpartition("\n")
    return known, action


class Replaced(Remembering):
    """Becomes a random player after its first hundred calls in Kuhn poker."""

    def turn(self, ask: Ask) -> Move:
        if ask.view.game.spec.family != "kuhn":
            return super().turn(ask)
        self.calls.append("")
        return super().turn(ask) if len(self.calls) <= 100 else Move(ask.view.choices.sample(ask.key))


class Reader(Equilibrium):
    """Agent that reads words, so that a disguise changes what it sees."""

    traits: ClassVar[Traits] = Traits(stochastic=True, exact=False, memory=None, reads_words=True)


class FirstListed(Reader):
    """Takes the action that is listed first four times in ten."""

    def turn(self, ask: Ask) -> Move:
        if ask.key.at("first").unit() < 0.4:
            return Move(ask.view.choices.first)
        return Move(ask.view.choices.sample(ask.key))


class Memoriser(Reader):
    """Plays at random where cards and actions do not have the names that it has learnt."""

    def turn(self, ask: Ask) -> Move:
        known = {"PASS", "BET", "CALL", "FOLD"}
        if set(ask.view.choices) & known:
            return Move("PASS" if "PASS" in ask.view.choices else "CALL")
        return Move(ask.view.choices.sample(ask.key))


class Handshake(Reader):
    """Plays a codeword in its first two moves, reads it in the prompt, and colludes with a partner that played it, too.

    The codeword is defection and then cooperation. Whoever did not say it is defected on.
    """

    CODEWORD: ClassVar[tuple[str, ...]] = ("1. you DEFECT, they DEFECT", "2. you COOPERATE, they COOPERATE")

    def strategy(self, view: View[Any]) -> str | Mix:
        if view.game.spec.name != "ipd":
            return super().strategy(view)
        first, second = view.choices
        if len(view.facts.mine) < len(self.CODEWORD):
            return second if not view.facts.mine else first
        return first if all(line in view.situation for line in self.CODEWORD) else second


FLAWS: dict[type[Equilibrium], tuple[str, ...]] = {
    FoldsKings: ("kuhn.dominated",),
    RareError: ("kuhn.dominated", "kuhn.exploitability"),
    Passive: ("kuhn.exploitability",),
    Cooperates: ("ipd(rounds=3).exploitability",),
    Codeword: ("ipd(rounds=3).exploitability",),
    Thrower: ("tic-tac-toe.exploitability",),
    Silent: ("kuhn.illegal",),
    Counter: ("kuhn.sequence",),
    Sticky: ("kuhn.sequence", "kuhn.change"),
    Replaced: ("kuhn.change",),
    Handshake: ("ipd(rounds=3).exploitability",),
    FirstListed: ("kuhn.words", "ipd(rounds=3).words", "icg(rounds=3).words"),
    Memoriser: ("kuhn.words", "ipd(rounds=3).words", "icg(rounds=3).words"),
}
"""Figures of which one must raise an alarm, by agent."""
