"""Inputs that each algorithm has for its loss and its advantage estimator; a missing one is refused by name.

A loss and an estimator say what they need: `Loss.columns`, `rows`, `extras` and `paired`, `AdvantageEstimator.columns`
and `terms`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.named import NamedObject
from stratagem.learn.advantages.base import AdvantageEstimator
from stratagem.learn.losses.base import Loss

Needs = frozenset[str]
"""Columns and outputs in words, as they stand in a sentence."""
_PAIRS = "pairs of examples"
_OUTPUTS = {
    "values": "a value head",
    "reference_logprobs": "a reference",
    "target_logprobs": "target distributions",
    "entropies": "entropies",
}
"""Outputs of the model that a loss may read, in words."""
ADVANTAGE = "advantage"
"""The column by which a reward reaches a loss."""


def needs(
    columns: Iterable[str] = (), rows: Iterable[str] = (), extras: Iterable[str] = (), *, paired: bool = False
) -> Needs:
    """Return the inputs of a loss in words."""
    inputs = {f"the column `{name}`" for name in columns} | {f"the row `{name}`" for name in rows}
    return frozenset(inputs | {_OUTPUTS[name] for name in extras} | ({_PAIRS} if paired else set()))


@dataclass(frozen=True, kw_only=True)
class CollectedInputs:
    """Inputs that one algorithm collects."""

    name: str
    """As a reader knows it."""
    loss: Needs
    """For a loss."""
    advantage: frozenset[str] = frozenset()
    """Columns of `Decisions` for an estimator, beside `episode` and the terms of the reward."""
    weights: str = field(default="", compare=False)
    """The settings that weigh the terms of the reward; empty where the estimator may weigh them itself."""

    def check_loss(self, loss: NamedObject[Loss]) -> None:
        """Refuse a loss that needs more, and one that no reward would reach."""
        own = loss.value
        if unknown := sorted(own.extras - _OUTPUTS.keys()):
            raise UnknownName("output of the model for a loss", unknown[0], _OUTPUTS)
        needed = needs(own.columns, own.rows, own.extras, paired=own.paired)
        if lacking := needed - self.loss:
            have = [other.name for other in PROVIDED if needed <= other.loss]
            raise BadParameter(self._lacks(f"loss {loss.type}", sorted(lacking), have))
        if ADVANTAGE not in own.columns:
            raise BadParameter(
                f"The loss {loss.type} reads no `{ADVANTAGE}`, so in {self.name} no reward would change the policy: "
                "take one that does, such as policy_gradient."
            )

    def check_advantage(self, advantage: NamedObject[AdvantageEstimator], terms: frozenset[str]) -> None:
        """Refuse an estimator that needs more columns, or other terms of the reward than these."""
        own = advantage.value
        if self.weights and any("weights" in part.given for part in advantage.parts()):
            raise BadParameter(
                f"{self.name} weighs the terms of the reward by {self.weights}: leave `weights` out of `advantage`."
            )
        if lacking := own.columns - self.advantage:
            have = [other.name for other in PROVIDED if own.columns <= other.advantage]
            told = [f"the column `{name}`" for name in sorted(lacking)]
            raise BadParameter(self._lacks(f"advantage {advantage.type}", told, have))
        if unknown := own.terms - terms:
            there = f"there are {', '.join(sorted(terms))}" if terms else "its batches have different terms"
            raise BadParameter(
                f"The advantage {advantage.type} reads the term {min(unknown)} of the reward, which {self.name} does "
                f"not have in every batch: {there}."
            )

    def _lacks(self, what: str, lacking: list[str], have: list[str]) -> str:
        """The sentence: what is needed, and who has it."""
        others = f"{' and '.join(have)} {'does' if len(have) == 1 else 'do'}" if have else "no algorithm here does"
        return f"The {what} needs {_list_words(lacking)}, which {self.name} does not collect: {others}."


def _list_words(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


_POLICY = needs(("advantage", "old_logprobs", "sampler_logprobs"), ("divisor",), ("reference_logprobs", "entropies"))
"""Inputs of the algorithms that train a policy on its own rollouts."""
_MESSAGES = ("message", "silenced", "redrawn")
"""Columns about messages, for which branches are played where an estimator asks for them."""
GRPO = CollectedInputs(
    name="GRPO",
    loss=_POLICY,
    advantage=frozenset({"group", "round", "role", "weight", "others", *_MESSAGES}),
    weights="`reward_weights`",
)
LEAGUE = CollectedInputs(name="a league", loss=GRPO.loss, advantage=GRPO.advantage, weights=GRPO.weights)
REINFORCE = CollectedInputs(
    name="REINFORCE", loss=_POLICY, advantage=frozenset({"group", "round", "role", "others", *_MESSAGES})
)
SEPO = CollectedInputs(
    name="SEPO",
    loss=_POLICY,
    advantage=frozenset({"group", "round", "role", *_MESSAGES}),
    weights="`exploitability_weight`, `collusion_weight`, `externality_weight` and `deception_weight`",
)
SHAPELLM = CollectedInputs(
    name="ShapeLLM",
    loss=needs(("advantage", "return", "old_value", "old_logprobs", "sampler_logprobs"), (), ("values", "entropies")),
    advantage=frozenset({"group", "round", "value", "others"}),
)
SCO_PAL = CollectedInputs(
    name="SCO-PAL",
    loss=needs(
        ("advantage", "weight", "old_logprobs"),
        ("divisor", "desirable", "kl", "chosen", "weight", "advantage"),
        ("reference_logprobs",),
        paired=True,
    ),
    advantage=frozenset({"state", "action", "outcome"}),
)
KL_SFT = CollectedInputs(name="KL-SFT", loss=needs(("target_entropy",), (), ("target_logprobs",)))
PROVIDED = (GRPO, LEAGUE, REINFORCE, SEPO, SHAPELLM, SCO_PAL, KL_SFT)
"""All of them."""
