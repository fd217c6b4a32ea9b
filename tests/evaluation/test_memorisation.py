"""The memorisation gap: zero for players that play by the rules alone, of known size for a planted memoriser."""

import re

import numpy as np
import pytest

from stratagem.base.errors import StratagemError
from stratagem.base.registry import Registry
from stratagem.games.key import Key
from stratagem.measure.evaluate import evaluate
from stratagem.measure.matchups import Evaluator
from stratagem.measure.memorisation import wraps
from stratagem.measure.metrics import METRICS
from stratagem.measure.metrics.memorisation import mean_of_table
from stratagem.measure.recorded import RecordReading, figures_of_record, plain_name
from stratagem.measure.report import evaluation_json
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.suites import find_suite, with_metrics
from stratagem.players import catalogue
from stratagem.players.base import Scripted, Traits

KUHN = "kuhn(hands=1)"
GAP = "memorisation_gap"
AGAINST = ("kuhn/CallingStation", "kuhn/TightPassive")


class ReadsRules(Scripted):
    """Learns the words from the rules alone: the second action that they offer, and to call."""

    traits = Traits(reads_words=True)
    name = "reads-rules"

    def strategy(self, view):
        _, bet = re.search(r"The opener may (\w+) or (\w+)", view.rules).groups()
        call = re.search(r"Facing a \w+ one may (\w+) with", view.rules).group(1)
        return bet if bet in view.choices else call


class KnowsWords(Scripted):
    """Bets, calls and defects where it finds these words; without them it plays uniformly."""

    traits = Traits(reads_words=True, stochastic=True)
    name = "knows-words"

    def strategy(self, view):
        known = [word for word in ("BET", "CALL", "DEFECT") if word in view.choices]
        return known[0] if known else dict.fromkeys(view.choices, 0.5)


class Sampled(KnowsWords):
    """The same, but only play can measure it."""

    traits = Traits(reads_words=True, stochastic=True, exact=False)
    name = "sampled"


@pytest.fixture(autouse=True)
def planted(monkeypatch):
    table = {player.name: player for player in (ReadsRules, KnowsWords, Sampled)}
    known = Registry("player", catalogue.PLAYERS | catalogue.MODELS | table, "stratagem.players")
    monkeypatch.setattr(catalogue, "REGISTRY", known)


def measured(*players, disguises=3, episodes=20, record=None, game=KUHN, opponents=AGAINST):
    suite = with_metrics(find_suite(game, opponents), [GAP])
    at = Evaluator(episodes=episodes, key=Key(3), record=record or ResumableRecord())
    return evaluate(suite, players, at, chance=False, disguises=wraps(str(disguises)))[0]


def test_players_that_play_by_the_rules_have_no_gap():
    result = measured("NashApprox", "noise(Bluffer, p=0.2)", "reads-rules")
    for row in result.rows:
        assert (row.metrics[GAP].mean, row.metrics[GAP].exact) == (0.0, True)
        assert row.nulls[GAP] == 0.0
        assert not row.errors
        plain = [[(episode.payoffs, episode.num_illegal) for episode in matchup.episodes] for matchup in row.matchups]
        for other in row.in_other_words:
            assert other.proof == "proved on all 24 decision nodes"
            hidden = [[(e.payoffs, e.num_illegal) for e in matchup.episodes] for matchup in other.matchups]
            assert plain == hidden


def test_a_planted_memoriser_has_the_gap_between_its_two_ways_of_play():
    result = measured("knows-words", "AlwaysBet", "random")
    knows, bets, uniform = result.rows
    expected = bets.metrics["payoff"].mean - uniform.metrics["payoff"].mean
    assert abs(expected) > 0.05
    assert knows.metrics["payoff"].mean == pytest.approx(bets.metrics["payoff"].mean)
    assert knows.metrics[GAP].mean == pytest.approx(expected)
    assert knows.metrics[GAP].exact


def test_a_sampled_gap_has_an_interval_over_deals_and_disguises():
    exact = measured("knows-words").rows[0].metrics[GAP].mean
    row = measured("sampled", episodes=100).rows[0]
    gap = row.metrics[GAP]
    assert gap.low < exact < gap.high
    assert gap.n == 100  # two opponents, a deal for every two episodes
    assert not gap.exact
    assert abs(gap.mean - exact) < 3 * gap.se


def test_a_sampled_gap_of_a_repeated_game():
    """Defection against AlwaysCooperate has payoff 5, uniform play 4."""
    row = measured("sampled", game="ipd(rounds=2)", opponents=("ipd/AlwaysCooperate",)).rows[0]
    gap = row.metrics[GAP]
    assert 0.0 < gap.low < 1.0 < gap.high
    assert row.metrics["payoff"].mean == 5.0


