"""A metric of your own: declared data, and one method from bouts to an estimate."""

from stratagem.evaluation.bouts import pay_of
from stratagem.evaluation.metrics import Metric, Sample
from stratagem.evaluation.statistics import Estimate


class WorstEpisode(Metric):
    """The least that the hero was paid a round in any episode, against anybody."""

    name = "worst episode"
    better = "higher"

    def measure(self, sample: Sample) -> Estimate | None:
        episodes = [episode for bout in sample.bouts for episode in bout.episodes]
        paid = [pay_of(episode, episode.seat_of(0)) for episode in episodes]
        return Estimate(min(paid), n=len(paid)) if paid else None
