"""Exploitability that adversaries see, beside the exact one: `python experiments/atlas_adversaries.py runs/atlas`.

It reads the tables of the policies, and asks no model. A file a policy in the folder `adversaries`, so a stopped
measurement goes on. Another set of policies in a game has other responses, so its files are measured anew.

All figures are gains of an episode, in shares of each seat's payoff range, the mean over the seats. A pool sees at each
seat the gain of its best bot, or 0, as if it had played for ever. The replies behind a limit are drawn.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from atlas import AtlasPolicy, even_play, read_policies, scaled_oracle
from atlas_exploiters import LEARNING, SEARCH, TableOpponent, learn, search
from experiment import command_line

from stratagem.api.players import list_players
from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import describe
from stratagem.games.drawn.solution import scale_form
from stratagem.games.drawn.worth import myopic_policy
from stratagem.games.key import Key
from stratagem.measure.exploitability.exact import of_policy
from stratagem.measure.exploiters.fact_tests import FactTestTable, list_tests
from stratagem.measure.exploiters.list_value import ListGame
from stratagem.measure.sampled.drawn import ReplySource
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import measured_limits
from stratagem.measure.sampled.questions import TreeQuestions
from stratagem.measure.tree_policy import Floats, Oracle, policy_on
from stratagem.players.catalogue import make_player

KS = (1, 2, 5, 10, 20)
"""Bots of a pool."""
DRAWS = 20
"""Pools of each size; the smaller pools of a draw are parts of its larger ones."""
REPLIES = (10, 50, 150)
"""Mean number of replies a situation; 150 is the default of the measurement."""
LIMIT_DRAWS = 2
"""Measurements of each limit."""
SOLVERS = ("GameSolution", "SolutionResponse")
"""Players of drawn games that know the solution, which nobody has of a new game."""
MOST_RULES, MOST_TESTS, LISTED_TESTS = 6, 2, 160
"""Largest number of rules of a random decision list, of tests of a rule, and of tests of a game."""
FOLDER = "adversaries"
Ints = np.ndarray[Any, np.dtype[np.int64]]


def scripts(oracle: Oracle) -> list[Floats]:
    """Return the policies of the scripted players of a game, and of the last legal and the myopic action, each once."""
    tree, even = oracle.tree, even_play(oracle)
    names = [row["name"] for row in list_players(describe(tree.game)).rows()]
    made = [policy_on(tree, make_player(name, tree.game)) for name in names if name not in SOLVERS]
    last = np.zeros(len(even))
    last[tree.slots[1:] - 1] = 1.0
    made += [last, myopic_policy(scale_form(tree), even)]
    return list({policy.round(9).tobytes(): policy for policy in made}.values())


@dataclass(frozen=True, eq=False)
class RandomLists:
    """Random decision lists of a game: rules with tests of its facts, then all actions in a random order."""

    oracle: Oracle

    @cached_property
    def _game(self) -> ListGame:
        return ListGame(self.oracle, ())

    @cached_property
    def _tests(self) -> FactTestTable:
        return list_tests(self._game.facts, LISTED_TESTS)

    def draw(self, generator: np.random.Generator) -> Floats:
        """Return the policy of one list: 1 to 6 rules of 1 or 2 tests each."""
        game, masks = self._game, self._tests.masks
        rules: list[tuple[Any, int]] = []
        if len(masks) > 1:
            for _ in range(int(generator.integers(1, MOST_RULES + 1))):
                tests = generator.integers(1, len(masks), size=int(generator.integers(1, MOST_TESTS + 1)))
                rules.append((masks[tests].all(axis=0), int(generator.integers(len(game.actions)))))
        rules += [(masks[0], int(action)) for action in generator.permutation(len(game.actions))]
        chosen = game.first.copy()
        for mask, action in reversed(rules):
            chosen = np.where(mask & (game.slots[action] >= 0), game.slots[action], chosen)
        policy = np.zeros(len(self.oracle.tree.set_of_slot))
        policy[chosen] = 1.0
        return policy


def respond(oracle: Oracle, policy: Floats) -> Floats:
    """Return the best responses of all seats to a policy, as one policy."""
    found = np.zeros(len(policy))
    for seat in range(oracle.tree.game.spec.seats):
        found[oracle.best_response(policy, seat).slots] = 1.0
    return found


@dataclass(frozen=True, eq=False)
class GameBots:
    """Bots of the three generators in one game, as the plans of each seat."""

    oracle: Oracle
    policies: Sequence[AtlasPolicy]
    key: Key

    def _plans(self, bots: Sequence[Floats]) -> list[Floats]:
        plans = [self.oracle.form.plans(bot) for bot in bots]
        return [np.array([own[seat] for own in plans]) for seat in range(self.oracle.tree.game.spec.seats)]

    def _generator(self, *names: str) -> np.random.Generator:
        return np.random.default_rng(self.key.at(*names).value)

    @cached_property
    def scripts(self) -> list[Floats]:
        """Plans of the scripts by seat."""
        return self._plans(scripts(self.oracle))

    @cached_property
    def lists(self) -> list[Floats]:
        """Plans of random lists by seat; each draw of a pool has lists of its own."""
        drawn, generator = RandomLists(self.oracle), self._generator("lists")
        return self._plans([drawn.draw(generator) for _ in range(DRAWS * max(KS))])

    @cached_property
    def responses(self) -> list[Floats]:
        """Plans of the best responses to all policies by seat."""
        return self._plans([respond(self.oracle, one.policy) for one in self.policies])

    def see_all(self, policy: Floats) -> float:
        """Return what a pool of the best response alone sees, which must be the exact figure."""
        return pool_figures(self.oracle, policy, self._plans([respond(self.oracle, policy)]), np.array([[0]]))[1][0]

    def see_by_scripts(self, policy: Floats) -> float:
        """Return what the pool of all scripts sees."""
        number = len(self.scripts[0])
        return pool_figures(self.oracle, policy, self.scripts, np.arange(number)[None], [number])[number][0]

    def orders(self, bank: str, policy: AtlasPolicy) -> Ints:
        """Return the bots of each draw in the order in which its pools take them."""
        if bank == "lists":
            return np.arange(DRAWS * max(KS)).reshape(DRAWS, max(KS))
        allowed = np.arange(len(self.scripts[0]))
        if bank == "responses":  # none to a policy from the same SFT model
            allowed = np.array([n for n, one in enumerate(self.policies) if one.family != policy.family], dtype=int)
        generator = self._generator(bank, policy.family if bank == "responses" else "")
        return np.array([generator.permutation(allowed)[: max(KS)] for _ in range(DRAWS)])


def pool_figures(
    oracle: Oracle, policy: Floats, plans: Sequence[Floats], orders: Ints, sizes: Sequence[int] = KS
) -> dict[int, list[float]]:
    """Return what pools see of a policy, by their size and draw; sizes beyond the number of bots are left out."""
    form = oracle.form
    own, seats = form.plans(policy), range(len(plans))
    total = np.zeros(orders.shape)
    for seat in seats:
        gains = form.gains(form.ends, own, seat)
        bots = plans[seat] @ gains - gains @ own[seat]
        total += np.maximum.accumulate(np.maximum(bots[orders], 0.0), axis=1)
    found = total / len(plans)
    return {k: found[:, k - 1].tolist() for k in sizes if k <= orders.shape[1]}


def budget_figures(oracle: Oracle, policy: Floats, key: Key) -> dict[str, dict[int, list[float]]]:
    """Return what search and learning see of a policy by their budgets, below 0 where they lose by it."""
    opponent, seats = TableOpponent(oracle, policy), range(oracle.tree.game.spec.seats)
    found: dict[str, dict[int, list[float]]] = {}
    for name, budgets, method in (("learn", LEARNING, learn), ("search", SEARCH, search)):
        sums = np.zeros(len(budgets))
        for seat in seats:
            made = method(opponent, seat, Random(key.at(name, seat).value), budgets)
            sums += [seat_gain(oracle, policy, one, seat) for one in made]
        found[name] = {budget: [float(value)] for budget, value in zip(budgets, sums / len(seats), strict=True)}
    return found


def seat_gain(oracle: Oracle, policy: Floats, other: Floats, seat: int) -> float:
    """Return what a seat gains where it plays another policy, and all others the policy."""
    form, own = oracle.form, oracle.form.plans(policy)
    gains = form.gains(form.ends, own, seat)
    return float(gains @ form.plans(other)[seat] - gains @ own[seat])


def limit_figures(oracle: Oracle, policy: Floats, key: Key) -> dict[int, list[float]]:
    """Return the lower limits of an audit by the mean number of replies a situation."""
    sets = oracle.tree.information_sets
    questions = TreeQuestions(oracle.tree, sets, np.arange(len(sets)))
    gain = ResponseGain(oracle, questions)

    def lower(replies: int, number: int) -> float:
        own = key.at("limit", replies, number)
        return measured_limits(gain, ReplySource(questions, policy, own), replies * len(sets), own).lower

    return {replies: [lower(replies, number) for number in range(LIMIT_DRAWS)] for replies in REPLIES}


def distance_from_even(oracle: Oracle, policy: Floats) -> float:
    """Return the mean over the decisions of play of the total variation between a policy and random play."""
    tree = oracle.tree
    apart = np.add.reduceat(np.abs(policy - even_play(oracle)), tree.slots[:-1]) / 2.0
    moved, reach = tree.information_set >= 0, tree.reach(policy)
    weights = np.bincount(tree.information_set[moved], reach[moved], len(apart))
    return float(weights @ apart / weights.sum())


def measure(bots: GameBots, one: AtlasPolicy, random: float) -> dict[str, Any]:
    """Return the row of a policy."""
    began, oracle, key = time.process_time(), bots.oracle, Key(0).at("atlas", one.name)
    seen: dict[str, Mapping[int, list[float]]] = {
        name: pool_figures(oracle, one.policy, plans, bots.orders(name, one))
        for name, plans in (("scripts", bots.scripts), ("lists", bots.lists), ("responses", bots.responses))
    }
    seen["whole"] = {1: [bots.see_by_scripts(one.policy)]}
    seen |= {**budget_figures(oracle, one.policy, key), "limit": limit_figures(oracle, one.policy, key)}
    return {
        "policy": one.name,
        "game": one.game,
        "text": one.text,
        "family": one.family,
        "method": one.method,
        "model": one.model,
        "seed": one.seed,
        "stage": one.stage,
        "exact": of_policy(oracle, one.policy).exploitability,
        "random": random,
        "control": bots.see_all(one.policy),
        "distance": distance_from_even(oracle, one.policy),
        "scripts": len(bots.scripts[0]),
        "seen": {
            name: {str(size): [round(value, 9) for value in values] for size, values in some.items()}
            for name, some in seen.items()
        },
        "seconds": round(time.process_time() - began, 2),
    }


def rows_left(folder: Path, policies: Sequence[AtlasPolicy]) -> Iterator[AtlasPolicy]:
    """Yield the policies of a game that were not measured yet beside these others."""
    for one in policies:
        path = folder / f"{one.name}.json"
        if not path.is_file() or json.loads(path.read_text("utf-8"))["beside"] != names_of(policies):
            yield one


def names_of(policies: Sequence[AtlasPolicy]) -> list[str]:
    """Return the names of policies."""
    return [one.name for one in policies]


def fill(folder: Path, policies: Sequence[AtlasPolicy]) -> None:
    """Measure the policies of a game that are left, a file each."""
    left = list(rows_left(folder, policies))
    if not left:
        return
    oracle = scaled_oracle(policies[0].text)
    bots = GameBots(oracle, policies, Key(0).at("atlas", policies[0].game))
    random = of_policy(oracle, even_play(oracle)).exploitability
    assert random is not None
    began = time.process_time()
    for one in left:
        row = {**measure(bots, one, random), "beside": names_of(policies), "made_by": provenance()}
        write_file(folder / f"{one.name}.json", json.dumps(row) + "\n")
    seconds = time.process_time() - began
    print(f"{policies[0].game}: {len(left)} policies, {seconds:.0f} s, {seconds / len(left):.1f} s each", flush=True)


def main() -> None:
    """Measure all policies that are left."""
    parser = command_line(__doc__)
    asked = parser.parse_args()
    folder: Path = asked.folder / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for policies in read_policies(asked.folder).values():
        fill(folder, policies)


if __name__ == "__main__":
    main()