def test_a_record_gives_the_gap_again(tmp_path):
    record = ResumableRecord(tmp_path / "record", {"command": "eval"})
    row = measured("sampled", record=record).rows[0]
    apart = figures_of_record(record.clean, RecordReading(find_suite(KUHN, AGAINST)))[0].rows
    assert [one.player for one in apart] == ["sampled", *(f"disguise(sampled, seed={n})" for n in (1, 2, 3))]
    again = figures_of_record(record.clean, RecordReading(find_suite(KUHN, AGAINST), disguised=True))[0].rows
    assert [one.player for one in again] == ["sampled"]
    assert again[0].metrics[GAP] == row.metrics[GAP]
    assert [other.player for other in again[0].in_other_words] == [other.player for other in row.in_other_words]


def test_json_has_every_disguise():
    result = measured("sampled", episodes=4)
    (player,) = evaluation_json([result], KUHN, 0, 4)["games"][0]["players"]
    assert [other["player"] for other in player["in_other_words"]] == [
        f"disguise(sampled, seed={n})" for n in (1, 2, 3)
    ]
    assert player["metrics"][GAP]["n"] == 4
    assert player["in_other_words"][0]["proof"] == "proved on all 24 decision nodes"


def test_names_without_their_disguise():
    assert plain_name("noise(disguise(lm(tiny, mode=free), seed=12), p=0.1)") == "noise(lm(tiny, mode=free), p=0.1)"
    assert plain_name("disguise(tiny, file='a.toml')") == "tiny"
    assert plain_name("ipd/TitForTat") == "ipd/TitForTat"
    for file in ("it's.toml", 'a"b.toml', 'it\'s "b".toml'):
        assert plain_name(f"noise(disguise(tiny, file={file!r}), p=0.1)") == "noise(tiny, p=0.1)"


def test_a_disguise_is_checked_even_if_only_random_plays():
    with pytest.raises(StratagemError, match="cannot be read"):
        evaluate(find_suite("kuhn"), ["random"], Evaluator(episodes=2), disguises=wraps("/nowhere.toml"))


@pytest.mark.parametrize(
    ("text", "game", "why"),
    [
        ("0", "kuhn", "a number of disguises from 1 to 1000, or a file"),
        ("", "kuhn", "a number of disguises from 1 to 1000, or a file"),
        ("-3", "kuhn", "a number of disguises from 1 to 1000, or a file"),
        ("/nowhere.toml", "kuhn", "cannot be read"),
        ("2", "spiel:kuhn_poker(players=3)", "told by its name"),
    ],
)
def test_wrong_disguises_are_refused_before_anything_is_played(text, game, why):
    with pytest.raises(StratagemError, match=why):
        evaluate(find_suite(game), ["first-legal"], Evaluator(episodes=2), disguises=wraps(text))


def test_no_gap_without_disguises():
    suite = with_metrics(find_suite(KUHN, AGAINST), [GAP])
    (row,) = evaluate(suite, ["NashApprox"], Evaluator(episodes=2), chance=False)[0].rows
    assert row.metrics[GAP] is None
    assert GAP not in row.nulls
    assert METRICS[GAP].better == "lower"


# --- the interval


def test_crossed_interval_covers_both_sources_of_spread():
    rng = np.random.default_rng(1)
    hits, tables = 0, 300
    for _ in range(tables):
        deals, disguises = rng.normal(0, 1.0, (20, 1)), rng.normal(0, 0.5, (1, 5))
        estimate = mean_of_table(2.0 + deals + disguises + rng.normal(0, 1.0, (20, 5)))
        hits += estimate.low < 2.0 < estimate.high
    assert 0.93 * tables <= hits <= 0.99 * tables


def test_crossed_interval_of_two_disguises_that_differ_much_is_too_narrow():
    rng = np.random.default_rng(1)
    hits, tables = 0, 1000
    for _ in range(tables):
        deals, disguises = rng.normal(0, 1.0, (30, 1)), rng.normal(0, 1.0, (1, 2))
        estimate = mean_of_table(deals + disguises + rng.normal(0, 1.0, (30, 2)))
        hits += estimate.low < 0.0 < estimate.high
    assert 0.85 * tables <= hits <= 0.91 * tables  # as docs/explanation/disguises.md says


def test_crossed_of_rows_alone_is_students_interval():
    values = np.array([[1.0], [2.0], [4.0]])
    estimate = mean_of_table(values)
    assert estimate.se == pytest.approx(values.std(ddof=1) / 3**0.5)
    assert estimate.high - estimate.mean == pytest.approx(4.302653 * estimate.se)  # Student's t with 2 degrees


def test_crossed_known_cases():
    assert mean_of_table(np.zeros((4, 3))).se == 0.0
    assert mean_of_table(np.array([[0.5]]), exact_rows=True).exact
    assert mean_of_table(np.array([[0.5, 0.7]]), exact_rows=True).se == pytest.approx(0.1)
    assert mean_of_table(np.array([[0.5, 0.7]])).se is None  # one deal says nothing about other deals
