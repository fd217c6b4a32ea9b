"""Games of users that break a rule for games: whoever trains in one is told which."""

import warnings
from dataclasses import replace

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.games import make_game
from stratagem.games.conformance import ConformanceReport, RuleCheck
from stratagem.games.kuhn import Kuhn
from stratagem.learn.monitor import TrainingWarning
from stratagem.training import by_game
from stratagem.training.by_game import warn_of_broken_rules
from stratagem.training.runs.folder import RunFolder


class Sound(Kuhn):
    """Game of a user that keeps its declarations."""


class Dearer(Kuhn):
    """Game of a user that pays more than it declares."""

    @property
    def spec(self):
        return replace(super().spec, name="dearer", bounds=(-0.5, 0.5))


def test_broken_rules_of_an_own_game_are_named():
    with pytest.warns(TrainingWarning, match=r"dearer breaks rules for games.* bounds: .*0\.5.*verify-game"):
        warn_of_broken_rules([Dearer(hands=1)])


def test_sound_games_are_not_warned_of():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_broken_rules([Sound(hands=1), make_game("kuhn"), make_game("tic-tac-toe")])
    assert caught == []


def test_large_game_has_the_first_checks_alone(monkeypatch):
    monkeypatch.setattr(by_game, "SECONDS_OF_FIRST", 0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_broken_rules([Dearer(hands=1)])  # its bounds would come later
    assert caught == []


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "kl_sft"])  # which plays no game
def test_every_algorithm_checks_its_games(name, tmp_path, monkeypatch):
    monkeypatch.setattr(by_game, "PACKAGE", "another package")
    failed = ConformanceReport("kuhn", (RuleCheck("ends", "failed", "no end"),))
    monkeypatch.setattr(by_game, "verify", lambda game, **settings: failed)
    settings = {"algorithm": name, **RECIPES[name]}
    recipe = algorithm_of(settings).recipe_type.read(settings)
    with pytest.warns(TrainingWarning, match="breaks rules for games.* ends: no end"):
        bound(recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test"))
