"""The training monitor: runs the checks on every optimizer step and keeps their findings; a checkpoint saves it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from stratagem.base.errors import StratagemError
from stratagem.learn.checks import (
    ADVANTAGES,
    ADVANTAGES_CLIPPED,
    CHECKS,
    CLIP_FRACTIONS,
    PATIENCE,
    Level,
    StepContext,
    TrainingCheck,
)
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner, StepReport
from stratagem.learn.signal_to_noise import SignalToNoiseTracker

_MAX_EXAMPLES = 32
"""Number of examples of a batch that a probe reads."""
Probe = Callable[[Learner, Sequence[Example]], float]


def adapter(learner: Learner, examples: Sequence[Example]) -> float:
    """Measure the gap between the policy and its base model: above 0 after a step, if the adapter is active."""
    if learner.adapter is None:
        return float("inf")
    few = examples[:_MAX_EXAMPLES]
    return _apart(learner.outputs(few).logprobs, learner.outputs(few, adapter=None).logprobs)


def padding(learner: Learner, examples: Sequence[Example]) -> float:
    """Measure the error of packed forward passes over texts that contain padding and stop tokens.

    The reference is a forward pass over one text without a mask. The error of other texts is rounding; four times as
    much is tolerated.
    """
    learner.policy.gather_weights()
    lm = learner.policy.lm
    special = [token for token in (lm.tokenizer.pad_token_id, *sorted(lm.stop_ids)) if token is not None]
    gap, rounding = (
        _packing_error(learner, _texts(learner, tokens)) for tokens in (special, range(7, 7 + len(special)))
    )
    return max(0.0, gap - 4.0 * rounding)


def _packing_error(learner: Learner, texts: Sequence[Example]) -> float:
    with torch.no_grad(), learner.adapter_active():
        plain = torch.cat([_plainly(learner, text) for text in texts])
    return _apart(learner.outputs(texts).logprobs, plain)


PROBES: dict[str, Probe] = {"adapter": adapter, "padding": padding}
"""Probes by name."""


def run_probes(learner: Learner, examples: Sequence[Example]) -> dict[str, float]:
    """Run every probe."""
    return {name: probe(learner, examples) for name, probe in PROBES.items()}


def _apart(ones: torch.Tensor, others: torch.Tensor) -> float:
    return (ones - others).abs().mean().item()


def _texts(learner: Learner, ends: Sequence[int]) -> list[Example]:
    """Return texts of different lengths with these tokens in the prompt, in the reply and after a shared prefix."""
    size = learner.policy.lm.model.get_input_embeddings().num_embeddings
    words = [(7 * index * index + 3 * index + 2) % size for index in range(40)]
    start = [*words[:12], *ends, *words[12:15]]
    texts = [
        [*start, *words[15:24], *ends, *words[24:26]],
        [*start, *ends, words[30]],
        [*ends, *words[5:20]],
    ]
    return [Example(tokens=tuple(text), loss_positions=tuple(range(len(text) // 2, len(text)))) for text in texts]


def _plainly(learner: Learner, example: Example) -> torch.Tensor:
    """Compute the log-probabilities by one pass over the text alone and the full log-softmax."""
    model = learner.policy.lm.model
    logits = model(input_ids=torch.tensor([example.tokens], device=model.device), use_cache=False).logits[0].float()
    every = torch.log_softmax(logits, -1)
    return torch.stack([every[position - 1, example.tokens[position]] for position in example.loss_positions])


class TrainingWarning(UserWarning):
    """First finding of a check."""


class CheckFailed(StratagemError):
    """Finding of a check that stops a strict run."""


class DivergedRun(StratagemError):
    """End of a run whose policy gives no finite loss any more: no later step can train it."""


@dataclass(frozen=True)
class Finding:
    """Everything that one check found in a run."""

    level: Level
    count: int
    """Number of findings; a note is counted once."""
    step: int
    """Optimizer step of the first finding."""
    first: str
    """Sentence of the first finding."""


class TrainingMonitor:
    """Runs every check after every optimizer step; a strict monitor stops the run at the first fault."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.signal_to_noise = SignalToNoiseTracker()
        """Gradient signal-to-noise ratio of each reward term, from `gradient_signal.measure_signals`."""
        self._found: dict[str, Finding] = {}
        self._entropies: list[float] = []
        self._probed = False
        self._reset_step = 0
        self._clipped_advantages: tuple[int, int] | None = None
        self._clip_fraction: float | None = None
        self._batches_not_finite = 0

    def reset(self, step: int) -> None:
        """Note that the learner returned to its initial weights after this many steps."""
        self._reset_step = step
        self._entropies.clear()

    def check_steps(
        self,
        learner: Learner,
        reports: Sequence[StepReport],
        *,
        counts: Mapping[str, int] | None = None,
        skip: Collection[str] = (),
    ) -> dict[str, str]:
        """Check all steps that a learner just took on a batch; the first step with a gradient is probed too.

        `skip` names checks of intended behaviour, such as the low entropy of a policy that imitates a teacher.
        """
        checks = {name: check for name, check in CHECKS.items() if name not in skip}
        sentences = dict[str, str]()
        for index, report in enumerate(reports):
            context = StepContext(
                step=learner.optimizer.steps_taken - len(reports) + index,
                report=report,
                examples=report.examples,
                counts=counts or {},
                steps_per_batch=len(reports),
                batch_step=index,
                signal_to_noise=self.signal_to_noise.estimates(),
                probes=self._probes(learner, report),
                reset_step=self._reset_step,
                entropy_bonus="entropies" in learner.loss.extras,
            )
            sentences |= self.check(context, checks)
        self._stop_if_diverged(reports)
        return sentences

    def _stop_if_diverged(self, reports: Sequence[StepReport]) -> None:
        """Raise where no step on the last batches had a finite loss and gradient."""
        finite = any(math.isfinite(report.loss) and math.isfinite(report.grad_norm) for report in reports)
        self._batches_not_finite = 0 if finite else self._batches_not_finite + 1
        if self._batches_not_finite >= PATIENCE:
            raise DivergedRun(
                f"In {PATIENCE} batches in a row no loss was finite, so nothing is learnt: the weights have diverged, "
                "or a reward is no number. Lower `learning_rate`, or check the rewards, and begin a new run."
            )

    def _probes(self, learner: Learner, report: StepReport) -> Mapping[str, float]:
        """All probes at the first step with a gradient, none at any other."""
        if self._probed or not math.isfinite(report.grad_norm) or report.grad_norm <= 0.0:
            return {}
        self._probed = True
        return run_probes(learner, report.examples)

    def check_skipped_batch(self, step: int, *, counts: Mapping[str, int]) -> dict[str, str]:
        """Check a batch without examples, of which only the counts of its estimator are known."""
        report = StepReport(loss=0.0, grad_norm=0.0, learning_rate=0.0, num_examples=0, num_tokens=0, num_read=0)
        context = StepContext(step=step, report=report, examples=(), counts=counts)
        return self.check(context, {"alike": CHECKS["alike"]})

    def check(self, context: StepContext, checks: Mapping[str, TrainingCheck] = CHECKS) -> dict[str, str]:
        """Return the sentence of each check with a finding, and warn of new ones; a strict monitor raises."""
        self._clip_fraction = _max_clip_fraction(self._clip_fraction, context.report)
        context = replace(
            context,
            initial_entropy=self._initial_entropy(context.report.entropy),
            clipped_advantages=self._count_clipped(context),
            clip_fraction=self._clip_fraction,
        )
        sentences = dict[str, str]()
        for name, check in checks.items():
            known = name in self._found
            if (known and check.level == "note") or not (sentence := check.find(context)):
                continue
            if self.strict and check.level == "fault":
                raise CheckFailed(f"{sentence} (check {name})")
            sentences[name] = sentence
            if known:
                self._found[name] = replace(self._found[name], count=self._found[name].count + 1)
            else:
                self._found[name] = Finding(check.level, 1, context.step, sentence)
                if check.warns:
                    warnings.warn(f"{sentence} (check {name})", TrainingWarning, stacklevel=3)
        return sentences

    def _initial_entropy(self, entropy: float | None) -> float | None:
        if len(self._entropies) >= PATIENCE:
            return math.fsum(self._entropies) / len(self._entropies)
        if entropy is not None and math.isfinite(entropy):
            self._entropies.append(entropy)
        return None

    def _count_clipped(self, context: StepContext) -> tuple[int, int] | None:
        """Clipped and all advantages so far; all steps on one batch carry the same counts."""
        if ADVANTAGES in context.counts and not context.batch_step:
            clipped, number = self._clipped_advantages or (0, 0)
            counts = context.counts
            self._clipped_advantages = (clipped + counts.get(ADVANTAGES_CLIPPED, 0), number + counts[ADVANTAGES])
        return self._clipped_advantages

    def findings(self) -> dict[str, Finding]:
        """Findings so far by the name of their check, in the order of their first step."""
        return dict(self._found)

    def state(self) -> dict[str, Any]:
        """Return plain numbers and texts for a checkpoint."""
        return {
            "found": {name: asdict(finding) for name, finding in self._found.items()},
            "entropies": list(self._entropies),
            "probed": self._probed,
            "reset_step": self._reset_step,
            "clipped_advantages": self._clipped_advantages and list(self._clipped_advantages),
            "clip_fraction": self._clip_fraction,
            "signal_to_noise": self.signal_to_noise.state(),
            "batches_not_finite": self._batches_not_finite,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; findings in it are not warned of again."""
        self._found = {name: Finding(**finding) for name, finding in state["found"].items()}
        self._entropies = list(state["entropies"])
        self._probed = state["probed"]
        self._reset_step = state["reset_step"]
        clipped = state["clipped_advantages"]
        self._clipped_advantages = None if clipped is None else (clipped[0], clipped[1])
        self._clip_fraction = state["clip_fraction"]
        self.signal_to_noise.restore(state["signal_to_noise"])
        self._batches_not_finite = state.get("batches_not_finite", 0)


def _max_clip_fraction(known: float | None, report: StepReport) -> float | None:
    """Largest clip fraction of any step so far, over all parts of the loss; None where no part clips a ratio."""
    fractions = [value for name, value in report.metrics.items() if name.rpartition("/")[2] in CLIP_FRACTIONS]
    return max(known or 0.0, *fractions) if fractions else known
