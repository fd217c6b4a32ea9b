"""Players of the Resistance, in either role, and spies that settle in words who of them plays FAIL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from stratagem.games.base import Game, Seat, View
from stratagem.games.resistance.rules import (
    APPROVE,
    FAIL,
    MISSION,
    PROPOSE,
    REJECT,
    SEATS,
    SIZES,
    SUCCESS,
    Resistance,
    ResistanceFacts,
    Team,
    possible_spies,
    write_proposal,
)  # fmt: skip
from stratagem.games.talk import Plays, Talk, TalkFacts
from stratagem.players.base import Mix, Player, Scripted, Traits
from stratagem.players.rings import Confidant
from stratagem.players.talkers import TalkingPlayer, check_game

Pairs = tuple[tuple[Seat, ...], ...]
_CONFESSION = "I will play FAIL"


class Naive(Scripted[ResistanceFacts]):
    """Proposes itself and the seats after it, and approves every team; as a spy it plays FAIL."""

    family = "resistance"

    def strategy(self, view: View[ResistanceFacts]) -> str:
        facts = view.facts
        if facts.phase == PROPOSE:
            return write_proposal(tuple((facts.seat + step) % SEATS for step in range(SIZES[facts.round])))
        if facts.phase == MISSION:
            return FAIL if facts.seat in facts.spies else SUCCESS
        return APPROVE


class Deducer(Scripted[ResistanceFacts]):
    """Trusts the seats that are a spy in fewest of the pairs that the missions so far allow, itself first.

    It approves a team that can be free of spies, and every team at the last attempt. A spy proposes in the same way,
    approves a team with a spy, and plays FAIL.
    """

    family = "resistance"
    traits = Traits(memory=None)

    def strategy(self, view: View[ResistanceFacts]) -> str:
        game = view.game
        assert isinstance(game, Resistance)
        return deduce_action(game, view.facts, possible_spies(view.seat, view.facts.past))


def deduce_action(game: Resistance, facts: ResistanceFacts, possible: Pairs) -> str:
    """Return what a Deducer does that holds these pairs possible."""
    spy = facts.seat in facts.spies
    if facts.phase == PROPOSE:
        return write_proposal(_choose_team(facts.seat, SIZES[facts.round], possible))
    if facts.phase == MISSION:
        return FAIL if spy else SUCCESS
    if spy:
        return APPROVE if {*facts.spies} & {*facts.team} else REJECT
    last = facts.rejected + 1 == game.attempts
    return APPROVE if last or any(not {*pair} & {*facts.team} for pair in possible) else REJECT


def _choose_team(seat: Seat, size: int, possible: Pairs) -> Team:
    """Return the seat and those of the others that are spies in fewest pairs, the next ones first."""
    counts = Counter(other for pair in possible for other in pair)
    others = sorted(range(1, SEATS), key=lambda step: (counts[(seat + step) % SEATS], step))
    return seat, *((seat + step) % SEATS for step in others[: size - 1])


class Cabal(Confidant):
    """As the lower spy it tells the other one that it will play FAIL, and then the other plays SUCCESS beside it.

    Two FAIL cards would tell more than one. In the resistance it believes who says that it will play FAIL, and moves as
    a Deducer that knows this seat to be a spy.
    """

    label = "cabal"

    def check(self, game: Game[Any]) -> None:
        """Refuse another game."""
        super().check(game)
        check_game(self.label, game, {"resistance": Resistance})

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=None, exact=self.player.traits.exact)

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        facts: ResistanceFacts = view.facts.inner
        return {_CONFESSION if facts.spies[:1] == (view.seat,) else "": 1.0}

    def reader(self, view: View[TalkFacts]) -> Seat:
        facts: ResistanceFacts = view.facts.inner
        return next(seat for seat in facts.spies if seat != view.seat)

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        facts: ResistanceFacts = view.facts.inner
        liable = find_confessed(talk, view)
        if facts.seat in facts.spies:
            covered = liable & {*facts.team} - {view.seat}
            return {SUCCESS: 1.0} if facts.phase == MISSION and covered & {*facts.spies} else mix
        known = tuple(pair for pair in possible_spies(view.seat, facts.past) if liable <= {*pair})
        if not liable or not known or not isinstance(talk.game, Resistance):
            return mix
        return {deduce_action(talk.game, facts, known): 1.0}


CABALS: dict[str, type[TalkingPlayer]] = {Cabal.label: Cabal}
"""Players of the Resistance with talk, by name."""


def find_confessed(talk: Talk, view: View[TalkFacts]) -> set[Seat]:
    """Return the seats, within what this seat has read, that have said that they will play FAIL."""
    said = ((m.sender, talk.spoken_language.read(m.text)) for m in view.facts.messages if m.text)
    return {seat for seat, intent in said if isinstance(intent, Plays) and intent.action == FAIL}


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "Naive": Naive,
    "Deducer": Deducer,
}
"""Players by name."""
