"""A league plays, learns, keeps and judges; broken off anywhere it goes on with the same opponents and results."""

import json
import math
import re
import signal
import sys
from collections import Counter

import pytest
import torch
from short_league import DATA, Broken, begun, broken_off, figures, population, trained

from forks import forked_program
from stratagem.algorithms.league import algorithm
from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.games.catalogue import make_game
from stratagem.language.models.run_models import read_run_models
from stratagem.learn.monitor import TrainingWarning
from stratagem.players.catalogue import make_player
from stratagem.playing.store import read_episodes
from stratagem.training.opponents.results import Results
from stratagem.training.policy import TrainablePolicy
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("league") / "whole")


def test_learners_are_kept_and_some_begin_anew(whole):
    names = [member["name"] for member in population(whole)["members"]]
    assert names[:5] == ["base", "bettor", "main", "exploiter", "searcher"]
    assert sorted(names[5:]) == sorted(f"{who}-{n:06d}" for who in ("main", "exploiter", "searcher") for n in (2, 4, 5))
    assert figures(whole)["exploiter/anew"] == ([2, 4], [1.0, 1.0])
    assert "main/anew" not in figures(whole)


def test_the_seat_that_asked_plays_as_its_learner_is(whole):
    """Of every training episode the calls of one seat are at a version of the learner whose episode it is."""
    episodes = [episode for episode in read_episodes(whole.record) if episode.purpose == "train"]
    assert len(episodes) == 5 * 3 * 2 * 4
    assert all(episode.players[episode.seat_of(0)].startswith(episode.id.split("/")[1]) for episode in episodes)
    versions = {}
    for episode in episodes:
        who, iteration = episode.id.split("/")[1:3]
        for row in episode.decisions:
            for call in row.calls if row.slot == 0 else ():
                assert call.policy.adapter == who
                versions.setdefault((who, int(iteration)), set()).add(call.policy.version)
    assert all(len(found) == 1 for found in versions.values())
    assert all(versions[who, n] == {n} for who, n in versions)


def test_only_the_seat_that_asked_learns(tmp_path, monkeypatch):
    """Against itself, too: every training example is of the seat that asked, and no more often than it was."""
    taught, learn = Counter(), TrainablePolicy.update_weights

    def seen(self, examples):
        taught.update(example.tokens for example in examples)
        return learn(self, examples)

    monkeypatch.setattr(TrainablePolicy, "update_weights", seen)
    league = {**DATA["league"], "iterations": 3, "snapshot_every": 3}
    run = trained(tmp_path / "run", learners={"main": {"matchmaker": {"rule": "self"}}}, league=league)
    said = [Counter(), Counter()]
    for episode in read_episodes(run.record):
        for row in episode.decisions if episode.purpose == "train" else ():
            said[row.slot].update((*call.prompt.tokens, *call.tokens) for call in row.calls)
    assert taught
    assert taught <= said[0]
    assert not taught <= said[1]


def test_a_group_is_one_result_of_each_pair(tmp_path):
    """Two groups of four rollouts an iteration, all of one learner against one member."""
    league = {**DATA["league"], "iterations": 2, "snapshot_every": 2, "results_decay": 1.0}
    run = trained(
        tmp_path / "run", learners={"main": {"matchmaker": {"rule": "fixed", "opponent": "bettor"}}}, league=league
    )
    results = Results.of(latest(run).state()["stage"]["results"])
    assert results.games("main", "bettor") == 2 * 2
    assert results.games("main", "base") == 0.0


def test_members_that_do_not_change_say_what_they_said(whole):
    """A kept learner plays as the learner did when it was kept: its adapter is a run's model by name."""
    game = make_game("kuhn(hands=1)")
    view = game.start(next(iter(read_episodes(whole.record))).key and make_key(3)).view(0)
    models = read_run_models(whole.path).models
    assert {"base", "start", "best", "last", "last/main", "5/main", "2/exploiter", "4/searcher"} <= set(models)
    last, first = (make_player(f"run:{whole.path}@{label}/main", game).policy(view) for label in ("last", "2"))
    assert last != first


def make_key(number):
    from stratagem.games.key import Key

    return Key(number)


