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
"""A main exploiter's checkpoint that is beaten less often is trouble; a past self that is beaten less often was
forgotten; against a rival that is beaten so seldom one meets its past; an exploiter that wins less often than the last
does likewise."""
DONE = 0.7
"""Who beats all that it is asked about more often than this has learnt what there was to be learnt."""
RESET = 0.25
"""How often a league exploiter begins anew at a checkpoint."""


def by(weighting: str, others: Sequence[Member], learner: Member, situation: Situation) -> Odds:
    """Some members by a weighting."""
    return spread(others, shares(situation.rates(learner, others), weighting), learner) if others else {}


@dataclass(frozen=True, kw_only=True)
class Main(Matchmaker):
    """Half PFSP over the past, 15 % verification, and the rest against itself; it never begins anew.

    Verification is against the main exploiters' checkpoints, if it loses to one of them, and else against past selves,
    if it has forgotten how to beat one; where it is neither, its share is self-play. Against a rival that beats it too
    often it meets that rival's past.
    """

    fictitious: float = 0.5
    verification: float = 0.15

    def odds(self, learner: Member, situation: Situation) -> Odds:
        mains = situation.population.of("main", learns=True) or [learner]
        own = mixed(*((1.0 / len(mains), self._against(learner, rival, situation)) for rival in mains))
        verified = mixed(*((1.0 / len(mains), self._verified(learner, rival, situation)) for rival in mains))
        fictitious = by("squared", history(situation), learner, situation)
        return mixed(
            (self.fictitious, fictitious or own),
            (self.verification, verified),
            (1.0 - self.fictitious - self.verification, own),
        )

    def _verified(self, learner: Member, rival: Member, situation: Situation) -> Odds:
        exploiters = situation.population.of("main_exploiter", learns=False)
        if _beaten_less(LOST, learner, exploiters, situation):
            return by("squared", exploiters, learner, situation)
        past = _past(rival, situation)
        past = past[: before_falling(situation.rates(learner, past).tolist())]
        if _beaten_less(FORGOTTEN, learner, past, situation):
            return by("squared", past, learner, situation)
        return self._against(learner, rival, situation)

    @staticmethod
    def _against(learner: Member, rival: Member, situation: Situation) -> Odds:
        """A main as it is now; its past, if it is another one that beats the learner too often."""
        past = _past(rival, situation)
        lost = rival is not learner and situation.results.rate(learner.name, rival.name) <= HOPELESS
        return by("variance", past, learner, situation) if lost and past else {rival.name: 1.0}


def _past(main: Member, situation: Situation) -> list[Member]:
    """The checkpoints of a main learner."""
    return [one for one in situation.population.of("main", learns=False) if one.parent == main.name]


def _beaten_less(rate: float, learner: Member, others: Sequence[Member], situation: Situation) -> bool:
    return bool(others) and bool(situation.rates(learner, others).min() < rate)


@dataclass(frozen=True, kw_only=True)
class MainExploiter(Matchmaker):
    """Meets the main learner as it is now, and where it wins too seldom that learner's past; begins anew when kept."""

    def odds(self, learner: Member, situation: Situation) -> Odds:
        mains = situation.population.of("main", learns=True)
        if not mains:
            raise CannotCompute("A main exploiter needs a main learner to exploit.")
        parts = []
        for main in mains:
            past = _past(main, situation)
            seldom = situation.results.rate(learner.name, main.name) <= PATIENT
            odds = by("variance", past, learner, situation) if seldom and past else {main.name: 1.0}
            parts.append((1.0 / len(mains), odds))
        return mixed(*parts)


@dataclass(frozen=True, kw_only=True)
class LeagueExploiter(Matchmaker):
    """Meets everybody who does not change by the capped weighting; begins anew with one quarter when kept."""

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return by("capped", history(situation), learner, situation) or {learner.name: 1.0}


def before_falling(rates: Sequence[float]) -> int:
    """How many there are before the stretch at the end over which rates only fall: there nothing was forgotten yet."""
    return next((place + 1 for place in range(len(rates) - 1, 0, -1) if rates[place - 1] < rates[place]), 0)


def is_ready(learner: Member, situation: Situation) -> bool:
    """Whether a learner beats all that its role is asked about, and so may be kept before its time is over.

    A main exploiter is asked about the mains as they are now, the others about everybody who does not change.
    """
    mains = situation.population.of("main", learns=True)
    asked = mains if learner.role == "main_exploiter" else history(situation)
    return bool(asked) and bool(situation.rates(learner, asked).min() > DONE)


def begins_anew(learner: Member, key: Key) -> bool:
    """Whether a learner that was just kept goes back to where learners begin."""
    if learner.role == "main_exploiter":
        return True
    return learner.role == "league_exploiter" and key.at("reset").unit() < RESET
