"""Table of renamed keys, by the class that has them; those of a base class hold in its subclasses.

An entry stays until the release in `until`: then it is deleted here, and the old name is a name like any unknown one.
"""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.base.renamed.moves import (
    drop_unread,
    estimator_of,
    kl_of_grpo,
    kl_of_sepo,
    only_zero,
    order_scale_of,
    orders_of,
    scale_of,
    teachers_of,
)
from stratagem.base.renamed.renaming import Release, Renaming, convert_values, move_value

_RECIPES: Mapping[str, Mapping[str, str | Renaming]] = {
    "BranchedRolloutSettings": {
        "groups": "groups_per_batch",
        "forks": "group_size",
        "warm_up": "prefix_player",
        "turns": "prefix_turns",
        "horizon": "horizon_phases",
        "dice": convert_values(
            'chance_seeds = "independent" (own) or chance_seeds = "shared" (alike)',
            {"own": "independent", "alike": "shared"},
            "chance_seeds",
        ),
        "terms": "reward_weights",
        "updates": "optimizer_steps",
        "clip_advantage": "advantage_clip",
        "optimiser": "optimizer",
        "kl": Renaming('loss = { kl_estimator = "k3", kl_coef = ... }', kl_of_grpo),
        "entropy": move_value("loss = { entropy_coef = ... }", "loss.entropy_coef"),
        "clip_low": move_value("loss = { clip_range_low = ... }", "loss.clip_range_low"),
        "clip_high": move_value("loss = { clip_range_high = ... }", "loss.clip_range_high"),
        "credit": Renaming('advantage = "group_mean" (episode) or advantage = "per_round" (turn)', estimator_of),
        "scale": Renaming("advantage = { normalize_std = ... }", scale_of),
        "orders": Renaming('advantage = { type = "per_order", combine = ... }', orders_of),
        "order_scale": Renaming('advantage = { type = "per_order", weight_coef = ... }', order_scale_of),
    },
    "KLSFTRecipe": {
        "aims": "target_policies",
    },
    "LeagueSettings": {
        "keep_every": "snapshot_every",
        "keep_latest": "snapshot_latest",
        "history": "max_snapshots",
        "loaded": "max_loaded_adapters",
        "crossplay": "crossplay_games",
        "shown": "crossplay_snapshots",
    },
    "ScopalRecipe": {
        "max_new": "max_new_tokens",
        "recompute": "gradient_checkpointing",
        "judge": "final_evaluation",
    },
    "InteractionSettings": {"teacher": Renaming("teachers = { NAME = 1.0 }", teachers_of)},
    "RewardSettings": {
        "credit": "step_reward",
    },
    "StageSettings": {
        "beta": Renaming("", drop_unread),
        "optimiser": "optimizer",
        "batch": "batch_size",
        "heaviest": "max_weight_ratio",
    },
    "KTOStageSettings": {
        "beta": "kto_beta",
    },
    "DPOStageSettings": {
        "beta": "dpo_beta",
    },
    "GRPOStageSettings": {
        "beta": "kl_coef",
    },
    "SPAGStageSettings": {
        "beta": "kl_coef",
    },
    "SampleSettings": {
        "most": "max_samples",
        "ratio": Renaming("", only_zero),
    },
    "SEPOSettings": {
        "rollouts": "group_size",
        "groups": "groups_per_batch",
        "credit": "penalty_credit",
        "source": "penalty_source",
        "refresh": "best_response_every",
        "alpha": "exploitability_weight",
        "beta": "collusion_weight",
        "gamma": "externality_weight",
        "optimiser": "optimizer",
        "kl": Renaming("loss = { kl_coef = ... }", kl_of_sepo),
        "clip": move_value(
            "loss = { clip_range_low = ..., clip_range_high = ... }", "loss.clip_range_low", "loss.clip_range_high"
        ),
        "normalise": move_value("advantage = { unit = ... }", "advantage.unit"),
        "horizon": convert_values(
            "advantage = { return_to_go = ... }", {"to_go": True, "round": False}, "advantage.return_to_go"
        ),
    },
    "FinalEvaluationSettings": {
        "games": "episodes",
    },
    "ShapeLLMRecipe": {
        "start": "target_policies",
        "test": "final_evaluation",
        "usual": "defaults",
    },
    "ModelSettings": {
        "max_new": "max_new_tokens",
    },
    "PPOLearnerSettings": {
        "optimiser": "optimizer",
        "pace": "learning_rate_scale",
    },
    "NaiveSettings": {
        "clock": "update_every",
    },
    "ShaperSettings": {
        "clock": "update_every",
    },
    "TabularSettings": {
        "clock": "update_every",
        "rate": "learning_rate",
        "first": "initial_probability",
        "gamma": "discount",
    },
    "AdaptiveKLSettings": {
        "start": "initial_kl_coef",
        "target": "target_kl",
        "horizon": "num_decisions",
        "bound": "max_error",
    },
    "Batches": {
        "batch": "batch_size",
        "mini_batch": "mini_batch_size",
    },
    "OptimizerSettings": {
        "rate": "learning_rate",
        "warm_up": "warmup_ratio",
        "decay": "weight_decay",
        "clip": "max_grad_norm",
    },
    "PPOSettings": {
        "clip": "clip_range",
        "value_clip": "clip_range_value",
        "c_vf": "value_coef",
        "gamma": "discount",
        "lam": "gae_lambda",
        "centre": "advantage_mean_over",
        "least_spread": "advantage_std_floor",
        "kl": "adaptive_kl",
        "farthest": "max_update_kl",
        "entropy": "entropy_coef",
    },
    "ReferenceSettings": {
        "decay": "ema_decay",
        "every": "update_every",
    },
    "PolicyRecipe": {
        "max_new": "max_new_tokens",
        "recompute": "gradient_checkpointing",
        "warm_start": "sft",
        "select": "checkpoint_metric",
        "validation": "validation_episodes",
        "test": "test_episodes",
    },
    "AnyRecipe": {
        "budget": "max_tokens_per_microbatch",
    },
    "AdapterSettings": {
        "alpha": "lora_alpha",
    },
    "SFTSettings": {
        "examples": "num_examples",
        "batch": "batch_size",
        "optimiser": "optimizer",
    },
}
"""Keys of recipes."""
_OBJECTIVES: Mapping[str, Mapping[str, str | Renaming]] = {
    "Discounted": {
        "gamma": "discount",
        "win": "win_reward",
        "tie": "tie_reward",
        "loss": "loss_reward",
    },
    "GAE": {
        "gamma": "discount",
        "lam": "gae_lambda",
    },
    "GroupMean": {
        "scale": "normalize_std",
        "delta": "std_epsilon",
    },
    "PerOrder": {
        "how": convert_values("combine (add, multiply or magnitude)", {"plus": "add", "times": "multiply"}, "combine"),
        "scale": "weight_coef",
    },
    "PerRound": {
        "normalise": "unit",
        "horizon": convert_values("return_to_go (true or false)", {"to_go": True, "round": False}, "return_to_go"),
        "scale": "normalize_std",
        "delta": "std_epsilon",
    },
    "Scaled": {
        "term": "reward_term",
    },
    "SPAGReward": {
        "gamma": "discount",
    },
    "Whitened": {
        "within": "mean_over",
        "least": "advantage_std_floor",
    },
    "CrossEntropy": {
        "per": "normalize_by",
    },
    "DPO": {
        "beta": "dpo_beta",
    },
    "KLTargets": {
        "per": "normalize_by",
    },
    "KTO": {
        "beta": "kto_beta",
    },
    "PolicyGradient": {
        "clip_low": "clip_range_low",
        "clip_high": "clip_range_high",
        "kl": "kl_estimator",
        "beta": "kl_coef",
        "corrected": "importance_corrected_kl",
        "entropy": "entropy_coef",
        "per": "normalize_by",
    },
    "PPO": {
        "clip": "clip_range",
        "value_clip": "clip_range_value",
        "c_vf": "value_coef",
        "entropy": "entropy_coef",
        "per": "normalize_by",
    },
    "SPAG": {
        "beta": "kl_coef",
        "clip": "clip_range",
    },
    "Value": {
        "clip": "clip_range",
        "per": "normalize_by",
    },
}
"""Parameters of losses and of advantage estimators."""
_FILES: Mapping[str, Mapping[str, str | Renaming]] = {"DecodingSettings": {"max_new": "max_new_tokens"}}
"""Keys of other files of a run, which the program writes."""

RELEASES = (
    Release("0.2.0", "0.4.0", {**_RECIPES, **_OBJECTIVES, **_FILES}),
    Release(
        "0.3.0",
        "0.5.0",
        {
            "RunInfo": {"forced": "rebound"},
            "SweepPlan": {
                "better": convert_values(
                    'direction = "maximize" (higher) or direction = "minimize" (lower)',
                    {"higher": "maximize", "lower": "minimize"},
                    "direction",
                ),
                "at": "aggregate",
            },
            "MessageEffect": {"instead": "counterfactual"},
            "LearnerSettings": {"match": "matchmaker"},
            "InteractionSettings": {"block": "episodes_per_step"},
        },
    ),
)
"""Releases that renamed keys."""


def renamed_keys(cls: type) -> dict[str, Renaming]:
    """Return the old keys of a class and of its base classes, each with its renaming."""
    found: dict[str, Renaming] = {}
    for base in reversed(cls.__mro__):
        for release in RELEASES:
            for old, new in release.keys.get(base.__name__, {}).items():
                found[old] = new if isinstance(new, Renaming) else Renaming(new)
    return found
