"""The table of shapers: paired with two naive learners, and two families that are corrected each by itself."""

import json
from pathlib import Path

import pytest
import shapellm
import shapellm_shapers
from result_tables import markdown
from shapellm_shapers import ALONE, TOGETHER, effect_heads, effect_rows, effects, table

RESULTS = Path(__file__).resolve().parents[2] / "docs/results"


def runs(first, second, seeds=10):
    return [{"seed": seed, "end": [first + 0.01 * seed, second], "learning": [0.0, 0.0]} for seed in range(seeds)]


DATA = {"ipd-exact-exact": runs(1.0, 1.0), "ipd-lola-exact": runs(2.5, 2.0), "ipd-lola-lola": runs(3.0, 3.0)}


def test_effects_are_differences_from_two_naive_learners():
    found = effects(DATA)
    assert found["ipd lola"] == pytest.approx(dict.fromkeys(range(10), 1.5))
    assert found["ipd lola twice"] == pytest.approx(dict.fromkeys(range(10), 2.0)), "the mean of both seats"
    assert len(found) == 2


def test_families_are_corrected_by_themselves():
    rows = {(row[1], row[2]): row for row in table(DATA)}
    assert (len(ALONE), len(TOGETHER)) == (25, 20)
    assert float(rows["lola", "naive"][-1]) == pytest.approx(25 * 2 / 2**10, abs=1e-3)
    assert float(rows["lola", "lola"][-1]) == pytest.approx(20 * 2 / 2**10, abs=1e-3)
    assert rows["naive", "naive"][-1] == "\u2013"


def test_every_pair_of_the_study_has_a_row():
    stems = {run.name.removeprefix("shapers-").rpartition("-")[0] for run in shapellm.shapers(range(1))}
    data = {stem: runs(1.0, 1.0, 2) for stem in stems}
    assert len(list(table(data))) == 5 * 10
    assert len(list(shapellm_shapers.published(data))) == 3


def test_effects_are_marked_where_the_corrected_p_is_below_five_percent():
    (row,) = (row for row in effect_rows(DATA) if row[0] == "ipd")
    assert row[1:3] == ["+1.50 [1.50, 1.50]*", "–"]
    (row,) = (row for row in effect_rows({name: own[:7] for name, own in DATA.items()}) if row[0] == "ipd")
    assert not row[1].endswith("*")


def test_the_page_has_the_effects_of_the_stored_runs():
    published = json.loads((RESULTS / "shapers.json").read_text("utf-8"))
    page = (RESULTS / "shapellm.md").read_text("utf-8")
    tables = [markdown(effect_heads(ending), effect_rows(published, ending)) for ending in ("", " twice")]
    assert all(table in page for table in tables)
    assert sum(table.count("]*") for table in tables) == 16, "the page counts sixteen marks"
