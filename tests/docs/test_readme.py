"""README: short, with the figures of the stored results and the lines that its commands print."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from headlines import TARGET, headlines
from result_tables import read_results

from forks import forked_command

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
TRAINED, START = "run:runs/demo@560", "run:runs/demo@start"


read_headlines = cache(headlines)


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def section(title):
    """Return the part of README under a heading."""
    return re.split(r"^#+ ", README.partition(f"# {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def printed(title):
    """Return the lines of the blocks of output under a heading."""
    blocks = re.findall(r"```text\n(.*?)```", section(title), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def mean_of(label):
    """Return the mean of a headline over its seeds."""
    (row,) = (row for row in read_headlines() if row.label == label)
    return sum(row.values) / len(row.values)


def test_readme_is_short():
    assert len(README.splitlines()) < 130
    assert len(README.split()) <= 900


def test_picture_is_described_with_the_figures_of_the_stored_seeds():
    alt = re.search(r'alt="([^"]*)"', README)[1]
    labels = ("Kuhn, SFT", "Kuhn, best response", "Kuhn, control", "Kuhn, pool")
    assert re.findall(r"\.\d+", alt) == [f"{mean_of(label):.3f}".lstrip("0") for label in labels]
    seeds = {len(row.values) for row in read_headlines() if row.label in labels}
    assert seeds == {20}
    assert f"{seeds.pop()} seeds" in README


def test_both_trained_policies_have_a_lower_payoff_than_the_control():
    runs = read_results(ROOT / "docs/results/sepo-play.json")["kuhn"]
    pay = {
        arm: sum(run["stages"]["last"]["payoff"] for run in runs[f"{arm}-togo"]) for arm in ("none", "best", "probe")
    }
    assert max(pay["best"], pay["probe"]) < pay["none"]


def test_table_of_systems_has_one_short_row_for_each():
    rows = re.findall(r"^\| \[.*$", section("Four systems"), re.MULTILINE)
    assert len(rows) == 4
    assert all(len(cell.split()) <= 16 for row in rows for cell in row.strip("|").split("|"))
    sepo, _, scopal, diplomacy = rows
    assert f"exploitability {mean_of('Kuhn, best response'):.3f}".replace("0.", ".") in sepo
    assert f"without a penalty {mean_of('Kuhn, control'):.3f}".replace("0.", ".") in sepo
    base, trained = (100 * mean_of(f"six games, {label}") for label in ("base", "cloning + KTO"))
    assert f"from {base:.1f} to {trained:.1f} %" in scopal
    assert "an equal has" in diplomacy


def test_shares_of_diplomacy_are_those_of_the_headlines():
    paper = tomllib.loads(TARGET.read_text("utf-8"))
    published = {row["label"]: row["published"][0] for row in paper["tables"][0]["rows"]}
    trained, search = (published[f"Diplomacy, {name}"].lstrip("0") for name in ("trained", "search"))
    assert f"{trained} trained, {search} by search; an equal has {1 / 7:.3f}".replace(" 0.", " .") in README
    stored = read_results(ROOT / "docs/results/diplomacy-search.json")["games"][0]["players"][0]
    assert f"{stored['metrics']['payoff']['mean']:.3f}".lstrip("0") == search


def test_audit_prints_the_lines_that_readme_shows(tmp_path):
    (line,) = re.findall(r"^stratagem (audit .*)$", section("Is my agent exploitable?"), re.MULTILINE)
    status, said = forked_command(*line.split(), work=tmp_path, scratch=tmp_path)
    assert status == 0, said
    lines = {line.rstrip() for line in said.splitlines()}
    shown = printed("Is my agent exploitable?")
    assert len(shown) == 4
    assert [line for line in shown if line not in lines] == []


def test_table_of_the_demo_is_that_of_the_tutorial():
    tutorial = (ROOT / "docs/tutorials/first-training.md").read_text("utf-8").splitlines()
    rows = [row for row in printed("Two commands") if row.startswith(("player", "NashApprox", "run:", "random"))]
    assert len(rows) == 5
    assert [row for row in rows if row not in tutorial] == []
    before, after = (next(row.split()[-1] for row in rows if row.startswith(name)) for name in (START, TRAINED))
    assert f"{before} before, {after} after".replace("0.", ".") in README
