"""Reasons of the demonstrators of the negotiation over a pie; points are spelt out, so that they are not demands."""

from __future__ import annotations

from stratagem.base.sentences.reading import Wordings
from stratagem.games.base import View
from stratagem.games.negotiation_v1.rules import PieFacts
from stratagem.learn.demonstrations.reasoning.base import Reasoners, Reasons, by_chance, reason_file, state, word

Seen = View[PieFacts]
_OPENING = "negotiation-v1.opening"


def spell_points(points: int) -> str:
    """Return a number in words; on a larger pie than those reach, the larger ones in digits."""
    numbers = reason_file().texts("negotiation-v1.numbers")
    return numbers[points] if points < len(numbers) else str(points)


def outcome(facts: PieFacts) -> Wordings:
    """State the result of the last round."""
    if not facts.mine:
        return state(_OPENING)
    fitted = facts.mine[-1] + facts.theirs[-1] <= facts.pie
    mine, theirs = spell_points(facts.mine[-1]), spell_points(facts.theirs[-1])
    return state(f"negotiation-v1.{'deal' if fitted else 'breakdown'}", mine=mine, theirs=theirs)


def fair_split(view: Seen, action: str) -> Reasons:
    """Give reasons for a demand of half."""
    return outcome(view.facts), state("negotiation-v1.fair_split.rule", half=spell_points(int(action)))


def just_over_half(view: Seen, action: str) -> Reasons:
    """Give reasons for a little over half until a round has failed, and half afterwards."""
    facts, points, key = view.facts, spell_points(int(action)), "negotiation-v1.balanced"
    if not facts.broke_down:
        return outcome(facts), state(f"{key}.tries", points=points)
    return state(f"{key}.failed", number=first_breakdown(facts)), state(f"{key}.settles", points=points)


def first_breakdown(facts: PieFacts) -> str:
    """Return the number of the first round that ended without a deal."""
    sums = (mine + theirs for mine, theirs in zip(facts.mine, facts.theirs, strict=True))
    return spell_points(next(number for number, both in enumerate(sums, 1) if both > facts.pie))


def concede(view: Seen, action: str) -> Reasons:
    """Give reasons for opening above half and coming down round by round."""
    facts, points, key = view.facts, spell_points(int(action)), "negotiation-v1.concede"
    if not facts.mine:
        return state(_OPENING), state(f"{key}.opens", points=points)
    if int(action) == facts.mine[-1]:
        return outcome(facts), state(f"{key}.stays", points=points)
    return outcome(facts), state(f"{key}.comes_down", before=spell_points(facts.mine[-1]), points=points)


def tit_for_tat(view: Seen, action: str) -> Reasons:
    """Give reasons for opening with half and then asking for what the other did."""
    facts, points, key = view.facts, spell_points(int(action)), "negotiation-v1.tit_for_tat"
    if not facts.theirs:
        return state(_OPENING), state(f"{key}.opens", points=points)
    return outcome(facts), state(f"{key}.copies", points=points)


def random(view: Seen, action: str) -> Reasons:
    """Give reasons for a random demand."""
    return by_chance(word("negotiation-v1.outcome", points=spell_points(int(action))))


REASONERS: Reasoners = {
    "FairSplit": fair_split,
    "Balanced": just_over_half,
    "Concede": concede,
    "TFT-Neg": tit_for_tat,
    "Random": random,
}
