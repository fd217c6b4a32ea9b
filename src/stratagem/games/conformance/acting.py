"""Checks of actions: every listed action is accepted, no other one is, and silence has the declared consequence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from stratagem.base.errors import IllegalAction
from stratagem.games.all_actions import declared_actions, lines_of
from stratagem.games.base import Json, Seat, State
from stratagem.games.choices import Choices, Flat
from stratagem.games.conformance.report import Actions, BrokenRule
from stratagem.games.conformance.walk import EpisodePosition, VerifiedGame, every_episode
from stratagem.games.key import Key

_ALL = 32
"""Number of choices up to which all are tried; of more, this many are drawn."""
_LISTED = 5000


def legal(case: VerifiedGame) -> str:
    """Check that every choice that a view lists can be played."""
    return every_episode(case, _legal_in_an_episode)


def _legal_in_an_episode(case: VerifiedGame, key: Key) -> None:
    """Try every choice at a table of its own, replayed from the start: forks are not verified yet."""
    for here in case.closer(key):
        for seat in here.state.to_act:
            for action in some(here.state.view(seat).choices, here.dice):
                table = here.transcript.replay(case.game)
                actions = {**case.joint(table, here.dice), seat: action}
                try:
                    table.play(actions)
                except IllegalAction as error:
                    raise BrokenRule(
                        f"{action!r} is on seat {seat}'s list and refused: {error}", here.transcript
                    ) from error


def some(choices: Choices, key: Key) -> Iterator[str]:
    """All choices where they are few, else some drawn at random."""
    if choices.count <= _ALL:
        yield from choices
    else:
        yield choices.first
        yield from (choices.sample(key.at("some", n)) for n in range(_ALL // 2))


def illegal(case: VerifiedGame) -> str:
    """Check that an action off the list is refused with IllegalAction and that the state stays as it is."""
    return every_episode(case, _illegal_in_an_episode)


def _illegal_in_an_episode(case: VerifiedGame, key: Key) -> None:
    for here in case.closer(key):
        usual, before = case.joint(here.state, here.dice), here.state.dump()
        for seat in here.state.to_act:
            choices = here.state.view(seat).choices
            for text in garbage(here.state, seat):
                if text not in choices:
                    _check_refusal(here, before, {**usual, seat: text})
        for actions in _wrong_seats(here.state, usual):
            _check_refusal(here, before, actions)


def garbage(state: State[Any], seat: Seat) -> Iterator[str]:
    """Strings that are no actions, or nearly some: of another case, with spaces, joined, or another seat's."""
    yield from ("", " ", "\n", "None", "null", "0", "-1", "é", "‘’", "\x00", "\u202e", "PASS " * 1000)
    for action in islice(state.view(seat).choices, 8):
        yield from (
            action.lower(),
            action.upper(),
            action.title(),
            f" {action}",
            f"{action} ",
            f"{action}\n",
            f"{action}.",
        )
        yield from (
            action + action,
            f"{action} {action}",
            f"{action}\n{action}",
            action[1:],
            action[:-1],
            f"{action}\x00",
        )
    for other in state.to_act:
        if other != seat:
            yield from islice(state.view(other).choices, 8)


def _wrong_seats(state: State[Any], usual: Actions) -> Iterator[Actions]:
    """Wrong sets of seats: nobody where somebody is to act, one missing, one too many or not to act."""
    yield {}
    for seat in state.to_act:
        if len(state.to_act) > 1:
            yield {other: action for other, action in usual.items() if other != seat}
    spoken = next(iter(usual.values()), "x")
    for seat in {-1, state.game.spec.seats, *range(state.game.spec.seats)} - set(state.to_act):
        yield from ({**usual, seat: spoken}, {seat: spoken}, {**usual, seat: None}, {seat: None})


def _check_refusal(here: EpisodePosition, before: Json, actions: Actions) -> None:
    """Check that actions are refused in a copy of a state, whose content `before` they leave as it is."""
    state = here.state.fork()
    try:
        result = state.play(actions)
    except IllegalAction:
        if state.dump() != before:
            raise BrokenRule(f"refusing {dict(actions)} changed the state to {state.dump()}", here.transcript) from None
        return
    except Exception as error:
        raise BrokenRule(f"{dict(actions)} raised {error!r} where IllegalAction is due", here.transcript) from error
    raise BrokenRule(f"{dict(actions)} was accepted and paid {result.payoffs}", here.transcript)