def test_the_final_evaluation_tells_of_everybody(whole):
    table = json.loads((whole.path / "league.json").read_text())
    names = [member["name"] for member in table["members"]]
    assert names == ["base", "bettor", *(f"{who}-{n:06d}" for who in DATA["learners"] for n in (2, 5))]
    size = len(names)
    assert all(len(row) == size for row in table["payoff"])
    assert sum(table["nash"]) == pytest.approx(1.0)
    assert sum(table["alpha_rank"]) == pytest.approx(1.0)
    assert {rating["name"] for rating in table["elo"]} == set(names)
    assert all(rating["low"] < rating["elo"] < rating["high"] for rating in table["elo"])
    assert all(table["payoff"][a][b] == pytest.approx(-table["payoff"][b][a]) for a in range(size) for b in range(size))


@pytest.mark.long
def test_broken_off_and_resumed_it_ends_the_same(whole, tmp_path):
    """After its first step; every day it is killed in its fourth."""
    recipe, run = broken_off(tmp_path / "run", at=1)
    LeagueAlgorithm(recipe, RunFolder.open(run.path)).train()
    ends_the_same(run, whole)


def test_results_that_were_booked_by_another_score_are_dropped(whole, tmp_path, monkeypatch):
    """A checkpoint of a program that knew no `match_score`: who had met counts as not met, and training goes on."""
    with monkeypatch.context() as older:
        state = LeagueState.state
        older.setattr(LeagueState, "state", lambda self: {k: v for k, v in state(self).items() if k != "match_score"})
        recipe, run = broken_off(tmp_path / "run", at=4)
    assert latest(run).state()["stage"]["results"]["met"]
    with pytest.warns(TrainingWarning, match=r"not booked by `league.match_score` = gain, so they are dropped"):
        LeagueAlgorithm(recipe, RunFolder.open(run.path)).train()
    left, all_of_them = (sum(row[2] for row in latest(one).state()["stage"]["results"]["met"]) for one in (run, whole))
    assert 0.0 < left < all_of_them
    assert figures(run)["main/points"][0] == figures(whole)["main/points"][0]


DOOMED = """
import os, signal, sys
from pathlib import Path
from short_league import begun
from stratagem.algorithms.league.state import LeagueState
from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.training.policy import TrainablePolicy

learn, left = TrainablePolicy.update_weights, int(sys.argv[2])

def counted(self, *given, **named):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return learn(self, *given, **named)

TrainablePolicy.update_weights = counted
LeagueAlgorithm(*begun(Path(sys.argv[1]))).train()
"""


def test_killed_within_a_step_it_goes_on_with_the_same_opponents_and_ratings(whole, tmp_path, request):
    """In its fourth step, when the first of three has learnt and the second is about to."""
    words = [str(tmp_path / "run"), str(3 * len(DATA["learners"]) + 2)]
    status, printed = forked_program(DOOMED, *words, work=request.path.parent, scratch=tmp_path)
    assert status == -signal.SIGKILL, printed
    run = RunFolder.open(tmp_path / "run")
    assert max(figures(run)["main/points"][0]) == 3
    LeagueAlgorithm(LeagueRecipe.read(DATA), run).train()
    ends_the_same(run, whole)
    assert [said(episode) for episode in read_episodes(run.record)] == [said(e) for e in read_episodes(whole.record)]


def said(episode):
    """Return the players, and every reply with its exact probabilities."""
    calls = [(call.tokens, call.sampler_logprobs) for row in episode.decisions for call in row.calls]
    return episode.id, episode.players, calls


def ends_the_same(run, whole):
    assert figures(run) == figures(whole)
    mine, theirs = (re.sub(rb'"ms": [^,\n]*', b"", (one.path / "evaluation.json").read_bytes()) for one in (run, whole))
    assert mine == theirs
    for name in ("league/population.json", "league/results.json", "league.json", "models.json"):
        assert (run.path / name).read_bytes() == (whole.path / name).read_bytes()
    mine, theirs = (
        latest(one).state()["stage"]["learners"]["main"]["optimizer"]["adam"]["state"] for one in (run, whole)
    )
    assert all(torch.equal(mine[n][name], value) for n, moments in theirs.items() for name, value in moments.items())


