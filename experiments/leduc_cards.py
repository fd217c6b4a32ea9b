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

from stratagem.evaluation.exact import Rows, of_table, policy_table
from stratagem.games.catalogue import make_game
from stratagem.players.catalogue import make_player

CARD = re.compile(r"\[Private: (\d)\]")


def told_apart(rows: Rows) -> float:
    """Mean total variation between cards of different rank that see the same."""
    mixes = defaultdict[str, dict[int, dict[int, float]]](dict)
    for state, mix in rows.items():
        found = CARD.search(state)
        assert found is not None
        mixes[CARD.sub("", state)][int(found[1]) // 2] = dict(mix)
    pairs = [pair for same in mixes.values() for pair in combinations(same.values(), 2)]
    apart = [sum(abs(a.get(move, 0.0) - b.get(move, 0.0)) for move in {*a, *b}) / 2 for a, b in pairs]
    return math.fsum(apart) / len(apart)


def main() -> None:
    """Print a line a player."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="+", metavar="PLAYER")
    game = make_game("leduc")
    twin = game.twin()
    assert twin is not None
    for name in parser.parse_args().players:
        rows = policy_table(twin, make_player(name, game))
        exploitability = of_table(twin, rows).exploitability
        print(f"{name}: cards differ by {told_apart(rows):.3f}, exploitability {exploitability:.3f}")


if __name__ == "__main__":
    main()
