"""A run of GRPO learns, is bit-identical when resumed, and refuses what cannot be."""

import json
import signal

import pytest

from forks import forked_program
from stratagem.algorithms.grpo import GRPOAlgorithm, GRPORecipe
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.store import read_episodes
from stratagem.training.branched_rollouts import BranchedRolloutSettings, check_game
from stratagem.training.runs.checkpoint import checkpoint_folders
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

RATE = {"learning_rate": 3e-3}
DILEMMA = {
    "games": ["ipd(rounds=1)"],
    "opponents": ["random"],
    "evaluate_every": 8,
    "validation_episodes": 2,
    "test_episodes": 2,
    "temperature": 1.0,
    "grpo": {
        "iterations": 8,
        "groups_per_batch": 2,
        "group_size": 8,
        "optimizer_steps": 2,
        "opponents": {"random": 1.0},
        "optimizer": RATE,
    },
}
FORKED = {
    "games": ["kuhn"],
    "opponents": ["random"],
    "evaluate_every": 1,
    "validation_episodes": 2,
    "test_episodes": 2,
    "sft": {"teacher": "random", "num_examples": 40, "epochs": 1, "batch_size": 16, "optimizer": RATE},
    "grpo": {
        "iterations": 3,
        "groups_per_batch": 2,
        "group_size": 2,
        "prefix_turns": [0, 3],
        "optimizer_steps": 2,
        "optimizer": RATE,
    },
}

OPENING = {
    "games": ["diplomacy(until=1901, only=[FRANCE, GERMANY])"],
    "style": "bare",
    "opponents": ["hold"],
    "evaluate_every": 2,
    "checkpoint_every": 1,
    "validation_episodes": 1,
    "test_episodes": 1,
    "train": "all",
    "temperature": 1.0,
    "grpo": {
        "iterations": 2,
        "groups_per_batch": 1,
        "group_size": 2,
        "prefix_turns": [0, 1],
        "reward_weights": {"parts": 1.0},
        "opponents": {"hold": 1.0},
        "optimizer": RATE,
    },
}


class Broken(Exception):
    """Somebody pulled the plug."""


def begun(path, data):
    recipe = GRPORecipe.read(data)
    return recipe, RunFolder.create(path, recipe, recipe.seed, "a test")


def figures(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}


@pytest.fixture(scope="module")
def dilemma(tmp_path_factory):
    recipe, run = begun(tmp_path_factory.mktemp("dilemma") / "run", DILEMMA)
    GRPOAlgorithm(recipe, run).train()
    return run


def defections(run):
    """Return the probability of defection at each validation."""
    policies = [json.loads(path.read_text())["policy"] for path in sorted((run.path / "policies").iterdir())]
    return [sum(mix["DEFECT"] for mix in table.values()) / len(table) for table in policies]


def test_in_one_round_of_the_dilemma_it_learns_to_defect(dilemma):
    first, *_, last = defections(dilemma)
    assert first < 0.7
    assert last > 0.9
    assert sum(episode.purpose == "train" for episode in read_episodes(dilemma.record)) == 8 * 2 * 8


def test_the_share_of_groups_without_variance_is_logged(dilemma):
    """An iteration has two groups."""
    steps, shares = figures(dilemma)["advantage/no_variance"]
    assert steps == list(range(1, 9))
    assert all(share in (0.0, 0.5, 1.0) for share in shares)


def test_a_run_goes_on_from_what_another_has_learnt(dilemma, tmp_path):
    """The adapter becomes part of a base of the run's own, on which the next adapter begins."""
    less = {"iterations": 1, "groups_per_batch": 1, "group_size": 2}
    data = {**DILEMMA, "model": f"run:{dilemma.path}@last", "grpo": {**DILEMMA["grpo"], **less}}
    recipe, run = begun(tmp_path / "run", data)
    GRPOAlgorithm(recipe, run).train()
    assert defections(run)[0] == pytest.approx(defections(dilemma)[-1], abs=1e-4)
    game = make_game("ipd(rounds=1)")
    view = game.start(Key(0)).view(0)
    was = make_player(f"run:{dilemma.path}@last", game).policy(view)["DEFECT"]
    for label in ("base", "start"):
        assert make_player(f"run:{run.path}@{label}", game).policy(view)["DEFECT"] == pytest.approx(was, abs=1e-4)
    rows = json.loads((run.path / "evaluation.json").read_text())["rows"]
    assert [title.split(" (")[0] for title in rows.values()] == ["Base", "GRPO"]
    assert next(iter(rows)) == "run:.@base", "wherever the base lies"
    assert all(name.startswith("run:.@") for name in rows)
    with pytest.raises(BadParameter, match=r"cannot have SFT again: leave `sft` out, or set `sft\.epochs` to 0"):
        GRPORecipe.read({**data, "sft": FORKED["sft"]})
    assert GRPORecipe.read({**data, "sft": {**FORKED["sft"], "epochs": 0}}).sft_steps == 0


