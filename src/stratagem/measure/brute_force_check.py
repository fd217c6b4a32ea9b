"""Check of exact figures by brute force: expectations, best responses by induction and on the tree, and OpenSpiel's.

`games.conformance.brute_force` plays every history of a small game under random policies. Every other way to the same
figures must agree with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game, Node, Twin, View
from stratagem.games.catalogue import describe
from stratagem.games.conformance import brute_force
from stratagem.games.conformance.brute_force import GameSize, TooLarge
from stratagem.games.conformance.report import RuleCheck, describe_error, shorten_detail
from stratagem.games.key import Key
from stratagem.games.tree_size import estimated_size
from stratagem.measure.best_response import best_response
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.exact import exact, of_policy
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.base import Ask, Mix, Move, Traits, draw
from stratagem.players.members import PlayerBase

NAME = "brute-force"
TOLERANCE = 1e-9
"""Difference that is rounding: each way adds up the same histories in another order."""
_ROUNDING = 1e-12
"""Difference below which figures differ by the order of additions, which processors choose."""
_MANY = 10**9
"""Budget of the other ways: brute force has played the whole game already."""
_UNPLAYED = 0.25
"""Chance of an action to have no probability, so that there are information sets that are not reached."""


@dataclass(frozen=True)
class RandomPolicy(PlayerBase):
    """Player with random probabilities at each information set, or at each state key, and none for some actions."""

    name: ClassVar[str] = "random policy"
    key: Key
    by_state: bool = False
    """True for equal probabilities at equal state keys, so that situations with equal keys count as one."""

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=0 if self.by_state else None)

    def turn(self, ask: Ask) -> Move:
        return Move(draw(self.policy(ask.view), ask.key))

    def policy(self, view: View[Any]) -> Mix:
        place = view.state_key if self.by_state else f"{view.seat} {view.info_key}"
        drawn = {action: self.key.at(place, action).unit() for action in view.choices}
        weights = {action: weight for action, weight in drawn.items() if weight > _UNPLAYED} or drawn
        total = sum(weights.values())
        return {action: weight / total for action, weight in weights.items()}


class FigureComparison(NamedTuple):
    """Figure by brute force and in another way."""

    name: str
    """Method and figure: `tree: best response of seat 1`."""
    brute_force: float
    other: float

    @property
    def difference(self) -> float:
        """Distance of the two figures."""
        return abs(self.brute_force - self.other)

    def __str__(self) -> str:
        return f"{self.name} is {self.other:.9g}, and {self.brute_force:.9g} by brute force"


class Whole(NamedTuple):
    """Figures of an episode by brute force."""

    returns: tuple[float, ...]
    rounds: float
    payoffs: tuple[float, ...]
    """Best response of each seat."""
    advantages: tuple[float, ...]
    """Largest payoff of each seat less the mean of the others'."""

    @property
    def worst_advantage(self) -> float:
        """Mean advantage over the seats, a round, as exact figures have it."""
        return max(0.0, sum(self.advantages) / len(self.advantages) / self.rounds) if self.advantages else 0.0


def explore_game(game: Game[Any], most: int) -> GameSize:
    """Return the size of a game with its first fault, or refuse it with its number of histories."""
    try:
        return brute_force.explore(game, most)
    except TooLarge:
        estimate = estimated_size(game, Key(0).at("size"))
        about = f", about {estimate:.2g}" if estimate > most else ""  # it errs on the low side in uneven trees
        raise BadParameter(
            f"{describe(game)} has more than {most:,} histories{about}, too many for brute force: raise `histories=`, "
            "or make the game smaller by its options."
        ) from None
    except Exception as error:  # noqa: BLE001 - whatever the rules under test raise is a finding
        return GameSize(0, 0, describe_error(error, game))


def compare(game: Game[Any], policy: RandomPolicy) -> Iterator[FigureComparison]:
    """Yield every figure of a policy by brute force, and in each other way that can compute it."""
    whole = _whole(game, policy)
    for method in (_compare_expectations, _by_induction, _on_tree, _exact):
        try:
            yield from method(game, policy, whole)
        except CannotCompute:
            continue
    if (twin := game.twin()) is not None and not policy.by_state:
        yield from _spiels(twin, policy, whole if twin.game == game else _whole(twin.game, policy))


def _whole(game: Game[Any], policy: RandomPolicy) -> Whole:
    values, seats = brute_force.values(game, policy.policy), range(game.spec.seats)
    found = [brute_force.best_response(game, policy.policy, seat) for seat in seats] if len(seats) > 1 else []
    payoffs, advantages = (tuple(row[place] for row in found) for place in (0, 1))
    return Whole(values.returns, values.rounds, payoffs, advantages)


def _compare_expectations(game: Game[Any], policy: RandomPolicy, whole: Whole) -> Iterator[FigureComparison]:
    found = expected_payoffs(game, [policy] * game.spec.seats, _MANY)
    if not game.spec.independent_rounds:  # else it is that of one round
        yield FigureComparison("expectation: rounds", whole.rounds, found.rounds)
    for seat, value in enumerate(whole.returns):
        yield FigureComparison(f"expectation: value of seat {seat}", value / whole.rounds, found.per_round(seat))


