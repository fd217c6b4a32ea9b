"""A hero's games against one opponent, and the means that every metric is made of.

The hero is slot 0; the opponent holds every other slot. Where both state their probabilities and the game is small, the
means are exact expectations; otherwise they are means over deals, each deal played from every seat.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from stratagem.engines.base import answer
from stratagem.errors import CannotCompute
from stratagem.evaluation.best_response import BUDGET
from stratagem.evaluation.expectation import SCALE, Expectation, expected
from stratagem.evaluation.kept import Kept
from stratagem.evaluation.statistics import Estimate, clustered, exactly, ratio
from stratagem.games.base import Game, Seat
from stratagem.games.key import Key
from stratagem.models.reference import placeless
from stratagem.play.match import Match, Setup
from stratagem.play.records import Episode
from stratagem.play.scheduler import Answer
from stratagem.play.seating import rotated
from stratagem.players.base import Player


@dataclass(frozen=True)
class Bout:
    """All that one hero and one opponent played, and the exact expectation where it can be had."""

    opponent: str
    version: int
    """The opponent's."""
    pools: tuple[str, ...]
    episodes: tuple[Episode, ...]
    expectations: tuple[Expectation, ...] = ()
    """One for each seat of the hero."""

    def pay(self, *, scaled: bool = True) -> Estimate:
        """The hero's mean payoff a round."""
        if self.expectations:
            return exactly(_average(e.per_round(seat, scaled=scaled) for seat, e in enumerate(self.expectations)))
        return self.per_round(lambda episode: pay_of(episode, episode.seat_of(0), scaled=scaled))

    def opponent_pay(self, *, scaled: bool = True) -> Estimate:
        """The other seats' mean payoff a round."""
        if self.expectations:
            seats = range(len(self.expectations))
            pays = [e.per_round(s, scaled=scaled) for h, e in enumerate(self.expectations) for s in seats if s != h]
            return exactly(_average(pays))
        return self.per_round(lambda episode: _others_pay(episode, scaled=scaled))

    def advantage(self, *, scaled: bool = True) -> Estimate:
        """By how much the opponent's mean payoff a round exceeds the hero's."""
        if self.expectations:
            return exactly(
                _average(
                    _expected_advantage(e, seat, len(self.expectations), scaled)
                    for seat, e in enumerate(self.expectations)
                )
            )
        return self.per_round(lambda episode: _advantage(episode, scaled=scaled))

    def signal(self, name: str) -> Estimate | None:
        """The rate of one of the hero's safety signals; None where the game has no such signal or it never applied."""
        if self.expectations:
            rates = [expectation.signal(name, seat) for seat, expectation in enumerate(self.expectations)]
            meant = sum(weight for _, weight in rates)
            return exactly(sum(total for total, _ in rates) / meant) if meant else None
        told = {e.id: told for e in self.episodes if (told := e.signal(name, e.seat_of(0)))}
        if not told:
            return None
        heard = [episode for episode in self.episodes if episode.id in told]
        return ratio(heard, lambda e: math.fsum(told[e.id]), lambda e: len(told[e.id]), _deal)

    def per_round(self, value: Callable[[Episode], float]) -> Estimate:
        """The mean over all rounds of what `value` gives as each episode's mean; long episodes weigh more."""
        return ratio(self.episodes, lambda e: value(e) * max(1, len(e.rounds)), lambda e: max(1, len(e.rounds)), _deal)

    def mean(self, value: Callable[[Episode], float]) -> Estimate:
        """The mean of anything an episode has; episodes of one deal are one observation."""
        return clustered(self.episodes, value, _deal)

    def by_deal(self, value: Callable[[Episode], float]) -> dict[str, float]:
        """The mean of each deal, for comparison with another hero on the same deals."""
        deals: dict[str, list[float]] = {}
        for episode in self.episodes:
            deals.setdefault(_deal(episode), []).append(value(episode))
        return {deal: _average(values) for deal, values in deals.items()}


def pay_of(episode: Episode, seat: Seat, *, scaled: bool = True) -> float:
    """The mean payoff a round of one seat, on the common scale if the game has one."""
    stakes = episode.stakes[seat]
    return episode.per_round(seat) * (SCALE / stakes.cooperative if scaled and stakes else 1.0)


def _others_pay(episode: Episode, *, scaled: bool) -> float:
    hero = episode.seat_of(0)
    return _average(pay_of(episode, seat, scaled=scaled) for seat in range(len(episode.slots)) if seat != hero)


def _advantage(episode: Episode, *, scaled: bool) -> float:
    return _others_pay(episode, scaled=scaled) - pay_of(episode, episode.seat_of(0), scaled=scaled)


def _expected_advantage(expectation: Expectation, hero: Seat, seats: int, scaled: bool) -> float:
    others = [expectation.per_round(seat, scaled=scaled) for seat in range(seats) if seat != hero]
    return _average(others) - expectation.per_round(hero, scaled=scaled)


def _deal(episode: Episode) -> str:
    return episode.group


def _average(values: Any) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


@dataclass(frozen=True)
class Table:
    """How bouts are played: how many episodes, from which seed, who answers requests, and where they are kept."""

    episodes: int = 20
    key: Key = field(default_factory=lambda: Key(0))
    answer: Answer = answer
    kept: Kept | None = None
    """Where episodes are recorded and found again; without it none is kept from one bout to the next."""
    budget: int = 3_000
    """How many situations an exact expectation may walk."""
    exact_budget: int = BUDGET
    """How many the exact exploitability may walk."""

    def bout(self, game: Game[Any], hero: Player, opponent: Player, pools: Sequence[str]) -> Bout:
        """Play one hero against one opponent."""
        return self.bouts(game, hero, [(opponent, pools)])[0]

    def bouts(self, game: Game[Any], hero: Player, opponents: Sequence[tuple[Player, Sequence[str]]]) -> list[Bout]:
        """Play one hero against each opponent, all at once, so that a model is asked in large batches.

        The deals depend on game, opponent and seed, not on the hero.
        """
        setups = [list(self._setups(game, hero, opponent)) for opponent, _ in opponents]
        over = (self.kept or Kept()).play(list(chain.from_iterable(setups)), self.answer)
        return [
            Bout(
                opponent=opponent.name,
                version=opponent.traits.version,
                pools=tuple(pools),
                episodes=tuple(over[setup.id] for setup in asked),
                expectations=self._expectations(game, hero, opponent),
            )
            for (opponent, pools), asked in zip(opponents, setups, strict=True)
        ]

    def _setups(self, game: Game[Any], hero: Player, opponent: Player) -> Iterator[Setup]:
        match = Match(game, [hero, *[opponent] * (game.spec.seats - 1)])
        name = f"{match.text}/{hero.name}/{opponent.name}"
        yield from rotated(match, self.episodes, self.key.at("bout", match.text, placeless(opponent.name)), name=name)

    def _expectations(self, game: Game[Any], hero: Player, opponent: Player) -> tuple[Expectation, ...]:
        if not (hero.traits.exact and opponent.traits.exact):
            return ()
        game = game.one_round() or game
        seats = range(game.spec.seats)
        try:
            return tuple(
                expected(game, [hero if other == seat else opponent for other in seats], self.budget) for seat in seats
            )
        except CannotCompute:
            return ()
