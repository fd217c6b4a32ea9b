"""Pages that have moved: the old address of each on the site, and the page and heading that it leads to."""

from __future__ import annotations

MOVED: dict[str, tuple[str, str]] = {
    "docs/results/engine": ("docs/results/performance", "engine"),
    "docs/results/gpu": ("docs/results/performance", "gpu"),
    "docs/results/growth": ("docs/results/performance", "growth"),
    "docs/results/learner": ("docs/results/performance", "learner"),
    "docs/results/scale": ("docs/results/performance", "workers"),
}
"""Page and heading by old page, without endings; the site has a page at the old address that leads to the new one."""

TEMPLATE = "moved.html"