def _by_induction(game: Game[Any], policy: RandomPolicy, whole: Whole) -> Iterator[FigureComparison]:
    for seat, (payoff, advantage) in enumerate(zip(whole.payoffs, whole.advantages, strict=True)):
        found = best_response(game, policy, seat, _MANY)
        yield FigureComparison(f"induction: best response of seat {seat}", payoff, found.payoff)
        yield FigureComparison(f"induction: advantage of seat {seat}", advantage, found.advantage)


def _on_tree(game: Game[Any], policy: RandomPolicy, whole: Whole) -> Iterator[FigureComparison]:
    if whole.payoffs:
        oracle = oracle_of(game, _MANY, one_round=False)
        yield from _figures("tree", of_policy(oracle, policy_on(oracle.tree, policy)), whole)


def _exact(game: Game[Any], policy: RandomPolicy, whole: Whole) -> Iterator[FigureComparison]:
    """Compare the public figure; where rounds know nothing of each other it has the parts of one round, not seats."""
    if game.spec.independent_rounds < 2:
        yield from _figures("exact", exact(game, policy, _MANY), whole)
    else:
        found, length = exact(game, policy, _MANY), whole.rounds
        yield FigureComparison("exact: sum of the values", sum(whole.returns) / length, sum(found.values))
        yield FigureComparison(
            "exact: sum of the best responses", sum(whole.payoffs) / length, sum(found.best_responses)
        )
        yield FigureComparison("exact: worst advantage", whole.worst_advantage, found.worst_advantage or 0.0)


def _figures(method: str, found: Exploitability, whole: Whole) -> Iterator[FigureComparison]:
    """Compare figures a round, seat by seat."""
    for seat, (value, best) in enumerate(zip(found.values, found.best_responses, strict=True)):
        yield FigureComparison(f"{method}: value of seat {seat}", whole.returns[seat] / whole.rounds, value)
        yield FigureComparison(f"{method}: best response of seat {seat}", whole.payoffs[seat] / whole.rounds, best)
    yield FigureComparison(f"{method}: worst advantage", whole.worst_advantage, found.worst_advantage or 0.0)


def _spiels(twin: Twin, policy: RandomPolicy, whole: Whole) -> Iterator[FigureComparison]:
    """Compare with OpenSpiel's own game and algorithms."""
    import pyspiel  # only where the game has a twin

    if not twin.spiel.get_type().provides_information_state_string:
        return
    table, root = _table(twin, policy), twin.spiel.new_initial_state()
    found = pyspiel.expected_returns(root, pyspiel.TabularPolicy(table), -1, True)
    for seat, value in enumerate(whole.returns):
        yield FigureComparison(f"OpenSpiel: value of seat {seat}", value, found[seat])
    for seat, payoff in enumerate(whole.payoffs):
        best = pyspiel.TabularBestResponse(twin.spiel, seat, table).value_from_state(root)
        yield FigureComparison(f"OpenSpiel: best response of seat {seat}", payoff, best)


def _table(twin: Twin, policy: RandomPolicy) -> dict[str, list[tuple[int, float]]]:
    """Return the policy by OpenSpiel's information sets."""
    table: dict[str, list[tuple[int, float]]] = {}
    nodes: list[Node] = [twin.spiel.new_initial_state()]
    while nodes:
        node = nodes.pop()
        if not node.is_terminal() and not node.is_chance_node():
            mix = policy.policy(twin.view(node))
            rows = [(action, mix.get(twin.action(node, action), 0.0)) for action in node.legal_actions()]
            table[node.information_state_string()] = rows
        nodes += [] if node.is_terminal() else [node.child(action) for action in node.legal_actions()]
    return table


def brute_force_check(game: Game[Any], size: GameSize, key: Key) -> RuleCheck:
    """Check that all ways to the values and best responses of random policies agree with brute force."""
    if size.fault:
        return RuleCheck(NAME, "failed", shorten_detail(size.fault))
    policies = [RandomPolicy(key.at(NAME, number), by_state=number == 1) for number in range(3)]
    try:
        found = [one for policy in policies for one in compare(game, policy)]
    except Exception as error:  # noqa: BLE001 - whatever the rules under test raise is a finding
        return RuleCheck(NAME, "failed", shorten_detail(describe_error(error, game)))
    told = _in_words(size, len(policies), found)
    if wrong := [str(one) for one in found if not one.difference <= TOLERANCE]:
        return RuleCheck(NAME, "failed", shorten_detail(f"{told}: {'; '.join(wrong)}"))
    return RuleCheck(NAME, "passed", told)


def _in_words(size: GameSize, policies: int, found: Sequence[FigureComparison]) -> str:
    """Return what was compared."""
    methods = dict.fromkeys(one.name.partition(":")[0] for one in found)
    kinds = ("value", "best response", "advantage")
    counts = [f"{sum(kind in one.name for one in found)} {kind}s" for kind in kinds]
    largest = max(one.difference for one in found)
    difference = f"{largest:.1e}" if largest >= _ROUNDING else f"below {_ROUNDING:.0e}"
    return (
        f"{size.histories:,} histories, {size.information_sets:,} information sets, {policies} random policies; "
        f"{counts[0]}, {counts[1]} and {counts[2]} by {', '.join(methods)}; largest difference {difference}"
    )
