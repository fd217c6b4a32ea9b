"""Distance of leduc policies between cards: `python experiments/leduc_cards.py PLAYER [PLAYER ...]`.

Two cards in one public situation are told apart by the total variation between what is done with each; the mean is over
all situations and pairs of cards. Beside it the exact exploitability. A player is a name such as `cfr:5`, or a run's
such as `run:runs/league/leduc-self-0@start`.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import defaultdict
from itertools import combinations

from stratagem.games.catalogue import make_game
from stratagem.games.tree import GameTree
from stratagem.measure.exploitability.exact import of_policy
from stratagem.measure.tree_policy import Floats, oracle_of, policy_on
from stratagem.players.catalogue import make_player

CARD = re.compile(r"\[Private: (\d)\]")


def told_apart(tree: GameTree, policy: Floats) -> float:
    """Mean total variation between cards of different rank that see the same."""
    mixes = defaultdict[str, dict[int, dict[str, float]]](dict)
    for known, first in zip(tree.information_sets, tree.slots[:-1], strict=True):
        found = CARD.search(known.view.info_key)
        assert found is not None
        mix = dict(zip(known.actions, policy[first:].tolist(), strict=False))
        mixes[CARD.sub("", known.view.info_key)][int(found[1]) // 2] = mix
    pairs = [pair for same in mixes.values() for pair in combinations(same.values(), 2)]
    apart = [sum(abs(a.get(move, 0.0) - b.get(move, 0.0)) for move in {*a, *b}) / 2 for a, b in pairs]
    return math.fsum(apart) / len(apart)


def main() -> None:
    """Print a line a player."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="+", metavar="PLAYER")
    game = make_game("leduc")
    oracle = oracle_of(game)
    for name in parser.parse_args().players:
        policy = policy_on(oracle.tree, make_player(name, game))
        exploitability = of_policy(oracle, policy).exploitability
        print(f"{name}: cards differ by {told_apart(oracle.tree, policy):.3f}, exploitability {exploitability:.3f}")


if __name__ == "__main__":
    main()