@pytest.mark.parametrize("kept", [pytest.param(1, marks=pytest.mark.long), 4])
def test_broken_off_before_the_models_are_told_it_tells_them_when_it_goes_on(whole, tmp_path, monkeypatch, kept):
    """After a checkpoint was written and before what lies beside it; the fourth, of every day, is the last."""
    recipe, run = begun(tmp_path / "run")
    told, left = algorithm.publish, [kept]

    def plugged(*given):
        left[0] -= 1
        if not left[0]:
            raise Broken
        told(*given)

    monkeypatch.setattr(algorithm, "publish", plugged)
    with pytest.raises(Broken):
        LeagueAlgorithm(recipe, run).train()
    LeagueAlgorithm(recipe, RunFolder.open(run.path)).train()
    ends_the_same(run, whole)


@pytest.mark.parametrize(
    "match",
    [
        pytest.param({"rule": "self"}, marks=pytest.mark.long),
        pytest.param({"rule": "fixed", "opponent": "bettor"}, marks=pytest.mark.long),
        {"rule": "pfsp", "weighting": "linear", "reserved": 0.2, "self_play": 0.3},
        {"rule": "rating_near"},
    ],
)
def test_every_rule_trains(tmp_path, match):
    """Every day `self` and `fixed` train in the tests of who learns and of what a group is."""
    league = {**DATA["league"], "iterations": 2, "max_snapshots": 1, "snapshot_every": 1}
    run = trained(tmp_path / "run", learners={"main": {"matchmaker": match}}, league=league)
    met = {
        name.partition("@")[0]
        for episode in read_episodes(run.record)
        if episode.purpose == "train"
        for seat, name in enumerate(episode.players)
        if seat != episode.seat_of(0)
    }
    wanted = {"self": {"main"}, "fixed": {"kuhn/AlwaysBet"}}.get(match["rule"])
    assert met == wanted if wanted else met
    kept = [member["name"] for member in population(run)["members"] if member.get("parent")]
    best = read_run_models(run.path).models["best"].adapter.rpartition("/")[2]
    assert kept == sorted({best, "main-000002"})


def test_searches_are_members_too(tmp_path):
    league = {**DATA["league"], "iterations": 1, "groups_per_batch": 4, "group_size": 2}
    match = {"rule": "pfsp", "weighting": "uniform"}
    run = trained(
        tmp_path / "run",
        games=["tic-tac-toe"],
        members={"search": "mcts:3"},
        with_base=False,
        learners={"main": {"matchmaker": match}},
        league=league,
    )
    assert json.loads((run.path / "league/results.json").read_text())["win rates"]["search"].keys() == {
        "main",
        "main-000001",
    }
    (search, kept) = json.loads((run.path / "league.json").read_text())["members"]
    assert (search["name"], search["role"], kept["parent"]) == ("search", "bot", "main")


def test_who_is_matched_by_ratings_goes_on_with_the_same_ratings(tmp_path):
    """Broken off two iterations after the others were rated last."""
    league = {**DATA["league"], "iterations": 6, "snapshot_every": 3}
    near = {"learners": {"main": {"matchmaker": {"rule": "rating_near", "width": 20.0}}}, "league": league}
    whole = trained(tmp_path / "whole", **near, checkpoint_every=1)
    recipe, run = broken_off(tmp_path / "run", at=5, **near, checkpoint_every=1)
    rated = latest(run).state()["stage"]["ratings"]
    assert set(rated) == {"base", "bettor", "main", "main-000003"}
    LeagueAlgorithm(recipe, RunFolder.open(run.path)).train()
    ends_the_same(run, whole)
    effective = figures(whole)["main/effective"][1]
    assert effective[0] == pytest.approx(2.0), "before anybody is rated all are met alike"
    assert all(1.0 <= worth < 2.99 for worth in effective[3:]), "of three, the nearest most"


def test_the_best_may_be_the_least_exploitable(tmp_path):
    league = {**DATA["league"], "iterations": 2, "snapshot_every": 1}
    run = trained(
        tmp_path / "run", checkpoint_metric="exploitability", exact_budget=4000, learners={"main": {}}, league=league
    )
    seen = read_metrics(run)
    steps, exact = seen["kuhn/exact/exploitability"]
    assert seen["checkpoint_metric"].values == [-value for value in exact]
    best = read_run_models(run.path).models["best"].adapter
    assert best.endswith(f"main-{min(zip(exact[1:], steps[1:], strict=True))[1]:06d}")
    table = json.loads((run.path / "league.json").read_text())
    line = table["over_time"]["main"]
    assert [one["step"] for one in line] == [1, 2]
    last = [member["name"] for member in table["members"]].index("main-000002")
    assert line[-1]["own"] == table["exploitability"][last] != line[-1]["average"]
    assert line[0]["own"] == line[0]["average"]
    assert 0.0 < table["nash_exploitability"] < max(table["exploitability"])


