"""Reasons of the demonstrators of the iterated prisoner's dilemma, for every two-by-two game of its family."""

from __future__ import annotations

from stratagem.demonstrations.reasoning.base import Reasoners, Reasons, Ways, by_chance, counted
from stratagem.games.base import View
from stratagem.games.matrix import MatrixFacts, MatrixGame
from stratagem.players.iterated import COOPERATE, DEFECT

Seen = View[MatrixFacts]
OPENING: Ways = (
    "Nothing has been played yet.",
    "This is the first round.",
    "There is no move of theirs to answer yet.",
)
RETURNED: Ways = (
    "I return it: whoever works with me is worked with.",
    "I mirror that, so cooperation is what they get back.",
    "I answer in kind, so that cooperation pays them too.",
)


def last(facts: MatrixFacts) -> Ways:
    """State the opponent's last action, or the opening."""
    if not facts.theirs:
        return OPENING
    kind = facts.theirs[-1] == COOPERATE
    did, noun = ("cooperated", "cooperation") if kind else ("defected", "defection")
    return f"They {did} last round.", f"In round {len(facts.theirs)} they {did}.", f"Their last move was {noun}."


def tit_for_tat(view: Seen, action: str) -> Reasons:
    """Give reasons for tit for tat: cooperate first, then repeat the opponent's action."""
    facts = view.facts
    if not facts.theirs:
        rule: Ways = (
            "I open in good faith and from then on return what I am given.",
            "I begin friendly, and every later move of mine will mirror theirs.",
            "I offer cooperation first and will answer them in kind afterwards.",
        )
    elif facts.theirs[-1] == COOPERATE:
        rule = RETURNED
    else:
        rule = (
            "I answer in kind, so that using me does not pay.",
            "I mirror that, and will be friendly when they are again.",
            "I give that back now; when they return to cooperation, so do I.",
        )
    return last(facts), rule


def generous(view: Seen, action: str) -> Reasons:
    """Give reasons for generous tit for tat: repeat the opponent's action, and sometimes forgive."""
    facts = view.facts
    if facts.theirs[-1:] != (DEFECT,):
        return tit_for_tat(view, action)
    if action == facts.labels[COOPERATE]:
        return last(facts), (
            "I let it go this time: forgiving now and then lets cooperation return.",
            "Most of that I pay back, but once in a while I forgive, as I do now.",
            "This one I forgive, so that we do not punish each other for ever.",
        )
    return last(facts), (
        "I forgive now and then, but not this time: I answer in kind.",
        "Mostly I pay that back, and so I do now.",
        "There is no forgiveness this round: they get defection in return.",
    )


def grim(view: Seen, action: str) -> Reasons:
    """Give reasons for the grim trigger: cooperate until the first defection, and never again."""
    facts = view.facts
    if not facts.theirs:
        return OPENING, (
            "I trust them until their first defection, and never again after it.",
            "They have my cooperation until they break it once; then it is over.",
        )
    if DEFECT in facts.theirs:
        broken = facts.theirs.index(DEFECT) + 1
        return (
            f"They defected in round {broken}.",
            f"Round {broken} brought a defection of theirs.",
            f"I remember their defection in round {broken}.",
        ), (
            "One lapse was enough: I never work with them again.",
            "That ended my trust: they get defection to the end.",
            "I forgive nothing, and they get only defection now.",
        )
    return (
        "They have cooperated every time so far.",
        f"There was no defection of theirs in {counted(len(facts.theirs), 'round')}.",
    ), (
        "While that lasts they have mine; a single lapse would end it.",
        "That keeps my trust, which their first lapse would end for good.",
        "So I keep my side of it, until the first time that they break theirs.",
    )


def always_defect(view: Seen, action: str) -> Reasons:
    """Give reasons for unconditional defection."""
    facts = view.facts
    rule = (
        "My choice does not hang on theirs: defection every round.",
        "Whatever they do, I keep to defection until the last round.",
        *dominance(view),
    )
    return tally(facts), rule


def dominance(view: Seen) -> Ways:
    """State that defection has the higher payoff in the round, where the payoffs are a dilemma's."""
    game, facts = view.game, view.facts
    assert isinstance(game, MatrixGame)
    kept, broken = ([game.pay(facts.seat, own, other)[0] for other in facts.their_labels] for own in facts.labels)
    if any(more <= less for more, less in zip(broken, kept, strict=True)):
        return ()
    one, two = (f"{more:g} rather than {less:g}" for more, less in zip(broken, kept, strict=True))
    return (f"Defection pays {one} against cooperation, and {two} otherwise.",)


def always_cooperate(view: Seen, action: str) -> Reasons:
    """Give reasons for unconditional cooperation."""
    return tally(view.facts), (
        "I hold nothing against anybody and offer cooperation every round.",
        "My answer to whatever they do is cooperation, and so it is now.",
        "I stay with cooperation to the end; it may win them over.",
    )


def tally(facts: MatrixFacts) -> Ways:
    """State the opponent's last action, or its number of cooperations."""
    if not facts.theirs:
        return OPENING
    often = facts.theirs.count(COOPERATE)
    return *last(facts), f"They cooperated in {often} of {counted(len(facts.theirs), 'round')}."


def random(view: Seen, action: str) -> Reasons:
    """Give reasons for a random action."""
    return by_chance("cooperation" if action == view.facts.labels[COOPERATE] else "defection")


REASONERS: Reasoners = {
    "TitForTat": tit_for_tat,
    "AlwaysDefect": always_defect,
    "GrimTrigger": grim,
    "Random": random,
    "GenerousTFT": generous,
    "AlwaysCooperate": always_cooperate,
}
