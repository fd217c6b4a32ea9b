"""AlphaStar's kinds of learners: whom each meets, and when it begins anew (Vinyals 2019, published pseudo-code)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stratagem.errors import CannotCompute
from stratagem.games.key import Key
from stratagem.league.matchmaking import Matchmaker, Odds, Situation, history, mixed, spread
from stratagem.league.member import Member
from stratagem.league.weights import shares

LOST, FORGOTTEN, HOPELESS, PATIENT = 0.3, 0.7, 0.3, 0.1
"""An exploiter that is beaten less often is trouble; a past self that is beaten less often was forgotten; against a
rival that is beaten so seldom one meets its past; an exploiter that wins less often than the last does likewise."""
RESET = 0.25
"""How often a league exploiter begins anew at a checkpoint."""


def by(weighting: str, others: Sequence[Member], learner: Member, situation: Situation) -> Odds:
    """Some members by a weighting."""
    return spread(others, shares(situation.rates(learner, others), weighting), learner) if others else {}


@dataclass(frozen=True, kw_only=True)
class Main(Matchmaker):
    """Half PFSP over the past, 15 % verification, and the rest against itself; it never begins anew.

    Verification asks for exploiters that it loses to, and else for past selves that it has forgotten how to beat; where
    there are neither, its share is self-play. Against a rival that beats it too often it meets that rival's past.
    """

    fictitious: float = 0.5
    verification: float = 0.15

    def odds(self, learner: Member, situation: Situation) -> Odds:
        fictitious = by("squared", history(situation), learner, situation)
        verified = self._verified(learner, situation)
        own = self._self_play(learner, situation)
        return mixed(
            (self.fictitious, fictitious or own),
            (self.verification, verified or own),
            (1.0 - self.fictitious - self.verification, own),
        )

    def _verified(self, learner: Member, situation: Situation) -> Odds:
        population, results = situation.population, situation.results
        exploiters = population.of("main_exploiter", "league_exploiter", learns=False)
        losing = [one for one in exploiters if results.rate(learner.name, one.name) < LOST]
        if losing:
            return by("squared", losing, learner, situation)
        past = population.of("main", learns=False)
        forgotten = [one for one in past if results.rate(learner.name, one.name) < FORGOTTEN]
        return by("squared", forgotten, learner, situation)

    @staticmethod
    def _self_play(learner: Member, situation: Situation) -> Odds:
        """The mains as they are now; the past of one that beats it too often."""
        population, parts = situation.population, []
        mains = population.of("main", learns=True) or [learner]
        for rival in mains:
            past = [one for one in population.of("main", learns=False) if one.parent == rival.name]
            lost = rival is not learner and situation.results.rate(learner.name, rival.name) <= HOPELESS
            parts.append((1.0 / len(mains), by("variance", past, learner, situation) if lost and past else None))
        return mixed(*((share, odds or {rival.name: 1.0}) for (share, odds), rival in zip(parts, mains, strict=True)))


@dataclass(frozen=True, kw_only=True)
class MainExploiter(Matchmaker):
    """Meets the main learner as it is now, and where it wins too seldom that learner's past; begins anew when kept."""

    def odds(self, learner: Member, situation: Situation) -> Odds:
        mains = situation.population.of("main", learns=True)
        if not mains:
            raise CannotCompute("A main exploiter needs a main learner to exploit.")
        parts = []
        for main in mains:
            past = [one for one in situation.population.of("main", learns=False) if one.parent == main.name]
            seldom = situation.results.rate(learner.name, main.name) <= PATIENT
            odds = by("variance", past, learner, situation) if seldom and past else {main.name: 1.0}
            parts.append((1.0 / len(mains), odds))
        return mixed(*parts)


@dataclass(frozen=True, kw_only=True)
class LeagueExploiter(Matchmaker):
    """Meets everybody who does not change by the capped weighting; begins anew with one quarter when kept."""

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return by("capped", history(situation), learner, situation) or {learner.name: 1.0}


def begins_anew(learner: Member, key: Key) -> bool:
    """Whether a learner that was just kept goes back to where learners begin."""
    if learner.role == "main_exploiter":
        return True
    return learner.role == "league_exploiter" and key.at("reset").unit() < RESET
