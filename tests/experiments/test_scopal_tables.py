"""SCO-PAL's tables can be made from the JSON that is kept, with Holm's p beside each p."""

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest
from synthetic_runs import synthetic_run

from stratagem.measure.statistics import holm

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
    data = matches.corrected(PLAYED)
    assert [row["won"]["holm_p"] for row in data["pairs"]] == pytest.approx(holm(PS))
    assert data["unseen"][0]["more"]["holm_p"] == 0.04
    assert [family["comparisons"] for family in data["families"]] == [3, 1]
    assert matches.corrected(data) == data


def test_matrix_stars_only_what_survives_the_correction():
    rows = matches.matrix(matches.corrected(PLAYED)["pairs"]).splitlines()
    assert rows[2:] == ["| a |  | 30.0* | 20.0* |", "| b | 70.0* |  | 50.0 |", "| c | 80.0* | 50.0 |  |"]
    more = {**PLAYED, "pairs": [*PLAYED["pairs"], *(pair("a", name, 0.5, 0.8) for name in "defg")]}
    assert "*" not in matches.matrix(matches.corrected(more)["pairs"][:3])


def test_matches_on_the_page_are_those_of_the_json():
    data = json.loads((ROOT / "docs/results/sco-pal-matches.json").read_text("utf-8"))
    stars = {row["second"] for row in data["pairs"] if row["won"]["holm_p"] < 0.05}
    assert stars == {"BC of won games", "SPAG", "BC + KTO"}
    assert matches.corrected(data) == data
    page = (
        (ROOT / "docs/results/sco-pal.md").read_text("utf-8").partition("## Does the best method beat the others?")[2]
    )
    of_base = [row["won"] for row in data["pairs"] if row["first"] == "Base"]
    assert len(of_base) == 8
    for won in of_base:
        star = "*" if won["holm_p"] < 0.05 else ""
        p, holm_p = (f"{won[name]:.{digits}f}".removeprefix("0") for name, digits in (("p", 4), ("holm_p", 3)))
        assert f"| {100 * won['mean']:.1f}{star} | {p} | {holm_p} |\n" in page
    others = [row["won"]["p"] for row in data["pairs"] if row["first"] != "Base"]
    assert min(others) > 0.05
    assert "| *every other pair* | | *.05 and more* | *1* |" in page


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
    (row,) = tables.stage_tests(runs).splitlines()[2:]
    assert row == "| BC less Base | +20.0 | [-4.8, +44.8] | 0.0742 | 0.0742 |"  # t = .2 / (.1 / sqrt 3), 2 degrees
    assert len(tables.stage_tests(runs[:1]).splitlines()) == 2  # one seed has no p


