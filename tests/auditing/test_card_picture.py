"""Picture of an exploitability in a card: its marks stand where its figures are."""

from xml.etree import ElementTree

import pytest

from stratagem.measure.audit.measurement import Measurement
from stratagem.show.audit.picture import interval_picture, intervals_picture


def drawn(**figures):
    """Return the picture of a figure, read as XML."""
    named = {"name": "kuhn.exploitability", "group": "exploitability", "unit": "chips a hand"}
    return ElementTree.fromstring(interval_picture(Measurement(**named, **figures)))


def percent(mark, name):
    """Return a place of a mark."""
    assert mark.get(name).endswith("%")
    return float(mark.get(name)[:-1])


def scale(picture):
    """Return the place of a figure, by those of 0 and of random play."""
    ends = [
        percent(line, "x1")
        for line in picture.findall("line")
        if line.get("x1") == line.get("x2") and line.get("stroke-width") == "1"
    ]
    return lambda value, chance: ends[0] + (ends[1] - ends[0]) * value / chance


def test_the_interval_stands_between_its_limits():
    picture = drawn(value=0.25, lower=0.2, upper=0.3, chance=0.5)
    place, band = scale(picture), picture.find("rect")
    left, width = percent(band, "x"), percent(band, "width")
    assert left == pytest.approx(place(0.2, 0.5), abs=0.2)
    assert left + width == pytest.approx(place(0.3, 0.5), abs=0.2)
    (value,) = (line for line in picture.findall("line") if line.get("stroke-width") == "3")
    assert percent(value, "x1") == pytest.approx(place(0.25, 0.5), abs=0.2)
    words = [text.text for text in picture.findall("text")]
    assert words == ["kuhn.exploitability, chips a hand", "0.250", "nothing gained", "random play 0.500"]


def test_a_side_without_a_limit_reaches_to_the_end():
    above, below = (drawn(chance=0.5, **{side: 0.2}).find("rect") for side in ("lower", "upper"))
    assert percent(above, "x") == percent(below, "x") + percent(below, "width")
    line = drawn(chance=0.5, lower=0.2).find("line")
    assert percent(above, "x") + percent(above, "width") == percent(line, "x2")


def test_a_gain_below_0_stands_at_0():
    picture = drawn(value=-0.1, lower=-0.2, upper=0.1, chance=0.5)
    assert percent(picture.find("rect"), "x") == percent(picture.find("line"), "x1")


@pytest.mark.parametrize(
    "figures",
    [{"value": 0.2}, {"chance": 0.5}, {"value": 0.0, "chance": 0.0}, {"value": 0.1, "lower": -0.5, "chance": 0.0}],
)
def test_without_a_comparison_there_is_no_picture(figures):
    assert interval_picture(Measurement(name="x.exploitability", group="exploitability", **figures)) == ""


def test_a_name_is_escaped():
    name = "</svg><script>alert(1)</script>.exploitability"
    assert "<script" not in interval_picture(Measurement(name=name, group="exploitability", value=0.1, chance=0.5))


def test_agents_have_rows_on_one_scale():
    figures = {
        name: Measurement(
            name="x.exploitability", group="exploitability", value=value, lower=0.0, upper=1.0, chance=0.5
        )
        for name, value in {"first": 0.25, "second": 0.5}.items()
    }
    picture = ElementTree.fromstring(intervals_picture("title", figures))
    place = scale(picture)
    values = [percent(line, "x1") for line in picture.findall("line") if line.get("stroke-width") == "3"]
    assert values == pytest.approx([place(0.25, 0.5), place(0.5, 0.5)], abs=0.2)
    assert [text.text for text in picture.findall("text")][1:3] == ["first 0.250", "second 0.500"]
    heights = [float(rect.get("y")) for rect in picture.findall("rect")]
    assert heights[0] < heights[1] < float(picture.get("height"))
