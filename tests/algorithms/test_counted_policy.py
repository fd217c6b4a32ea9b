"""Best responses and checkpoints by the replies of a model that states no probabilities."""

import numpy as np
import pytest

from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm
from stratagem.algorithms.sepo.recipe import SEPORecipe, check_games
from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.games import Key, make_game
from stratagem.measure.exploitability.best_responder import best_responder
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.sampled.counted import CountingPlayer, stating
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.base import Traits
from stratagem.players.catalogue import make_player
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

KUHN = make_game("kuhn(hands=1)")
SETTINGS = {
    "games": ["kuhn(hands=1)"],
    "mode": "recover",
    "max_new_tokens": 4,
    "temperature": 1.0,
    "checkpoint_metric": "exploitability",
    "policy_replies": 8,
    "evaluate_every": 2,
    "validation_episodes": 1,
    "test_episodes": 1,
    "pools": {"train": ["random"], "collusive": [], "exploit": ["random"]},
    "sepo": {
        "iterations": 2,
        "group_size": 2,
        "groups_per_batch": 1,
        "penalty_source": "best_response",
        "optimizer": {"learning_rate": 1e-3},
    },
}


class Untold:
    """Plays as another player does, and does not tell its probabilities."""

    def __init__(self, player, memory=None):
        self.turn, self.name, self.asked = self._asked, player.name, 0
        self.traits = Traits(stochastic=True, memory=memory, exact=False)
        self._player = player

    def _asked(self, ask):
        self.asked += 1
        return self._player.turn(ask)


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "ipd(rounds=2)"])
def test_shares_of_replies_are_near_the_policy(text):
    """Also in a game that hides nothing, where players with a short memory are asked once for many sets."""
    game = make_game(text)
    tree, player = oracle_of(game).tree, make_player("random", game)
    untold = Untold(player, memory=player.traits.memory)
    counted = CountingPlayer(untold, 100, Key(1))
    shares = policy_on(tree, counted)
    assert shares == pytest.approx(policy_on(tree, player), abs=0.25)
    assert np.add.reduceat(shares, tree.slots[:-1]) == pytest.approx(1.0)
    asked = untold.asked
    assert exact(game, counted).exploitability == pytest.approx(exact(game, player).exploitability, abs=0.2)
    assert best_responder(game, counted).table
    assert untold.asked == asked  # the same replies serve all


def test_best_response_to_replies_exploits_the_player():
    always = make_player("TightPassive", KUHN)
    counted = stating(Untold(always), 5, Key(2))
    assert best_responder(KUHN, counted) == best_responder(KUHN, always)
    assert stating(always, 5, Key(2)) is always


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"policy_replies": 0}, "say `policy_replies`, such as 30"),
        ({"policy_replies": 3}, "at least 8 replies"),
        ({"sepo": {**SETTINGS["sepo"], "best_response_kl": 0.1}}, "compares probabilities"),
    ],
)
def test_recipe_that_cannot_measure_is_refused(changes, says):
    with pytest.raises(StratagemError, match=says):
        SEPORecipe.read(SETTINGS | changes)


def test_games_that_cannot_be_measured_are_refused():
    """A free reply may be illegal, for which the dilemma has no action; a long negotiation has too many situations."""
    free = SEPORecipe.read(SETTINGS | {"games": ["ipd(rounds=2)"], "mode": "free", "pools": {}})
    with pytest.raises(CannotCompute, match="no action for an illegal reply"):
        check_games(free, [make_game("ipd(rounds=2)")])
    large = SEPORecipe.read(SETTINGS | {"games": ["negotiation-v1"], "pools": {}})
    with pytest.raises(CannotCompute, match="penalty_source"):
        check_games(large, [make_game("negotiation-v1")])


@pytest.mark.long
def test_run_in_a_mode_without_probabilities_has_best_responses_and_limits(tmp_path):
    recipe = SEPORecipe.read(SETTINGS)
    run = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    SEPOAlgorithm(recipe, run, strict=False).train()
    curves = read_metrics(run)
    found, lower, upper = (curves[f"kuhn/replies/{name}"].values[-1] for name in ("exploitability", "lower", "upper"))
    assert 0.0 <= lower <= found <= upper
    assert curves["checkpoint_metric"].values[-1] == -found
    assert any("probe/exploit/best-response" in name for name in curves)
    assert "from_replies" in (run.path / "evaluation.json").read_text()
