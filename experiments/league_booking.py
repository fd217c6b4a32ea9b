"""League results of bots of known order, booked by payoff and by gain: `python experiments/league_booking.py`.

Groups of branched rollouts as `recipes/league/diplomacy.toml` has them: positions that DumbBots made, and a year
of five phases from there. Each member of a population is the learner in turn; every other seat is drawn from the
population. From the same positions seven DumbBots play on, too. The same rollouts are scored by payoff and by gain.
Intervals are Student's with a position as one observation. For the matchmaker, every iteration of 14 positions starts
without results, and each learner meets the other members by PFSP.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from operator import attrgetter
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from result_tables import markdown, write_results

from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.base.errors import StratagemError
from stratagem.base.provenance import provenance, source
from stratagem.games import Key, make_game
from stratagem.measure.statistics import Estimate, clustered_mean, students
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.playing.workers.shards import play_setups
from stratagem.sweeps.run_maker import check_clean
from stratagem.training.branch_groups import Lineup, Opponents
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.opponents.booking import MatchScore, baseline, group_points
from stratagem.training.opponents.matchmaking import PFSP, Situation
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.results import Results
from stratagem.training.recipe_file import recipe_data

if TYPE_CHECKING:
    from stratagem.players.model_player import ModelPlayer

RECIPE = Path("recipes/league/diplomacy.toml")
OUT = Path("docs/results/league-booking.json")
MEMBERS = {
    "DumbBot": "dumbbot",
    "DumbBot(.2)": "noise(dumbbot, p=0.2)",
    "DumbBot(.5)": "noise(dumbbot, p=0.5)",
    "random": "random",
}
"""Players by name, the strongest first: in brackets the share of phases in which the orders are random."""
ORDER = tuple(MEMBERS)
SCORES: tuple[MatchScore, ...] = ("payoff", "gain")
PFSP_RULE = PFSP(weighting="squared")
TIE = 1e-9
_POWER = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)


class Row(NamedTuple):
    """A group's points of its learner against one opponent, by score, rollout and seat."""

    position: int
    learner: str
    opponent: str
    points: Mapping[MatchScore, Sequence[float]]
    lead: Sequence[float]
    """Return the learner's lead in standing at the branching point."""


class Pair(NamedTuple):
    """Two equal seats that stood unequal at the branching point, after one rollout."""

    position: int
    kept: Mapping[MatchScore, float]
    """Points of the seat that stood better."""


class Drawn(Opponents):
    """Opponents from some players, each seat for itself."""

    def __init__(self, players: Mapping[str, Player], others: int) -> None:
        self.players = players
        self.others = others

    def draw(self, key: Key) -> Lineup:
        """A player for each other seat."""
        names = tuple(list(self.players)[key.at(seat).integer(len(self.players))] for seat in range(self.others))
        return Lineup(names, tuple(self.players[name] for name in names))


class Bench:
    """The population at the league's groups."""

    def __init__(self, seed: int) -> None:
        recipe = LeagueRecipe.read(recipe_data(RECIPE))
        self.settings, self.game, self.key = recipe.league, make_game(recipe.games[0]), Key(seed)
        self.players = {name: make_player(text, self.game) for name, text in MEMBERS.items()}

    def iteration(self, number: int) -> tuple[list[Row], list[Pair]]:
        """All learners' groups from the positions of one iteration, and those of seven equals."""
        rows = [row for learner in MEMBERS for row in self._rows(learner, self.players, number)]
        return rows, list(self._pairs(number))

    def _groups(self, learner: str, players: Mapping[str, Player], number: int) -> Iterator[tuple[int, Any, Any, Any]]:
        """Position, group, its state and its rollouts."""
        others = Drawn(players, self.game.spec.seats - 1)
        agent = cast("ModelPlayer", self.players[learner])  # only what trains on rollouts reads its model
        collector = BranchedRollouts(self.settings, self.game, agent, self.key, others, learner)
        groups, size = collector.groups(number), self.settings.group_size
        setups = list(collector.setups(groups))
        episodes = play_setups(setups)
        for place, group in enumerate(groups):
            rollouts = slice(place * size, (place + 1) * size)
            yield number * len(groups) + place, group, setups[rollouts][0].begin(), episodes[rollouts]

    def _rows(self, learner: str, players: Mapping[str, Player], number: int) -> Iterator[Row]:
        for position, group, state, episodes in self._groups(learner, players, number):
            points = {score: group_points(group, baseline(state, score), episodes) for score in SCORES}
            standing = state.standing()
            for opponent in points["gain"]:
                seats = [group.slots.index(n) for n, name in enumerate(group.lineup.names, 1) if name == opponent]
                lead = [standing[group.seat] - standing[seat] for _ in episodes for seat in seats]
                yield Row(position, learner, opponent, {score: points[score][opponent] for score in SCORES}, lead)

    def _pairs(self, number: int) -> Iterator[Pair]:
        best = ORDER[0]
        for position, _, state, episodes in self._groups(best, {best: self.players[best]}, number):
            before = state.standing()
            for ahead, behind in combinations(sorted(range(len(before)), key=lambda seat: -before[seat]), 2):
                if before[ahead] - before[behind] > TIE:
                    gap = before[ahead] - before[behind]
                    for episode in episodes:
                        after = episode.payoffs[ahead] - episode.payoffs[behind]
                        yield Pair(position, {"payoff": won(after), "gain": won(after - gap)})


def won(margin: float) -> float:
    """1 for more, 0.5 for as much, 0 for less."""
    return 0.5 if abs(margin) <= TIE else float(margin > 0.0)


