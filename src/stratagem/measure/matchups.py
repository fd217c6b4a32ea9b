"""Matchup: an agent's games against one opponent, and the means that every metric is made of.

The agent is slot 0; the opponent holds every other slot. Where both state their probabilities and the game is small,
the means are exact expectations; otherwise they are means over deals, each deal played from every seat.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat
from stratagem.games.key import Key
from stratagem.language.models.reference import placeless
from stratagem.measure.best_response import BUDGET
from stratagem.measure.expectation import SCALE, Expectation, expected_payoffs
from stratagem.measure.exploitability.methods import DEALS
from stratagem.measure.prompts import AskedOnce, PromptSet
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.statistics import Array, Estimate, clustered_mean, exactly, jackknife, mean_of, ratio
from stratagem.players.base import Player
from stratagem.playing.dispatch import Dispatcher, RequestQueue
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode, deals_by_key
from stratagem.playing.seating import rotate_seats

Sum = Callable[[Episode], float]
"""Term of an episode in a sum."""


@dataclass(frozen=True)
class Matchup:
    """Episodes of one agent and one opponent, with the exact expectations where they can be computed."""

    opponent: str
    version: int
    """Version of the opponent."""
    pools: tuple[str, ...]
    episodes: tuple[Episode, ...]
    expectations: tuple[Expectation, ...] = ()
    """One expectation for each seat of the agent."""
    prompts: PromptSet | None = None
    """Prompts of the agent behind the expectations of all its matchups; None of one that reads no words."""
    seated: tuple[Player, ...] = field(default=(), compare=False, repr=False)
    """Agent and opponent, who can be asked what they would have done; empty where only a record is known."""

    def payoff(self, *, scaled: bool = True) -> Estimate:
        """Return the agent's mean payoff a round."""
        if self.expectations:
            return self._expected_value(lambda e, seat: e.payoff(seat, scaled=scaled))
        return self.per_round(lambda episode: payoff_of(episode, episode.seat_of(0), scaled=scaled))

    def opponent_payoff(self, *, scaled: bool = True) -> Estimate:
        """Return the other seats' mean payoff a round."""
        if self.expectations:
            return self._expected_value(lambda e, seat: self._expected_of_others(e, seat, scaled=scaled))
        return self.per_round(lambda episode: _others_payoff(episode, scaled=scaled))

    def advantage(self, *, scaled: bool = True) -> Estimate:
        """Return the opponent's mean payoff a round less the agent's."""
        if self.expectations:
            return self._expected_value(
                lambda e, seat: self._expected_of_others(e, seat, scaled=scaled) - e.payoff(seat, scaled=scaled)
            )
        return self.per_round(lambda episode: _advantage(episode, scaled=scaled))

    def signal(self, name: str) -> Estimate | None:
        """Return the rate of one of the agent's safety signals.

        None where the game has no such signal or it never applied.
        """
        if self.expectations:
            rates = [expectation.signal(name, seat) for seat, expectation in enumerate(self.expectations)]
            meant = sum(weight for _, weight in rates)
            return exactly(sum(total for total, _ in rates) / meant) if meant else None
        signals = {e.id: signals for e in self.episodes if (signals := e.signal(name, e.seat_of(0)))}
        if not signals:
            return None
        with_signal = [episode for episode in self.episodes if episode.id in signals]
        return ratio(with_signal, lambda e: math.fsum(signals[e.id]), lambda e: len(signals[e.id]), _deal)

    def cross_seats(self) -> Matchup:
        """Return the same matchup of two seats with the opponent as the agent, under its own name."""
        swapped = tuple(swapped_slots(episode) for episode in self.episodes)
        return replace(self, episodes=swapped, expectations=self.expectations[::-1], seated=self.seated[::-1])

    def _expected_value(self, value: Callable[[Expectation, Seat], float]) -> Estimate:
        """Return the expected `value` of an episode over the expected rounds, both over all seats of the agent.

        It is the limit of `per_round` over many deals, where an episode's length depends on the agent's seat, too.
        """
        values = [value(expectation, seat) for seat, expectation in enumerate(self.expectations)]
        return exactly(math.fsum(values) / math.fsum(expectation.rounds for expectation in self.expectations))

    def _expected_of_others(self, expectation: Expectation, agent: Seat, *, scaled: bool) -> float:
        seats = range(len(self.expectations))
        return _average(expectation.payoff(seat, scaled=scaled) for seat in seats if seat != agent)

    def per_round(self, value: Callable[[Episode], float]) -> Estimate:
        """Return the mean over all rounds of `value`, which gives each episode's mean; long episodes weigh more."""
        return ratio(self.episodes, lambda e: value(e) * num_rounds(e), num_rounds, _deal)

    def mean(self, value: Callable[[Episode], float]) -> Estimate:
        """Return the mean of `value` over episodes; episodes of one deal are one observation."""
        return clustered_mean(self.episodes, value, _deal)

    def by_deal(self, value: Callable[[Episode], float]) -> dict[str, float]:
        """Return the mean of each deal, for comparison with another agent on the same deals."""
        deals: dict[str, list[float]] = {}
        for episode in self.episodes:
            deals.setdefault(_deal(episode), []).append(value(episode))
        return {deal: _average(values) for deal, values in deals.items()}


