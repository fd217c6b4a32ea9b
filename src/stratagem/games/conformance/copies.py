"""Checks of copies: equal keys give equal episodes; nothing later changes forks, dumps and views."""

from __future__ import annotations

import json
from typing import Any

from stratagem.games.base import RoundResult, State
from stratagem.games.conformance.report import Actions, BrokenRule, NotApplicable
from stratagem.games.conformance.walk import (
    EpisodePosition,
    VerifiedGame,
    all_shown,
    content_of,
    difference,
    every_episode,
    first_difference,
)
from stratagem.games.key import Key


def seed(case: VerifiedGame) -> str:
    """Check that the same key and actions give the same episode."""
    return every_episode(case, lambda case, key: _same_again(case, key, key, "played again from the same key"))


def chance(case: VerifiedGame) -> str:
    """Check that a game that declares no chance plays alike on every key."""
    if case.game.spec.chance:
        raise NotApplicable("the game declares that it has chance")
    says = "the game declares no chance, but played from another key"
    return every_episode(case, lambda case, key: _same_again(case, key, key.at("another"), says))


def _same_again(case: VerifiedGame, key: Key, other: Key, how: str) -> None:
    again = case.game.start(other)
    for here in case.walk(key):
        if here.result is not None and (result := again.play(here.transcript.actions[-1])) != here.result:
            raise BrokenRule(f"{how}, the move paid {result} and not {here.result}", here.transcript)
        _compare(here, again, how)


def _compare(here: EpisodePosition, other: State[Any], how: str) -> None:
    if other.dump() != here.state.dump():
        raise BrokenRule(f"{how}, the state is {other.dump()} and not {here.state.dump()}", here.transcript)
    turn, usual = (other.to_act, other.over, other.round), (here.state.to_act, here.state.over, here.state.round)
    if turn != usual:
        raise BrokenRule(f"{how}, (to_act, over, round) is {turn} and not {usual}", here.transcript)
    if unequal := first_difference(all_shown(other), all_shown(here.state)):
        raise BrokenRule(f"{how}, {unequal}", here.transcript)


def forks(case: VerifiedGame) -> str:
    """Check that a fork is independent and takes its draws from the original's chance, or from the one it is given."""
    return every_episode(case, _forks_of_an_episode)


def _forks_of_an_episode(case: VerifiedGame, key: Key) -> None:
    dumps: list[tuple[EpisodePosition, State[Any], dict[str, Any]]] = []
    last = None
    for last in case.closer(key):
        dumps.append((last, last.state.fork(), last.state.dump()))
        _try_forks(case, last)
    if last is None:
        return
    for here, fork, dumped in dumps:
        if fork.dump() != dumped:
            raise BrokenRule("playing the original changed its fork", here.transcript)
        for actions in last.transcript.actions[len(here.transcript.actions) :]:
            fork.play(actions)
        if fork.dump() != last.state.dump():
            raise BrokenRule("the same actions led a fork to another end than its original", here.transcript)


def _try_forks(case: VerifiedGame, here: EpisodePosition) -> None:
    before, views = here.state.dump(), all_shown(here.state)
    fresh = here.dice.at("fresh")
    for given in (None, fresh):
        kind = "a fork" if given is None else "a fork with fresh chance"
        one, two = here.state.fork(given), here.state.fork(given)
        _compare(here, one, f"in {kind}")
        played = case.play_out(one, here.dice)
        if here.state.dump() != before or first_difference(all_shown(here.state), views):
            raise BrokenRule(f"playing {kind} changed its original", here.transcript)
        if follow(two, played) or two.dump() != one.dump():
            raise BrokenRule(f"the same actions led two times {kind} to different ends", here.transcript)


def follow(state: State[Any], played: list[tuple[Actions, RoundResult]]) -> str:
    """Play the same actions and find the first difference in the results."""
    for actions, result in played:
        if (came := state.play(actions)) != result:
            return f"{actions} paid {came} and not {result}"
    return ""


def dump(case: VerifiedGame) -> str:
    """Check that a dump is JSON and that the state loaded from it goes on as the original does."""
    return every_episode(case, _dumps_of_an_episode)


def _dumps_of_an_episode(case: VerifiedGame, key: Key) -> None:
    for here in case.closer(key):
        try:
            data = json.loads(json.dumps(here.state.dump(), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise BrokenRule(f"the dump is no JSON: {error}", here.transcript) from error
        loaded = case.game.load(data, key)
        _compare(here, loaded, "loaded from its dump")
        original = here.state.fork()
        if unequal := follow(loaded, case.play_out(original, here.dice)):
            raise BrokenRule(f"after loading, {unequal}", here.transcript)
        if loaded.dump() != original.dump():
            raise BrokenRule("a loaded state came to another end", here.transcript)


def views(case: VerifiedGame) -> str:
    """Check that a view is the same whenever it is read."""
    return every_episode(case, _views_of_an_episode)


def _views_of_an_episode(case: VerifiedGame, key: Key) -> None:
    for here in case.closer(key):
        for seat in range(case.game.spec.seats):
            state, acting = here.state.fork(), seat in here.state.to_act
            read, unread = state.view(seat), state.view(seat)
            first, written = content_of(read, acting=acting), repr(read.facts)
            case.play_out(state, here.dice)
            unequal = difference(content_of(read, acting=acting), first) or difference(
                content_of(unread, acting=acting), first
            )
            if unequal or repr(read.facts) != written:
                says = unequal or f"facts: {read.facts!r} against {written}"
                raise BrokenRule(f"later play changed what an old view of seat {seat} says, {says}", here.transcript)
