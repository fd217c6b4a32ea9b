"""Negotiation over items with private values: rules, and beside them the other parts."""

from stratagem.games.negotiation_v2.rules import (
    ITEMS,
    VALUE_SPLITS,
    Bundle,
    Division,
    DivisionFacts,
    DivisionState,
    bundle_of,
    fits,
    value_of,
    write_bundle,
)

__all__ = [
    "ITEMS",
    "VALUE_SPLITS",
    "Bundle",
    "Division",
    "DivisionFacts",
    "DivisionState",
    "bundle_of",
    "fits",
    "value_of",
    "write_bundle",
]