def rates(rows: Sequence[Row], pairs: Sequence[Pair]) -> dict[str, dict[str, Estimate]]:
    """The rate at which the stronger is above the weaker, then that of equals, by score."""
    oriented = [_stronger_first(row) for row in rows if row.learner != row.opponent]
    table = {}
    for stronger, weaker in combinations(ORDER, 2):
        own = [row for row in oriented if (row.learner, row.opponent) == (stronger, weaker)]
        table[f"{stronger} above {weaker}"] = _means(own)
    table["any stronger, where it stood better"] = _means([part for row in oriented for part in _where(row, 1.0)])
    table["any stronger, where it stood worse"] = _means([part for row in oriented for part in _where(row, -1.0)])
    table["a member above its equal"] = _means([row for row in rows if row.learner == row.opponent])
    table["equals that keep the order of their standings"] = {
        score: students(clustered_mean(pairs, partial(_kept, score), attrgetter("position"))) for score in SCORES
    }
    return table


def _stronger_first(row: Row) -> Row:
    """The row from the side of the stronger, which may be learner or opponent."""
    if ORDER.index(row.learner) < ORDER.index(row.opponent):
        return row
    points = {score: [1.0 - point for point in own] for score, own in row.points.items()}
    return Row(row.position, row.opponent, row.learner, points, [-lead for lead in row.lead])


def _where(row: Row, sign: float) -> Iterator[Row]:
    """The part of a row in which the lead had this sign."""
    places = [place for place, lead in enumerate(row.lead) if lead * sign > TIE]
    if places:
        points = {score: [own[place] for place in places] for score, own in row.points.items()}
        yield row._replace(points=points, lead=[row.lead[place] for place in places])


def _means(rows: Sequence[Row]) -> dict[str, Estimate]:
    return {
        score: students(clustered_mean(rows, partial(_mean_points, score), attrgetter("position"))) for score in SCORES
    }


def _kept(score: MatchScore, pair: Pair) -> float:
    return pair.kept[score]


def _mean_points(score: MatchScore, row: Row) -> float:
    return _share(row.points[score])


def _share(points: Sequence[float]) -> float:
    return sum(points) / len(points)


def odds(rows: Sequence[Row], learner: str, score: MatchScore, *, grouped: bool) -> list[float]:
    """Odds of the other members by PFSP, the strongest first, after the results of one iteration."""
    results = Results(ORDER)
    for row in rows:
        if row.learner == learner != row.opponent:
            points = row.points[score]
            for point in [_share(points)] if grouped else points:
                results.record(learner, row.opponent, point)
    others = {name: Member(name=name, role="bot", player=text) for name, text in MEMBERS.items() if name != learner}
    weights = PFSP_RULE.odds(Member(name=learner, role="main"), Situation(Population(others), results))
    return [weights.get(name, 0.0) for name in others]


def matches(iterations: Sequence[Sequence[Row]]) -> dict[str, dict[str, Any]]:
    """By way of booking: the pairs of opponents of which the stronger is met more often, and the strongest's odds."""
    table = {}
    for score, grouped in product(SCORES, (False, True)):
        weights = [
            (number, odds(rows, learner, score, grouped=grouped))
            for number, rows in enumerate(iterations)
            for learner in MEMBERS
        ]
        ordered = [
            (number, won(stronger - weaker)) for number, own in weights for stronger, weaker in combinations(own, 2)
        ]
        table[f"{score}, a result for every {'group' if grouped else 'rollout'}"] = {
            "ordered": _by_iteration(ordered).to_json(),
            "strongest": _by_iteration([(number, own[0]) for number, own in weights]).to_json(),
        }
    return table


def _by_iteration(values: Sequence[tuple[int, float]]) -> Estimate:
    return students(clustered_mean(values, lambda value: value[1], lambda value: value[0]))


def needed(rate: Estimate) -> float:
    """Positions after which a test at 5 % tells the rate from one half in four cases of five."""
    spread: float = (rate.se or 0.0) * rate.n**0.5
    return (_POWER * spread / abs(rate.mean - 0.5)) ** 2


def tables(rates: Mapping[str, Mapping[str, Estimate]], met: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield both tables."""
    rows = []
    for name, rate in rates.items():
        needs = [f"{needed(rate[score]):.0f}" if name.partition(" above ")[0] in MEMBERS else "" for score in SCORES]
        rows.append([name, str(rate["gain"].n), *(_shown(rate[score]) for score in SCORES), *needs])
    heads = ["win rate", "positions", "by payoff", "by gain", "positions needed, payoff", "gain"]
    yield markdown(heads, rows)
    rows = []
    for name, row in met.items():
        ordered, strongest = Estimate(**row["ordered"]), Estimate(**row["strongest"])
        rows.append([name, str(ordered.n), _shown(ordered), _shown(strongest)])
    yield markdown(["booked", "iterations", "pairs in the right order", "odds of the strongest"], rows)


def _shown(estimate: Estimate) -> str:
    return str(estimate).replace("0.", ".")


def main() -> None:
    """Play, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    try:
        check_clean(source())
    except StratagemError as error:
        sys.exit(str(error))
    bench = Bench(arguments.seed)
    iterations = [bench.iteration(number) for number in range(arguments.iterations)]
    rows = [own for own, _ in iterations]
    table = rates([row for own in rows for row in own], [pair for _, pairs in iterations for pair in pairs])
    met = matches(rows)
    print("\n\n".join(tables(table, met)))
    as_json = {name: {score: rate.to_json() for score, rate in row.items()} for name, row in table.items()}
    about = {"made_by": provenance(), "members": MEMBERS, "recipe": str(RECIPE)}
    write_results(arguments.out, {**about, "rates": as_json, "matchmaker": met})


if __name__ == "__main__":
    main()
