"""Means of a tournament: pairs with one second player play the same deals, so their payoffs are dependent."""

import pytest

import stratagem as sg
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.matchups import Evaluator, mean_payoff
from stratagem.measure.recorded import RecordReading, figures_of_record
from stratagem.measure.statistics import mean
from stratagem.measure.tournament import tournament
from stratagem.players.catalogue import make_player
from stratagem.playing.store import read_episodes

KUHN = make_game("kuhn")
NAMES = ("TightPassive", "AlwaysBet", "NashApprox", "random")


def by_deal(player, opponents, deals_of):
    """Return a player's payoff on each deal, the mean over opponents and seats."""
    evaluator = Evaluator(20, Key(3), budget=0)
    rows = []
    for opponent in opponents:
        pair = (opponent, player) if deals_of is player else (player, opponent)
        matchup = evaluator.matchup(KUHN, *pair, ())
        rows.append(matchup.by_deal(lambda e, pair=pair: e.per_round(e.seat_of(pair.index(player)))).values())
    return [sum(column) / len(column) for column in zip(*rows, strict=True)]


def test_the_last_player_meets_all_others_on_the_same_deals():
    players = [make_player(name, KUHN) for name in NAMES]
    *others, last = players
    found = tournament(KUHN, "kuhn", players, Evaluator(20, Key(3), budget=0)).means[-1]
    expected = mean(by_deal(last, others, deals_of=last))
    assert (found.mean, found.se, found.n) == pytest.approx((expected.mean, expected.se, 10))


def test_the_first_player_meets_each_other_on_deals_of_its_own():
    players = [make_player(name, KUHN) for name in NAMES]
    result = tournament(KUHN, "kuhn", players, Evaluator(20, Key(3), budget=0))
    found, cells = result.means[0], result.payoff[0][1:]
    assert found.mean == pytest.approx(sum(cell.mean for cell in cells) / 3)
    assert found.se == pytest.approx(sum(cell.se**2 for cell in cells) ** 0.5 / 3)
    assert found.n == 30


def test_exact_payoffs_have_exact_means():
    matrix = sg.tournament("kuhn", ["NashApprox", "AlwaysBet", "random"], episodes=2, progress=False).cross_play
    assert all(figure.exact for figure in matrix.means)
    assert matrix.means[0].mean == pytest.approx((matrix.payoff[0][1].mean + matrix.payoff[0][2].mean) / 2)
    assert matrix.payoff[2][0].mean == pytest.approx(-matrix.payoff[0][2].mean)


def test_players_of_a_tournament_are_compared_on_deals_that_both_played(tmp_path):
    """A pair plays the deals of the player that was named later, so the last player shares none with the first."""
    players = ["AlwaysBet", "TightValue", "Bluffer", "random"]
    sg.tournament("kuhn", players, episodes=12, chance=False, record=tmp_path, progress=False)
    (game,) = figures_of_record(read_episodes(tmp_path), RecordReading(crossed=True, chance_last=False))
    numbers = {name.removeprefix("kuhn/"): one.estimate.n for name, one in game.differences.items()}
    assert numbers == {"TightValue": 12, "Bluffer": 6, "random": 0}


def test_the_record_of_a_tournament_has_the_same_errors(tmp_path):
    players = ["cfr:10", "mcts:2", "random", "mcts:3"]
    played = sg.tournament("kuhn", players, episodes=12, chance=False, record=tmp_path, progress=False).cross_play
    (game,) = figures_of_record(read_episodes(tmp_path), RecordReading(crossed=True))
    rows = {row.player.removeprefix("kuhn/"): row for row in game.rows}
    last = rows["mcts:3"]
    pay, expected = mean_payoff(last.matchups, scaled=False), played.means[-1]
    assert (pay.mean, pay.se, pay.n) == pytest.approx((expected.mean, expected.se, expected.n))
    assert last.metrics["win rate"].n == 6  # deals, and not deals by opponents
