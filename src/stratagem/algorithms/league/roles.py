"""Roles of AlphaStar's league: matchmaking and resets of each kind of learner (Vinyals et al. 2019, pseudo-code)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from stratagem.base.errors import CannotCompute
from stratagem.base.named import TYPE, NamedObject, RegistryReader, in_a_recipe
from stratagem.base.registry import Registry
from stratagem.games.key import Key
from stratagem.training.opponents.matchmakers import GROUP, MATCHMAKERS
from stratagem.training.opponents.matchmaking import Matchmaker, Odds, Situation, history, mix_odds, shares, spread
from stratagem.training.opponents.member import Member

LOST, FORGOTTEN, HOPELESS, PATIENT = 0.3, 0.7, 0.3, 0.1
"""Thresholds of win rates.

A main exploiter's checkpoint that is beaten less often needs verification; a past self that is beaten less often was
forgotten; against a rival that is beaten so seldom the learner meets its past; an exploiter that wins less often than
the last does likewise.
"""
DONE = 0.7
"""Win rate against all relevant members from which a learner is ready for a checkpoint."""
RESET = 0.25
"""Probability that a league exploiter is reset at a checkpoint."""


def by(weighting: str, others: Sequence[Member], learner: Member, situation: Situation) -> Odds:
    """Return a distribution over members by a weighting."""
    return spread(others, shares(situation.rates(learner, others), weighting), learner) if others else {}


@dataclass(frozen=True, kw_only=True)
class Main(Matchmaker):
    """Main agent: half PFSP over the past, 15 % verification, and the rest self-play; it is never reset.

    Verification is against the main exploiters' checkpoints, if it loses to one of them, and else against past
    selves, if it has forgotten how to beat one; where neither holds, its share is self-play. Against a rival that
    beats it too often it meets that rival's past.
    """

    fictitious: float = 0.5
    verification: float = 0.15

    def odds(self, learner: Member, situation: Situation) -> Odds:
        mains = situation.population.of("main", learns=True) or [learner]
        own = mix_odds(*((1.0 / len(mains), self._against(learner, rival, situation)) for rival in mains))
        exploiters = ((1.0 / len(mains), self._against_exploiters(learner, rival, situation)) for rival in mains)
        fictitious = by("squared", history(situation), learner, situation)
        return mix_odds(
            (self.fictitious, fictitious or own),
            (self.verification, mix_odds(*exploiters)),
            (1.0 - self.fictitious - self.verification, own),
        )

    def _against_exploiters(self, learner: Member, rival: Member, situation: Situation) -> Odds:
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
        """Return the present main agent; or its past, if it is another one that beats the learner too often."""
        past = _past(rival, situation)
        lost = rival is not learner and situation.results.rate(learner.name, rival.name) <= HOPELESS
        return by("variance", past, learner, situation) if lost and past else {rival.name: 1.0}


def _past(main: Member, situation: Situation) -> list[Member]:
    """Return the checkpoints of a main agent."""
    return [member for member in situation.population.of("main", learns=False) if member.parent == main.name]


def _beaten_less(rate: float, learner: Member, others: Sequence[Member], situation: Situation) -> bool:
    return bool(others) and bool(situation.rates(learner, others).min() < rate)


@dataclass(frozen=True, kw_only=True)
class MainExploiter(Matchmaker):
    """Main exploiter: meets the present main agent, or its past where it wins too seldom; reset at each checkpoint."""

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
        return mix_odds(*parts)


@dataclass(frozen=True, kw_only=True)
class LeagueExploiter(Matchmaker):
    """League exploiter: meets all fixed members by the capped weighting; reset at one checkpoint in four."""

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return by("capped", history(situation), learner, situation) or {learner.name: 1.0}


ROLES: dict[str, Matchmaker] = {
    "main": Main(),
    "main_exploiter": MainExploiter(),
    "league_exploiter": LeagueExploiter(),
}
"""Default matchmaker of each role."""


@dataclass(frozen=True, kw_only=True)
class ByRole(Matchmaker):
    """Rule of the learner's role in AlphaStar's league."""

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return ROLES[learner.role].odds(learner, situation)


_registry: Registry[Matchmaker] = Registry("matchmaker", {"role": ByRole, **MATCHMAKERS}, GROUP, Matchmaker)
_RULE = "rule"
"""Key of the name in recipes before 0.4, beside which a run has the parameters of all rules."""
_USUAL: Mapping[str, object] = {
    "weighting": "squared",
    "self_play": 0.0,
    "reserved": 0.0,
    "beaten": 0.7,
    "width": 100.0,
    "opponent": "",
}
"""Their defaults then: a value that the rule does not read is meant only where it differs."""


class LeagueMatchReader(RegistryReader[Matchmaker]):
    """Reader of a league's matchmaker; the name may be called `rule`, as it was."""

    def __call__(self, source: object) -> NamedObject[Matchmaker]:
        return super().__call__(self._by_type(source))

    def _by_type(self, source: object) -> object:
        """Replace `rule` by `type`, and leave out what the rule does not read and has its old default."""
        if not isinstance(source, Mapping) or _RULE not in source or TYPE in source:
            return source
        rule = source[_RULE]
        reads = signature(self.registry.factory(rule)).parameters if isinstance(rule, str) else {}
        given = {name: value for name, value in source.items() if name != _RULE}
        return {TYPE: rule, **{name: value for name, value in given.items() if _is_meant(name, value, reads)}}


def _is_meant(name: str, value: object, reads: Collection[str]) -> bool:
    return name in reads or name not in _USUAL or value != _USUAL[name]


read_league_match = LeagueMatchReader(_registry, Matchmaker)
"""Reader of a learner's matchmaker: a text or a table."""
NamedLeagueMatch = Annotated[
    NamedObject[Matchmaker], PlainValidator(in_a_recipe(read_league_match)), PlainSerializer(NamedObject.table)
]
"""Matchmaker of a learner in a league, as a setting."""


def before_falling(rates: Sequence[float]) -> int:
    """Return the number of items before the falling stretch at the end of some rates.

    Nothing was forgotten before it.
    """
    return next((index + 1 for index in range(len(rates) - 1, 0, -1) if rates[index - 1] < rates[index]), 0)


def is_ready(learner: Member, situation: Situation) -> bool:
    """Return whether a learner beats all members relevant to its role, so that a checkpoint may come before its time.

    For a main exploiter these are the present main agents, for the others all fixed members.
    """
    mains = situation.population.of("main", learns=True)
    asked = mains if learner.role == "main_exploiter" else history(situation)
    return bool(asked) and bool(situation.rates(learner, asked).min() > DONE)


def is_reset(learner: Member, key: Key) -> bool:
    """Return whether a learner is reset after a checkpoint."""
    if learner.role == "main_exploiter":
        return True
    return learner.role == "league_exploiter" and key.at("reset").unit() < RESET
