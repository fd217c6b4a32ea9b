"""Matchmakers by name: rules that follow the iteration, and those of leagues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.named import NamedObject, RegistryReader, in_a_recipe
from stratagem.base.options import whole, within
from stratagem.base.registry import Registry
from stratagem.training.opponents.matchmaking import (
    PFSP,
    FixedOpponent,
    Matchmaker,
    Odds,
    RatingNear,
    SelfPlay,
    Situation,
    history,
    mix_odds,
)
from stratagem.training.opponents.member import Member


@dataclass(frozen=True, kw_only=True)
class Shares(Matchmaker):
    """Shares of the recipe: each opponent of `opponents` in proportion to its share."""

    reads_results = False

    def odds(self, learner: Member, situation: Situation) -> Odds:
        total = sum(situation.shares.values())
        if not total > 0.0:
            raise CannotCompute("`shares` needs opponents with a share: name some in `opponents`.")
        return {name: share / total for name, share in situation.shares.items()}


Phase = tuple[int, dict[str, float]]
"""First iteration of a phase, and the share of each opponent in it."""


@dataclass(frozen=True, kw_only=True)
class Curriculum(Matchmaker):
    """Opponents by the iteration: each phase has the shares of its opponents (Bengio et al. 2009).

    With `blend` the shares pass from one phase to the next along a straight line; without, they change at once.
    """

    phases: tuple[Phase, ...]
    """Phases, each a list of its first iteration and a table of shares; the first phase begins at 0."""
    blend: bool = False
    """Linear interpolation between the beginnings of two phases."""

    reads_results = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", tuple((int(at), dict(shares)) for at, shares in self.phases))
        starts = [at for at, _ in self.phases]
        if starts[:1] != [0] or any(later <= at for at, later in pairwise(starts)):
            raise BadParameter(f"`phases` begin at 0 and go up, as in [[0, {{ random = 1.0 }}], ...], not at {starts}.")
        for at, shares in self.phases:
            if min(shares.values(), default=0.0) < 0.0 or not 0.0 < sum(shares.values()) < inf:
                raise BadParameter(f"The phase from {at} needs shares that are not negative, and not all nothing.")

    @property
    def named_members(self) -> Sequence[str]:
        return tuple(dict.fromkeys(name for _, shares in self.phases for name in shares))

    def odds(self, learner: Member, situation: Situation) -> Odds:
        place = sum(at <= situation.iteration for at, _ in self.phases) - 1
        at, now = self.phases[place]
        if not self.blend or place + 1 == len(self.phases):
            return _normalise(now)
        later, then = self.phases[place + 1]
        passed = (situation.iteration - at) / (later - at)
        return mix_odds((1.0 - passed, _normalise(now)), (passed, _normalise(then)))


def _normalise(weights: Mapping[str, float]) -> Odds:
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


@dataclass(frozen=True, kw_only=True)
class PastSelves(Matchmaker):
    """Snapshots of the learner itself, all alike: fictitious self-play (Heinrich et al. 2015), as far as they go.

    The rest are the opponents of the recipe by their shares, or self-play where it names none. Before the first
    snapshot all are.
    """

    share: float = 0.5
    """Share of matches against snapshots."""
    newest: int = 0
    """Number of snapshots to draw from, the newest; 0 draws from all."""

    reads_results = False
    reads_snapshots = True

    def __post_init__(self) -> None:
        within("PastSelves", "share", self.share, 0.0, 1.0)
        whole("PastSelves", "newest", self.newest, 0)

    def odds(self, learner: Member, situation: Situation) -> Odds:
        rest = _normalise(situation.shares) if situation.shares else {learner.name: 1.0}
        past = [member for member in history(situation) if member.parent == learner.name][-self.newest :]
        uniform = {member.name: 1.0 / len(past) for member in past}
        return mix_odds((self.share, uniform), (1.0 - self.share, rest)) if past else rest


MATCHMAKERS: dict[str, Callable[..., Matchmaker]] = {
    "shares": Shares,
    "curriculum": Curriculum,
    "past_selves": PastSelves,
    "pfsp": PFSP,
    "self": SelfPlay,
    "fixed": FixedOpponent,
    "rating_near": RatingNear,
}
"""Matchmakers by name."""
GROUP = "stratagem.matchmakers"
"""Entry-point group of matchmakers of other packages."""

_registry: Registry[Matchmaker] = Registry("matchmaker", MATCHMAKERS, GROUP, Matchmaker)

read_matchmaker = RegistryReader(_registry, Matchmaker)
"""Reader of a matchmaker in a recipe: a text or a table."""
NamedMatchmaker = Annotated[
    NamedObject[Matchmaker], PlainValidator(in_a_recipe(read_matchmaker)), PlainSerializer(NamedObject.table)
]
"""Matchmaker as a setting."""
