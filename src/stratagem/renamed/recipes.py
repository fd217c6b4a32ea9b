"""Table of renamed algorithms and of removed recipes: what is written in their place."""

from __future__ import annotations

RENAMED_ALGORITHMS = {"shaping": "shapellm"}
"""Old names of algorithms, each with the new one."""
