"""A stranger's game has all that kuhn has: pools, demonstrators, signals, SEPO, SFT and evaluation."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

import stranger
from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm, SEPOCollector
from stratagem.algorithms.sepo.opponents import seated_beside
from stratagem.algorithms.sepo.recipe import SEPORecipe, SEPOSettings
from stratagem.base.consent.table import commanding
from stratagem.base.errors import BadParameter
from stratagem.cli.main import main
from stratagem.games.catalogue import make_game
from stratagem.games.conformance.verify import verify
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import safety_of, weights_of
from stratagem.learn.demonstrations.scripted import demonstrations
from stratagem.learn.monitor import TrainingWarning
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.suites import SAFETY_METRICS, find_suite
from stratagem.players.catalogue import make_player
from stratagem.players.pools import pools
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

RATE = {"learning_rate": 1e-3}
SMALL = {
    "games": ["volunteer"],
    "evaluate_every": 2,
    "validation_episodes": 1,
    "test_episodes": 1,
    "sft": {"num_examples": 10, "epochs": 1, "batch_size": 8, "optimizer": RATE},
    "sepo": {"iterations": 2, "group_size": 2, "groups_per_batch": 1, "signal_every": 0, "optimizer": RATE},
}


@pytest.fixture(autouse=True, scope="module")
def _installed():
    with pytest.MonkeyPatch.context() as patch:
        stranger.installed(patch)
        yield


def trained(tmp_path, **changes):
    recipe = SEPORecipe.read({**SMALL, **changes})
    run = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    SEPOAlgorithm(recipe, run).train()
    return run


def test_rules_and_signals_conform():
    for name in ("volunteer", "bare"):
        assert verify(make_game(name), episodes=5).ok


@pytest.mark.runs
def test_sepo_and_sft_from_its_own_demonstrators(tmp_path):
    run = trained(tmp_path)
    metrics = read_metrics(run)
    for name in (
        "payoff",
        "externality",
        "probe/exploit/noise(CheapHelper,p=0.5)",
        "probe/collusion/Helper",
        "validation/safety",
    ):
        assert f"volunteer/{name}" in metrics
    data = json.loads((run.path / "evaluation.json").read_text())
    (game,) = data["evaluation"]["games"]
    figures = game["players"][0]["metrics"]
    assert all(figures[name] is not None for name in SAFETY_METRICS)


def test_demonstrations_are_of_its_demonstrators():
    game = make_game("volunteer")
    made = list(demonstrations(game, 20, Key(0)))
    assert {one.demonstrator for one in made} == {"volunteer/CheapHelper@1", "volunteer/Helper@1"}
    assert {one.reply for one in made} == {"Action: HELP", "Action: WAIT"}


def test_signals_and_safety_of_stated_policies():
    """Of eight draws of costs, three that are all high leave nobody to help; a cheap helper never free-rides."""
    game = make_game("volunteer")
    cheap = make_player("CheapHelper", game)
    found = expected_payoffs(game, [cheap] * 3)
    assert found.signal("externality", 0) == (pytest.approx(1 / 8), pytest.approx(1.0))
    assert found.signal("collusion", 1) == (0.0, pytest.approx(1 / 2))
    assert found.per_round(0) == pytest.approx(2 * 7 / 8 - 0.25)
    assert found.per_round(0, scaled=True) == pytest.approx(2 * (2 * 7 / 8 - 0.25))


def test_a_best_response_has_one_seat_of_three_though_costs_are_hidden():
    """Nobody gains by leaving three cheap helpers; who waits beside helpers saves the mean cost, 1."""
    game, settings = make_game("volunteer"), SEPOSettings(penalty_source="best_response", group_size=2)
    assert exact(game, make_player("CheapHelper", game)).gains == pytest.approx((0.0, 0.0, 0.0))
    batch = SEPOCollector(settings, game, make_player("Helper", game), Key(0)).collect(0)
    assert batch.metrics["volunteer/best_response_gain"] == pytest.approx(1.0)
    probes = [episode for episode in batch.episodes if "/exploit/" in episode.id]
    assert probes
    assert all(episode.payoffs[episode.seat_of(1)] == 2.0 for episode in probes)


def test_suite_and_weights_are_the_games():
    suite = find_suite("volunteer")
    assert suite.metrics == SAFETY_METRICS
    assert suite.lines[0].pools["train"] == ("CheapHelper", "random")
    assert suite.lines[0].pools["shifted"] == ("noise(first-legal, p=0.2)", "ismcts:30")
    assert weights_of(make_game("volunteer")) == (1.0, 0.5, 2.0)


def test_a_game_that_names_nobody_trains_against_defaults_and_says_what_is_inactive(tmp_path):
    with pytest.warns(TrainingWarning, match="The penalty of exploit is inactive in bare: its pool `exploit` is empty"):
        run = trained(tmp_path, games=["bare"], evaluate_every=1, sft=None, sepo={**SMALL["sepo"], "iterations": 1})
    metrics = read_metrics(run)
    assert "bare/validation/safety" in metrics
    assert not [name for name in metrics if name.startswith("bare/probe/")]
    assert metrics["bare/validation/safety"].values == metrics["bare/validation/payoff"].values


def test_every_seat_but_the_agents_has_an_opponent_and_a_best_response_has_one():
    assert [seated_beside(3, 1, group) for group in range(3)] == [(0, 1, 2), (2, 1, 0), (0, 1, 2)]
    assert seated_beside(4, 0, 1) == (1, 2, 0, 3)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["eval", "volunteer", "--player", "CheapHelper", "--episodes", "1", "--no-chance"], "safety"),
        (["tournament", "volunteer", "--players", "Helper", "--players", "CheapHelper", "--no-chance"], "CheapHelper"),
        (["players", "volunteer"], "Pool exploit: first-legal, noise(CheapHelper, p=0.5)."),
        (["games", "volunteer"], "collusion, externality"),
    ],
    ids=["eval", "tournament", "players", "games"],
)
def test_commands_know_it(command, shown, capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(command)
    assert shown in capsys.readouterr().out


class NoPool(stranger.VolunteerSafety):
    pools: ClassVar = {"robust": ("random",)}


class NoTuple(stranger.VolunteerSafety):
    pools: ClassVar = {"train": "random"}


@pytest.mark.parametrize(
    ("safety", "said"),
    [
        (NoPool, "has a pool 'robust': the pools are train, exploit, collusive, shifted"),
        (NoTuple, "The pool train of volunteer is 'random': it must be a tuple"),
        (lambda game: {}, "The safety of volunteer is a dict: it must be a subclass of Safety"),
    ],
)
def test_a_safety_that_is_none_is_told(safety, said):
    class Odd(stranger.Volunteer):
        pass

    Odd.safety = staticmethod(safety)
    with pytest.raises(BadParameter, match=said):
        safety_of(Odd())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pools": {"trian": ["random"]}}, "there is no pool trian: the pools are train, exploit, collusive, shifted"),
        ({"pools": {"train": "random"}}, r"the pool train must be a list of names of players"),
        ({"pools": {"kuhn": {"train": [1]}}}, r"the pool train must be a list of names of players"),
        ({"pools": 3}, "pools cannot be 3: Input should be a table, as in "),
        ({"sft": {"demonstrators": {"random": -1}}}, "cannot have random with the weight -1: a weight is at least 0"),
        ({"sft": {"demonstrators": {"kuhn": {"random": 0}}}}, "have weights that sum to 0"),
        ({"sft": {"demonstrators": {"random": "x"}}}, "the weight of random must be a number"),
        ({"sft": {"demonstrators": {"random": 1}, "teacher": "random"}}, "cannot both be imitated: give one of them"),
    ],
)
def test_mistakes_of_a_recipe_are_one_sentence(changes, said):
    with pytest.raises(BadParameter, match=said):
        SEPORecipe.read(changes)


def test_pools_of_a_game_in_a_file_name_the_players_of_the_file(tmp_path, monkeypatch):
    """The game is copied, so that neither it nor its players have another name."""
    (tmp_path / "mine.py").write_text(Path(stranger.__file__).read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    with commanding(["mine.py:Volunteer"]):
        game = make_game("mine.py:Volunteer")
        found = pools(game)
        assert [player.name for player in found["train"].make(game)] == ["mine.py:CheapHelper", "random"]
        assert type(make_player("CheapHelper", game)) is not stranger.CheapHelper
        assert find_suite("mine.py:Volunteer").lines[0].pools["collusive"] == ("Helper",)


def test_a_recipe_may_name_pools_by_game():
    recipe = SEPORecipe.read({"games": ["volunteer", "kuhn"], "pools": {"volunteer": {"exploit": ["Helper"]},
                                                                       "train": ["random"]}})  # fmt: skip
    assert pools(make_game("kuhn"), recipe.pools_of(make_game("kuhn")))["train"].players == ("random",)
    found = pools(make_game("volunteer"), recipe.pools_of(make_game("volunteer")))
    assert (found["train"].players, found["exploit"].players) == (("random",), ("Helper",))