def null(case: VerifiedGame) -> str:
    """Check that a seat without a legal action is treated as `spec.on_illegal` declares, without an exception."""
    return f"{every_episode(case, _silence_in_an_episode)}, on_illegal={case.game.spec.on_illegal}"


def _silence_in_an_episode(case: VerifiedGame, key: Key) -> None:
    for here in case.closer(key):
        for silent in _silences(here.state.to_act):
            usual = case.joint(here.state, here.dice)
            state = here.state.fork()
            result = state.play({**usual, **dict.fromkeys(silent)})
            if here.state.on_illegal == "default":
                meant = {seat: case.game.default_action(here.state.view(seat).facts) for seat in silent}
                other = here.state.fork()
                if other.play({**usual, **meant}) != result or other.dump() != state.dump():
                    raise BrokenRule(f"silence of {silent} is not the default action {meant}", here.transcript)
            elif here.state.on_illegal == "forfeit" and not state.over:
                raise BrokenRule(f"silence of {silent} does not end the game, as a forfeit does", here.transcript)
            elif state.dump() == here.state.dump():
                raise BrokenRule(
                    f"silence of {silent} leaves the table where it was, so it would have no end", here.transcript
                )
    for here in case.walk(key.at("silent"), silence=0.5):
        data = json.loads(json.dumps(here.state.dump()))
        if case.game.load(data, here.transcript.key).dump() != here.state.dump():
            raise BrokenRule("loaded from its dump after silence, the state is another", here.transcript)


def _silences(seats: tuple[Seat, ...]) -> Iterator[tuple[Seat, ...]]:
    """Yield every set of silent seats where few act, else each one and all."""
    if len(seats) > 3:
        yield from ((seat,) for seat in seats)
        yield seats
    elif seats:
        masks = product((False, True), repeat=len(seats))
        yield from (tuple(s for s, mute in zip(seats, mask, strict=True) if mute) for mask in masks if any(mask))


def default(case: VerifiedGame) -> str:
    """Check that the default action is legal."""
    return every_episode(case, _default_in_an_episode)


def _default_in_an_episode(case: VerifiedGame, key: Key) -> None:
    for here in case.walk(key):
        for seat in here.state.to_act:
            view = here.state.view(seat)
            if (action := case.game.default_action(view.facts)) not in view.choices:
                raise BrokenRule(
                    f"the default action of seat {seat} is {action!r}, which it may not play", here.transcript
                )


def choices(case: VerifiedGame) -> str:
    """Check that choices list each action once, contain their draws, parse their actions, and are all declared."""
    return every_episode(case, _choices_in_an_episode)


def _choices_in_an_episode(case: VerifiedGame, key: Key) -> None:
    for here in case.closer(key):
        for seat in here.state.to_act:
            offered = here.state.view(seat).choices
            if fault := unsound(offered, here.dice):
                raise BrokenRule(f"seat {seat}'s choices {fault}", here.transcript)
            declared = declared_actions(case.game)
            if declared and (strange := declared.union(lines_of(offered)) - declared):
                raise BrokenRule(f"seat {seat} may play {min(strange)!r}, not one of `all_actions`", here.transcript)


def unsound(offered: Choices, key: Key) -> str:
    """Return the first fault of these choices; empty if there is none."""
    listed = list(islice(offered, _LISTED))
    if len(set(listed)) != len(listed):
        return "list an action twice"
    exact = isinstance(offered, Flat)
    if (exact and offered.count <= _LISTED and offered.count != len(listed)) or offered.count < len(listed):
        return f"list {len(listed)} actions and count {offered.count}"
    if offered.first != listed[0]:
        return f"begin with {listed[0]!r} and say that {offered.first!r} is first"
    for action in (*islice(listed, _ALL), *(offered.sample(key.at("sample", n)) for n in range(8))):
        if action not in offered:
            return f"do not contain their own {action!r}"
        if (reply := offered.parse(action)).action != action:
            return f"read their own {action!r} as {reply}"
    return ""
