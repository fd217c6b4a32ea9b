"""Check of texts: rules and situations are printable words, and rules stay the same during a game."""

from __future__ import annotations

from stratagem.games.conformance.report import BrokenRule, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame, every_episode
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
