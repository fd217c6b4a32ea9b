"""The training loop: the order of what it does, where it continues after a stop, and which checkpoint it calls best."""

import json
import math
from itertools import count
from types import SimpleNamespace

import pytest

from stratagem.base.settings import FiniteSettings
from stratagem.training import loop
from stratagem.training.loop import FINDINGS, train
from stratagem.training.runs.checkpoint import checkpoint_folders, latest, save_checkpoint
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics
from stratagem.training.stage import MeanMetrics, Stage, TrainingBatch

pytestmark = pytest.mark.runs


class Recipe(FiniteSettings):
    """The settings that the loop reads."""

    seed: int = 0
    checkpoint_minutes: float = 10.0


USUAL = Recipe()


class Counter:
    """A policy that counts what it is updated on."""

    def __init__(self):
        self.value = 0

    def update(self, data):
        self.value += data
        return {"loss": float(self.value)}

    def findings(self):
        return {"big": {"count": self.value}} if self.value > 3 else {}

    subject = None

    def reading(self):
        return {}


class Counting(Stage):
    """Adds the number of the step to its policy, in as many batches as it is told."""

    def __init__(self, log, name, steps, *, batches=1, scores=(), saves_outcome=False):
        self.log, self.name, self.num_steps = log, name, steps
        self.num_batches, self.scores, self.saves_outcome = batches, scores, saves_outcome
        self.policies = {name: Counter()}

    def begin(self, step):
        self.log.append(("begin", self.name, step))
        return {"start": 1.0} if not step else {}

    def batches(self, step):
        for _ in range(self.num_batches):
            yield TrainingBatch(policy=self.name, data=step, metrics={"seen": float(self.policies[self.name].value)})

    def evaluates(self, step):
        return bool(self.scores)

    def evaluate(self, step):
        return {"score": self.scores[step - 1], "checkpoint_metric": self.scores[step - 1]}

    def score(self, metrics):
        return metrics["score"] if self.scores else None

    def after_step(self, step, metrics):
        self.log.append(("step", self.name, step))
        return {"after": float(step)}

    def saves(self, step):
        return step % 2 == 0

    def finish(self, step):
        self.log.append(("finish", self.name, step))

    def state(self):
        return {"value": self.policies[self.name].value}

    def restore(self, state, folder):
        self.log.append(("restore", self.name, state["value"]))
        self.policies[self.name].value = state["value"]

    def final_evaluation(self, best):
        self.log.append(("final", self.name, best))


def algorithm(run, *makers, recipe=USUAL):
    return SimpleNamespace(recipe=recipe, run=run, num_steps=0, strict=False, stages=lambda: list(makers))


def begun(path, recipe=USUAL):
    return RunFolder.create(path, recipe, 0, "a test")


def two_stages(log):
    return (
        lambda: Counting(log, "first", 3, saves_outcome=True),
        lambda: Counting(log, "second", 4, batches=2, scores=(0.1, 0.5, 0.5, 0.2)),
    )


def curves(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}


def test_a_policy_without_a_finite_loss_is_never_the_best(monkeypatch, tmp_path):
    """The second step scores highest; its loss is none."""
    log = []
    monkeypatch.setattr(Counter, "update", lambda self, data: {"loss": float("nan") if data == 1 else 1.0})
    train(algorithm(begun(tmp_path / "run"), lambda: Counting(log, "only", 3, scores=(0.1, 0.9, 0.2))))
    assert ("final", "only", 3) in log
    assert [math.isnan(value) for value in curves(RunFolder.open(tmp_path / "run"))["checkpoint_metric"][1]] == [
        False,
        True,
        False,
    ]


def test_failed_turns_are_among_the_findings_and_the_metrics(monkeypatch, tmp_path):
    def report(episodes, step, findings, *, strict):
        findings["failed_turn"] = {"count": findings.get("failed_turn", {"count": 0})["count"] + 1, "strict": strict}
        return {"checks/failed_turn": 1.0}

    monkeypatch.setattr(loop, "report_failed_turns", report)
    run = begun(tmp_path / "run")
    train(algorithm(run, lambda: Counting([], "only", 3)))
    assert json.loads((run.path / FINDINGS).read_text())["failed_turn"] == {"count": 3, "strict": False}
    assert curves(run)["checks/failed_turn"] == ([1, 2, 3], [1.0] * 3)


def test_free_memory_is_returned_after_each_step(monkeypatch, tmp_path):
    log = []
    monkeypatch.setattr(loop, "MemoryReturn", lambda: lambda: log.append(("return",)))
    train(algorithm(begun(tmp_path / "run"), lambda: Counting(log, "only", 3)))
    assert [entry[0] for entry in log if entry[0] in ("step", "return")] == ["step", "return"] * 3


