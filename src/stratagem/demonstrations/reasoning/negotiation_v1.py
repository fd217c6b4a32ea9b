"""Reasons of the demonstrators of the negotiation over a pie; points are spelt out, so that they are not demands."""

from __future__ import annotations

from stratagem.demonstrations.reasoning.base import Reasoners, Reasons, Ways, by_chance
from stratagem.games.base import View
from stratagem.games.negotiation_v1 import PieFacts

Seen = View[PieFacts]
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
OPENING: Ways = ("No demand has been made yet.", "This is the first round.", "I know nothing of them yet.")


def spelt(points: int) -> str:
    """A number in words; on a larger pie than ten, the larger ones in digits."""
    return WORDS[points] if points < len(WORDS) else str(points)


def outcome(facts: PieFacts) -> Ways:
    """State the result of the last round."""
    if not facts.mine:
        return OPENING
    mine, theirs = spelt(facts.mine[-1]), spelt(facts.theirs[-1])
    if facts.mine[-1] + facts.theirs[-1] <= facts.pie:
        return "The last round was a deal.", f"My {mine} and their {theirs} fitted.", "Our last demands fitted."
    return "The last round broke down.", f"My {mine} and their {theirs} were too much.", "We got nothing last round."


def fair_split(view: Seen, action: str) -> Reasons:
    """Give reasons for a demand of half."""
    half = spelt(int(action))
    return outcome(view.facts), (
        f"I ask for {half}, an even half, which leaves them as much.",
        f"Half of the pie is {half}: if they ask for theirs, both are paid.",
        f"An even split asks for {half}, and I keep to that every round.",
    )


def balanced(view: Seen, action: str) -> Reasons:
    """Give reasons for a little over half until a round has failed, and half afterwards."""
    facts, points = view.facts, spelt(int(action))
    if not facts.broke_down:
        return outcome(facts), (
            f"No round has failed, so I try for {points}, a little over half.",
            f"While nothing breaks down I ask for {points}, just above half.",
        )
    failed = first_breakdown(facts)
    return (
        f"In round {failed} we got nothing.",
        f"Round {failed} broke down.",
        f"Our demands of round {failed} were too much.",
    ), (
        f"I settle for half from then on, so I ask for {points}.",
        f"Asking for more than half can fail again, so {points} will do.",
    )


def first_breakdown(facts: PieFacts) -> str:
    """The number of the first round that ended without a deal."""
    sums = (mine + theirs for mine, theirs in zip(facts.mine, facts.theirs, strict=True))
    return spelt(next(number for number, both in enumerate(sums, 1) if both > facts.pie))


def concede(view: Seen, action: str) -> Reasons:
    """Opens above half and comes down round by round."""
    facts, points = view.facts, spelt(int(action))
    if not facts.mine:
        return OPENING, (
            f"I open at {points} and will come down step by step.",
            f"I start with {points}, which leaves me room to give way later.",
        )
    before = spelt(facts.mine[-1])
    if int(action) == facts.mine[-1]:
        return outcome(facts), (f"I have come down far enough, and so I stay at {points} from now on.",)
    return outcome(facts), (
        f"I come down a step every round: from {before} to {points} now.",
        f"I asked for {before} before, so I give way and ask for {points}.",
        f"Less is easier to agree on, so after {before} I ask for {points}.",
    )


def tit_for_tat(view: Seen, action: str) -> Reasons:
    """Opens with half and then asks for what the other did."""
    facts, points = view.facts, spelt(int(action))
    if not facts.theirs:
        return OPENING, (
            f"I open with {points}, an even half, and then do as they do.",
            f"I begin with my half of {points} and will copy them afterwards.",
        )
    return outcome(facts), (
        f"They asked for {points}, so I ask for {points} too, no more and no less.",
        f"What they claimed I claim now: that was {points}.",
        f"I treat them as they treat me: their {points} becomes mine.",
    )


def random(view: Seen, action: str) -> Reasons:
    """Asks for anything."""
    return by_chance(f"a demand of {spelt(int(action))}")


REASONERS: Reasoners = {
    "FairSplit": fair_split,
    "Balanced": balanced,
    "Concede": concede,
    "TFT-Neg": tit_for_tat,
    "Random": random,
}
