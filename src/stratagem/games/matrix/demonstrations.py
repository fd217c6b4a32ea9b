"""Reasons of the demonstrators of the iterated prisoner's dilemma, for every two-by-two game of its family."""

from __future__ import annotations

from stratagem.base.sentences.reading import Wordings
from stratagem.games.base import View
from stratagem.games.matrix.rules import MatrixFacts, MatrixGame
from stratagem.learn.demonstrations.reasoning.base import Reasoners, Reasons, by_chance, counted_rounds, state, word
from stratagem.players.iterated import COOPERATE, DEFECT

Seen = View[MatrixFacts]


def last(facts: MatrixFacts) -> Wordings:
    """State the opponent's last action, or the opening."""
    if not facts.theirs:
        return state("ipd.opening")
    did = "cooperated" if facts.theirs[-1] == COOPERATE else "defected"
    return state(f"ipd.they_{did}", number=len(facts.theirs))


def tit_for_tat(view: Seen, action: str) -> Reasons:
    """Give reasons for tit for tat: cooperate first, then repeat the opponent's action."""
    facts = view.facts
    if not facts.theirs:
        return last(facts), state("ipd.tit_for_tat.opens")
    returned = "cooperation" if facts.theirs[-1] == COOPERATE else "defection"
    return last(facts), state(f"ipd.tit_for_tat.returns_{returned}")


def generous(view: Seen, action: str) -> Reasons:
    """Give reasons for generous tit for tat: repeat the opponent's action, and sometimes forgive."""
    facts = view.facts
    if facts.theirs[-1:] != (DEFECT,):
        return tit_for_tat(view, action)
    forgives = action == facts.labels[COOPERATE]
    return last(facts), state(f"ipd.generous.{'forgives' if forgives else 'returns_defection'}")


def grim(view: Seen, action: str) -> Reasons:
    """Give reasons for the grim trigger: cooperate until the first defection, and never again."""
    theirs = view.facts.theirs
    if not theirs:
        return state("ipd.opening"), state("ipd.grim.opens")
    if DEFECT in theirs:
        return state("ipd.grim.broken", number=theirs.index(DEFECT) + 1), state("ipd.grim.never_again")
    return state("ipd.grim.unbroken", rounds=counted_rounds(len(theirs))), state("ipd.grim.trusts")


def always_defect(view: Seen, action: str) -> Reasons:
    """Give reasons for unconditional defection."""
    return tally(view.facts), (*state("ipd.always_defect.rule"), *dominance(view))


def dominance(view: Seen) -> Wordings:
    """State that defection has the higher payoff in the round, where the payoffs are a dilemma's."""
    game, facts = view.game, view.facts
    assert isinstance(game, MatrixGame)
    kept, broken = ([game.pay(facts.seat, own, other)[0] for other in facts.their_labels] for own in facts.labels)
    if any(more <= less for more, less in zip(broken, kept, strict=True)):
        return ()
    names = ("more", "less", "more_else", "less_else")
    payoffs = (f"{payoff:g}" for pair in zip(broken, kept, strict=True) for payoff in pair)
    return state("ipd.always_defect.pays_more", **dict(zip(names, payoffs, strict=True)))


def always_cooperate(view: Seen, action: str) -> Reasons:
    """Give reasons for unconditional cooperation."""
    return tally(view.facts), state("ipd.always_cooperate.rule")


def tally(facts: MatrixFacts) -> Wordings:
    """State the opponent's last action, or its number of cooperations."""
    if not facts.theirs:
        return state("ipd.opening")
    often, rounds = facts.theirs.count(COOPERATE), counted_rounds(len(facts.theirs))
    return *last(facts), *state("ipd.tally", often=often, rounds=rounds)


def random(view: Seen, action: str) -> Reasons:
    """Give reasons for a random action."""
    return by_chance(word(f"ipd.outcome.{'cooperate' if action == view.facts.labels[COOPERATE] else 'defect'}"))


REASONERS: Reasoners = {
    "TitForTat": tit_for_tat,
    "AlwaysDefect": always_defect,
    "GrimTrigger": grim,
    "Random": random,
    "GenerousTFT": generous,
    "AlwaysCooperate": always_cooperate,
}