def test_stages_follow_each_other_and_steps_are_numbered_through(tmp_path):
    run, log = begun(tmp_path / "run"), []
    train(algorithm(run, *two_stages(log)))
    assert [entry for entry in log if entry[0] != "step"] == [
        ("begin", "first", 0),
        ("finish", "first", 3),
        ("begin", "second", 0),
        ("finish", "second", 7),
        ("final", "second", 5),
    ]
    found = curves(run)
    assert found["first/loss"] == ([1, 2, 3], [0.0, 1.0, 3.0])
    assert found["second/loss"][0] == [4, 5, 6, 7]
    assert found["start"][0] == [0, 3]
    assert found["score"] == ([4, 5, 6, 7], [0.1, 0.5, 0.5, 0.2])


def test_a_later_batch_is_played_by_the_updated_policy_and_metrics_are_means(tmp_path):
    run = begun(tmp_path / "run")
    train(algorithm(run, lambda: Counting([], "only", 2, batches=2)))
    found = curves(run)
    assert found["seen"] == ([1, 2], [0.0, 0.5])  # in the second step 0 before the first batch, 1 before the second
    assert found["only/loss"] == ([1, 2], [0.0, 1.5])


def test_of_equal_scores_the_first_checkpoint_is_the_best_and_is_kept(tmp_path):
    run = begun(tmp_path / "run")
    train(algorithm(run, lambda: Counting([], "only", 8, scores=(0.1, 0.5, 0.5, 0.2, 0.1, 0.1, 0.1, 0.1))))
    assert latest(run).best == (2,)
    assert list(checkpoint_folders(run)) == [2, 6, 8]


@pytest.mark.parametrize(("minutes", "saved"), [(2.0, [2, 5, 8, 10]), (0.0, [2, 10]), (1e-9, list(range(1, 11)))])
def test_a_checkpoint_is_saved_when_the_last_one_is_old(monkeypatch, tmp_path, minutes, saved):
    """Each step takes 50 seconds, and the stage asks for a checkpoint after the second only: 2 + 3 is 5."""
    clock, steps = [1000.0], []

    def save(run, step, *rest, **options):
        steps.append(step)
        save_checkpoint(run, step, *rest, **options)

    monkeypatch.setattr(loop.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(loop, "save_checkpoint", save)

    class Slow(Counting):
        def batches(self, step):
            clock[0] += 50.0
            yield from super().batches(step)

        def saves(self, step):
            return step == 2

    recipe = Recipe(checkpoint_minutes=minutes)
    train(algorithm(begun(tmp_path / "run", recipe), lambda: Slow([], "only", 10), recipe=recipe))
    assert steps == saved


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    run = begun(tmp_path_factory.mktemp("whole") / "whole")
    train(algorithm(run, *two_stages([])))
    return run


@pytest.mark.parametrize("at", range(1, 8))
def test_a_run_that_was_stopped_after_any_step_ends_the_same(whole, tmp_path, at):
    stopped = begun(tmp_path / "stopped")

    def stop(step, steps, metrics):
        if step == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(algorithm(stopped, *two_stages([])), stop)
    log = []
    train(algorithm(stopped, *two_stages(log)))
    assert curves(stopped) == curves(whole)
    assert (stopped.path / FINDINGS).read_bytes() == (whole.path / FINDINGS).read_bytes()
    assert latest(stopped).state() == latest(whole).state()
    assert (("restore", "first", 1) in log) == (at in (2, 3))


def test_the_outcome_of_a_stage_that_saves_it_is_not_restored_into_the_next(tmp_path):
    run, log = begun(tmp_path / "run"), []
    calls = count()

    def second():
        if not next(calls):
            raise KeyboardInterrupt
        return Counting(log, "second", 1)

    made = algorithm(run, lambda: Counting([], "first", 2, saves_outcome=True), second)
    with pytest.raises(KeyboardInterrupt):
        train(made)
    train(made)
    assert not [entry for entry in log if entry[0] == "restore"]


def test_findings_of_earlier_stages_stay(tmp_path):
    run = begun(tmp_path / "run")
    train(algorithm(run, lambda: Counting([], "first", 4), lambda: Counting([], "second", 1)))
    assert json.loads((run.path / FINDINGS).read_text()) == {"first/big": {"count": 6}}


def test_a_finished_run_is_only_evaluated_again(tmp_path):
    run, log = begun(tmp_path / "run"), []
    train(algorithm(run, *two_stages([])))
    before = (run.path / "metrics.jsonl").read_bytes()
    train(algorithm(run, *two_stages(log)))
    assert (run.path / "metrics.jsonl").read_bytes() == before
    assert [entry[:2] for entry in log] == [
        ("restore", "second"),
        ("begin", "second"),
        ("finish", "second"),
        ("final", "second"),
    ]


def test_means_are_taken_by_name_with_the_prefix():
    means = MeanMetrics()
    means.add({"loss": 1.0}, "main")
    means.add({"loss": 3.0, "kl": 0.5}, "main")
    means.add({"payoff": 2.0})
    assert means.means() == {"main/loss": 2.0, "main/kl": 0.5, "payoff": 2.0}
