"""Languages of games in which seats hide a die or a role: liar's dice and the Resistance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stratagem.games.base import Seat, State, View
from stratagem.games.resistance.rules import (
    CARDS,
    SEATS,
    VOTES,
    Resistance,
    ResistanceFacts,
    ResistanceState,
    possible_spies,
)
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.rules import SpielRules
from stratagem.games.talk.language import Asks, Intent, Language, Plays, Statement
from stratagem.games.talk.reading_rules import languages, spellings

_SIDES, _DICE = 6, 2


@dataclass(frozen=True)
class HasDie(Statement):
    """Statement about one's die."""

    die: int

    def truth(self, view: View[SpielFacts]) -> bool:
        return view.facts.information.split()[0] == str(self.die)


class LiarsDiceLanguage(Language[SpielFacts]):
    """`My die is 5`, `I will bid 2x5` and `I will say liar`, for every die and bid."""

    key = "liars-dice"
    rules = SpielRules

    def sets(self) -> dict[str, tuple[str, ...]]:
        dice = tuple(str(die) for die in range(1, _SIDES + 1))
        return {**super().sets(), "die": dice, "bid": tuple(_bids()), "call": ("liar",)}

    def spellings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        return {**super().spellings(), "bid": spellings(tuple(_bids()), _bids())}

    def sentences(self) -> Iterator[Intent]:
        for die in range(1, _SIDES + 1):
            yield HasDie(self.say("die", die=die), die)
        for bid in _bids():
            yield Plays(self.say("bid", bid=bid), f"bid {bid}")
        yield Plays(self.say("liar", call="liar"), "liar")


def _bids() -> dict[str, tuple[str, ...]]:
    """Return every bid with its number in figures and its face in words: a reader has written numbers so."""
    faces = list(zip(languages().texts("dice.faces"), languages().texts("dice.face"), strict=True))
    return {
        f"{count}x{side}": (f"{count} {several}", f"{count} {one}")
        for count in range(1, _DICE + 1)
        for side, (several, one) in enumerate(faces, 1)
    }


@dataclass(frozen=True)
class IsSpy(Statement):
    """Statement that a seat is a spy, or that it is none."""

    seat: Seat
    spy: bool

    @property
    def form(self) -> str:
        return f"state of player {self.seat}"

    def truth(self, view: View[ResistanceFacts]) -> bool | None:
        facts = view.facts
        possible = (facts.spies,) if facts.spies else possible_spies(facts.seat, facts.past)
        found = {self.seat in pair for pair in possible}
        return None if len(found) > 1 else (self.spy in found)


class ResistanceLanguage(Language[ResistanceFacts]):
    """`Player 2 is a spy`, `Player 2 is loyal`, `I will APPROVE`, `I will play FAIL`, `Please REJECT` and the like.

    What a seat of the resistance says of another is true, false or unknown by what the missions so far tell it.
    """

    key = "resistance"
    rules = Resistance
    game: Resistance

    def partners(self, state: State[ResistanceFacts]) -> tuple[Seat, Seat] | None:
        """Return the spies."""
        if not isinstance(state, ResistanceState):
            return None
        first, second = state.spies
        return first, second

    def sets(self) -> dict[str, tuple[str, ...]]:
        return {**super().sets(), "seat": tuple(map(str, range(SEATS))), "vote": VOTES, "card": CARDS}

    def sentences(self) -> Iterator[Intent]:
        for seat in range(SEATS):
            yield IsSpy(self.say("spy", seat=seat), seat, True)
            yield IsSpy(self.say("loyal", seat=seat), seat, False)
        for vote in VOTES:
            yield Plays(self.say("votes", vote=vote), vote)
        for card in CARDS:
            yield Plays(self.say("cards", card=card), card)
        for vote in VOTES:
            yield Asks(self.say("asks_vote", vote=vote), vote)
        for card in CARDS:
            yield Asks(self.say("asks_card", card=card), card)
