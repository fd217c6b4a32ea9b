"""Checks of texts: printable words, rules that stay the same, and disguises that leave no plain word."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.base.errors import CannotCompute
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame, every_episode
from stratagem.games.disguise.disguise import generate_disguise
from stratagem.games.disguise.proof import (
    NoIsomorphism,
    TextComparison,
    compare_texts,
    left_in_plain_words,
    prove_each,
)
from stratagem.games.key import Key

Rules = dict[int, tuple[str, PlayedPath]]


def texts(case: VerifiedGame) -> str:
    """Check that texts are printable and not empty, and that a seat's rules are the same in every situation."""
    rules: Rules = {}
    return every_episode(case, lambda case, key: _texts_of_an_episode(case, key, rules))


def _texts_of_an_episode(case: VerifiedGame, key: Key, rules: Rules) -> None:
    for here in case.walk(key):
        for seat in range(case.game.spec.seats):
            view = here.state.view(seat)
            for name, text in (("rules", view.rules), ("situation", view.situation)):
                if not _readable(text):
                    raise BrokenRule(f"the {name} of seat {seat} cannot be read: {text!r}", here.transcript)
            if not isinstance(view.state_key, str) or not isinstance(view.info_key, str):
                raise BrokenRule(f"the keys of seat {seat} are not strings", here.transcript)
            rules_before, transcript = rules.setdefault(seat, (view.rules, here.transcript))
            if rules_before != view.rules:
                raise BrokenRule(f"seat {seat} is told other rules than before", here.transcript, transcript)


def _readable(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and all(c.isprintable() or c == "\n" for c in text)


_BUDGET = 1_500
"""Number of moves of the tree that a check walks."""
_EPISODES = 3
_SEEDS = (0, 1)


def disguise(case: VerifiedGame) -> str:
    """Check two generated disguises on some episodes, and on the whole tree if it is small."""
    try:
        disguises = [generate_disguise(case.game, seed) for seed in _SEEDS]
    except CannotCompute as reason:
        raise NotApplicable(str(reason)) from reason
    episodes = min(_EPISODES, case.episodes)
    comparisons = list(map(TextComparison, disguises))
    for key in case.tables(number=episodes):
        _look(case, key, comparisons)
    try:
        proof = prove_each(disguises, case.game, budget=_BUDGET, episodes=episodes, key=case.key)
    except NoIsomorphism as fault:
        raise BrokenRule(str(fault)) from fault
    return f"{len(disguises)} generated, {proof}"


def _look(case: VerifiedGame, key: Key, comparisons: Sequence[TextComparison]) -> None:
    for here in case.closer(key):
        try:
            compare_texts(comparisons, here.state)
        except NoIsomorphism as fault:
            raise BrokenRule(str(fault), here.transcript) from fault
        for seat in here.state.to_act:
            view = here.state.view(seat)
            for comparison in comparisons:
                if left := left_in_plain_words(comparison.disguise, view):
                    says = f"a disguise of seat {seat} leaves a word of the game in {left!r}: see `Game.vocabulary`"
                    raise BrokenRule(says, here.transcript)
