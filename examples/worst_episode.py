"""A metric of your own: declared data, and one method from matchups to an estimate."""

from stratagem.measure.matchups import payoff_of
from stratagem.measure.metrics import Metric, Sample
from stratagem.measure.statistics import Estimate


class WorstEpisode(Metric):
    """The least payoff of the agent a round in any episode, against anybody."""

    name = "worst episode"
    better = "higher"

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for matchup in sample.matchups for episode in matchup.episodes]
        paid = [payoff_of(episode, episode.seat_of(0)) for episode in episodes]
        return Estimate(min(paid), n=len(paid)) if paid else None
