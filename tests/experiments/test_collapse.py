"""Exact figures of self-play in tic-tac-toe, against known counts of its games and against sampled replies."""

import math
from pathlib import Path

import collapse
import pytest
import torch
from collapse_measures import ASKED, GAME, Table, positions, self_play, spoken, views_of
from collapse_picture import picture
from result_tables import read_results

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.policies import stated_policies
from stratagem.players.language import LanguagePlayer

pytestmark = pytest.mark.runs

RESULTS = Path(__file__).resolve().parents[2] / "docs/results"
GAMES = {5: 1440, 6: 5328, 7: 47952, 8: 72576, 9: 127872}
"""Number of games that end after so many moves: 255,168 in all."""


def table(keep=1.0, best=False):
    """Return uniform play, among the best moves or all; every reply is illegal with probability 1 - keep."""
    mixes = {}
    for key, position in positions().items():
        moves = [str(action) for action in position.state.view(position.state.to_act[0]).choices]
        good = [move for move in moves if not best or position.regrets[move] < 1e-9]
        mixes[key] = {move: keep * (move in good) / len(good) for move in moves}
    return Table(mixes)


def figures_of(own):
    """Return the figures of self-play, and the mean regret over all positions."""
    found = positions()
    mixes = dict(zip(found, stated_policies(own, views_of(found)), strict=True))
    regrets = {key: sum(p * found[key].regrets[action] for action, p in mix.items()) for key, mix in mixes.items()}
    return self_play(mixes, own, regrets), sum(regrets.values()) / len(regrets)


def test_positions_are_those_of_the_literature():
    assert len(positions()) == 4520  # of 5,478 reachable positions, 958 are ends


def test_self_play_of_uniform_play_is_as_long_as_the_counts_of_games_say():
    played, _ = figures_of(table())
    ends = {moves: count / math.perm(9, moves) for moves, count in GAMES.items()}
    assert sum(ends.values()) == pytest.approx(1.0)
    assert played["length"] == pytest.approx(sum(moves * share for moves, share in ends.items()))
    assert (played["forfeits"], played["illegal in self-play"]) == (0.0, pytest.approx(0.0))


def test_self_play_of_best_moves_has_no_regret_and_illegal_replies_cost_the_value():
    played, regret = figures_of(table(best=True))
    assert (regret, played["regret in self-play"], played["length"]) == pytest.approx((0.0, 0.0, 9.0))
    fallible, regret = figures_of(table(keep=0.5, best=True))
    assert fallible["illegal in self-play"] == pytest.approx(0.5)
    assert fallible["forfeits"] == pytest.approx(1 - 0.5**9)
    assert fallible["regret in self-play"] == pytest.approx(0.25)  # half of a draw, which is one half
    assert 0.25 < regret < 0.5


def test_probability_of_a_reply_is_that_of_its_two_tokens_in_the_whole_vocabulary():
    speaker = LanguagePlayer("tiny", **ASKED).speaker
    view = make_game(GAME).start(Key(0)).view(0)
    (mix,) = spoken(speaker, [view])
    prompt, reply = list(speaker.prompt(view).tokens), list(speaker.engine.vocabulary.encode("B3"))
    with torch.no_grad():
        logprobs = speaker.engine.lm.model(torch.tensor([prompt + reply])).logits[0].log_softmax(-1)
    own = sum(logprobs[len(prompt) - 1 + i, token] for i, token in enumerate(reply))
    assert mix["B3"] == pytest.approx(own.exp().item(), rel=1e-3)
    assert len(mix) == 9
    assert 0.0 < sum(mix.values()) < 1.0


def row(arm, seed, *regrets):
    return {"arm": arm, "seed": seed, "curve": {str(20 * i): {"regret": y} for i, y in enumerate(regrets, 1)}}


ROWS = {
    f"{collapse.START}-0": {"arm": collapse.START, "seed": 0, "curve": {"0": {"regret": 0.3}}},
    **{f"self-{seed}": row("self", seed, 0.2, 0.6, 0.5 + seed / 10) for seed in range(3)},
    **{f"ema-{seed}": row("ema", seed, 0.2, 0.1, 0.2 + seed / 100) for seed in range(2)},
}


def test_tests_pair_an_arm_with_the_control_by_seed_at_the_end_and_at_the_worst_point():
    tests = collapse.tested(ROWS)
    assert set(tests) == {"ema, end", "ema, worst"}
    assert tests["ema, end"].by_seed == {0: pytest.approx(-0.3), 1: pytest.approx(-0.39)}
    assert tests["ema, worst"].by_seed == {0: pytest.approx(-0.4), 1: pytest.approx(-0.39)}
    assert len(collapse.FAMILY) == 2 * (len(collapse.ARMS) - 1)


def test_chance_level_is_that_of_uniform_play():
    chance = collapse.chance_level({"payoff against random": -0.25})
    played, regret = figures_of(table())
    assert (chance["regret"], chance["length"]) == pytest.approx((regret, played["length"]))
    assert (chance["payoff against the start"], chance["payoff against random"]) == pytest.approx((0.25, 0.0))


def test_picture_has_a_panel_for_each_arm_and_the_control_in_all():
    drawn = picture({name: collapse.curves(ROWS, arm) for arm, name in collapse.ARMS.items()})
    assert drawn.count("<polyline") == len(collapse.ARMS)  # the control in each of five panels, and one arm with runs
    assert all(name in drawn for name in collapse.ARMS.values())


def test_a_folder_without_runs_leaves_the_measured_ones(tmp_path):
    assert collapse.measured(tmp_path) == read_results(RESULTS / "collapse.json")["runs"]


def test_page_and_picture_show_the_figures_of_the_json():
    rows = read_results(RESULTS / "collapse.json")["runs"]
    page = (RESULTS / "collapse.md").read_text("utf-8")
    arms, play, by_iteration = collapse.tables(rows)
    assert arms in page
    assert play in page
    assert by_iteration.count("\n") == len(rows), "collapse.json has the iterations of every run but the start"
    drawn = picture({name: collapse.curves(rows, arm) for arm, name in collapse.ARMS.items()})
    assert (RESULTS / "collapse.svg").read_text("utf-8") == drawn
