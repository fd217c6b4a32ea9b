"""Pictures of results pages show the figures of their tables, and stand first."""

from pathlib import Path

import pytest
import table_pictures

RESULTS = Path(__file__).parents[2] / "docs" / "results"
UNDRAWN = {"labels", "memory", "targets"}
"""A page whose output of a command is its table, one of ratios that are all near 1,
and one that answers in words."""


@pytest.mark.parametrize("page", table_pictures.PICTURES)
def test_a_picture_is_that_of_its_table(page):
    assert (RESULTS / f"{page}.svg").read_text("utf-8") == table_pictures.drawn(page)


@pytest.mark.parametrize("page", sorted(path.stem for path in RESULTS.glob("*.md") if path.stem not in UNDRAWN))
def test_a_results_page_has_its_picture_first(page):
    lines = (RESULTS / f"{page}.md").read_text("utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert lines[2].startswith("![")
    assert (RESULTS / lines[2].partition("](")[2].rstrip(")")).exists()


def test_dots_are_read_from_the_cells():
    page = "# T\n\n| a | b |\n| --- | --- |\n| `x` | 1,700 |\n\n"
    page += "| g | e | lower | estimate | upper |\n|---|---|---|---|---|\n"
    page += "| [me](x.md) | .2 | .1 | .3 | .4 |\n| you | – | -.1 | \N{MINUS SIGN}.05 | 0 |\n"
    drawn = table_pictures.Picture("", table_pictures.limits, 0, 1, table=1)
    found = [tuple(dot) for dot in table_pictures.dots(page, drawn)]
    assert found == [
        ("me, from replies", 0.3, 0.1, 0.4, False),
        ("exact", 0.2, 0.2, 0.2, True),
        ("you, from replies", -0.05, -0.1, 0.0, False),
    ]


def test_shares_of_seeds_have_wilsons_interval():
    cells = ["chicken", "the first seat wins in 5 of 5 seeds", "in 4 of 10", "only"]
    shaper, naive = table_pictures.seeds(cells)
    assert (shaper.mean, naive.mean, naive.marked) == (1, 0.4, True)
    # Wilson's limits (1927) for 4 of 10, by hand: (.5921 +- .3593) / 1.3842.
    assert (naive.low, naive.high) == pytest.approx((0.168, 0.687), abs=1e-3)
    assert list(table_pictures.seeds(["ipd", "lost in 5 of 5", "mutual defection in 5 of 5", ""])) == []
