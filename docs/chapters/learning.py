"""Parts of a learner: losses, advantage estimators and other parts by name, and the checks of a training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from functools import partial
from inspect import getdoc
from typing import Any

from chapters.markdown import code, definition, notes, page, table
from chapters.provoked import PROVOKED
from stratagem.language.models.decoding_settings import SAMPLERS
from stratagem.learn.advantages.base import AdvantageEstimator, Decisions
from stratagem.learn.advantages.catalogue import ESTIMATORS
from stratagem.learn.checks import CHECKS
from stratagem.learn.kl_controller import KL_RULES
from stratagem.learn.losses.base import Loss, Outputs
from stratagem.learn.losses.catalogue import LOSSES
from stratagem.learn.optimizer import OPTIMIZERS
from stratagem.learn.reference import REFERENCE_RULES
from stratagem.learn.schedules import SCHEDULES
from stratagem.training.loop import CHECK as FAILED_TURN
from stratagem.training.opponents.matchmakers import MATCHMAKERS
from stratagem.training.provided import PROVIDED

Factories = Mapping[str, Callable[..., Any]]
LABELS = "Reference:", "What differs:", "When not:"
"""First words of a part of a docstring."""


def losses() -> str:
    """The page of losses."""
    return page(
        "Losses",
        "All losses by name. A recipe names a loss with the key `loss` of `[grpo]`, `[reinforce]`, `[sepo]` or "
        '`[league]`, as a text or as a table: `{ type = "dapo", clip_range_high = 0.3 }`. A table '
        "without `type` changes parameters of the algorithm's default loss. In Python, "
        "`read_loss` of `stratagem.learn.losses.catalogue` makes a loss, with parameters in brackets: "
        "`policy_gradient(kl_estimator=k3, kl_coef=0.04)`. Other packages add losses by the "
        "entry-point group `stratagem.losses`: see [Add a loss](../how-to/add-a-loss.md).",
        table(("loss", "definition"), ((f"[{name}](#{name})", _short(make)) for name, make in LOSSES.items())),
        "## Model outputs",
        "A loss always receives the first output. It names the others that it needs in `extras`.",
        table(("output", "meaning"), ((code(name), meant) for name, meant in notes(Outputs).items())),
        "## Inputs by algorithm",
        "A loss that needs another input is rejected at start-up. Online algorithms (GRPO, REINFORCE, SEPO and "
        "leagues) also reject a loss that does not read the column `advantage`, since no reward would reach it. "
        "Their row `divisor` is the number of decisions in the batch; of a batch that is split over several optimizer "
        "steps, in the part of the step.",
        table(("algorithm", "inputs"), ((one.name, "; ".join(sorted(one.loss))) for one in PROVIDED)),
        *_entries(LOSSES, lambda make: _needs(make())),
    )


def advantages() -> str:
    """The page of advantage estimators."""
    return page(
        "Advantage estimators",
        "All advantage estimators by name. An estimator maps columns about decisions to one advantage per decision. A "
        "recipe names an estimator with the key `advantage` of `[grpo]`, `[reinforce]`, `[sepo]` or `[league]`, "
        'as a text or as a table: `{ type = "role_baseline", ema_decay = 0.9 }`. A table without '
        "`type` changes parameters of the algorithm's default estimator. The algorithm applies the weights of the "
        "reward terms itself, so recipes have no parameter `weights`. In Python, `read_advantage` of "
        "`stratagem.learn.advantages.catalogue` makes an estimator, as in `per_round(return_to_go=False)`. "
        "Other packages add estimators by the entry-point group "
        "`stratagem.advantages`: see [Add an advantage estimator](../how-to/add-an-advantage-estimator.md).",
        table(("estimator", "definition"), ((f"[{name}](#{name})", _short(make)) for name, make in ESTIMATORS.items())),
        "## Columns",
        definition(Decisions),
        table(("column", "meaning"), ((code(name), meant) for name, meant in notes(Decisions).items())),
        "## Columns by algorithm",
        "Every algorithm also provides `episode` and its reward terms. An estimator that needs another column is "
        "rejected at start-up.",
        table(
            ("algorithm", "columns"),
            ((one.name, ", ".join(map(code, sorted(one.advantage)))) for one in PROVIDED if one.advantage),
        ),
        *_entries(ESTIMATORS, lambda make: _reads(make())),
    )


def optimizers() -> str:
    """The page of optimizers, learning-rate schedules and KL rules."""
    return page(
        "Optimizers, schedules and KL rules",
        "Parts of a learner have names, as losses have: the optimizer (`optimizer.method`), the schedule of its "
        "learning rate (`optimizer.schedule`), the rule that adapts the coefficient of the KL penalty "
        "(`adaptive_kl.controller`), and the reference of that penalty (`reference.type`). A recipe takes a text "
        "such as `cosine(end=0.1)`, or a table: "
        '`{ type = "cosine", end = 0.1 }`. A part of your own is named as `FILE.py:CLASS`, or by the entry-point '
        "groups `stratagem.optimizers`, `stratagem.schedules`, `stratagem.kl_rules` and `stratagem.references`: see "
        "[Change the optimizer](../how-to/change-the-optimizer.md).",
        "## Optimizers",
        *_described(OPTIMIZERS),
        "## Learning-rate schedules",
        "The learning rate rises linearly over `warmup_ratio` of the steps. The schedule gives its factor afterwards.",
        *_described(SCHEDULES),
        "## KL rules",
        *_described(KL_RULES),
        "## References",
        "Beside these `reference.type` is `base`, the model without the adapter, or `copy`, a frozen copy. The "
        "options of `ema` stand beside `type`, those of a rule of your own in brackets after its name.",
        *_described(REFERENCE_RULES),
    )


def matchmakers() -> str:
    """The page of matchmakers."""
    return page(
        "Matchmakers",
        "All matchmakers by name: rules that give the opponents of a policy their probabilities. Recipes name one with "
        "the key `matchmaker` of `[grpo]`, `[reinforce]`, `[sepo]` or of a league's learner, as a "
        'text or as a table: `{ type = "pfsp", weighting = "linear" }`. One of your own is named as `FILE.py:CLASS`, '
        "or by the entry-point group `stratagem.matchmakers`: see [Choose opponents](../how-to/choose-opponents.md).",
        *_entries(MATCHMAKERS, lambda _: ""),
    )


def samplers() -> str:
    """The page of samplers."""
    return page(
        "Samplers",
        "All samplers by name: the distribution that tokens are drawn from, as a function of the policy's. Recipes "
        "name one with the key `sampler`, beside `temperature`, as a text or as a table: "
        '`{ type = "epsilon_uniform", epsilon = 0.05 }`. A language player takes it as an option: '
        "`lm(tiny, sampler=epsilon_uniform(epsilon=0.05))`. Without one the policy itself is drawn from. One of your "
        "own is named as `FILE.py:CLASS`, or by the entry-point group `stratagem.samplers`: see "
        "[Explore with a sampler](../how-to/explore.md).",
        *_entries(SAMPLERS, lambda _: ""),
    )


def _described(factories: Factories) -> Iterator[str]:
    """Entries of a table one level below its heading."""
    return (f"#{entry}" for entry in _entries(factories, lambda _: ""))


def checks() -> str:
    """The page of checks."""
    return page(
        "Checks",
        "Checks run at every training step. They find problems that raise no error. A *fault* prints one warning and "
        "is counted; with `--strict` it stops the run. A *note* describes an intended property; it is printed once. "
        "Findings are in the run's `findings.json`, in the metrics `checks/NAME`, and in the report.",
        table(("check", "level", "condition"), ((code(n), c.level, definition(c.find)) for n, c in CHECKS.items())),
        f"The loop adds one more fault, {code(FAILED_TURN)}: a player raised an error at its turns, or gave no reply, "
        "so the game's default action stood in for it.",
        "## Example messages",
        "Each message is about a constructed step that triggers the check.",
        table(("check", "message"), ((code(name), _said(name)) for name in CHECKS)),
    )


def _said(name: str) -> str:
    sentence = CHECKS[name].find(PROVOKED[name])
    if not sentence:
        raise RuntimeError(f"the step that is to provoke {name} does not")
    return sentence


def _short(make: Callable[..., Any]) -> str:
    """The first sentence of the docstring, or of what a setting of another is a setting."""
    if isinstance(make, partial):
        return f"{code(make.func.__name__)} with {_settings(make)}."
    return definition(make).partition(". ")[0].rstrip(".") + "."


def _settings(make: partial[Any]) -> str:
    return ", ".join(code(f"{name}={value}") for name, value in make.keywords.items())


def _entries(factories: Factories, more: Callable[[Any], str]) -> Iterator[str]:
    for name, make in factories.items():
        if not isinstance(make, partial):
            yield "\n\n".join(filter(None, (f"## {name}", _told(make), more(make), _options(make))))
        else:
            own = next(other for other, factory in factories.items() if factory is make.func)
            yield f"## {name}\n\n[{own}](#{own}) with {_settings(make)}."


def _told(cls: Any) -> str:
    """The docstring, with a paragraph for each thing that it says of the whole."""
    parts: list[list[str]] = [[]]
    for line in (getdoc(cls) or "").splitlines():
        if line.startswith(LABELS):
            parts.append([])
        parts[-1].append(line)
    return "\n\n".join(" ".join(" ".join(part).split()) for part in parts)


def _needs(loss: Loss) -> str:
    needed = {
        "of each token": loss.columns,
        "of each example": loss.rows,
        "of the model": loss.extras,
    }
    told = [f"{what} {', '.join(code(name) for name in sorted(names))}" for what, names in needed.items() if names]
    told += ["pairs of examples"] if loss.paired else []
    return f"Needs, with its defaults, {'; '.join(told)}." if told else "Needs nothing but log-probabilities."


def _reads(estimator: AdvantageEstimator) -> str:
    told = [code(name) for name in sorted(estimator.columns)]
    return f"Needs, with its defaults, the column{'s' * (len(told) > 1)} {', '.join(told)}." if told else ""


def _options(cls: Any) -> str:
    meant = notes(cls)
    rows = [(code(field.name), _default(field), meant.get(field.name, "")) for field in fields(cls)]
    return table(("parameter", "default", "meaning"), rows) if rows else ""


def _default(field: Field[Any]) -> str:
    if field.default_factory is not MISSING:
        made = type(field.default_factory())
        return code(next(name for name, make in ESTIMATORS.items() if make is made))
    return "must be given" if field.default is MISSING else code(field.default)
