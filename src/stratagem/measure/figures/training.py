"""Figures of training: the metrics that a run logs, with their titles and units.

A metric may have an owner, a game or a learner, before its name, and a loss of several parts names the part:
`shaper/loss/policy/ratio` is `loss/ratio` of the part `policy` of `shaper`. Words in capitals stand for names.
"""

from __future__ import annotations

import re
from dataclasses import replace

from stratagem.measure.figures.figure import PAYOFF, Figure

SCALED = "points a round, common scale"
"""Unit of payoffs that are on the common scale where the game has one."""
SHARE, EPISODES, RATE, NATS, RATIO = "share", "share of episodes", "rate", "nats a token", "ratio"
_OWNER = "GAME/"
OF_GAMES = (
    Figure(
        "GAME/payoff",
        "payoff of the rollouts",
        SCALED,
        "higher",
        "payoff a round of this iteration's rollouts against the train pool",
    ),
    Figure("GAME/externality", "externality of the rollouts", RATE, "lower", "their externality, with a penalty"),
    Figure(
        "GAME/probe/exploit/OPPONENT",
        "shortfall in a probe",
        SCALED,
        "lower",
        "payoff that the agent loses, compared with a passive opponent",
    ),
    Figure(
        "GAME/probe/collusion/OPPONENT",
        "collusion in a probe",
        RATE,
        "lower",
        "collusive rounds among those in which collusion can be observed",
    ),
    Figure(
        "GAME/best_response_gain",
        "Gain of the best response",
        PAYOFF,
        "lower",
        "largest gain of a best response at one seat, a round, with more than two seats",
    ),
    Figure(
        "GAME/best_response_kl",
        "Change since the last best response",
        "nats",
        explanation="KL divergence of the policy to that of the last best response; no value where it is due",
    ),
    Figure("GAME/validation/win_rate", "win rate", EPISODES, "higher", "episodes of validation that were won"),
    Figure("GAME/validation/collusion", "collusion", RATE, "lower", "the same in validation"),
    Figure("GAME/validation/externality", "externality", RATE, "lower", "the same in validation"),
    Figure("GAME/validation/nra*", "NRA", RATIO, "higher", "normalised relative advantage in validation"),
    Figure(
        "GAME/validation/worst_case",
        "scaled worst-case advantage",
        SCALED,
        "lower",
        "advantage of a best response on the common scale, where it can be computed",
    ),
    Figure(
        "GAME/validation/METRIC",
        "metric of validation",
        SCALED,
        explanation="mean of a [metric](metrics.md) over the deals of validation",
    ),
    Figure("GAME/exact/exploitability", "exploitability", PAYOFF, "lower", "NashConv over the number of seats"),
    Figure("GAME/exact/worst_advantage", "worst-case advantage", PAYOFF, "lower", "advantage of a best response"),
    Figure(
        "GAME/replies/exploitability",
        "exploitability from replies",
        PAYOFF,
        "lower",
        "the same from replies, where a model states no probabilities, by `policy_replies`",
    ),
    Figure(
        "GAME/replies/LIMIT",
        "limit of exploitability",
        PAYOFF,
        "lower",
        "its limits `lower` and `upper`, of 95 % each, 90 % together; the lower one may be missing",
    ),
    Figure(
        "GAME/deception",
        "Deception",
        "share of statements",
        "lower",
        "deceptive statements among those that the speaker knew to be true or false",
    ),
    Figure("GAME/illegal_rate", "illegal", "share of replies", "lower", "replies in validation without a legal action"),
)
"""Figures whose owner is a game."""
OF_UPDATES = (
    Figure(
        "checkpoint_metric",
        "Checkpoint metric",
        "",
        "higher",
        "mean over games of the recipe's `checkpoint_metric`; the checkpoint with the highest value is selected",
    ),
    Figure("loss", "Loss", explanation="loss of the algorithm; of SFT nats a token of the demonstrations"),
    Figure("grad_norm", "Gradient norm", explanation="L2 norm of the gradient, before clipping"),
    Figure("learning_rate", "Learning rate", explanation="learning rate of the step"),
    Figure(
        "entropy",
        "Entropy",
        NATS,
        explanation="entropy of the policy before the step, over what it may say; near 0 it no longer explores",
    ),
    Figure(
        "loss/kl",
        "KL divergence from the reference",
        NATS,
        explanation="KL penalty to the reference policy before its coefficient, by `kl_estimator`",
    ),
    Figure("loss/entropy", "Entropy term of the loss", NATS, explanation="entropy over the allowed tokens"),
    Figure("loss/nll", "Negative log-likelihood", NATS, "lower", "negative log-likelihood of the demonstrations"),
    Figure(
        "loss/ratio",
        "Importance ratio, mean",
        RATIO,
        explanation="mean importance ratio to the policy before the step; 1 with one step a batch",
    ),
    Figure("loss/ratio_min", "Importance ratio, minimum", RATIO, explanation="its minimum"),
    Figure("loss/ratio_max", "Importance ratio, maximum", RATIO, explanation="its maximum"),
    Figure(
        "loss/approx_kl",
        "KL divergence from the policy before the step",
        NATS,
        explanation="approximate KL divergence from the policy before the step",
    ),
    Figure("loss/clip_fraction", "Clip fraction", SHARE, explanation="terms whose gradient is removed by clipping"),
    Figure("loss/clip_fraction_low", "Clip fraction, lower bound", SHARE, explanation="tokens clipped at that bound"),
    Figure("loss/clip_fraction_high", "Clip fraction, upper bound", SHARE, explanation="tokens clipped at that bound"),
    Figure("loss/value", "Predicted return", explanation="mean prediction of the value head"),
    Figure("loss/returns", "Return", explanation="mean return that the value head should predict"),
    Figure("loss/squared_error", "Squared error of the value head", "", "lower", "mean squared error of it"),
    Figure(
        "loss/explained_variance",
        "Explained variance of the returns",
        "",
        "higher",
        "1 at best, 0 for a constant prediction, and negative for one that is worse than the mean",
    ),
    Figure(
        "loss/reward_margin",
        "Reward margin",
        "",
        "higher",
        "implicit reward of the chosen reply less that of the rejected one",
    ),
    Figure(
        "loss/reward_accuracy",
        "Pairs in the right order",
        SHARE,
        "higher",
        "pairs whose chosen reply has the larger reward",
    ),
    *(
        Figure(f"loss/reward_{kind}", f"Implicit reward, {kind}", explanation=f"mean over the {kind} replies")
        for kind in ("chosen", "rejected", "desirable", "undesirable")
    ),
    Figure(
        "advantage/no_variance",
        "Groups without variance",
        SHARE,
        explanation="groups that give no gradient: their rewards are equal, or they have one rollout",
    ),
    Figure(
        "advantage/clipped",
        "Clipped advantages",
        SHARE,
        explanation="advantages beyond the setting `advantage_clip`",
    ),
    Figure(
        "advantage/double_negative",
        "Products of two negative numbers",
        SHARE,
        explanation="rows that the estimator `per_order` reinforces by such a product",
    ),
    Figure("kl", "KL divergence from the reference", NATS, explanation="KL divergence before the update"),
    Figure("kl_coef", "KL coefficient", explanation="coefficient of the KL penalty"),
    Figure("score", "Reward a turn", "", "higher", "mean over the batch"),
    Figure("undone", "Updates undone", SHARE, "lower", "1 where an update went too far and was taken back"),
    Figure("num_examples", "Examples", "replies", explanation="number of replies of the update"),
    Figure("num_asked", "Tokens of the examples", "tokens", explanation="tokens of the examples, prompts included"),
    Figure(
        "num_read",
        "Tokens read",
        "tokens",
        explanation="tokens that the model read in the update; a shared prefix is read once",
    ),
    Figure("overlap/staleness", "Age of the rollouts", "updates", explanation="updates since the policy that played"),
    Figure(
        "signal/TERM/dot",
        "Gradient signal",
        explanation="gradient signal of a reward term: dot product of the gradients over two halves of each group",
    ),
    Figure("signal/TERM/noise", "Gradient noise", explanation="sum of the squared norms of these two gradients"),
    Figure(
        "signal/TERM/ratio",
        "Signal ratio",
        RATIO,
        explanation="twice the dot product over that sum: 1 where the halves agree, about 0 for noise",
    ),
    Figure("checks/CHECK", "Check", explanation="1 at each step at which the check found something"),
)
"""Figures of the updates of a policy."""
OF_LEARNERS = (
    Figure("effective", "Effective number of opponents", "opponents", explanation="1 over the sum of squared shares"),
    Figure("points", "Match points", SHARE, "higher", "points in the matches of the iteration; a draw is one half"),
    Figure("decisions", "Decisions an episode", "decisions an episode", explanation="mean over episodes"),
    Figure("reward", "Reward of an episode", "return an episode", "higher", "mean over the iteration's episodes"),
)
"""Figures of a learner in a league, and of the episodes of an iteration."""
TRAINING: tuple[Figure, ...] = (*OF_GAMES, *OF_UPDATES, *OF_LEARNERS)
_LAST = re.compile(r"[A-Z]{4,}$")
_BY_NAME = {_LAST.sub("*", figure.key.removeprefix(_OWNER)): figure for figure in TRAINING}
"""Figures by name without an owner; a last `*` stands for any name, and the first that fits counts."""


def training_figure(name: str) -> Figure | None:
    """Return the figure of a metric without its owner and without the part of a loss; None where there is none."""
    return next((figure for pattern, figure in _BY_NAME.items() if fits(pattern, name)), None)


def metric_figure(metric: str) -> Figure:
    """Return the figure of a metric of a run under its whole name; one of another package has its name alone."""
    names = metric, metric.partition("/")[2]
    figure = next((found for name in names if (found := training_figure(name)) is not None), None)
    return replace(figure, key=metric) if figure else Figure(metric, metric)


def fits(pattern: str, name: str) -> bool:
    """Return whether a metric, without its owner, is that of a pattern; a last `*` stands for any name."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
