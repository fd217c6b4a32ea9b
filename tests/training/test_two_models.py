"""Two learners on two models, in every algorithm that has several: what each update touches, kills, and the models."""

import json
import re
import signal

import pytest
from two_models import FIRST, RECIPES, SECOND, algorithm_at, digest_of, policy_of

from forks import forked_program
from run_results import end_of
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.open import engine_for
from stratagem.language.models.run_models import read_run_models
from stratagem.players.catalogue import make_player
from stratagem.playing.store import read_episodes
from stratagem.playing.workers.plan import working
from stratagem.playing.workers.processes import Processes
from stratagem.show.reports.report import report_html
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.verdict import verdict
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

NAMES = ("row", "column")
TRAINED = """
import sys
from pathlib import Path
from two_models import algorithm_at

algorithm_at(Path(sys.argv[1]), sys.argv[2]).train()
"""
"""Training in a process of its own: the models that tests share lie elsewhere in memory, which moves last bits."""
DOOMED = """
import os, signal, sys
from pathlib import Path
from two_models import algorithm_at
from stratagem.learn.optimizer import Optimizer

step, left = Optimizer.step, [int(sys.argv[3])]

def counted(self, *given, **named):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(self, *given, **named)

Optimizer.step = counted
algorithm_at(Path(sys.argv[1]), sys.argv[2]).train()
"""


@pytest.fixture(scope="module", params=list(RECIPES))
def whole(request, tmp_path_factory):
    """A run that never stopped, with its algorithm."""
    scratch = tmp_path_factory.mktemp(request.param)
    train(scratch / "run", request.param, request.path.parent)
    return request.param, scratch / "run"


def train(path, name, work):
    """Begin a run, or continue it, in another process."""
    status, printed = forked_program(TRAINED, path, name, work=work, scratch=path.parent)
    assert status == 0, printed


def evaluations(path):
    """The final evaluations, but for the milliseconds that replies took."""
    files = ("evaluation.json", "outcome.json", "league.json", "findings.json", "models.json")
    return {
        name: re.sub(rb'"ms": [^,\n]*', b"", (path / name).read_bytes()) for name in files if (path / name).is_file()
    }


@pytest.mark.parametrize("name", RECIPES)
def test_update_of_one_learner_leaves_the_model_of_the_other(name, tmp_path):
    stage = algorithm_at(tmp_path / "run", name, sft=None).stages()[-1]() if name == "grpo" else None
    stage = stage or algorithm_at(tmp_path / "run", name).stages()[-1]()
    stage.begin(0)
    updated = []
    for batch in stage.batches(0):
        if batch.policy is None:
            continue
        before = {learner: digest_of(policy_of(stage, learner)) for learner in NAMES}
        stage.policies[batch.policy].update(batch.data)
        after = {learner: digest_of(policy_of(stage, learner)) for learner in NAMES}
        assert {learner for learner in NAMES if after[learner] != before[learner]} == {batch.policy}
        updated.append(batch.policy)
    assert set(updated) == set(NAMES)
    first, second = (policy_of(stage, learner) for learner in NAMES)
    assert (first.lm.name, second.lm.name) == (FIRST, SECOND)
    assert first.lm is not second.lm
    assert first.engine is not second.engine
    assert first.learner.optimizer is not second.learner.optimizer


def test_killed_between_two_updates_it_ends_as_if_it_had_not_been(whole, tmp_path, request):
    """The first learner has taken its step of the iteration, and the second has not: neither is in a checkpoint."""
    name, path = whole
    killed, taken = tmp_path / "killed", {"grpo": 6, "shapellm": 6, "league": 4}[name]
    status, printed = forked_program(DOOMED, killed, name, taken, work=request.path.parent, scratch=tmp_path)
    assert status == -signal.SIGKILL, printed
    assert 0 < latest(RunFolder(killed)).step < latest(RunFolder(path)).step
    train(killed, name, request.path.parent)
    mine, theirs = end_of(killed), end_of(path)
    assert mine.keys() == theirs.keys()
    for part, found in theirs.items():
        assert mine[part] == found, part
    assert evaluations(killed) == evaluations(path)


def test_labels_of_both_models_play(whole):
    name, path = whole
    models = read_run_models(path).models
    game = make_game(RECIPES[name].get("game") or RECIPES[name]["games"][0])
    view = game.start(Key(0)).view(0)
    for learner, base in zip(NAMES, (FIRST, SECOND), strict=True):
        found = engine_for(f"run:{path}@last/{learner}")
        assert found.adapter
        assert found.engine.lm.source.startswith("dir:" if "sft" in RECIPES[name] else base)
        assert models[f"base/{learner}" if f"base/{learner}" in models else "base"].model == base
        assert max(make_player(f"run:{path}@last/{learner}", game).policy(view).values()) > 0.0
    played = {
        (row.slot, row.calls[0].policy.base) for e in read_episodes(path / "record") for row in e.decisions if row.calls
    }
    assert len({model for _, model in played}) == 2


def test_metrics_and_report_name_the_learners(whole):
    _, path = whole
    figures = read_metrics(RunFolder(path))
    for learner in NAMES:
        assert f"{learner}/loss" in figures
        assert any(figures[f"{learner}/grad_norm"].values)
    page = report_html(RunFolder(path))
    assert all(learner in page for learner in NAMES)
    assert f"{FIRST} (row), {SECOND} (column)" in page


def test_report_of_grpo_compares_each_policy_with_itself(whole):
    name, path = whole
    if name == "grpo":
        sentences = verdict(RunData(RunFolder(path)))
        for learner, sentence in zip(("Row", "Column"), sentences, strict=False):
            assert sentence.startswith(f"kuhn(hands=1): from {learner}: SFT to {learner}: GRPO (step ")


def test_final_evaluation_of_grpo_has_the_models_of_both_policies(whole):
    name, path = whole
    if name != "grpo":
        return
    table = json.loads((path / "evaluation.json").read_text())
    titles = list(table["rows"].values())
    assert [title for title in titles if "GRPO" not in title] == [
        "row: Base",
        "row: SFT",
        "column: Base",
        "column: SFT",
    ]
    assert all(row["by_seat"] for row in table["evaluation"]["games"][0]["players"])
    figures = read_metrics(RunFolder(path))
    assert {f"{learner}/kuhn/validation/payoff" for learner in NAMES} <= figures.keys()
    assert "sft-1/loss" in figures


def test_processes_play_two_models_as_one_process_does(tmp_path):
    algorithm_at(tmp_path / "here", "grpo", sft=None).train()
    with working(Processes(1)):
        algorithm_at(tmp_path / "there", "grpo", sft=None).train()
    assert end_of(tmp_path / "here") == end_of(tmp_path / "there")


def test_all_weights_of_two_copies_of_one_model_are_trained(tmp_path):
    """Each policy has a copy and a folder of its own, although both begin as the same model."""
    changes = {"train": "all", "sft": None, "policies": {"row": {"seats": [0]}, "column": {"seats": [1]}}}
    algorithm_at(tmp_path / "run", "grpo", **changes).train()
    models = read_run_models(tmp_path / "run").models
    found = [engine_for(f"run:{tmp_path / 'run'}@last/{learner}").engine for learner in NAMES]
    assert models["last/row"].model != models["last/column"].model
    assert found[0].lm.fingerprint != found[1].lm.fingerprint
