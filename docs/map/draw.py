"""Draw the map of Diplomacy: outlines of the provinces from the points of `places.json`, into an ES module.

The points are longitudes and latitudes, put down by hand: a province is what lies nearest to its points, on its side of
the coast. Names with a dash are closed to all units. It needs the package shapely, which nothing else does:
`pip install shapely`, then `python docs/map/draw.py`.
"""

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from shapely import MultiPoint, Point, Polygon, box, voronoi_polygons
from shapely.ops import polylabel, unary_union

Place = tuple[float, float]
Shape = Any
"""A polygon, or several, of shapely."""
DRAWN = json.loads(Path(__file__).with_name("places.json").read_text("utf-8"))
TARGET = Path(__file__).parents[2] / "src" / "stratagem" / "show" / "viewer" / "static" / "map_standard.js"
PARALLELS, MIDDLE, ORIGIN = (40, 62), 12, 50
SCALE = 1260
FRAME = (0, 0, 1000, 860)
TOUCH = 2.0
"""Length of a common border, in pixels, from which two provinces touch."""


def project(place: Place) -> Place:
    """Lambert's conformal conic projection (Snyder 1987, equations 15-1 to 15-5), in pixels."""
    longitude, latitude = place
    first, second = (math.radians(angle) for angle in PARALLELS)
    n = math.log(math.cos(first) / math.cos(second)) / math.log(_tan(second) / _tan(first))
    scaled = math.cos(first) * _tan(first) ** n / n
    radius, origin = (scaled / _tan(math.radians(angle)) ** n for angle in (latitude, ORIGIN))
    angle = n * math.radians(longitude - MIDDLE)
    return 425 + SCALE * radius * math.sin(angle), 512 - SCALE * (origin - radius * math.cos(angle))


def _tan(latitude: float) -> float:
    return math.tan(math.pi / 4 + latitude / 2)


def outline(points: list[Place]) -> Shape:
    """Return a polygon of projected points."""
    return Polygon([project(point) for point in _dense(points)]).buffer(0)


def _dense(points: list[Place]) -> Iterator[Place]:
    """Put points on long edges, since straight lines are bent by the projection."""
    for (x, y), (to_x, to_y) in zip(points, [*points[1:], points[0]], strict=True):
        parts = max(1, math.ceil(max(abs(to_x - x), abs(to_y - y)) / 8))
        for part in range(parts):
            yield x + (to_x - x) * part / parts, y + (to_y - y) * part / parts


def cells(seeds: dict[str, list[Place]], area: Shape) -> dict[str, Shape]:
    """Divide an area among the provinces: each gets what is nearest to one of its points."""
    places = {project(point): name for name, points in seeds.items() for point in points}
    parts: dict[str, list[Shape]] = {}
    for cell in voronoi_polygons(MultiPoint(list(places)), extend_to=box(-2000, -2000, 3000, 3000)).geoms:
        name = next(name for place, name in places.items() if cell.covers(Point(place)))
        parts.setdefault(name, []).append(cell)
    return {name: unary_union(own).intersection(area) for name, own in parts.items()}


def provinces() -> tuple[dict[str, Shape], dict[str, Shape]]:
    """Return the outline of each province in pixels, and the scenery."""
    frame = box(*FRAME)
    scenery = {name: outline(points) for name, points in DRAWN["scenery"].items()}
    land = unary_union(
        [outline(DRAWN["mainland"]).difference(outline(DRAWN["black sea"])), *map(outline, DRAWN["islands"].values())]
    )
    water = frame.difference(land).difference(scenery["Ireland"])
    shapes = {**cells(DRAWN["land"], land.intersection(frame)), **cells(DRAWN["sea"], water)}
    return {name: _largest(shape) for name, shape in shapes.items()}, {
        n: s.intersection(frame) for n, s in scenery.items()
    }


def _largest(shape: Shape) -> Shape:
    """Leave out crumbs that the coast cuts off."""
    parts = [part for part in getattr(shape, "geoms", [shape]) if part.area > 25]
    return unary_union(parts)


def path(shape: Shape) -> str:
    """Write a shape as a path of SVG, with whole pixels."""
    text = ""
    for part in getattr(shape, "geoms", [shape]):
        for ring in (part.exterior, *part.interiors):
            points = [(round(x), round(y)) for x, y in ring.coords[:-1]]
            kept = [point for place, point in enumerate(points) if point != points[place - 1]]
            if len(kept) > 2:
                text += (
                    f"M{kept[0][0]} {kept[0][1]}"
                    + "".join(f"l{x - before[0]} {y - before[1]}" for before, (x, y) in pairwise(kept))
                    + "z"
                )
    return text.replace(" -", "-")


def touching(shapes: dict[str, Shape]) -> set[tuple[str, str]]:
    """Return the pairs of provinces with a common border."""
    names = sorted(shapes)
    return {
        (first, second)
        for place, first in enumerate(names)
        for second in names[place + 1 :]
        if shapes[first].distance(shapes[second]) < 0.6
        and shapes[first].buffer(0.6).intersection(shapes[second].buffer(0.6)).area > TOUCH
    }


def main() -> None:
    """Write the module."""
    shapes, scenery = provinces()
    at: dict[str, Place] = {}
    for name, shape in shapes.items():
        if shape.is_empty:
            continue
        largest = max(getattr(shape, "geoms", [shape]), key=lambda part: part.area)
        at[name] = project(DRAWN["places"][name]) if name in DRAWN["places"] else polylabel(largest, 1).coords[0]
    at |= {name: project(place) for name, place in DRAWN["coasts"].items()}
    data = {
        "size": [FRAME[2], FRAME[3]],
        "land": {name: path(shapes[name]) for name in DRAWN["land"] if not name.startswith("-")},
        "sea": {name: path(shapes[name]) for name in DRAWN["sea"]},
        "closed": "".join(
            [path(shapes[name]) for name in DRAWN["land"] if name.startswith("-")] + [path(scenery["Ireland"])]
        ),
        "isles": "".join(path(shape) for name, shape in scenery.items() if name != "Ireland"),
        "places": {name: [round(x), round(y)] for name, (x, y) in at.items() if not name.startswith("-")},
    }
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}" for name, value in data.items())
    TARGET.write_text(
        f"// The standard map of Diplomacy, drawn by docs/map/draw.py.\nexport default {{\n{lines}\n}};\n"
    )
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
