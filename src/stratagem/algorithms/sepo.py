"""SEPO: be paid, and be neither exploitable nor collusive nor harmful (Safe Equilibrium Policy Optimisation).

The objective is `J = U - a E - b C - g X`: pay, exploitability, the risk of collusion, harm to others. Rollouts against
the train pool bring U and X; E and C show only against adversaries, in probes. A rollout's advantage is taken round by
round against the other rollouts of its group, each term centred by itself.

What differs from the paper: it estimates E in episodes apart from rollout i and subtracts it from rollout i's reward.
Those episodes are independent of the rollout's own tokens, so that penalty has no expected gradient: it adds noise and
no direction. With `credit: probe`, the default, the decisions of the probes themselves are taught, with the advantage
of the penalty that they caused; `credit: rollout` is the paper's. A penalty counts only while the hero's mean loss to
the adversary is positive, so that noise in a game of chance is not taken for exploitability.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from stratagem.algorithms.best_responder import best_responder
from stratagem.algorithms.rollouts import Taken, Term, decisions_of, examples_of, grouped, taken
from stratagem.evaluation.expectation import SCALE
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.learning.credit.per_round import Horizon, Normalise, PerRound
from stratagem.learning.example import Example
from stratagem.learning.losses.policy_gradient import PolicyGradient
from stratagem.learning.optimiser import OptimiserSettings
from stratagem.play.match import Match
from stratagem.play.records import Episode
from stratagem.play.scheduler import play
from stratagem.players.base import Player
from stratagem.players.pools import pools
from stratagem.settings import Settings

WEIGHTS: Mapping[str, tuple[float, float, float]] = {
    "ipd": (2.4, 1.0, 1.8),
    "auction": (1.2, 1.0, 1.8),
    "negotiation-v1": (3.0, 2.0, 1.8),
    "negotiation-v2": (3.0, 2.0, 1.8),
    "kuhn": (1.5, 0.0, 0.0),
}
"""By family: what exploitability, collusion and externality cost (SEPO's alpha, beta and gamma)."""


class SEPOSettings(Settings):
    """How SEPO trains."""

    iterations: int = Field(default=100, ge=1)
    rollouts: int = Field(default=4, ge=2)
    """How many rollouts make a group (K)."""
    groups: int = Field(default=2, ge=1)
    """How many groups there are for each opponent in an iteration; the hero's seat rotates between them."""
    normalise: Normalise = "round"
    horizon: Horizon = "to_go"
    credit: Literal["probe", "rollout", "shared", "none"] = "probe"
    """Who answers for a penalty: the decisions of the probe that showed it; the rollout that it is subtracted from (the
    paper's); all rollouts of a group alike, which cancels; nobody (reward only)."""
    source: Literal["pool", "best_response"] = "pool"
    """Who the adversaries are: the exploit pool, or the exact best response to the policy."""
    refresh: int = Field(default=5, ge=1)
    """After how many iterations a best response is worked out again."""
    alpha: float | None = None
    """What exploitability costs; None is the game's own."""
    beta: float | None = None
    """What collusion costs."""
    gamma: float | None = None
    """What harm to others costs."""
    kl: float = Field(default=0.1, ge=0.0)
    """What leaving the reference costs, on the side where a token has become likelier."""
    clip: float = Field(default=0.2, gt=0.0)
    optimiser: OptimiserSettings = OptimiserSettings(rate=1e-5)

    def weights(self, family: str) -> dict[str, float]:
        """The cost of each penalty in a game of this family."""
        own = dict(zip(("exploit", "collusion", "externality"), WEIGHTS.get(family, (0.0, 0.0, 0.0)), strict=True))
        given = {"exploit": self.alpha, "collusion": self.beta, "externality": self.gamma}
        return {name: own[name] if given[name] is None else float(given[name] or 0.0) for name in own}

    def loss(self) -> PolicyGradient:
        """The clipped surrogate with the one-sided charge, divided by the number of steps."""
        return PolicyGradient(clip_low=self.clip, clip_high=self.clip, kl="one_sided", beta=self.kl, per="divisor")


@dataclass(frozen=True)
class Collected:
    """What an iteration teaches, and what was seen while it was collected."""

    examples: list[Example]
    figures: dict[str, float]
    episodes: list[Episode]
    counts: dict[str, int]
    """Of groups, as the estimators of credit counted them."""


class SEPO:
    """Collects what each iteration teaches one hero in one game."""

    def __init__(self, settings: SEPOSettings, game: Game[Any], hero: Player, key: Key) -> None:
        self.settings = settings
        self.game = game
        self.hero = hero
        self.key = key
        self.costs = settings.weights(game.spec.family)
        self._pools = {name: pool.make(game) for name, pool in pools(game).items()}
        self._responder: Player | None = None
        self._counts: Counter[str] = Counter()

    def collect(self, iteration: int) -> Collected:
        """The rollouts and probes of one iteration, and what they teach."""
        key = self.key.at("iteration", iteration)
        self._counts.clear()
        trained = [self._bout(opponent, key, "train", iteration) for opponent in self._pools["train"]]
        probed = self._probes(key, iteration) if self.settings.credit != "none" else []
        parts = [*self._rollouts(trained, probed), *(self._answers(probed) if self._by_probe else ())]
        examples = [example for part in parts for example in part]
        figures = self._figures(trained, probed)
        divisor = float(max(1, len(examples)))
        taught = [replace(example, row={**example.row, "divisor": divisor}) for example in examples]
        episodes = [episode for bout in (*trained, *probed) for episode in bout.episodes]
        return Collected(taught, figures, episodes, dict(self._counts))

    @property
    def _by_probe(self) -> bool:
        return self.settings.credit == "probe"

    def _bout(self, opponent: Player, key: Key, kind: str, iteration: int) -> _Bout:
        others = self.game.spec.seats - 1
        match = Match(self.game, [self.hero, *[opponent] * others])
        at = key.at(kind, opponent.name)
        name = f"{iteration}/{kind}/{opponent.name}"
        setups = grouped(match, self.settings.groups, self.settings.rollouts, at, name=name)
        return _Bout(kind, opponent.name, list(play(setups)))

    def _probes(self, key: Key, iteration: int) -> list[_Bout]:
        """Episodes against those who would exploit the hero, and those who would collude with it."""
        found = []
        if self.costs["exploit"]:
            found += [self._bout(one, key, "exploit", iteration) for one in self._adversaries(iteration)]
        if self.costs["collusion"]:
            found += [self._bout(one, key, "collusion", iteration) for one in self._pools["collusive"]]
        return found

    def _adversaries(self, iteration: int) -> Sequence[Player]:
        if self.settings.source == "pool":
            return self._pools["exploit"]
        if self._responder is None or iteration % self.settings.refresh == 0:
            self._responder = best_responder(self.game, self.hero)
        return [self._responder]

    def _rollouts(self, trained: Sequence[_Bout], probed: Sequence[_Bout]) -> Iterator[list[Example]]:
        """What pay and externality teach, and the penalties where they are charged to rollouts."""
        for bout in trained:
            terms: dict[str, Term] = {"payoff": paid}
            weights = {"payoff": 1.0}
            if self.costs["externality"]:
                terms["externality"], weights["externality"] = signalled("externality"), -self.costs["externality"]
            if self.settings.credit in ("rollout", "shared"):
                for kind in ("exploit", "collusion"):
                    if charged := self._charged(bout, [probe for probe in probed if probe.kind == kind], kind):
                        terms[kind], weights[kind] = charged, -self.costs[kind]
            yield self._taught(bout, terms, weights)

    def _charged(self, bout: _Bout, probes: Sequence[_Bout], kind: str) -> Term | None:
        """Rollout i answers for the i-th episode of every probe, or all rollouts for the mean of all."""
        if not probes:
            return None
        each = [[penalty(kind, episode) for episode in probe.episodes] for probe in probes]
        by_rollout = [math.fsum(column) / len(column) for column in zip(*each, strict=True)]
        mean = math.fsum(by_rollout) / len(by_rollout)
        shared = self.settings.credit == "shared"
        charge = {e.id: mean if shared else own for e, own in zip(bout.episodes, by_rollout, strict=True)}

        def term(episode: Episode) -> Mapping[int, float]:
            return dict.fromkeys(range(len(episode.rounds)), charge[episode.id])

        return term

    def _answers(self, probed: Sequence[_Bout]) -> Iterator[list[Example]]:
        """What the probes' own decisions are taught; each adversary's share of the penalty is the same."""
        for bout in probed:
            alike = sum(one.kind == bout.kind for one in probed)
            cost = self.costs[bout.kind] / alike
            term = paid if bout.kind == "exploit" else signalled("collusion")
            sign = 1.0 if bout.kind == "exploit" else -1.0
            if self._bites(bout):
                yield self._taught(bout, {bout.kind: term}, {bout.kind: sign}, cost)

    @staticmethod
    def _bites(bout: _Bout) -> bool:
        """Whether the penalty is above nothing on average: an adversary that gains nothing teaches nothing."""
        if bout.kind != "exploit":
            return True
        return math.fsum(shortfall(episode) for episode in bout.episodes) > 0.0

    def _taught(
        self, bout: _Bout, terms: Mapping[str, Term], weights: Mapping[str, float], cost: float = 1.0
    ) -> list[Example]:
        rows: list[Taken] = taken(bout.episodes)
        credit = PerRound(normalise=self.settings.normalise, horizon=self.settings.horizon, weights=dict(weights))(
            decisions_of(rows, bout.episodes, terms)
        )
        self._counts.update(credit.counts)
        return examples_of(rows, (np.asarray(credit.advantage) * cost).tolist())

    def _figures(self, trained: Sequence[_Bout], probed: Sequence[_Bout]) -> dict[str, float]:
        pays = [math.fsum(paid(e).values()) / max(1, len(e.rounds)) for bout in trained for e in bout.episodes]
        figures = {"train/pay": math.fsum(pays) / len(pays)}
        for bout in probed:
            worth = shortfall if bout.kind == "exploit" else _colluded
            mean = math.fsum(worth(e) for e in bout.episodes) / len(bout.episodes)
            figures[f"probe/{bout.kind}/{bout.opponent}"] = mean
        return figures


@dataclass(frozen=True)
class _Bout:
    """The episodes against one opponent."""

    kind: str
    opponent: str
    episodes: list[Episode]


def paid(episode: Episode) -> Mapping[int, float]:
    """What each round paid the hero, on the scale on which mutual cooperation is worth 3."""
    seat = episode.seat_of(0)
    stakes = episode.stakes[seat]
    unit = SCALE / stakes.cooperative if stakes else 1.0
    return {number: unit * payoffs[seat] for number, payoffs in enumerate(episode.rounds)}


def signalled(name: str) -> Term:
    """What a safety signal says of the hero in each round."""

    def term(episode: Episode) -> Mapping[int, float]:
        seat = episode.seat_of(0)
        values = episode.signals.get(name, ())
        return {number: value for number, row in enumerate(values) if (value := row[seat]) is not None}

    return term


def shortfall(episode: Episode) -> float:
    """By how much the hero's mean pay a round is below what a passive opponent would leave it; may be negative."""
    seat = episode.seat_of(0)
    stakes = episode.stakes[seat]
    passive = stakes.passive * SCALE / stakes.cooperative if stakes else 0.0
    return passive - math.fsum(paid(episode).values()) / max(1, len(episode.rounds))


def _colluded(episode: Episode) -> float:
    told = signalled("collusion")(episode)
    return math.fsum(told.values()) / max(1, len(told))


def penalty(kind: str, episode: Episode) -> float:
    """What one probe episode charges a rollout: never less than nothing (the paper's)."""
    return max(0.0, shortfall(episode)) if kind == "exploit" else _colluded(episode)
