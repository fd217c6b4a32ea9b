"""Opponents in training: matchmakers by the iteration, snapshots and win rates, in every online algorithm."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.algorithms.grpo import GRPORecipe
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.reinforce import REINFORCERecipe, SelfPlayCollector
from stratagem.base.consent.table import allow
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.playing.store import read_episodes
from stratagem.training.online import policy_of
from stratagem.training.opponents.matchmakers import Curriculum, PastSelves, Shares, read_matchmaker
from stratagem.training.opponents.matchmaking import PFSP, Situation
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.pool import SELF, OpponentPool
from stratagem.training.opponents.results import Results
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

ROOT = Path(__file__).parents[2]
LEARNER = Member(name=SELF, role="main", learns=True)


def situation(*others, shares=None, iteration=0, beaten=()):
    """A learner among members; `beaten` have lost every game to it, the others won."""
    population = Population({member.name: member for member in (LEARNER, *others)})
    results = Results([member.name for member in population])
    for member in others:
        results.record(SELF, member.name, float(member.name in beaten))
    return Situation(population, results, iteration=iteration, shares=shares or {})


def snapshot(step):
    return Member(name=f"step-{step:06d}", role="main", parent=SELF, adapter="a", step=step)


def test_shares_are_those_of_the_recipe():
    assert Shares().odds(LEARNER, situation(shares={"a": 1.0, "b": 3.0, "c": 0.0})) == {"a": 0.25, "b": 0.75, "c": 0.0}


PHASES = ((0, {"easy": 1.0}), (4, {"easy": 1.0, "hard": 3.0}), (8, {"hard": 2.0}))


@pytest.mark.parametrize(
    ("iteration", "stepped", "blended"),
    [
        (0, {"easy": 1.0}, {"easy": 1.0}),
        (3, {"easy": 1.0}, {"easy": 0.25 + 0.75 * 0.25, "hard": 0.75 * 0.75}),
        (4, {"easy": 0.25, "hard": 0.75}, {"easy": 0.25, "hard": 0.75}),
        (6, {"easy": 0.25, "hard": 0.75}, {"easy": 0.125, "hard": 0.875}),
        (8, {"hard": 1.0}, {"hard": 1.0}),
        (99, {"hard": 1.0}, {"hard": 1.0}),
    ],
)
def test_curriculum_has_the_shares_of_its_phase(iteration, stepped, blended):
    now = situation(iteration=iteration)
    assert Curriculum(phases=PHASES).odds(LEARNER, now) == stepped
    assert Curriculum(phases=PHASES, blend=True).odds(LEARNER, now) == pytest.approx(blended)


def test_past_selves_are_met_alike_and_the_newest_alone_where_it_is_asked():
    now = situation(
        Member(name="random", role="bot"), snapshot(2), snapshot(4), snapshot(6), shares={"random": 1.0, SELF: 3.0}
    )
    found = PastSelves(share=0.6).odds(LEARNER, now)
    assert found == pytest.approx(
        {"step-000002": 0.2, "step-000004": 0.2, "step-000006": 0.2, "random": 0.1, SELF: 0.3}
    )
    newest = PastSelves(share=1.0, newest=2).odds(LEARNER, now)
    assert newest == {"step-000004": 0.5, "step-000006": 0.5}
    assert PastSelves(share=1.0).odds(LEARNER, situation(shares={"random": 1.0})) == {"random": 1.0}


def test_pfsp_meets_whom_the_policy_does_not_beat():
    others = [Member(name=name, role="bot") for name in ("weak", "strong")]
    assert PFSP().odds(LEARNER, situation(*others, beaten=("weak",))) == {"strong": 1.0}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"matchmaker": "rating_near"}, "reads ratings, which only a league has"),
        ({"matchmaker": "past_selves"}, "set `snapshot_every`"),
        ({"matchmaker": "curriculum(phases=[(1, {'random': 1.0})])"}, "begin at 0 and go up"),
        ({"matchmaker": "curriculum(phases=[(0, {'random': -1.0})])"}, "not all nothing"),
        ({"matchmaker": "curiculum"}, "curriculum"),
        ({"matchmaker": "fixed"}, "it needs opponent"),
        ({"matchmaker": "pfsp(self_play=0.7, reserved=0.7)"}, "together at most 1"),
        ({"opponents": {"random": 0.0}}, "not all nothing"),
    ],
)
@pytest.mark.parametrize("algorithm", ["grpo", "reinforce"])
def test_matchmaker_that_cannot_be_is_refused_in_one_sentence(algorithm, settings, sentence):
    with pytest.raises(StratagemError, match=sentence):
        algorithm_of({"algorithm": algorithm}).recipe_type.read({"algorithm": algorithm, algorithm: settings})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"train": "all", "grpo": {"snapshot_every": 1}}, "A snapshot is an adapter"),
        ({"overlap": 1, "grpo": {"snapshot_every": 1}}, "leave `overlap` at 0"),
        ({"grpo": {"matchmaker": "fixed(opponent=NoSuchPlayer)"}}, "NoSuchPlayer"),
    ],
)
def test_snapshots_and_opponents_that_a_run_cannot_have_are_refused(tmp_path, changes, sentence):
    recipe = GRPORecipe.read({"games": ["kuhn(hands=1)"], "algorithm": "grpo", **changes})
    with pytest.raises(StratagemError, match=sentence):
        bound(recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test"))


def pool(**settings):
    recipe, game = GRPORecipe.read({"games": ["kuhn(hands=1)"], "grpo": settings}), make_game("kuhn(hands=1)")
    return OpponentPool(recipe.grpo, game, policy_of(recipe, load("tiny")).player)


def test_draws_follow_the_odds_and_the_key():
    """Of 400 draws a share of .25 has 100, give or take four standard deviations."""
    drawn = pool(opponents={"random": 1.0, SELF: 3.0})
    drawn.begin(0)
    lineups = [drawn.draw(Key(number)) for number in range(400)]
    assert [one.names for one in lineups] == [drawn.draw(Key(number)).names for number in range(400)]
    assert abs(sum(one.names == ("random",) for one in lineups) - 100) < 35
    assert all(one.self_play == (one.names == (SELF,)) for one in lineups)


def test_policy_has_each_seat_in_turn_and_wins_are_recorded():
    """Where DEFECT pays more whatever the other does, nobody beats a defector, and a cooperator beats nobody."""
    recipe = REINFORCERecipe.read(
        {
            "games": ["ipd(rounds=1)"],
            "temperature": 1.0,
            "reinforce": {
                "episodes_per_batch": 32,
                "opponents": {"AlwaysDefect": 1.0, "AlwaysCooperate": 1.0},
                "matchmaker": "pfsp(weighting=uniform)",
            },
        }
    )
    game = make_game("ipd(rounds=1)")
    play = SelfPlayCollector(recipe.reinforce, game, policy_of(recipe, load("tiny")).player, Key(1))
    found, results = play.collect(0), play.opponents.results
    assert [one.seat_of(0) for one in found.episodes] == [0, 1] * 16
    assert results.rate(SELF, "AlwaysDefect") < 0.5 < results.rate(SELF, "AlwaysCooperate")
    assert all(row.slot == 0 for one in found.episodes for row in one.decisions if row.advantage is not None)


def test_matchmaker_of_a_user_that_draws_nobody_known_is_refused(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\n"
        "from stratagem.training.opponents.matchmaking import Matchmaker\n\n\n"
        "@dataclass(frozen=True)\nclass Nobody(Matchmaker):\n"
        "    def odds(self, learner, situation):\n        return {'nobody': 1.0}\n"
    )
    monkeypatch.chdir(tmp_path)
    allow("own.py")
    with pytest.raises(BadParameter, match="draws 'nobody', and the opponents are self, random"):
        pool(matchmaker="own.py:Nobody", opponents={"random": 1.0}).begin(0)


OLD = {"weighting": "squared", "self_play": 0.0, "reserved": 0.0, "beaten": 0.7, "width": 100.0, "opponent": ""}
"""Parameters that runs before 0.4 have beside `rule`, whatever the rule reads."""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"rule": "role"}, "role"),
        ({**OLD, "rule": "role"}, "role"),
        ({**OLD, "rule": "pfsp", "self_play": 0.2}, {"type": "pfsp", "self_play": 0.2}),
        ({**OLD, "rule": "fixed", "opponent": "main"}, {"type": "fixed", "opponent": "main"}),
        ({**OLD, "rule": "rating_near", "width": 50.0}, {"type": "rating_near", "width": 50.0}),
    ],
)
def test_matchmaker_of_a_league_is_read_by_its_old_key(old, new):
    recipes = [LeagueRecipe.read({"learners": {"main": {"matchmaker": match}}}) for match in (old, new)]
    assert recipes[0] == recipes[1]
    assert (
        recipes[0].model_dump(mode="json")["learners"]["main"]["matchmaker"]["type"]
        == recipes[0].learners["main"].matchmaker.type
    )


def test_old_key_with_a_parameter_that_the_rule_does_not_read_is_refused():
    with pytest.raises(StratagemError, match=r"learners\.main\.matchmaker.*no option width"):
        LeagueRecipe.read({"learners": {"main": {"matchmaker": {"rule": "pfsp", "width": 3.0}}}})


MATCHED = {
    "past": {"matchmaker": {"type": "past_selves", "share": 0.8}, "snapshot_every": 1, "max_snapshots": 2},
    "measured": {"matchmaker": "pfsp(weighting=uniform, self_play=0.2)", "snapshot_every": 2},
    "curriculum": {"matchmaker": {"type": "curriculum", "phases": [[0, {"random": 1.0}], [2, {"TightPassive": 1.0}]]}},
}
ITERATIONS = 5


def small(algorithm, matched):
    data = {"algorithm": algorithm, **RECIPES[algorithm]}
    own = {**data[algorithm], **MATCHED[matched], "iterations": ITERATIONS}
    if algorithm != "sepo":
        own["opponents"] = {"random": 1.0, SELF: 1.0}
    data = {name: value for name, value in data.items() if name != "sft"} | {algorithm: own, "adapter": {"rank": 2}}
    return algorithm_of({"algorithm": algorithm}).recipe_type.read(data)


def bytes_of(run):
    """Metrics, episodes and adapters of a run, without times."""
    episodes = [
        (one.id, one.players, one.payoffs, [row.action for row in one.decisions]) for one in read_episodes(run.record)
    ]
    adapters = {str(path.relative_to(run.path)): path.read_bytes() for path in run.path.rglob("*.safetensors")}
    return {name: (one.steps, one.values) for name, one in read_metrics(run).items()}, episodes, adapters


@pytest.mark.runs
@pytest.mark.parametrize("matched", MATCHED)
@pytest.mark.parametrize("algorithm", ["grpo", "reinforce", "sepo"])
def test_run_that_was_killed_meets_the_same_opponents(tmp_path, algorithm, matched):
    recipe = small(algorithm, matched)
    whole = RunFolder.create(tmp_path / "whole", recipe, recipe.seed, "a test")

    def copy(step, steps, metrics):
        if step == 3:
            shutil.copytree(whole.path, tmp_path / "stopped")

    bound(recipe, whole).train(copy)
    stopped = RunFolder.open(tmp_path / "stopped")
    bound(recipe, stopped).train()
    assert bytes_of(stopped) == bytes_of(whole)
    met = [
        {name.partition("@")[0] for name in one.players}
        for one in read_episodes(whole.record)
        if one.purpose == "train"
    ]
    if matched == "curriculum":
        assert any("random" in names for names in met)
        assert any("TightPassive" in name for names in met for name in names)
    if matched == "past":
        assert any(name.startswith("step-") for names in met for name in names)
        assert len(list((whole.path / "opponents").iterdir())) == ITERATIONS - 1


def test_page_shows_the_example_as_it_is_and_it_draws(monkeypatch):
    page = (ROOT / "docs" / "how-to" / "choose-opponents.md").read_text("utf-8")
    assert f"```python\n{(ROOT / 'examples' / 'opponents.py').read_text('utf-8')}```\n" in page
    monkeypatch.chdir(ROOT)
    allow("examples/opponents.py")
    rule = read_matchmaker("examples/opponents.py:NewestAndHardest(share=0.25)").value
    now = situation(Member(name="hard", role="bot"), snapshot(3), snapshot(5), beaten=("step-000003", "step-000005"))
    assert rule.odds(LEARNER, now) == {"step-000005": 0.25, "hard": 0.75}


def test_page_has_the_recipes_as_they_are_read():
    page = (ROOT / "docs" / "how-to" / "choose-opponents.md").read_text("utf-8")
    recipes = [tomllib.loads(block.partition("```")[0]) for block in page.split("```toml\n")[1:]]
    assert len(recipes) >= 2
    for recipe in recipes:
        [algorithm] = recipe.keys() - {"learners"} or {"league"}
        read = algorithm_of({"algorithm": algorithm}).recipe_type.read({"algorithm": algorithm, **recipe})
        assert json.dumps(read.model_dump(mode="json"))
