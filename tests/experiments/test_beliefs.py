"""The experiment on beliefs in Diplomacy: its design, games that go on after a stop, and figures known by hand."""

import json
import re
from collections import Counter
from dataclasses import replace

import beliefs
import beliefs_table
import pytest
from beliefs_table import ALONE, BeliefCell, CellGame

from stratagem.base.errors import BadRecord
from stratagem.games.catalogue import make_game
from stratagem.measure.rates import wilson
from stratagem.players.catalogue import make_player
from stratagem.playing.records import Episode
from stratagem.playing.store import read_episodes

POWERS = make_game("diplomacy").powers


def test_every_belief_meets_every_truth_with_every_proposal():
    cells = beliefs.cells(beliefs_table.SCRIPTED)
    assert len({*cells}) == len(cells) == 24
    searches = [cell for cell in cells if cell.belief != "none"]
    known = Counter((cell.proposals, cell.truth, cell.relation) for cell in searches if cell.truth != "ported")
    assert set(known.values()) == {1}, "each truth is met with a right, a wrong and a mixed belief"
    assert {cell.relation for cell in searches if cell.truth == "ported"} == {"wrong", "mixed"}


def test_cells_of_a_truth_differ_in_the_belief_alone():
    game = make_game(beliefs.GAME)
    for proposals in beliefs_table.SCRIPTED:
        own = {b: make_player(beliefs.player_text(BeliefCell(proposals, b, "tuned")), game) for b in beliefs.OPPONENTS}
        assert len({replace(player, opponents=()).name for player in own.values()}) == 1
        assert [one.name for one in own["both"].opponents] == [own[b].opponents[0].name for b in ("dumbbot", "tuned")]


def test_an_arm_has_the_cells_of_its_relation():
    assert beliefs_table.cells_of("wrong/dumbbot/tuned") == [BeliefCell("dumbbot", "dumbbot", "tuned")]
    assert beliefs_table.cells_of("right/random/tuned") == [BeliefCell("random", "tuned", "tuned")]
    assert len(beliefs_table.cells_of("mixed/*/*")) == 4
    assert {cell.belief for cell in beliefs_table.cells_of("wrong/*/ported")} == {"dumbbot", "tuned"}
    every = {arm for tests in beliefs_table.PAIRS.values() for pair in tests.values() for arm in pair[:2] if arm}
    assert all(map(beliefs_table.cells_of, every))


def game(deal, power, *, share=0.2, alone=0.0, ties=0.0):
    return CellGame(deal, POWERS[power], share, alone, ties, 0.1, 0.2)


def deals_of(alone, share=0.2, deals=10):
    """Return games in which the first `alone` of seven powers are first alone in every deal."""
    return [game(d, p, share=share, alone=p < alone, ties=p < alone) for d in range(deals) for p in range(7)]


def test_differences_are_those_of_deals_that_all_cells_have():
    right, wrong = (BeliefCell("dumbbot", belief, "dumbbot") for belief in ("dumbbot", "tuned"))
    games = {right: deals_of(5), wrong: deals_of(3, deals=8)}
    found = {test.name: test for family, test in beliefs_table.tested(games) if family == "each"}
    test = found[f"{ALONE}: right/dumbbot/dumbbot less wrong/dumbbot/dumbbot"]
    assert test.by_seed == pytest.approx(dict.fromkeys(range(8), 2 / 7))
    assert test.p == pytest.approx(2 / 2**8)
    assert test.holm_p == pytest.approx(8 * 2 / 2**8), "eight are declared, so those that were not run count"


def test_fewer_deals_than_declared_have_no_p():
    right, wrong = (BeliefCell("dumbbot", belief, "dumbbot") for belief in ("dumbbot", "tuned"))
    games = {right: deals_of(5), wrong: deals_of(3, deals=7)}
    tests = [test for family, test in beliefs_table.tested(games) if family == "each"]
    assert [(len(test.by_seed), test.p, test.holm_p) for test in tests] == [(7, None, None)] * 2
    assert tests[0].estimate.mean == pytest.approx(2 / 7)


def test_pooled_cells_have_equal_weights_and_need_every_cell():
    games = {cell: deals_of(4 + number) for number, cell in enumerate(beliefs_table.cells_of("mixed/*/*")[:2])}
    assert beliefs_table.by_deal(games, "mixed/*/*", ALONE) == {}
    games |= {cell: deals_of(1) for cell in beliefs_table.cells_of("mixed/*/*")[2:]}
    assert beliefs_table.by_deal(games, "mixed/*/*", ALONE)[0] == pytest.approx((4 + 5 + 1 + 1) / 4 / 7)


def test_an_equal_of_the_others_has_a_seventh_of_the_squares():
    cell = BeliefCell("dumbbot", "dumbbot", "dumbbot")
    other = BeliefCell("random", "dumbbot", "dumbbot")
    games = {cell: deals_of(1, share=1 / 7), other: deals_of(1, share=1 / 7)}
    found = beliefs_table.by_deal(games, "right/*/dumbbot", beliefs_table.ABOVE)
    assert found == pytest.approx(dict.fromkeys(range(10), 0.0))


def test_share_has_wilsons_interval_of_independent_games():
    """Of 210 games 151 alone: where deals are as uneven as chance makes them, as many games count."""
    outcomes = [(n * 89) % 210 < 151 for n in range(210)]
    games = [game(n, n % 7, alone=won) for n, won in enumerate(outcomes)]
    found, wanted = beliefs_table.share_of(games, ALONE), wilson(151, 210)
    assert (found.mean, found.low, found.high) == pytest.approx((wanted.mean, wanted.low, wanted.high), abs=1e-3)


