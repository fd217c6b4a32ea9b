"""The picture of docs/results/sepo.md: exact exploitability in Kuhn poker under each credit and reward.

`python experiments/sepo_picture.py docs/results/sepo.json docs/results/sepo.svg` draws means over seeds, with a bar of
one standard error.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

LINES = {
    "none-togo": ("no penalty, to go", "#6b7075"),
    "rollout-togo": ("by rollout (pool), to go", "#c2571a"),
    "probe-togo": ("by the probe (pool), to go", "#8b3fa8"),
    "best-togo": ("by the probe (best response), to go", "#1f5fbf"),
    "none-own": ("no penalty, own round", "#2b2f33"),
    "rollout-own": ("by rollout (pool), own round: the paper's", "#9a7400"),
    "best-own": ("by the probe (best response), own round", "#2c8a57"),
}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 960, 420, 60, 20, 46, 340


def main() -> None:
    """Read the figures, write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    runs = json.loads(asked.figures.read_text(encoding="utf-8"))["kuhn"]
    known = {name: [run["curves"]["exact"] for run in runs[name]] for name in LINES if name in runs}
    steps = max((curve["steps"] for curves in known.values() for curve in curves), key=len)
    most = 0.24
    body = [*axes(steps, most)]
    for number, (name, curves) in enumerate(known.items()):
        title, colour = LINES[name]
        rows = [curve["values"] for curve in curves]
        body += line(steps, rows, most, colour, shift=4 * (number - len(known) / 2))
        y = TOP + 16 + 22 * number
        x = WIDTH - RIGHT + 18
        body.append(f'<rect x="{x}" y="{y - 9}" width="14" height="4" fill="{colour}"/>')
        body.append(f'<text x="{x + 22}" y="{y - 3}">{escape(title)}, {len(rows)} seeds</text>')
    said = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
    said += 'font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>'
    asked.out.write_text(said + "".join(body) + "</svg>\n", encoding="utf-8")


def axes(steps: Sequence[int], most: float) -> list[str]:
    """The frame, with numbers."""
    drawn = []
    for tick in range(7):
        value = most * tick / 6
        y = upright(value, most)
        drawn.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e5e8"/>')
        drawn.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    y = HEIGHT - BOTTOM + 18
    drawn += [f'<text x="{along(step, steps):.1f}" y="{y}" text-anchor="middle">{step}</text>' for step in steps]
    middle = (LEFT + WIDTH - RIGHT) / 2
    drawn.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">iterations of SEPO</text>')
    return [*drawn, f'<text x="{LEFT}" y="12">exact exploitability, chips a hand</text>']


def line(steps: Sequence[int], rows: Sequence[Sequence[float]], most: float, colour: str, shift: float) -> list[str]:
    """Means over seeds, each with a bar of one standard error; lines stand a little apart."""
    points, drawn = [], []
    for place, step in enumerate(steps):
        values = [row[place] for row in rows if place < len(row)]
        mean = math.fsum(values) / len(values)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / max(1, len(values) - 1) / len(values))
        x = along(step, steps) + shift
        points.append(f"{x:.1f},{upright(mean, most):.1f}")
        low, high = (upright(mean + sign * spread, most) for sign in (-1, 1))
        drawn.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{colour}"/>')
        drawn.append(f'<circle cx="{x:.1f}" cy="{upright(mean, most):.1f}" r="2.6" fill="{colour}"/>')
    return [*drawn, f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.8"/>']


def along(step: int, steps: Sequence[int]) -> float:
    """Where a step stands."""
    return LEFT + 20 + (WIDTH - LEFT - RIGHT - 40) * (step - steps[0]) / (steps[-1] - steps[0])


def upright(value: float, most: float) -> float:
    """Where a value stands."""
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / most


if __name__ == "__main__":
    main()
