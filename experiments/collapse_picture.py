"""The picture of docs/results/collapse.md: exact regret over training, a panel for each arm beside the control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from stratagem.measure.statistics import with_interval

Line = Sequence[tuple[int, float]]
Curves = Mapping[int, Line]
"""Lines by seed."""
WIDTH, PANEL, HIGH, TOP, LEFT, COLUMNS = 820, 260, 150, 34, 36, 3
INK, GRID, OWN, CONTROL = "#24292f", "#e3e5e8", "#1f5fbf", "#c2571a"


def picture(arms: Mapping[str, Curves]) -> str:
    """Draw a panel for each arm; the first is the control, and stands in all panels."""
    names = list(arms)
    known = {name: curves for name, curves in arms.items() if curves}
    values = [y for curves in known.values() for line in curves.values() for _, y in line] or [1.0]
    ends = [line[-1][0] for curves in known.values() for line in curves.values()] or [1]
    axes = (min(values), max(values), max(ends))
    rows = -(-(len(names) - 1) // COLUMNS)
    height = TOP + rows * (HIGH + 44)
    body = [
        f'<text x="12" y="20" font-weight="bold">Exact regret in tic-tac-toe over iterations: each arm (blue) and '
        f"{escape(names[0])} (orange)</text>"
    ]
    for place, name in enumerate(names[1:]):
        x, y = 12 + PANEL * (place % COLUMNS), TOP + (HIGH + 44) * (place // COLUMNS)
        body += panel(name, [(arms[names[0]], CONTROL), (arms[name], OWN)], x, y, axes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
    head += f'font-size="11" fill="{INK}"><rect width="100%" height="100%" fill="#ffffff"/>'
    return head + "".join(body) + "</svg>\n"


def panel(
    name: str, drawn: Sequence[tuple[Curves, str]], x: int, y: int, axes: tuple[float, float, int]
) -> Iterator[str]:
    """Yield the axes of a panel, its bands and its lines."""
    low, high, end = axes
    across = PANEL - LEFT - 18

    def place(step: float, value: float) -> tuple[float, float]:
        return x + LEFT + across * step / end, y + 18 + HIGH * (high - value) / ((high - low) or 1.0)

    yield f'<text x="{x + LEFT}" y="{y + 10}" font-weight="bold">{escape(name)}</text>'
    for tick in range(3):
        value = low + (high - low) * tick / 2
        left, height = place(0, value)
        yield f'<line x1="{left:.1f}" x2="{left + across:.1f}" y1="{height:.1f}" y2="{height:.1f}" stroke="{GRID}"/>'
        yield f'<text x="{left - 5:.1f}" y="{height + 4:.1f}" text-anchor="end">{value:.2f}</text>'
    for step in (0, end):
        at, height = place(step, low)
        yield f'<text x="{at:.1f}" y="{height + 15:.1f}" text-anchor="middle">{step}</text>'
    for curves, colour in drawn:
        yield from _curves(curves, colour, place)


def _curves(curves: Curves, colour: str, place: object) -> Iterator[str]:
    """Yield the band of the 95 % intervals where there are several seeds, and the line of the means."""
    if not curves:
        return
    assert callable(place)
    steps = [step for step, _ in next(iter(curves.values()))]
    means = [with_interval([line[index][1] for line in curves.values()]) for index in range(len(steps))]
    ends = [(m.mean if m.low is None else m.low, m.mean, m.mean if m.high is None else m.high) for m in means]
    low, middle, high = (
        [place(step, value) for step, value in zip(steps, some, strict=True)] for some in zip(*ends, strict=True)
    )
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in [*high, *reversed(low)])
    yield f'<polygon points="{points}" fill="{colour}" fill-opacity="0.15"/>'
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in middle)
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
