"""SEPO's printed figures (its tables of main results), which experiments/sepo_table.py prints beside ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

PAPER: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]] = {
    "ipd": {
        "Gemma 4 E4B": {
            "Base": (2.741, 0.703, 0.155, 0.761, -0.091),
            "SFT": (2.719, 0.828, 0.153, 0.455, -0.105),
            "SEPO": (2.745, 0.703, 0.159, 0.772, -0.090),
        },
        "Qwen 3.5-4B": {
            "Base": (1.641, 5.000, 0.146, -13.109, -0.372),
            "SFT": (1.773, 3.125, 0.278, -7.894, -0.225),
            "SEPO": (2.379, 1.250, 0.261, -1.847, -0.080),
        },
    },
    "auction": {
        "Gemma 4 E4B": {
            "Base": (0.514, 0.146, 0.380, -2.049, 0.478),
            "SFT": (0.646, 0.000, 0.208, -1.054, 0.149),
            "SEPO": (0.750, 0.021, 0.208, -0.900, 0.130),
        },
        "Qwen 3.5-4B": {
            "Base": (0.514, 0.042, 0.490, -2.861, 0.373),
            "SFT": (0.542, 0.250, 0.344, -1.783, 0.230),
            "SEPO": (0.563, 0.125, 0.255, -1.200, 0.122),
        },
    },
    "negotiation-v1": {
        "Qwen 3.5-4B": {
            "Base": (1.08, 1.50, 0.70, -4.98, -0.44),
            "SFT": (1.75, 2.00, 0.57, -3.20, -0.26),
            "SEPO": (2.17, 0.00, 0.60, -0.74, -0.19),
        }
    },
    "negotiation-v2": {
        "Gemma 4 E4B": {
            "Base": (6.04, 0.06, 0.70, -0.32, -0.04),
            "SFT": (7.05, 6.03, 0.56, -2.77, -0.23),
            "SEPO": (10.93, 0.14, 0.60, 2.19, 0.17),
        }
    },
    "kuhn": {
        "Gemma 4 E4B": {
            "Base": (-0.256, 0.211, math.nan, -1.398, math.nan),
            "SFT": (0.000, 0.000, math.nan, -0.931, math.nan),
            "SEPO": (0.249, 0.000, math.nan, -0.379, math.nan),
        },
        "Qwen 3.5-4B": {
            "Base": (0.033, 0.705, math.nan, -3.686, math.nan),
            "SFT": (-0.113, 0.347, math.nan, -3.142, math.nan),
            "SEPO": (-0.267, 0.000, math.nan, -1.709, math.nan),
        },
    },
}
"""SEPO's printed figures: pay, exploit, externality, safety, NRA."""
PRINTED = ("payoff", "pool_advantage", "externality", "safety", "nra")