def swapped_slots(episode: Episode) -> Episode:
    """Return the same episode of two seats with the other player as the agent."""
    decisions = [replace(row, slot=1 - row.slot) for row in episode.decisions]
    return replace(episode, slots=tuple(1 - slot for slot in episode.slots), decisions=decisions)


def mean_payoff(matchups: Sequence[Matchup], *, scaled: bool) -> Estimate:
    """Average the agent's payoff a round over matchups, with equal weights."""
    figures = [(matchup, matchup.payoff(scaled=scaled)) for matchup in matchups]
    return mean_over(figures, lambda e: payoff_of(e, e.seat_of(0), scaled=scaled) * num_rounds(e), num_rounds)


def mean_advantage(matchups: Sequence[Matchup], *, scaled: bool) -> Estimate:
    """Average the opponents' payoff a round less the agent's over matchups, with equal weights."""
    figures = [(matchup, matchup.advantage(scaled=scaled)) for matchup in matchups]
    return mean_over(figures, lambda e: _advantage(e, scaled=scaled) * num_rounds(e), num_rounds)


def mean_signal(matchups: Sequence[Matchup], name: str) -> Estimate | None:
    """Average the rate of a safety signal over the matchups that have it, with equal weights; None without any."""
    rates = [(matchup, rate) for matchup in matchups if (rate := matchup.signal(name)) is not None]
    if not rates:
        return None
    return mean_over(
        rates,
        lambda e: math.fsum(e.signal(name, e.seat_of(0)) or ()),
        lambda e: len(e.signal(name, e.seat_of(0)) or ()),
    )


def mean_over(figures: Sequence[tuple[Matchup, Estimate]], total: Sum, count: Sum) -> Estimate:
    """Average figures over their matchups, with equal weights; those of matchups on the same deals are dependent.

    A figure is the sum of `total` over that of `count`, or an exact expectation.
    """
    groups = on_same_deals([matchup for matchup, _ in figures])
    sums = [_together([figures[index] for index in group], total, count).times(len(group)) for group in groups]
    return mean_of(sums).times(len(groups) / len(figures))


def on_same_deals(matchups: Sequence[Matchup]) -> list[list[int]]:
    """Group the indices of the matchups that share a deal; an exact one has none."""
    groups: list[tuple[set[int], list[int]]] = []
    for index, matchup in enumerate(matchups):
        keys = set() if matchup.expectations else {episode.key for episode in matchup.episodes}
        known = next((group for group in groups if group[0] & keys), None)
        if known is None:
            groups.append((keys, [index]))
        else:
            known[0].update(keys)
            known[1].append(index)
    return [group for _, group in groups]


def _together(figures: Sequence[tuple[Matchup, Estimate]], total: Sum, count: Sum) -> Estimate:
    """Return the mean over matchups on the same deals, of which each deal is one observation."""
    if len(figures) == 1:
        return figures[0][1]
    rows: dict[str, list[float]] = {}
    deals = deals_by_key(chain.from_iterable(matchup.episodes for matchup, _ in figures))
    for number, (matchup, _) in enumerate(figures):
        for episode in matchup.episodes:
            row = rows.setdefault(deals[episode.key], [0.0] * 2 * len(figures))
            row[2 * number] += total(episode)
            row[2 * number + 1] += count(episode)
    mean = math.fsum(figure.mean for _, figure in figures) / len(figures)
    return replace(jackknife([list(rows.values())], _mean_ratio), mean=mean)


def _mean_ratio(totals: Array) -> float:
    """Return the mean of the ratios of neighbouring totals."""
    return float((totals[0, ::2] / totals[0, 1::2]).mean())


