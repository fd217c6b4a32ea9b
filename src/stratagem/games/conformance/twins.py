"""Where OpenSpiel has the same game, it is the same move by move: who moves, what is legal, and what is paid."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from stratagem.errors import CannotCompute
from stratagem.games.base import Seat, State
from stratagem.games.conformance.report import Broken, NotApplicable, Transcript
from stratagem.games.conformance.walk import Case, every_episode
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key
from stratagem.games.twin import Node, Twin

_POSITIONS = 1500
_DEEPEST = 100
"""A game with more positions, or of more moves, is compared on random episodes only."""


class Pair(NamedTuple):
    """Our state and OpenSpiel's, what ours has paid so far, and how it came about."""

    state: State[Any]
    node: Node
    paid: tuple[float, ...]
    transcript: Transcript


def twin(case: Case) -> str:
    """OpenSpiel plays the same game."""
    mirror = case.game.twin()
    if mirror is None:
        raise NotApplicable("OpenSpiel does not have this game")
    ours = Case(mirror.game, case.episodes, case.key, case.player)
    done = every_episode(ours, lambda ours, key: _along_an_episode(ours, key, mirror))
    try:
        budget = [_POSITIONS]
        for number, (_, state) in enumerate(starts(mirror.game)):
            transcript = Transcript(Key(number))
            _everywhere(mirror, Pair(state, mirror.node(state), (0.0,) * mirror.game.spec.seats, transcript), budget)
    except CannotCompute:
        return f"{done} move by move"
    return f"{done} and all {_POSITIONS - budget[0]} positions"


def _along_an_episode(case: Case, key: Key, mirror: Twin) -> None:
    pair: Pair | None = None
    for here in case.walk(key):
        if pair is None or here.result is None:
            pair = Pair(here.state, mirror.node(here.state), (0.0,) * case.game.spec.seats, here.transcript)
        else:
            pair = _together(mirror, pair, here.state, here.result.payoffs, here.transcript)
        _same(mirror, pair)


def _everywhere(mirror: Twin, pair: Pair, budget: list[int]) -> None:
    """Every action and every draw from here on; on these tables draws are settled one by one, so no key gives them."""
    budget[0] -= 1
    if budget[0] < 0 or len(pair.transcript.actions) > _DEEPEST:
        raise CannotCompute("the game is too large to be walked whole")
    _same(mirror, pair)
    for said in product(*(pair.state.view(seat).choices for seat in pair.state.to_act)):
        actions: dict[Seat, str | None] = dict(zip(pair.state.to_act, said, strict=True))
        if actions:
            for _, after, result in outcomes(pair.state, actions):
                then = pair.transcript.then(actions)
                _everywhere(mirror, _together(mirror, pair, after, result.payoffs, then), budget)


def _together(
    mirror: Twin, before: Pair, after: State[Any], payoffs: tuple[float, ...], transcript: Transcript
) -> Pair:
    """OpenSpiel's state after the same actions, seat by seat; what chance brought is taken from ours."""
    node = before.node.clone()
    for seat, action in transcript.actions[-1].items():
        numbers = {mirror.action(node, number): number for number in node.legal_actions()}
        if node.current_player() != seat or action not in numbers:
            raise Broken(f"OpenSpiel does not let seat {seat} play {action!r}: {sorted(numbers)}", before.transcript)
        node.apply_action(numbers[action])
    if node.is_chance_node():
        drawn, moves = mirror.node(after), node.history()
        if drawn.history()[: len(moves)] != moves:
            raise Broken(f"OpenSpiel's history is {moves} and ours {drawn.history()}", transcript)
        node = drawn
    paid = tuple(had + payoff for had, payoff in zip(before.paid, payoffs, strict=True))
    return Pair(after, node, paid, transcript)


def _same(mirror: Twin, pair: Pair) -> None:
    state, node = pair.state, pair.node
    if state.over != node.is_terminal():
        raise Broken(f"over is {state.over} here and {node.is_terminal()} in OpenSpiel", pair.transcript)
    if state.over:
        if max(abs(a - b) for a, b in zip(pair.paid, node.returns(), strict=True)) > 1e-6:
            raise Broken(f"{pair.paid} is paid here and {node.returns()} in OpenSpiel", pair.transcript)
        return
    seat = state.to_act[0]
    if node.current_player() != seat:
        raise Broken(f"seat {seat} is to move here and {node.current_player()} in OpenSpiel", pair.transcript)
    ours, names = list(state.view(seat).choices), [mirror.action(node, number) for number in node.legal_actions()]
    if sorted(ours) != sorted(names):
        raise Broken(f"legal here are {ours} and in OpenSpiel {names}", pair.transcript)
    if mirror.view(node).info_key != state.view(seat).info_key:
        raise Broken(f"OpenSpiel's position is another information set of seat {seat}", pair.transcript)
