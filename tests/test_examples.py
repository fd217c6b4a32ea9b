"""The examples are short and do what they say, alone and as a package that is found by its entry points."""

import json
import math
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.games.conformance import verify
from stratagem.learn.advantages.base import Decisions
from stratagem.learn.losses.base import Columns, Outputs
from stratagem.measure.evaluate import evaluate
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics import METRICS
from stratagem.measure.suites import find_suite, with_metrics
from stratagem.measure.tournament import tournament
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))
sys.path.insert(0, str(EXAMPLES.parent / "docs"))
goods, handshake, worst = map(import_module, ("threshold_goods", "handshake", "worst_episode"))
safety = import_module("goods_safety")
weighted, median = map(import_module, ("advantage_weighted", "group_median"))
shown = import_module("chapters.shown")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_each_is_one_short_file(path):
    assert len(path.read_text("utf-8").splitlines()) < 40


def test_the_package_holds_every_example():
    declared = tomllib.loads((EXAMPLES / "pyproject.toml").read_text("utf-8"))
    assert sorted(declared["tool"]["setuptools"]["py-modules"]) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


def test_the_game_conforms():
    report = verify(goods.ThresholdGoods(), episodes=20)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("actions", "payoffs"),
    [
        (("GIVE", "GIVE", "GIVE"), (2.0, 2.0, 2.0)),
        (("GIVE", "GIVE", "KEEP"), (2.0, 2.0, 3.0)),
        (("GIVE", "KEEP", "KEEP"), (-1.0, 0.0, 0.0)),
        (("GIVE", None, "GIVE"), (2.0, 3.0, 2.0)),
    ],
)
def test_a_good_is_made_if_two_give(actions, payoffs):
    state = goods.ThresholdGoods().start(Key(0))
    assert state.play(dict(enumerate(actions))).payoffs == payoffs
    assert state.over


@pytest.mark.parametrize(
    ("actions", "collusion", "externality"),
    [
        (("GIVE", "GIVE", "GIVE"), (0.0, 0.0, 0.0), 0.0),
        (("GIVE", "KEEP", "GIVE"), (0.0, 1.0, 0.0), 0.0),
        (("KEEP", None, "GIVE"), (1.0, 1.0, 0.0), 1.0),
    ],
)
def test_keeping_rides_free_and_a_good_that_is_not_made_is_harm(actions, collusion, externality):
    state, moves = goods.ThresholdGoods().start(Key(0)), dict(enumerate(actions))
    found = safety.GoodsSafety(state.game).signals(state, moves, state.play(moves))
    assert found == {"collusion": collusion, "externality": (externality,) * 3}


def transcript(game, agent, other):
    """Return the moves of the agent, one letter each."""
    match = Match(game, [agent, make_player(other, game)])
    episode = next(play(rotate_seats(match, 2, Key(0), name="example")))
    return "".join(row.action[0] for row in episode.decisions if row.slot == 0)


@pytest.mark.parametrize(
    ("other", "moves"),
    [("TitForTat", "DCDDDDDD"), ("AlternateDefect", "DCCCCCCC"), ("AlwaysDefect", "DCDDDDDD")],
)
def test_the_player_knows_its_own_by_their_opening(other, moves):
    assert transcript(make_game("ipd"), handshake.Handshake(), other) == moves


def test_the_player_takes_part_in_a_tournament():
    game = make_game("ipd")
    players = [handshake.Handshake(), make_player("AlwaysDefect", game), make_player("AlwaysCooperate", game)]
    result = tournament(game, "ipd", players, Evaluator(episodes=2))
    assert result.players[0] == "ipd/Handshake"
    own = ((1 + 3) + 6 * 3) / 8, (1 + 0 + 6 * 1) / 8, (5 + 3 + 6 * 5) / 8
    assert [cell.mean for cell in result.payoff[0]] == pytest.approx(own)


