"""The picture of docs/results/league.md: how exploitable each way's runs were over training, and the solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from stratagem.training.runs.metrics import Curve

COLOURS = {
    "self": "#c2571a",
    "held": "#1f5fbf",
    "fixed": "#8a8f98",
    "league": "#2a8a4a",
    "pfsp": "#7a3fb0",
    "near": "#b08a1f",
    "slow": "#b08a1f",
}
SOLVED, DASHES = "#57606a", (' stroke-dasharray="2 3"', ' stroke-dasharray="7 4"')
WIDTH, HEIGHT, LEFT, BOTTOM = 820, 380, 60, 40


def label(name: str, y: int, colour: str, dash: str = "") -> str:
    """A name in the margin beside a piece of its line."""
    piece = f'<line x1="{WIDTH - 122}" x2="{WIDTH - 98}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" {dash}/>'
    return f'{piece}<text x="{WIDTH - 92}" y="{y}" fill="{colour}">{escape(name)}</text>'


def picture(
    game: str, ways: Mapping[str, Mapping[int, Curve]], solved: Mapping[str, Sequence[float]], at: Sequence[int]
) -> str:
    """Every seed's curve; the solvers' in grey, dashed."""
    most = max(value for some in ways.values() for curve in some.values() for value in curve.values)
    end = max(at)

    def line(steps: Sequence[float], values: Sequence[float], colour: str, dash: str = "") -> str:
        across, up = (WIDTH - LEFT - 130) / end, (HEIGHT - BOTTOM - 30) / most
        places = zip(steps, values, strict=True)
        points = " ".join(f"{LEFT + x * across:.1f},{HEIGHT - BOTTOM - y * up:.1f}" for x, y in places)
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>'

    body = [f'<text x="{LEFT}" y="18" font-weight="bold">{escape(game)}: exact exploitability over training</text>']
    for tick in range(5):
        y = HEIGHT - BOTTOM - tick / 4 * (HEIGHT - BOTTOM - 30)
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - 130}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e5e8"/>')
        body.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{most * tick / 4:.2f}</text>')
    body.append(f'<text x="{WIDTH - 130}" y="{HEIGHT - 18}" text-anchor="end">iteration {end}</text>')
    for place, (way, some) in enumerate(ways.items()):
        body += [line(curve.steps, curve.values, COLOURS[way]) for curve in some.values()]
        body.append(label(way, 50 + 20 * place, COLOURS[way]))
    for place, (name, values) in enumerate(solved.items()):
        body.append(line(at, [min(value, most) for value in values], SOLVED, DASHES[place]))
        body.append(label(name, 70 + 20 * (len(ways) + place), SOLVED, DASHES[place]))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
    return head + 'font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>' + "".join(body) + "</svg>\n"
