"""Every check stays silent over a sound step, and each is provoked by the fault that it is there for."""

import json
import math
import warnings
from types import SimpleNamespace

import pytest

from stratagem.learn.checks import CHECKS, PATIENCE, StepContext
from stratagem.learn.example import Example
from stratagem.learn.learner import StepReport
from stratagem.learn.monitor import CheckFailed, DivergedRun, Finding, TrainingMonitor, TrainingWarning
from stratagem.learn.signal_to_noise import SignalToNoise


def report(**changes):
    metrics = {"ratio_min": 0.9, "ratio_max": 1.1} | changes.pop("metrics", {})
    sound = {"loss": 0.1, "grad_norm": 0.5, "learning_rate": 1e-3, "num_examples": 4, "num_tokens": 9, "num_read": 50}
    seen_ = {"entropy": 0.9, "reference_gap": 0.01, "reference_moved": 0.001}
    return StepReport(**sound | seen_ | changes, metrics=metrics)


def strength(mean=1.0, error=0.1, varied=20, **more):
    return SignalToNoise(count=20, varied=varied, mean=mean, error=error, noise=4.0, **more)


NOISE = strength(mean=0.1, counter_evidence=25.0)
VANISHED = strength(mean=0.1, varied=6, still=14)


def seen(**changes):
    columns = {"sampler_logprobs": (-1.0, -2.0), "old_logprobs": (-1.01, -1.99)}
    example = Example(tokens=(1, 2, 3), loss_positions=(1, 2), columns=columns | changes.pop("columns", {}))
    counts = {"groups": 10, "groups_without_variance": 2, "groups_of_one": 0} | changes.pop("counts", {})
    signals = {"payoff": strength()} | changes.pop("signal_to_noise", {})
    probes = {"adapter": 0.01, "padding": 0.001} | changes.pop("probes", {})
    sound = {"step": 9, "report": report(), "examples": [example], "steps_per_batch": 2}
    whole = sound | changes
    whole.setdefault("batch_step", whole["step"] % whole["steps_per_batch"])
    return StepContext(**whole, counts=counts, signal_to_noise=signals, probes=probes)


UNMOVED = {"ratio_min": 1.0, "ratio_max": 1.0}
FAULTS = {
    "not_finite": {"report": report(loss=math.nan)},
    "no_gradient": {"report": report(grad_norm=0.0)},
    "mismatch": {"columns": {"old_logprobs": (-1.2, -1.8)}},
    "padding": {"probes": {"padding": 0.2}},
    "alike": {"counts": {"groups_without_variance": 6}},
    "silent_term": {"signal_to_noise": {"exploit": NOISE}},
    "inert_clip": {"steps_per_batch": 1, "report": report(metrics=UNMOVED)},
    "stuck_ratio": {"report": report(metrics=UNMOVED)},
    "idle_adapter": {"probes": {"adapter": 0.0}},
    "idle_reference": {"report": report(reference_gap=0.0)},
    "still_reference": {"report": report(reference_moved=0.0)},
    "idle_bonus": {"entropy_bonus": True, "report": report(entropy=0.0)},
    "idle_cut": {"clipped_advantages": (0, 40)},
    "double_negative": {"counts": {"rows": 40, "double_negative": 3}},
    "uneven_seats": {"counts": {"seat_least": 1, "seat_most": 5}},
    "collapse": {"report": report(entropy=0.08)},
}
FAULTY = [name for name, check in CHECKS.items() if check.level == "fault"]


def monitor(**options):
    """Make a monitor that has checked the first steps."""
    made = TrainingMonitor(**options)
    for step in range(PATIENCE):
        assert made.check(seen(step=step)) == {}
    return made


def test_checks_each_have_a_finding_here():
    assert FAULTS.keys() == CHECKS.keys()


def test_monitor_finds_nothing_in_a_sound_step():
    assert monitor(strict=True).check(seen()) == {}


@pytest.mark.parametrize("name", FAULTY)
def test_monitor_warns_of_a_fault_once_counts_it_and_stops_a_strict_run(name):
    one = monitor()
    faulty = seen(**FAULTS[name])
    with pytest.warns(TrainingWarning, match=name):
        assert one.check(faulty).keys() == {name}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (sentence := one.check(faulty)).keys() == {name}
    assert one.findings() == {name: Finding("fault", 2, 9, sentence[name])}
    with pytest.raises(CheckFailed, match=name):
        monitor(strict=True).check(faulty)


def steps(one, *losses):
    """Check a batch whose steps have these losses."""
    learner = SimpleNamespace(optimizer=SimpleNamespace(steps_taken=9), loss=SimpleNamespace(extras=()))
    reports = [report(loss=loss, grad_norm=0.0) for loss in losses]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one.check_steps(learner, reports)


def test_a_run_without_a_finite_loss_in_three_batches_stops():
    one = TrainingMonitor()
    for losses in ([math.nan], [math.nan, math.nan], [math.nan, 0.1], [math.nan], [math.inf]):
        steps(one, *losses)
    again = TrainingMonitor()
    again.restore(one.state())
    for monitor_ in (one, again):
        with pytest.raises(DivergedRun, match="In 3 batches in a row"):
            steps(monitor_, math.nan)


