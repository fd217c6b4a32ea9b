"""SCO-PAL's tables can be made from the JSON that is kept, with Holm's p beside each p."""

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

from stratagem.evaluation.statistics import holm

ROOT = Path(__file__).resolve().parents[2]
matches, tables = import_module("scopal_matches"), import_module("scopal_table")


def pair(first, second, mean, p):
    return {"first": first, "second": second, "won": {"mean": mean, "p": p}, "games": {}}


PS = (0.02, 0.012, 0.9)
PLAYED = {
    "pairs": [pair("a", "b", 0.3, PS[0]), pair("a", "c", 0.2, PS[1]), pair("b", "c", 0.5, PS[2])],
    "unseen": [{"game": "pig", "won": {"a": {"mean": 0.0}}, "more": {"p": 0.04}}],
}


def test_matches_are_corrected_within_their_family():
    found = matches.corrected(PLAYED)
    assert [row["won"]["holm_p"] for row in found["pairs"]] == pytest.approx(holm(PS))
    assert found["unseen"][0]["more"]["holm_p"] == 0.04
    assert [family["comparisons"] for family in found["families"]] == [3, 1]
    assert matches.corrected(found) == found


def test_matrix_stars_only_what_survives_the_correction():
    rows = list(matches.matrix(matches.corrected(PLAYED)["pairs"]))
    assert rows[2:] == ["| a |  | 30.0* | 20.0* |", "| b | 70.0* |  | 50.0 |", "| c | 80.0* | 50.0 |  |"]
    more = {**PLAYED, "pairs": [*PLAYED["pairs"], *(pair("a", name, 0.5, 0.8) for name in "defg")]}
    assert "*" not in "".join(matches.matrix(matches.corrected(more)["pairs"][:3]))


def test_matches_on_the_page_are_those_of_the_json():
    data = json.loads((ROOT / "docs/results/sco-pal-matches.json").read_text("utf-8"))
    stars = {row["second"] for row in data["pairs"] if row["won"]["holm_p"] < 0.05}
    assert stars == {"BC of won games", "SPAG", "BC + KTO"}
    assert matches.corrected(data) == data
    page = (ROOT / "docs/results/sco-pal.md").read_text("utf-8").partition("## Against one another")[2]
    for row in data["pairs"]:
        if row["first"] == "Base":
            star = "*" if row["won"]["holm_p"] < 0.05 else ""
            assert f"| {100 * (1 - row['won']['mean']):.1f}{star} |" in page


def run(seed, *means):
    stage = {"games": {}, "opponents": {}}
    return {
        "seed": seed,
        "stages": {
            name: {**stage, "games": {"nim": {"mean": mean, "se": 0.01}}}
            for name, mean in zip(("Base", "BC", "random"), means, strict=True)
        },
    }


def test_stages_are_compared_seed_by_seed():
    runs = [run(0, 0.3, 0.4, 0.1), run(1, 0.3, 0.5, 0.9), run(2, 0.3, 0.6, 0.5)]
    (row,) = list(tables.stage_tests(runs))[2:]
    assert row == "| BC less Base | +20.0 | [-4.8, +44.8] | 0.0742 | 0.0742 |"  # t = .2 / (.1 / sqrt 3), 2 degrees
    assert len(list(tables.stage_tests(runs[:1]))) == 2  # one seed has no p


def test_tables_are_made_from_the_json_where_there_is_no_run(tmp_path, monkeypatch, capsys):
    kept = ROOT / "docs/results/sco-pal.json"
    (tmp_path / "kept.json").write_text(kept.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(sys, "argv", ["scopal_table.py", str(tmp_path / "none"), str(tmp_path / "kept.json")])
    tables.main()
    assert "| BC + KTO less Base | +" in capsys.readouterr().out
    assert (tmp_path / "kept.json").read_text("utf-8") == kept.read_text("utf-8")