def test_broken_off_and_resumed_it_ends_the_same(tmp_path):
    recipe, whole = begun(tmp_path / "whole", FORKED)
    GRPOAlgorithm(recipe, whole).train()
    _, broken = begun(tmp_path / "broken", FORKED)

    def plug(step, steps, seen):
        if step == recipe.sft_steps + 2:
            raise Broken

    with pytest.raises(Broken):
        GRPOAlgorithm(recipe, broken).train(plug)
    GRPOAlgorithm(recipe, RunFolder.open(broken.path)).train()
    assert figures(broken) == figures(whole)
    for name in ("findings.json", "models.json"):
        assert (broken.path / name).read_bytes() == (whole.path / name).read_bytes()
    table = json.loads((whole.path / "evaluation.json").read_text())
    assert [title.split(" (")[0] for title in table["rows"].values()][:3] == ["Base", "SFT", "GRPO"]


def replies(run):
    return {
        e.id: [(row.seat, row.turn, row.said, row.action) for row in e.decisions] for e in read_episodes(run.record)
    }


DOOMED = """
import os, signal, sys
from pathlib import Path
from test_grpo_run import OPENING, begun
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.algorithms.grpo import GRPOAlgorithm
from stratagem.games.diplomacy.state import DiplomacyState

collect, play, phases = BranchedRollouts.collect, DiplomacyState.play, []

def begin(self, iteration):
    phases.append(0)
    return collect(self, iteration)

def counted(self, *given):
    if phases:
        phases[-1] += 1
    if len(phases) == 2 and phases[-1] > phases[0] // 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return play(self, *given)

BranchedRollouts.collect, DiplomacyState.play = begin, counted
GRPOAlgorithm(*begun(Path(sys.argv[1]), OPENING)).train()
"""


def test_killed_during_a_game_it_ends_as_if_it_had_not_been(tmp_path, request):
    """In the second of two iterations, which is played again: the first has a checkpoint, without a validation."""
    recipe, whole = begun(tmp_path / "whole", OPENING)
    GRPOAlgorithm(recipe, whole).train()
    words = [str(tmp_path / "killed")]
    status, printed = forked_program(DOOMED, *words, work=request.path.parent, scratch=tmp_path)
    assert status == -signal.SIGKILL, printed
    killed = RunFolder.open(tmp_path / "killed")
    assert list(checkpoint_folders(killed)) == [1]
    GRPOAlgorithm(recipe, killed).train()
    assert figures(killed) == figures(whole)
    assert figures(whole)["checkpoint_metric"][0] == [0, 2]
    assert any(figures(whole)["grad_norm"][1])
    assert replies(killed) == replies(whole)
    assert (killed.path / "models.json").read_bytes() == (whole.path / "models.json").read_bytes()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"grpo": {"prefix_turns": [4, 2]}}, "`prefix_turns` are two numbers"),
        (
            {"grpo": {"reward_weights": {"glory": 1.0}}},
            "no term 'glory': terms are payoff, parts, outcome, ext",
        ),
        ({"grpo": {"opponents": {"random": -1.0}}}, "shares that are not negative"),
        ({"grpo": {"group_size": 1}}, "grpo.group_size"),
        ({"grpo": {"horizon_phases": 1}}, "kuhn does not value its positions"),
        ({"grpo": {"horizon_phases": 1, "reward_weights": {"outcome": 1.0}}}, "so it has no term outcome"),
        (
            {"games": ["public-goods"], "grpo": {"reward_weights": {"payoff": 1.0, "collusion": -1.0}}},
            "public-goods has no signal collusion",
        ),
        (
            {"grpo": {"reward_weights": {"payoff": 1.0, "parts": 1.0}}},
            "kuhn does not reward the parts of an action: set no parts",
        ),
        ({"grpo": {"advantage": "per_order(combine=multiply)"}}, "set no advantage per_order"),
        (
            {"games": ["diplomacy(until=1901, judged=False)"], "grpo": {"reward_weights": {"outcome": 1.0}}},
            "does not reward the parts of an action: set no outcome",
        ),
        ({"grpo": {"opponents": {"Nobody": 1.0}}}, "Nobody"),
        ({"grpo": {"prefix_player": "dumbbot"}}, "dumbbot"),
        ({"checkpoint_metric": "safety"}, "`checkpoint_metric` cannot be safety in kuhn"),
        ({"train": "all", "grpo": {"loss": "grpo"}}, "left as a reference, which `grpo.loss` reads"),
        ({"reference": {"type": "ema"}}, "acts by the KL penalty of `grpo.loss` alone"),
        ({"reference": {"ema_decay": 0.9}}, "In reference, `ema_decay` is of a moving average"),
        ({"reference": {"update_every": 2}}, "In reference, `update_every` is of a moving average"),
        ({"grpo": {"chance_seeds": "shared"}}, "makes other players act alike, and in self-play there are none"),
        ({"sft": {"teacher": "Nobody"}}, "Nobody"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(tmp_path, changed, said):
    with pytest.raises((BadParameter, StratagemError)) as caught:
        GRPOAlgorithm(*begun(tmp_path / "run", {**FORKED, **changed}))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_orders_are_rewarded_in_a_game_with_talk():
    settings = BranchedRolloutSettings(reward_weights={"parts": 1.0}, horizon_phases=2)
    check_game(settings, make_game("talk(diplomacy(only=[FRANCE, GERMANY]))"))
    with pytest.raises(BadParameter, match="set no parts"):
        check_game(settings, make_game("talk(diplomacy(only=[FRANCE, GERMANY], judged=False))"))