def test_the_metric_goes_through_an_evaluation(monkeypatch):
    monkeypatch.setitem(METRICS, worst.WorstEpisode.name, worst.WorstEpisode())
    suite = with_metrics(find_suite("ipd", ("AlwaysDefect", "TitForTat")), ["worst episode"])
    (result,) = evaluate(suite, ["TitForTat"], Evaluator(episodes=2), chance=False)
    assert result.rows[0].metrics["worst episode"].mean == pytest.approx(7 / 8)


@pytest.mark.parametrize("beta", [0.0, -1.0, math.nan])
def test_the_loss_refuses_a_temperature_that_is_none(beta):
    with pytest.raises(BadParameter, match=f"`awr_beta` of at least 0.001, a number, not {beta}"):
        weighted.AdvantageWeighted(awr_beta=beta)


@pytest.mark.parametrize(
    ("beta", "weights"), [(1.0, (math.e, 1 / math.e, 20.0)), (2.0, (math.e**0.5, math.e**-0.5, 20.0))]
)
def test_the_loss_is_the_formula(beta, weights):
    said = torch.tensor([-1.0, -2.0, -3.0], requires_grad=True)
    advantage = torch.tensor([1.0, -1.0, 100.0])
    columns = Columns(example=torch.tensor([0, 0, 1]), num_examples=2, tokens={"advantage": advantage})
    loss = weighted.AdvantageWeighted(awr_beta=beta)
    output = loss(Outputs(policy_logprobs=said), columns, loss.prepare(columns))
    output.loss.backward()
    assert said.grad.tolist() == pytest.approx([-weight / 3 for weight in weights])
    assert output.loss.item() == pytest.approx((weights[0] + 2 * weights[1] + 3 * weights[2]) / 3)
    assert output.means()["weight"] == pytest.approx(sum(weights) / 3)


def test_the_credit_is_what_is_above_the_groups_median():
    decisions = Decisions(
        episode=np.array([0, 0, 1, 2, 7, 8]),
        group=np.array([0, 0, 0, 0, 5, 5]),
        terms={
            "payoff": np.array([1.0, 3.0, 1.0, 90.0, 2.0, 4.0]),
            "exploit": np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0]),
        },
    )
    estimate = median.GroupMedian()(decisions)
    assert estimate.advantage.tolist() == [0.0, 0.0, -2.0, 87.0, -1.0, 1.0]
    assert estimate.counts["groups"] == 2


def test_the_loss_and_the_credit_are_found_by_their_entry_points():
    page = """```python
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.learn.losses.catalogue import read_loss

print(read_advantage("group_median").value, read_loss("awr(awr_beta=2.0)").value)
```

```text
```
"""
    assert "\nGroupMedian() AdvantageWeighted(awr_beta=2.0)\n" in shown.refreshed(page)


def test_the_game_the_player_and_the_metric_are_found_by_their_entry_points():
    page = """```sh
stratagem games threshold-goods --json
```

```text
```

```sh
stratagem eval 'ipd(rounds=4)' --player Handshake --opponents AlwaysDefect --metric 'worst episode' --no-chance --json
```

```text
```
"""
    card, figures = (json.loads(block.split("```")[0]) for block in shown.refreshed(page).split("```text\n")[1:])
    (row,) = figures["games"][0]["players"]
    assert (card["name"], card["seats"], row["player"]) == ("threshold-goods", 3, "ipd/Handshake")
    assert row["metrics"]["worst episode"]["mean"] == pytest.approx((1 + 0 + 1 + 1) / 4)


def test_the_format_of_logs_reads_items_and_scores(tmp_path):
    from stratagem.connect.logs.base import LogColumns, LogFile

    file = tmp_path / "mine.scores"
    file.write_text("question-1 0.5\nquestion-2 1\n", encoding="utf-8")
    format_ = import_module("plain_scores").PlainScores()
    assert format_.recognises(LogFile(file))
    found = format_.read(LogFile(file), LogColumns())
    assert [(row.item, row.system, row.score) for row in found.rows] == [
        ("question-1", "mine", 0.5),
        ("question-2", "mine", 1.0),
    ]
    assert found.one_system
