"""A matchmaker of your own: it meets the newest snapshot, or the player that it beats least often."""

from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.training.opponents.matchmaking import Matchmaker, Odds, Situation, history, mix_odds
from stratagem.training.opponents.member import Member


@dataclass(frozen=True)
class NewestAndHardest(Matchmaker):
    """A share of matches against the newest snapshot, and the rest against the hardest opponent."""

    share: float = 0.5
    """Share of matches against the newest snapshot."""

    def __post_init__(self) -> None:
        within("NewestAndHardest", "share", self.share, 0.0, 1.0)

    def odds(self, learner: Member, situation: Situation) -> Odds:
        others = history(situation) or [learner]
        rates = situation.rates(learner, others)
        hardest = others[int(rates.argmin())]
        newest = max(others, key=lambda member: member.step)
        return mix_odds((self.share, {newest.name: 1.0}), (1.0 - self.share, {hardest.name: 1.0}))
