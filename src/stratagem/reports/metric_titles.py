"""Titles and descriptions of the metrics of training that have a picture of their own.

A metric may have an owner, a seat or a learner, before its name, and a loss of several parts names the part:
`shaper/loss/policy/ratio` is `loss/ratio` of the part `policy` of `shaper`. Names without a title stand as they are.
"""

from __future__ import annotations

from typing import NamedTuple

TITLES: dict[str, tuple[str, str]] = {
    "checkpoint_metric": ("Checkpoint metric", "The checkpoint with the highest value is selected."),
    "loss": ("Loss", ""),
    "grad_norm": ("Gradient norm", "Before clipping."),
    "learning_rate": ("Learning rate", ""),
    "entropy": ("Entropy", "Entropy of the policy, in nats per token. Near 0 the policy no longer explores."),
    "loss/kl": ("KL divergence from the reference", "In nats per token."),
    "loss/entropy": ("Entropy term of the loss", "In nats per token."),
    "loss/nll": ("Negative log-likelihood", "Of the demonstrations, in nats per token."),
    "loss/ratio": ("Importance ratio, mean", "Ratio to the policy before the step. It is 1 with one step a batch."),
    "loss/ratio_min": ("Importance ratio, minimum", "Ratio to the policy before the step."),
    "loss/ratio_max": ("Importance ratio, maximum", "Ratio to the policy before the step."),
    "loss/approx_kl": ("KL divergence from the policy before the step", "An estimate, in nats per token."),
    "loss/clip_fraction": ("Clip fraction", "Share of terms whose gradient is removed by clipping."),
    "loss/clip_fraction_low": ("Clip fraction, lower bound", "Share of tokens that are clipped at the lower bound."),
    "loss/clip_fraction_high": ("Clip fraction, upper bound", "Share of tokens that are clipped at the upper bound."),
    "loss/value": ("Predicted return", "Mean prediction of the value head."),
    "loss/returns": ("Return", "Mean return that the value head should predict."),
    "loss/squared_error": ("Squared error of the value head", ""),
    "loss/explained_variance": (
        "Explained variance of the returns",
        "1 at best, 0 for a constant prediction, and negative for one that is worse than the mean.",
    ),
    "loss/reward_margin": ("Reward margin", "Implicit reward of the chosen reply less that of the rejected one."),
    "loss/reward_accuracy": ("Pairs in the right order", "Share of pairs whose chosen reply has the larger reward."),
    "loss/reward_chosen": ("Implicit reward, chosen", "Mean over the chosen replies."),
    "loss/reward_rejected": ("Implicit reward, rejected", "Mean over the rejected replies."),
    "loss/reward_desirable": ("Implicit reward, desirable", "Mean over the desirable replies."),
    "loss/reward_undesirable": ("Implicit reward, undesirable", "Mean over the undesirable replies."),
    "advantage/no_variance": (
        "Groups without variance",
        "Share of groups that give no gradient: their rewards are equal, or they have one rollout.",
    ),
    "advantage/clipped": ("Clipped advantages", "Share of advantages beyond the setting advantage_clip."),
    "advantage/double_negative": (
        "Products of two negative numbers",
        "Share of rows that the estimator per_order reinforces by such a product.",
    ),
    "kl": ("KL divergence from the reference", "Before the update."),
    "kl_coef": ("KL coefficient", ""),
    "score": ("Reward a turn", "Mean over the batch."),
    "undone": ("Updates undone", "1 where an update went too far and was taken back."),
    "num_examples": ("Examples", "Number of replies of the update."),
    "num_asked": ("Tokens of the examples", "Prompts included."),
    "num_read": ("Tokens read", "Tokens that the model read in the update; a shared prefix is read once."),
    "effective": ("Effective number of opponents", "1 divided by the sum of the squared probabilities."),
    "points": ("Match points", "Share of the points in the matches of the iteration; a draw is one half."),
    "decisions": ("Decisions an episode", "Mean over the episodes of the iteration."),
    "reward": ("Reward of an episode", "Mean over the episodes of the iteration."),
    "deception": ("Deception", "Share of deceptive statements among those that the speaker knew to be true or false."),
    "best_response_gain": ("Gain of the best response", "At the seat where it is largest, a round."),
    "best_response_kl": ("Change since the last best response", "KL divergence of the policy, in nats."),
    "overlap/staleness": ("Age of the rollouts", "Number of updates since the policy that played."),
}
"""Title and description by name, without an owner and without the part of a loss."""
_LOSS = "loss"
_GROUPS = (_LOSS, "advantage", "overlap", "signal", "checks")
"""First words of names that are no owner."""


class Named(NamedTuple):
    """Parts of the name of a metric of training."""

    owner: str
    part: str
    """Part of the loss."""
    name: str


def named(metric: str) -> Named:
    """Split the name of a metric of training."""
    first, _, rest = metric.partition("/")
    owner, name = ("", metric) if not rest or first in _GROUPS else (first, rest)
    words = name.split("/")
    if words[0] == _LOSS and len(words) > 2:
        return Named(owner, "/".join(words[1:-1]), f"{_LOSS}/{words[-1]}")
    return Named(owner, "", name)


def title_of(metric: str) -> tuple[str, str]:
    """Return the title, without the owner, and the description of a metric; the whole name where it has none."""
    _, part, name = named(metric)
    title, caption = TITLES.get(name, (metric, ""))
    return (f"{title}, {part}" if part and name in TITLES else title), caption
