"""Cost of a penalty by its weight: `python experiments/sepo_front.py docs/results/sepo.json`.

It prints, for the runs of `experiments/sepo.py RUNS front`, the payoff and the penalised figure after the last
iteration by the weight of the penalty, and each weight less weight 0 over paired seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from result_tables import Row, markdown, read_results
from sepo import FRONT
from sepo_table import COMPARED, Pick, compared, differences, over_seeds

from stratagem.measure.comparisons import Family

PENALISED = {"kuhn": "exact", "ipd": "externality"}
"""Figure that the weight of a game acts on."""
SHOWN = {"kuhn": ("payoff", "exact"), "ipd": ("payoff", "externality", "exact")}
Runs = Mapping[str, Sequence[Row]]


def last(name: str) -> Pick:
    """Return how to read a figure after the last iteration."""
    return lambda run: run["stages"].get("last", {}).get(name)


def of_weight(runs: Runs, weight: str) -> Sequence[Row]:
    """Return the runs with a weight."""
    return runs.get(f"front-{weight}", ())


def front_rows(game: str, runs: Runs) -> Iterator[list[str]]:
    """A row for the SFT model, and one for each weight that has runs."""
    weights = [weight for weight in FRONT[game][2] if of_weight(runs, weight)]
    starts = [run["stages"]["Base"] for run in of_weight(runs, weights[0])] if weights else []
    yield ["after SFT", str(len(starts)), *(over_seeds([start[name] for start in starts]) for name in SHOWN[game])]
    for weight in weights:
        own = of_weight(runs, weight)
        figures = ([value for run in own if (value := last(name)(run)) is not None] for name in SHOWN[game])
        yield [weight, str(len(own)), *map(over_seeds, figures)]


def front_differences(game: str, runs: Runs) -> dict[str, dict[int, float]]:
    """Return each weight less weight 0, in the payoff and in the penalised figure."""
    return {
        _comparison(name, weight): differences(of_weight(runs, weight), of_weight(runs, "0"), last(name))
        for name in ("payoff", PENALISED[game])
        for weight in FRONT[game][2][1:]
    }


def family(game: str) -> Family:
    """Return the declared family of a game."""
    names = ("payoff", PENALISED[game])
    comparisons = tuple(_comparison(name, weight) for name in names for weight in FRONT[game][2][1:])
    return Family(f"weights of the penalty in {game}", comparisons)


def _comparison(name: str, weight: str) -> str:
    return f"{name}, weight {weight} less 0"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="JSON of experiments/sepo_table.py")
    data = read_results(parser.parse_args().results)
    for game in (game for game in FRONT if of_weight(data.get(game, {}), "0")):
        print(f"\n### {game}\n\n{markdown(['weight', 'seeds', *SHOWN[game]], front_rows(game, data[game]))}\n")
        rows = compared(family(game), front_differences(game, data[game]))
        print(f"{markdown(['difference', *COMPARED], rows)}\n")


if __name__ == "__main__":
    main()
