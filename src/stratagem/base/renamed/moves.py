"""Conversions of old settings that have become parameters of a loss or of an advantage estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratagem.base.renamed.renaming import LostSetting

Table = Mapping[str, Any]

_ESTIMATORS = {"episode": "group_mean", "turn": "per_round"}
"""Estimator by the old `credit` of GRPO."""
_COMBINE = {"plus": "add", "times": "multiply"}
"""New names of the ways to weigh orders."""


def kl_of_grpo(value: Any, _: Table) -> Table:
    """GRPO's KL penalty was off at 0, and k3 otherwise."""
    return {"loss.kl_estimator": "k3" if value else "none", "loss.kl_coef": value}


def kl_of_sepo(value: Any, _: Table) -> Table:
    """SEPO's KL penalty was off at 0, and one-sided otherwise."""
    return {"loss.kl_estimator": "one_sided" if value else "none", "loss.kl_coef": value}


def estimator_of(value: Any, table: Table) -> Table:
    """GRPO's `credit` chose the estimator; `orders` put that of orders around it."""
    return {f"{_place(table)}.type": _estimator(value)}


def scale_of(value: Any, table: Table) -> Table:
    """GRPO's `scale` divided by the standard deviation of the group."""
    if "credit" in table:
        return {f"{_place(table)}.normalize_std": value}
    return {"advantage.type": "group_mean", "advantage.normalize_std": value}


def orders_of(value: Any, table: Table) -> Table:
    """GRPO's `orders` added an order's own reward to the advantage, or multiplied by it; `none` was the default."""
    if value == "none":
        return {}
    if value not in _COMBINE:
        raise LostSetting(f"the value {value!r} has no new name")
    inner = {"advantage.of.type": "group_mean"} if "credit" not in table and "scale" not in table else {}
    return {"advantage.type": "per_order", "advantage.combine": _COMBINE[value], **inner}


def order_scale_of(value: Any, table: Table) -> Table:
    """GRPO's `order_scale` was read only where `orders` was not `none`."""
    return {} if _plain(table) else {"advantage.weight_coef": value}


def teachers_of(value: Any, _: Table) -> Table:
    """SCO-PAL's one `teacher` has all games; without one the policy plays."""
    return {"teachers": {value: 1.0} if value else {}}


def only_zero(value: Any, _: Table) -> Table:
    """SCO-PAL's `ratio` weighed the desirable samples against the others; 0 left them as they were."""
    if value:
        raise LostSetting("desirable samples have no weight of their own")
    return {}


def drop_unread(value: Any, table: Table) -> Table:
    """Nothing read this key in its table."""
    return {}


def _plain(table: Table) -> bool:
    return bool(table.get("orders", "none") == "none")


def _place(table: Table) -> str:
    return "advantage" if _plain(table) else "advantage.of"


def _estimator(credit: Any) -> str:
    if not isinstance(credit, str) or credit not in _ESTIMATORS:
        raise LostSetting(f"the value {credit!r} has no new name")
    return _ESTIMATORS[credit]
