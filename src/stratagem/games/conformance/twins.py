"""Check against OpenSpiel's twin, move by move: the seats to act, the legal actions and the payoffs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Node, Seat, State, Twin
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame, every_episode
from stratagem.games.enumeration import joint_actions, outcomes, starts, walk_positions
from stratagem.games.key import Key

_POSITIONS = 1500
_DEEPEST = 100
"""Number of positions, or of moves, beyond which a game is compared on random episodes only."""


class TwinStates(NamedTuple):
    """Our state and OpenSpiel's, the payoffs of ours so far, and the path to them."""

    state: State[Any]
    node: Node
    paid: tuple[float, ...]
    transcript: PlayedPath


def twin(case: VerifiedGame) -> str:
    """Check that OpenSpiel plays the same game."""
    mirror = case.game.twin()
    if mirror is None:
        raise NotApplicable("OpenSpiel does not have this game")
    ours = VerifiedGame(mirror.game, case.episodes, case.key, case.player)
    done = every_episode(ours, lambda ours, key: _along_an_episode(ours, key, mirror))
    if case.game.spec.independent_rounds > 0:
        every_episode(case, lambda case, key: _along_a_match(case, key, mirror))
    try:
        number = _compare_everywhere(mirror)
    except CannotCompute:
        return f"{done} move by move"
    return f"{done} and all {number} positions"


def _along_an_episode(case: VerifiedGame, key: Key, mirror: Twin) -> None:
    pair: TwinStates | None = None
    for here in case.walk(key):
        if pair is None or here.result is None:
            pair = TwinStates(here.state, mirror.node(here.state), (0.0,) * case.game.spec.seats, here.transcript)
        else:
            pair = _together(mirror, pair, here.state, here.result.payoffs, here.transcript)
        _same(mirror, pair)


def _along_a_match(case: VerifiedGame, key: Key, mirror: Twin) -> None:
    """Compare round by round, each as a game of OpenSpiel's own; a seat may be another of its players in each."""
    node: Node = None
    seats: list[Seat] = []
    for here in case.walk(key):
        if here.result is not None:
            (action,) = here.transcript.actions[-1].values()
            numbers: dict[str | None, int] = {mirror.action(node, a): a for a in node.legal_actions()}
            if action not in numbers:
                raise BrokenRule(f"OpenSpiel does not let {action!r} be played: {list(numbers)}", here.transcript)
            node = node.child(numbers[action])
            if node.is_terminal() != here.result.closed:
                raise BrokenRule("the round ends here or in OpenSpiel, and not in both", here.transcript)
            if here.result.closed:
                _same_pay(here.result.payoffs, node, seats, here.transcript)
        if not here.state.over:
            reached, before = mirror.node(here.state), node
            if before is not None and not before.is_terminal() and before.history() != reached.history():
                raise BrokenRule(
                    f"OpenSpiel's history is {before.history()} and ours {reached.history()}", here.transcript
                )
            node, seats = reached, [mirror.seat(here.state, player) for player in range(case.game.spec.seats)]
            _same_turn(mirror, here.state, node, seats, here.transcript)


def _same_pay(payoffs: tuple[float, ...], node: Node, seats: list[Seat], transcript: PlayedPath) -> None:
    theirs = node.returns()
    if any(abs(payoffs[seat] - theirs[player]) > 1e-6 for player, seat in enumerate(seats)):
        raise BrokenRule(
            f"{payoffs} is paid here and {theirs} in OpenSpiel, whose players are seats {seats}", transcript
        )


def _same_turn(mirror: Twin, state: State[Any], node: Node, seats: list[Seat], transcript: PlayedPath) -> None:
    seat = state.to_act[0]
    if seats[node.current_player()] != seat:
        raise BrokenRule(f"seat {seat} is to move here and {seats[node.current_player()]} in OpenSpiel", transcript)
    view, names = state.view(seat), [mirror.action(node, number) for number in node.legal_actions()]
    if sorted(view.choices) != sorted(names):
        raise BrokenRule(f"legal here are {sorted(view.choices)} and in OpenSpiel {names}", transcript)
    if mirror.view(node).info_key != view.info_key:
        raise BrokenRule(f"OpenSpiel's position is another information set of seat {seat}", transcript)


def _compare_everywhere(mirror: Twin) -> int:
    """Compare every action and every draw, and return the number of positions.

    Draws are settled one by one, so no key gives these tables.
    """
    paid = (0.0,) * mirror.game.spec.seats
    first = (
        TwinStates(state, mirror.node(state), paid, PlayedPath(Key(number)))
        for number, (_, state) in enumerate(starts(mirror.game))
    )

    def follow(pair: TwinStates) -> Iterator[TwinStates]:
        for actions in joint_actions(pair.state):
            then = pair.transcript.then(actions)
            for _, after, result in outcomes(pair.state, actions):
                yield _together(mirror, pair, after, result.payoffs, then)

    looked = 0
    for looked, (depth, pair) in enumerate(walk_positions(first, follow), 1):
        if looked > _POSITIONS or depth > _DEEPEST:
            raise CannotCompute("the game is too large to be walked whole")
        _same(mirror, pair)
    return looked


def _together(
    mirror: Twin, before: TwinStates, after: State[Any], payoffs: tuple[float, ...], transcript: PlayedPath
) -> TwinStates:
    """Apply the same actions to OpenSpiel's state, seat by seat; chance outcomes are taken from ours."""
    node = before.node.clone()
    for seat, action in transcript.actions[-1].items():
        numbers = {mirror.action(node, number): number for number in node.legal_actions()}
        if node.current_player() != seat or action not in numbers:
            raise BrokenRule(
                f"OpenSpiel does not let seat {seat} play {action!r}: {sorted(numbers)}", before.transcript
            )
        node.apply_action(numbers[action])
    if node.is_chance_node():
        drawn, moves = mirror.node(after), node.history()
        if drawn.history()[: len(moves)] != moves:
            raise BrokenRule(f"OpenSpiel's history is {moves} and ours {drawn.history()}", transcript)
        node = drawn
    paid = tuple(had + payoff for had, payoff in zip(before.paid, payoffs, strict=True))
    return TwinStates(after, node, paid, transcript)


def _same(mirror: Twin, pair: TwinStates) -> None:
    state, node = pair.state, pair.node
    if state.over != node.is_terminal():
        raise BrokenRule(f"over is {state.over} here and {node.is_terminal()} in OpenSpiel", pair.transcript)
    if state.over:
        _same_pay(pair.paid, node, list(range(len(pair.paid))), pair.transcript)
        return
    _same_turn(mirror, state, node, list(range(mirror.game.spec.seats)), pair.transcript)