def test_tables_are_made_from_the_json_where_there_is_no_run(tmp_path, monkeypatch, capsys):
    published = ROOT / "docs/results/sco-pal.json"
    out = tmp_path / "out.json"
    out.write_text(published.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(sys, "argv", ["scopal_table.py", str(tmp_path / "none"), str(out)])
    tables.main()
    assert "| BC + KTO less Base | +" in capsys.readouterr().out
    assert out.read_text("utf-8") == published.read_text("utf-8")


def evaluation(rates):
    """An evaluation in nim, of players by title."""
    players = [
        {
            "player": f"player {title}",
            "metrics": {"win rate": {"mean": rate, "se": 0.1, "n": 9}},
            "opponents": [{"opponent": "random", "win_rate": {"mean": rate}}],
        }
        for title, rate in rates.items()
    ]
    games = [{"game": "nim", "players": players}]
    return {"rows": {f"player {title}": title for title in rates}, "evaluation": {"games": games}}


def test_finished_run_becomes_a_row_with_its_provenance(tmp_path, monkeypatch, capsys):
    samples = dict.fromkeys(("samples", "valid", "rows", "unique_actions", "advantageous", "ratio"), 3)
    files = {"steps/0.json": {"all": samples, "games": {"nim": samples}}}
    for seed, gain in ((0, 0.1), (1, 0.2)):
        rates = evaluation({"Base": 0.3, "BC": 0.3 + gain, "random": 0.1})
        synthetic_run(tmp_path / "runs", f"self-{seed}", files={**files, "evaluation.json": rates})
    synthetic_run(tmp_path / "runs", "start")
    monkeypatch.setattr(sys, "argv", ["scopal_table.py", str(tmp_path / "runs"), str(tmp_path / "out.json")])
    tables.main()
    rows = json.loads((tmp_path / "out.json").read_text())["self"]
    assert [(row["seed"], row["command"]) for row in rows] == [(s, f"stratagem train self-{s}") for s in (0, 1)]
    assert rows[0]["played"] == samples
    assert rows[1]["stages"]["BC"] == {
        "games": {"nim": {"mean": 0.5, "se": 0.1}}, "opponents": {"random": {"nim": 0.5}},
    }  # fmt: skip
    printed = capsys.readouterr().out
    assert "| BC less Base | +15.0 | [-48.5, +78.5] | 0.2048 | 0.2048 |" in printed
    assert "| random play | 2 | 10.0 ± 0.0 | 10.0 | 10.0 |" in printed
    assert "| self | 3 | 3 | 3 | 3 | 3 | 3 |" in printed


def test_methods_from_a_base_that_reads_are_compared_with_it_and_with_cloning_of_all_replies():
    """Gains of .1 to .3 over the base are tested by Student's t, and corrected for four comparisons."""
    data = {"self": [run(seed, 0.3, 0.4 + 0.1 * seed, 0.1) for seed in range(3)]}
    data |= {name: [run(seed, 0.5, 0.5, 0.1) for seed in range(3)] for name in ("imitate", "grpo")}
    rows = {line.split(" | ")[0]: line for line in tables.reader_tests(data).splitlines()}
    assert rows["| self less base"] == "| self less base | +20.0 | [-4.8, +44.8] | 0.0742 | 0.2967 |"
    assert rows["| self less imitate"].split(" | ")[1] == "+0.0"
    assert rows["| grpo less base"].split(" | ")[1] == "+20.0"
    assert next(iter(rows)) == "| SCO-PAL from a base that reads, 4 comparisons"


def test_methods_at_equal_steps_are_compared_with_grpo():
    """Gains of .1 to .3 over GRPO are tested by Student's t, and corrected for two comparisons."""
    data = {"self": [run(seed, 0.3, 0.4, 0.1) for seed in range(3)]}
    data |= {f"{name}-474": [run(seed, 0.3, 0.4, 0.1) for seed in range(3)] for name in ("dpo", "grpo")}
    data["kto-474"] = [run(seed, 0.3, 0.5 + 0.1 * seed, 0.1) for seed in range(3)]
    header, _, *rows = tables.step_tests(data).splitlines()
    assert header.startswith("| methods at 474 optimizer steps, 2 comparisons |")
    assert "| kto-474 less grpo-474 | +20.0 | [-4.8, +44.8] | 0.0742 | 0.1484 |" in rows
    assert any(row.startswith("| dpo-474 less grpo-474 | +0.0") for row in rows)
    assert len(rows) == 2


def test_fresh_rollouts_have_one_row_by_the_games_of_the_others():
    data = json.loads((ROOT / "docs/results/sco-pal-equal.json").read_text("utf-8"))
    names = [row[0] for row in tables.lines("equal", data)]
    assert {"grpo-474: BC + GRPO", "BC, then GRPO on fresh rollouts"} <= set(names)
    assert not [name for name in names if name.startswith("fresh")]
    (row,) = [row for row in tables.table("equal", data).splitlines() if "fresh rollouts" in row]
    assert row.split(" | ")[2].startswith("51.9")


def test_the_main_run_is_compared_with_untrained_weights_and_fresh_rollouts_with_kto():
    """Differences by seed, computed by hand: 50.46, 49.92, 49.00 less 46.46, 47.79, 45.75, and so on."""
    data = json.loads((ROOT / "docs/results/sco-pal-equal.json").read_text("utf-8"))
    assert "| self less untrained | +3.1 | [+0.8, +5.5] | 0.0291 | 0.0291 |" in tables.null_tests(data)
    fresh = tables.fresh_tests(data)
    assert "| fresh-judged less self | +2.1 | [-2.7, +6.9] | 0.1986 | 0.1986 |" in fresh
    assert "| fresh-judged less kto-474 | +4.3 | [+4.0, +4.5] | 0.0001 | 0.0003 |" in fresh
