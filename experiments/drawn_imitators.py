"""Imitators that know one thing of a situation each: what must be read, to be less exploitable than random play.

`python experiments/drawn_imitators.py runs/drawn-training` averages the solutions of the training games of
experiments/drawn_training.py over all situations that look alike to an imitator, by their probability under even
chances. It plays those averages in the unseen draws of cards. SFT of a model of that sight ends at them, so they say
without a model what the gate of experiments/declared/drawn.toml needs. They need not be the least exploitable policy of
that sight. It writes docs/results/drawn-imitators.json and prints the table of the page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from drawn_agents import ListedGame, SolvedGame, measure, solve_game
from drawn_agents_table import RANDOM, figure_cell, ratio_with_interval
from drawn_training import training_games, unseen_games
from result_tables import markdown

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.base import View
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.events import DescribedFacts
from stratagem.games.drawn.rules import DescribedGame
from stratagem.games.drawn.steps.betting import Bet
from stratagem.games.drawn.steps.choosing import Choose
from stratagem.games.drawn.steps.dealing import Swap
from stratagem.games.drawn.steps.winning import Showdown
from stratagem.games.drawn.worth import even_policy
from stratagem.measure.tree_policy import Floats

Sight = Callable[[View[DescribedFacts]], Hashable]
LEVELS = 2
"""Highest level of a card: 0, 1 or 2."""


def description_of(view: View[DescribedFacts]) -> GameDescription:
    """Return the description of a view's game."""
    game = view.game
    assert isinstance(game, DescribedGame)
    return game.description


def place(view: View[DescribedFacts]) -> Hashable:
    """Number of the actions: an action is known by its place in the list alone."""
    return len(view.facts.legal)


def history(view: View[DescribedFacts]) -> Hashable:
    """Number of the actions and of the events so far."""
    return len(view.facts.legal), len(view.facts.log)


def meaning(view: View[DescribedFacts]) -> Hashable:
    """Meanings of the actions by the rules: to leave, to match, to pay, or to do nothing."""
    return tuple(_meaning(description_of(view), action) for action in view.facts.legal)


def _meaning(description: GameDescription, action: str) -> str:
    for step in description.steps:
        if isinstance(step, Bet):
            words = {step.check_word: "nothing", step.bet_word: "pay", step.fold_word: "leave", step.call_word: "match"}
            if action in (words := {**words, step.raise_word: "raise"}):
                return words[action]
        if isinstance(step, Swap) and action in (step.keep, step.swap):
            return "keep" if action == step.keep else "swap"
        if isinstance(step, Choose):
            for option in step.options:
                if option.word == action:
                    return "leave" if option.leaves else "pay" if option.cost else "nothing"
    return ""


def rank(view: View[DescribedFacts]) -> Hashable:
    """Number of the actions, and the level of the latest card by the order of its deck and of the showdown."""
    return len(view.facts.legal), _level(view)


def _level(view: View[DescribedFacts]) -> int:
    description = description_of(view)
    values = {value: item.values for item in description.items for value in map(str, item.values)}
    own = [event.what for event in view.facts.log if event.kind == "gets" and event.what in values]
    if not own or len(values[own[-1]]) < 2:
        return -1
    order = [str(value) for value in values[own[-1]]]
    lowest = any(isinstance(step, Showdown) and "low" in step.order for step in description.steps)
    share = order.index(own[-1]) / (len(order) - 1)
    return round(LEVELS * (1.0 - share if lowest else share))


def rank_and_meaning(view: View[DescribedFacts]) -> Hashable:
    """Level of the latest card, and the meanings of the actions."""
    return len(view.facts.legal), _level(view), meaning(view)


SIGHTS: Mapping[str, Sight] = {
    "place of an action": place,
    "place, length of the history": history,
    "meaning of an action": meaning,
    "rank of the card": rank,
    "rank and meaning": rank_and_meaning,
}


def learn(games: Iterable[SolvedGame], sight: Sight) -> dict[Hashable, Floats]:
    """Return the mean of the solutions over the situations that look alike."""
    sums: dict[Hashable, Floats] = {}
    for solved in games:
        tree = solved.tree
        nodes = tree.information_set >= 0
        reach = tree.reach(even_policy(tree))[nodes]
        weights = np.bincount(tree.information_set[nodes], reach, len(tree.information_sets))
        for index, known in enumerate(tree.information_sets):
            own = solved.solution.policy[tree.slots[index] : tree.slots[index + 1]] * weights[index]
            seen = sight(known.view)
            sums[seen] = sums[seen] + own if seen in sums else own
    return {seen: own / own.sum() for seen, own in sums.items() if own.sum() > 0.0}


def imitate(solved: SolvedGame, table: Mapping[Hashable, Floats], sight: Sight) -> Floats:
    """Return the policy of an imitator in a game; what it has not seen is played evenly."""
    sizes = solved.tree.information_sets.sizes.tolist()
    return np.concatenate(
        [
            table.get(sight(known.view), np.full(size, 1.0 / size))
            for size, known in zip(sizes, solved.tree.information_sets, strict=True)
        ]
    )


def measure_sight(sight: Sight, trained: Iterable[str], unseen: Iterable[ListedGame]) -> dict[str, Any]:
    """Return the ratio of an imitator to random play over the unseen draws."""
    table = learn(map(solve_game, trained), sight)
    own, chance = {}, {}
    for game in unseen:
        solved = solve_game(game.name)
        share = solved.scaled.gain_share(solved.scaled.all_figures(imitate(solved, table, sight)))
        own[game.name] = {"family": game.family, "exploitability": share / len(solved.scaled.ranges)}
        chance[game.name] = measure(RANDOM, "", game)
    less = sum(own[name]["exploitability"] < chance[name]["exploitability"] for name in own)
    return {**ratio_with_interval(own, chance, list(own)), "less than random play": less}


def main() -> None:
    """Measure every imitator, write the JSON and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/results/drawn-imitators.json"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    trained, unseen = training_games(asked.folder), unseen_games(asked.folder)
    found = {name: measure_sight(sight, trained, unseen) for name, sight in SIGHTS.items()}
    data = {"made_by": provenance(), "games of training": len(trained), "imitators": found}
    write_file(asked.out, json.dumps(data, indent=1) + "\n")
    rows = [
        [name, figure_cell(one), f"{one['less than random play']} of {one['games']}"] for name, one in found.items()
    ]
    print(markdown(["an imitator sees", "ratio in unseen draws", "less than random play"], rows))


if __name__ == "__main__":
    main()