def episode(centres, own):
    shares = tuple(count / 34 for count in centres)
    squares = [count**2 / sum(count**2 for count in centres) for count in centres]
    slots = tuple((seat - own) % 7 for seat in range(7))
    return Episode(
        "x/4.0", "diplomacy", 1, ("a",) * 7, slots, key=0, chance=0, group="x/4", payoffs=squares,
        signals={"centers": [shares]},
    )  # fmt: skip


def test_result_of_a_game_counts_ties_and_the_places_of_all_seats():
    tie = beliefs_table.result(episode((8, 8, 4, 4, 4, 3, 3), own=1), POWERS)
    assert (tie.deal, tie.power, tie.alone, tie.ties) == (4, POWERS[1], 0.0, 1.0)
    assert (tie.equal_alone, tie.equal_ties) == pytest.approx((0.0, 2 / 7))
    assert tie.share == pytest.approx(64 / (2 * 64 + 3 * 16 + 2 * 9))
    win = beliefs_table.result(episode((8, 9, 4, 4, 3, 3, 3), own=1), POWERS)
    assert (win.alone, win.ties, win.equal_alone, win.equal_ties) == pytest.approx((1.0, 1.0, 1 / 7, 1 / 7))


@pytest.fixture
def hold_everywhere(monkeypatch):
    """Seat `hold` for every bot, whose games are short and fast."""
    monkeypatch.setattr(beliefs, "BOTS", dict.fromkeys(beliefs.BOTS, "hold"))


def cell_games(folder, names):
    cells = [BeliefCell(name, "none", "dumbbot") for name in names]
    return [beliefs.CellGames(cell, folder, "hold", "diplomacy(until=1901, judged=False)") for cell in cells]


def recorded(folder, name):
    found = list(read_episodes(folder / name)) if (folder / name / "episodes").is_dir() else []
    return {one.id: (one.key, one.payoffs, [row.action for row in one.decisions]) for one in found}


@pytest.mark.runs
def test_games_go_on_after_a_stop_block_by_block(tmp_path, hold_everywhere, monkeypatch, capsys):
    first, second = cell_games(tmp_path / "a", ("dumbbot", "random"))
    with monkeypatch.context() as stopped:
        stopped.setattr(second, "play_block", lambda deal: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            beliefs.play_cells([first, second], deals=2)
    assert len(recorded(tmp_path / "a", "dumbbot-none-dumbbot")) == 7, "one block ahead of the other, and no more"
    capsys.readouterr()
    beliefs.play_cells(cell_games(tmp_path / "a", ("dumbbot", "random")), deals=1)
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["random-none-dumbbot deal 0"]
    one, other = (recorded(tmp_path / "a", f"{name}-none-dumbbot") for name in ("dumbbot", "random"))
    assert [key for key, *_ in one.values()] == [key for key, *_ in other.values()], "cells have the same deals"
    known = beliefs_table.read_games(tmp_path / "a")
    assert {cell.name: len(games) for cell, games in known.items()} == {
        "dumbbot-none-dumbbot": 7,
        "random-none-dumbbot": 7,
    }
    assert {one.power for one in known[first.cell]} == {*POWERS}


@pytest.mark.runs
def test_table_writes_cells_with_their_settings_and_a_picture(tmp_path, hold_everywhere, capsys):
    cells = [BeliefCell("dumbbot", belief, "dumbbot") for belief in ("dumbbot", "tuned")]
    game = "diplomacy(until=1901, judged=False)"
    beliefs.play_cells([beliefs.CellGames(cell, tmp_path / "a", "hold", game) for cell in cells], deals=2)
    beliefs_table.table(tmp_path / "a", tmp_path / "out.json", tmp_path / "out.svg")
    written = json.loads((tmp_path / "out.json").read_text())
    assert [row["cell"] for row in written["cells"]] == ["dumbbot-dumbbot-dumbbot", "dumbbot-tuned-dumbbot"]
    assert {(row["player"], row["opponents"], row["seed"]) for row in written["cells"]} == {("hold", "hold", 1)}
    assert all(len(row["games"]) == 14 for row in written["cells"])
    same = [test for test in written["tests"] if test["family"] == "each"]
    assert [(test["deals"], test["difference"], test["p"]) for test in same] == [(2, 0.0, None)] * 2, (
        "two deals are too few for a p"
    )
    assert (tmp_path / "out.svg").read_text().count("<circle") == 2
    printed = capsys.readouterr().out
    assert re.search(
        r"^\| dumbbot \| dumbbot \| first, ties included \| – \| \*\*\d+ \[\d+, \d+\]\*\* \| \d+ \[\d+, \d+\] \| – \|",
        printed,
        re.M,
    ), "the right belief is bold, and what was not played a dash"


@pytest.mark.runs
def test_a_record_of_another_seed_is_not_gone_on_with(tmp_path, hold_everywhere):
    cell, game = BeliefCell("dumbbot", "none", "dumbbot"), "diplomacy(until=1901, judged=False)"
    beliefs.CellGames(cell, tmp_path, "hold", game).play_block(0)
    with pytest.raises(BadRecord, match="seed"):
        beliefs.CellGames(cell, tmp_path, "hold", game, seed=2).play_block(1)
