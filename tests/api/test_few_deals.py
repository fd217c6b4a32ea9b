"""Intervals over few deals: they are marked in tables, and a sentence below says what the mark means."""

import pytest

import stratagem as sg
from stratagem.measure.rates import wilson
from stratagem.measure.statistics import Estimate, exactly, with_interval
from stratagem.show.cells import FEW_DEALS
from stratagem.show.terminal import cell


@pytest.mark.parametrize("few", [2, 5, 9])
def test_cell_shows_the_number_of_few_deals_behind_an_interval(few):
    assert cell(with_interval([float(number) for number in range(few)])).plain.endswith(f" n={few}")
    assert cell(wilson(1, few)).plain.endswith(f" n={few}")


@pytest.mark.parametrize(
    "estimate",
    [
        with_interval([float(number) for number in range(10)]),
        exactly(1.0),
        Estimate(1.0, 0.5, 5),
        Estimate(1.0, None, 1),
    ],
)
def test_cell_shows_no_number_of_many_deals_or_of_a_figure_without_an_interval(estimate):
    assert "n=" not in cell(estimate).plain


@pytest.mark.parametrize(("episodes", "few"), [(18, True), (20, False)])
def test_legend_of_an_evaluation_explains_intervals_of_few_deals(episodes, few):
    found = sg.evaluate("imp", "random", opponents=["first-legal"], episodes=episodes, chance=False)
    assert (FEW_DEALS in found.legend(found.main_tables())) == few
    assert ("n=9" in repr(found)) == few


@pytest.mark.parametrize(("episodes", "few"), [(9, True), (10, False)])
def test_talk_by_play_explains_intervals_of_few_deals(episodes, few):
    game = "talk(kuhn(hands=1), before=round, intents=[state])"
    found = sg.talk(game, "honest(NashApprox)", "believer(NashApprox)", episodes=episodes)
    assert (FEW_DEALS in found.legend(found.tables())) == few


@pytest.mark.parametrize(("deals", "few"), [(9, True), (10, False)])
def test_collusion_explains_intervals_of_few_deals(deals, few):
    ring = ("ring(Truthful, partner=1)", "ring(Truthful, partner=0)", "Truthful")
    found = sg.collusion("talk(auction(seats=3, rounds=1))", *ring, deals=deals)
    assert (FEW_DEALS in found.legend(found.tables())) == few
