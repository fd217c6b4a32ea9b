"""Write what Axelrod's library plays to `axelrod_moves.json`: `python tests/players/axelrod_moves.py`, where it is.

The library is not needed by the tests: they compare our players with the stored moves of 4.14.0.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
ROUNDS, SEQUENCES = 24, 12
SAME = {
    "AlwaysCooperate": "Cooperator",
    "AlwaysDefect": "Defector",
    "AlternateDefect(first=C)": "Alternator",
    "TitForTat": "TitForTat",
    "SuspiciousTitForTat": "SuspiciousTitForTat",
    "TitForTwoTats": "TitFor2Tats",
    "GrimTrigger": "Grudger",
    "Pavlov": "WinStayLoseShift",
    "SoftMajority": "GoByMajority",
    "HardMajority": "HardGoByMajority",
}
"""Our players without chance, and their names there."""
MEMORY_ONE = {
    "GenerousTFT": "GTFT",
    "Joss": "FirstByJoss",
    "FirmButFair": "FirmButFair",
    "ExtortZD": "ZDExtort2",
    "GenerousZD": "ZDGTFT2",
}
"""Our players that mix after the last round, and their names there."""


def main():
    """Play against fixed sequences, and read the probabilities of cooperation after CC, CD, DC and DD."""
    import axelrod

    def moves(name, sequence):
        other = axelrod.MockPlayer([axelrod.Action.from_char(letter) for letter in sequence])
        return "".join(str(own) for own, _ in axelrod.Match((getattr(axelrod, name)(), other), turns=ROUNDS).play())

    def four_vector(name):
        player = getattr(axelrod, name)()
        axelrod.Match((player, axelrod.TitForTat()), turns=2).play()  # the payoffs are known from the first match on
        return [float(p) for p in player._four_vector.values()]

    draw = random.Random(1)
    against = ["".join("CD"[draw.random() < 0.35] for _ in range(ROUNDS)) for _ in range(SEQUENCES)]
    told = {
        "version": version("axelrod"),
        "against": against,
        "moves": {ours: [moves(theirs, one) for one in against] for ours, theirs in SAME.items()},
        "four_vectors": {ours: four_vector(theirs) for ours, theirs in MEMORY_ONE.items()},
    }
    FILE.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