def payoff_of(episode: Episode, seat: Seat, *, scaled: bool = True) -> float:
    """Return the mean payoff a round of one seat, on the common scale if the game has one."""
    stakes = episode.stakes[seat]
    return episode.per_round(seat) * (SCALE / stakes.cooperative if scaled and stakes else 1.0)


def _others_payoff(episode: Episode, *, scaled: bool) -> float:
    agent = episode.seat_of(0)
    return _average(payoff_of(episode, seat, scaled=scaled) for seat in range(len(episode.slots)) if seat != agent)


def _advantage(episode: Episode, *, scaled: bool) -> float:
    return _others_payoff(episode, scaled=scaled) - payoff_of(episode, episode.seat_of(0), scaled=scaled)


def num_rounds(episode: Episode) -> int:
    """Return the number of rounds that a payoff a round is divided by."""
    return max(1, len(episode.rounds))


def _deal(episode: Episode) -> str:
    return episode.group


def _average(values: Any) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


@dataclass(frozen=True)
class Evaluator:
    """Settings of evaluation games: number of episodes, seed, engine and record."""

    episodes: int = 20
    key: Key = field(default_factory=lambda: Key(0))
    queue: Callable[[], RequestQueue] = Dispatcher
    """Maker of the queue that answers requests."""
    record: ResumableRecord | None = None
    """Record of the episodes, by which a stopped evaluation is resumed; none by default."""
    budget: int = 3_000
    """Number of situations that an exact expectation may walk."""
    exact_budget: int = BUDGET
    """Number of situations that the exact exploitability may walk."""
    exploitability: str | Player = "auto"
    """Method of exploitability, or the player that exploits."""
    effort: int | None = None
    """Effort of the method; with `auto` replies a situation, where a player states no probabilities."""
    deals: int = DEALS
    """Number of deals on which an exploiter plays, each at every seat."""

    def matchup(self, game: Game[Any], agent: Player, opponent: Player, pools: Sequence[str]) -> Matchup:
        """Play one agent against one opponent."""
        return self.meet(game, [(agent, opponent, pools)])[0]

    def matchups(
        self, game: Game[Any], agent: Player, opponents: Sequence[tuple[Player, Sequence[str]]]
    ) -> list[Matchup]:
        """Play one agent against each opponent, each with the pools that it is in."""
        return self.meet(game, [(agent, opponent, pools) for opponent, pools in opponents])

    def meet(self, game: Game[Any], pairs: Sequence[tuple[Player, Player, Sequence[str]]]) -> list[Matchup]:
        """Play each agent against its opponent, all pairs at once, so that models are asked in large batches.

        The deals depend on game, opponent and seed, not on the agent.
        """
        setups = [list(self._setups(game, agent, opponent)) for agent, opponent, _ in pairs]
        over = (self.record or ResumableRecord()).play(list(chain.from_iterable(setups)), self.queue())
        once = {id(player): AskedOnce(player) for agent, opponent, _ in pairs for player in (agent, opponent)}
        exact = [self._expectations(game, once[id(agent)], once[id(opponent)]) for agent, opponent, _ in pairs]
        return [
            Matchup(
                opponent=opponent.name,
                version=opponent.traits.version,
                pools=tuple(pools),
                episodes=tuple(over[setup.id] for setup in asked),
                expectations=expectations,
                prompts=once[id(agent)].prompts if expectations else None,
                seated=(agent, opponent),
            )
            for (agent, opponent, pools), asked, expectations in zip(pairs, setups, exact, strict=True)
        ]

    def _setups(self, game: Game[Any], agent: Player, opponent: Player) -> Iterator[Setup]:
        match = Match(game, [agent, *[opponent] * (game.spec.seats - 1)])
        name, placed = f"{match.text}/{agent.name}/", placeless(opponent.name)
        key = self.key.at("bout", match.text, placed)
        yield from rotate_seats(match, self.episodes, key, name=name + opponent.name, deals=name + placed)

    def _expectations(self, game: Game[Any], agent: Player, opponent: Player) -> tuple[Expectation, ...]:
        if not (agent.traits.exact and opponent.traits.exact):
            return ()
        seats = range(game.spec.seats)
        try:
            return tuple(
                expected_payoffs(game, [agent if other == seat else opponent for other in seats], self.budget)
                for seat in seats
            )
        except CannotCompute:
            return ()
