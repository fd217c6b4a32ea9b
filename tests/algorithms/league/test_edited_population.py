"""A population that somebody edited: rows that cannot play are named, and the rest of the league goes on."""

import json

import pytest

from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.learn.monitor import TrainingWarning
from stratagem.training.artifacts import Artifacts
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder

DATA = {
    "algorithm": "league",
    "games": ["kuhn(hands=1)"],
    "model": "tiny",
    "validation_episodes": 2,
    "test_episodes": 2,
    "evaluate_every": 1,
    "members": {"bettor": "AlwaysBet"},
    "learners": {"main": {"role": "main"}, "exploiter": {"role": "main_exploiter"}},
    "league": {"iterations": 2, "groups_per_batch": 2, "group_size": 2, "snapshot_every": 1},
}


class Stopped(Exception):
    """Somebody stopped the run."""


def stop(step, steps, seen):
    if step == 1:
        raise Stopped


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that was stopped after its first iteration."""
    recipe = LeagueRecipe.read(DATA)
    run = RunFolder.create(tmp_path_factory.mktemp("league") / "run", recipe, recipe.seed, "a test")
    with pytest.raises(Stopped):
        LeagueAlgorithm(recipe, run).train(stop)
    return recipe, run


@pytest.fixture
def edited(stopped, tmp_path):
    """Return a function: the population that goes on after an edit of its rows, by name."""
    recipe, run = stopped
    newest = latest(run)

    def restored(edit, **data):
        population = json.loads((newest.folder / "population.json").read_text())
        rows = {row["name"]: row for row in population["members"]}
        edit(rows)
        (tmp_path / "population.json").write_text(json.dumps({**population, **data, "members": list(rows.values())}))
        for file in newest.folder.iterdir():
            if not (tmp_path / file.name).exists():
                (tmp_path / file.name).symlink_to(file)
        league = LeagueState(recipe, run, {recipe.learner_bases[0]: Artifacts(run, recipe.model).load()})
        league.restore(newest.state()["stage"], tmp_path)
        return league.population

    return restored


def test_a_learner_that_the_recipe_does_not_have_is_disabled(edited):
    def edit(rows):
        rows["other"] = {**rows["main"], "name": "other"}

    with pytest.warns(TrainingWarning, match=r"The member other of the league is disabled: It learns,"):
        population = edited(edit)
    assert population.disabled == {"other": "It learns, and the learners of the recipe are main, exploiter."}
    assert [member.name for member in population.of(learns=True)] == ["main", "exploiter"]


def test_a_learner_keeps_the_role_of_the_recipe(edited):
    def edit(rows):
        rows["main"]["role"] = "league_exploiter"

    population = edited(edit)
    assert population.disabled == {"main": "Its role is league_exploiter, and the recipe says main."}
    main = population["main"]
    assert (main.role, main.learns, main.step, main.version) == ("main", True, 1, 1)


def test_a_player_that_the_game_does_not_know_is_disabled(edited):
    """It would end the run when it is met, which may be late."""

    def edit(rows):
        rows["nobody"] = {"name": "nobody", "role": "bot", "player": "NoSuchPlayer"}
        rows["bettor"]["player"] = "run:no/such/run"
        rows["ally"] = {"name": "ally", "role": "bot", "player": "NashApprox"}

    population = edited(edit)
    assert set(population.disabled) == {"nobody", "bettor"}
    assert "no player of kuhn called 'NoSuchPlayer'" in population.disabled["nobody"]
    assert "no run at 'no/such/run'" in population.disabled["bettor"]
    assert "ally" in population


def test_a_bot_does_not_take_the_name_of_a_later_snapshot(edited):
    def edit(rows):
        rows["main-000002"] = {"name": "main-000002", "role": "bot", "player": "random"}

    population = edited(edit)
    assert population.disabled == {"main-000002": "A snapshot of a learner has such a name: give it another."}
    assert "main-000001" in population


def test_a_snapshot_is_of_a_learner_of_the_recipe(edited):
    """It would be left out of the cross-play, and some names cannot be written to the models of the run."""

    def edit(rows):
        rows["main-000001"]["parent"] = "somebody else"
        rows["guest"] = {**rows["exploiter-000001"], "name": "guest"}
        del rows["guest"]["parent"]

    population = edited(edit)
    why = "Its parent is somebody else, and the learners of the recipe are main, exploiter: leave `parent` out."
    assert population.disabled == {"main-000001": why}
    assert "guest" in population