def test_a_snapshot_of_a_step_without_a_finite_loss_is_not_the_best(tmp_path, monkeypatch):
    update, updates = TrainablePolicy.update, []

    def diverged(self, data):
        updates.append(self.name)
        return update(self, data) | ({"loss": math.nan} if len(updates) == 1 else {})

    monkeypatch.setattr(TrainablePolicy, "update", diverged)
    league = {**DATA["league"], "iterations": 2, "snapshot_every": 1}
    run = trained(tmp_path / "run", learners={"main": {}}, league=league)
    assert math.isnan(read_metrics(run)["checkpoint_metric"].values[1])
    assert read_run_models(run.path).models["best"].adapter.endswith("main-000002")


def test_a_learner_that_beats_all_is_kept_before_its_time_is_over(tmp_path, monkeypatch):
    """The role selects the compared members: the mains for an exploiter, all who do not change for the others."""
    rates, asked = Results.rates, set()

    def beaten(self, agent, opponents):
        if sys._getframe(2).f_code.co_name == "is_ready":
            asked.add((agent, tuple(opponents)))
            return rates(self, agent, opponents) * 0.0 + (0.8 if agent in ("main", "exploiter") else 0.6)
        return rates(self, agent, opponents)

    monkeypatch.setattr(Results, "rates", beaten)
    league = {**DATA["league"], "iterations": 3, "snapshot_every": 2, "snapshot_latest": 9}
    run = trained(tmp_path / "run", league=league, evaluate_every=9)
    kept = [member["name"] for member in population(run)["members"] if member.get("parent")]
    early = ["main-000002", "exploiter-000002"]
    assert sorted(kept) == sorted([*early, *(f"{who}-000003" for who in DATA["learners"])])
    assert asked == {(who, ("base", "bettor")) for who in ("main", "searcher")} | {("exploiter", ("main",))}


def test_a_learner_is_kept_when_it_beats_all_or_when_its_time_is_over(tmp_path):
    """Nobody here wins seven of ten against everybody, so all are kept when their time is over, and at the end."""
    league = {**DATA["league"], "iterations": 4, "snapshot_every": 1, "snapshot_latest": 3}
    run = trained(tmp_path / "run", league=league, evaluate_every=9)
    kept = [member["name"] for member in population(run)["members"] if member.get("parent")]
    assert sorted(kept) == sorted(f"{who}-{n:06d}" for who in DATA["learners"] for n in (3, 4))


def test_more_than_two_seats_have_opponents_of_their_own_and_copies_are_watched(tmp_path):
    """Three powers: each other seat draws for itself, and the final evaluation says how copies treat an outsider."""
    run = trained(
        tmp_path / "run",
        games=["diplomacy(until=1902, only=[FRANCE, GERMANY, ITALY])"],
        model="small",
        style="bare",
        members={"greedy": "dumbbot-greedy"},
        opponents=["hold"],
        validation_episodes=1,
        test_episodes=1,
        learners={"main": {"matchmaker": {"rule": "pfsp", "weighting": "uniform"}}},
        league={
            **DATA["league"],
            "iterations": 1,
            "groups_per_batch": 4,
            "group_size": 2,
            "crossplay_games": 1,
            "reward_weights": {"parts": 1.0, "outcome": 1.0},
        },
    )
    met = [
        tuple(name for seat, name in enumerate(episode.players) if seat != episode.seat_of(0))
        for episode in read_episodes(run.record)
        if episode.purpose == "train"
    ]
    assert len(met) == 8
    assert any(len(set(names)) == 2 for names in met)
    table = json.loads((run.path / "league.json").read_text())
    names = [member["name"] for member in table["members"]]
    alliance = dict(zip(names, table["alliance"], strict=True))
    assert alliance["greedy"] is not None
    assert all(index is None or index <= 1.0 for index in alliance.values())
    results = json.loads((run.path / "league/results.json").read_text())["win rates"]
    assert {results["main"].get(name, 0.5) for name in ("base", "greedy")} != {0.5}