def test_monitor_reports_a_note_once_and_goes_on():
    one = monitor(strict=True)
    plain = seen(**FAULTS["inert_clip"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert one.check(plain).keys() == {"inert_clip"}
    assert "the clip has no effect" in one.findings()["inert_clip"].first
    assert one.check(plain) == {}
    assert one.findings()["inert_clip"].count == 1
    assert one.findings()["inert_clip"].level == "note"


def test_check_sentences_are_one_line_and_end():
    for name, fault in FAULTS.items():
        sentence = CHECKS[name].find(seen(**fault, initial_entropy=0.9))
        assert sentence.endswith((".", "?")), name
        assert "\n" not in sentence


def test_silent_term_names_the_terms_by_verdict():
    terms = {"exploit": NOISE, "collusion": strength(0.0, 0.0, varied=0), "externality": VANISHED}
    silent = seen(signal_to_noise=terms)
    sentence = CHECKS["silent_term"].find(silent)
    assert "The same for all rollouts of a group: collusion." in sentence
    assert "Noise without a signal: exploit (signal-to-noise ratio 0.05 +- 0.05 over 20 steps)." in sentence
    assert "externality (varied in 6 of 20 measurements, not in the last 14)" in sentence
    assert "payoff" not in sentence


def test_ratio_checks_read_the_ratio_of_a_part_of_the_loss():
    parts = {"policy/ratio_min": 1.0, "policy/ratio_max": 1.0}
    made = StepReport(
        loss=0.1, grad_norm=0.5, learning_rate=1e-3, num_examples=1, num_tokens=1, num_read=1, metrics=parts
    )
    assert CHECKS["stuck_ratio"].find(seen(report=made))
    assert not CHECKS["stuck_ratio"].find(seen(report=made, step=8)), "the first step on a batch starts at 1"
    assert CHECKS["inert_clip"].find(seen(report=made, steps_per_batch=1))


def test_monitor_state_is_json_and_restored_findings_are_not_warned_of_again():
    first, again = monitor(), TrainingMonitor()
    with pytest.warns(TrainingWarning):
        first.check(seen(**FAULTS["alike"]))
    again.restore(json.loads(json.dumps(first.state())))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert again.check(seen(**FAULTS["alike"])).keys() == {"alike"}
    assert again.findings()["alike"].count == 2
    with pytest.warns(TrainingWarning):
        assert again.check(seen(**FAULTS["collapse"])).keys() == {"collapse"}


def test_idle_cut_is_reported_after_some_steps():
    none, some = {"advantages": 40, "advantages_clipped": 0}, {"advantages": 40, "advantages_clipped": 1}
    begun, idle, clipping = TrainingMonitor(), TrainingMonitor(), TrainingMonitor()
    for step in range(6):
        clipping.check(seen(step=step, counts=none if step else some))
    for step in range(PATIENCE):
        begun.check(seen(step=step, counts=none))
    idle.restore(json.loads(json.dumps(begun.state())))
    with pytest.warns(TrainingWarning, match="None of 80 advantages so far"):
        idle.check(seen(step=PATIENCE, counts=none))
    assert not clipping.findings()


def test_inert_clip_is_reported_after_some_steps():
    """The check covers several steps a batch, and a resumed run remembers clipped ratios."""
    inside, beyond = ({"policy/clip_fraction_low": low, "policy/clip_fraction_high": 0.0} for low in (0.0, 0.1))
    begun, idle, clipping = TrainingMonitor(), TrainingMonitor(), TrainingMonitor()
    for step in range(6):
        clipping.check(seen(step=step, report=report(metrics=inside if step else beyond)))
    for step in range(PATIENCE):
        begun.check(seen(step=step, report=report(metrics=inside)))
    idle.restore(json.loads(json.dumps(begun.state())))
    idle.check(seen(step=PATIENCE, report=report(metrics=inside)))
    assert idle.findings()["inert_clip"].first.startswith(f"In {PATIENCE} steps no ratio left the clip range")
    assert not begun.findings()
    assert not clipping.findings()


@pytest.mark.parametrize("name", ["idle_reference", "still_reference"])
def test_reset_learner_is_given_time(name):
    """A reset learner has its initial weights again, and so has its reference."""
    made, again = TrainingMonitor(), TrainingMonitor()
    made.reset(9)
    again.restore(made.state())
    for step, wanted in ((10, set()), (9 + PATIENCE, {name})):
        found = again.check(seen(step=step, reset_step=9, **FAULTS[name]))
        assert set(found) == wanted
    assert again.state()["reset_step"] == 9


@pytest.mark.parametrize(
    ("advantages", "sentence"),
    [
        ((0.0, 0.0), "All advantages of 4 examples are 0, so the step changes nothing"),
        ((0.0, 0.3), "4 examples have a zero gradient though their advantages are not 0: are any weights"),
        ((), "4 examples have a zero gradient: are any weights"),
    ],
)
def test_zero_gradient_is_explained_by_its_cause(advantages, sentence):
    columns = {"advantage": advantages} if advantages else {}
    examples = [Example(tokens=(1, 2, 3), loss_positions=(1, 2), columns=columns)]
    assert CHECKS["no_gradient"].find(seen(report=report(grad_norm=0.0), examples=examples)).startswith(sentence)
