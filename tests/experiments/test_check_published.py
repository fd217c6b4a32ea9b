"""Check of printed figures: what the text of a paper has not, it names."""

from importlib import import_module

import pytest

from stratagem.sweeps.reproduction.published import PublishedPaper

check = import_module("check_published")

TEXT = """# 1 Results
Table 1: Payoffs of both players.
\t| Player 1 | Player 2
12 IPD | **1.00** ± <u>0.00</u> | $-0.50 \\pm 0.10$
IMP | 0.30 ± 0.20
| 0.70
Figure 1: Curves.
ICG | 2.00 | 3.00
Table 2: Others.
Shaper 4.10 4.20
Opponent 5.10 5.20
Of Table 3, an image, the text has 6.5
and 7.25.
8.00 9.00
Table A.4. Below.
"""


def paper(number, figures, captions="above", **changes):
    """A paper of one table with one row."""
    columns = [{"name": str(place), "at": f"metrics/{place}"} for place in range(len(figures))]
    row = {"label": "the row", "run": "one", "published": figures}
    table = {"id": number, "title": "T", "place": "Here", "columns": columns, "rows": [row], **changes}
    whole = {"name": "A", "title": "A", "text": "a.txt", "models": {"m": []}, "scales": {}, "captions": captions}
    return PublishedPaper.read({**whole, "runs": {"one": {"recipes": []}}, "tables": [table]})


def missing(*arguments, **changes):
    return [table.id for table, _ in check.missing_rows(paper(*arguments, **changes), TEXT)]


@pytest.mark.parametrize(
    ("number", "figures"),
    [
        ("1", ["1.00 ± 0.00", "-0.50 ± 0.10"]),  # marks of markdown, HTML and TeX
        ("1", ["0.30 ± 0.20", "0.70"]),  # two lines
        ("1", ["2.00", "3.00"]),  # behind the caption of a figure
        ("1", ["2.00", ""]),
        ("2", ["4.10", "5.10"]),  # a row of ours is a column of the paper's
        ("note-a", ["8.00", "9.00"]),  # no table
    ],
)
def test_printed_figures_are_found_at_their_table(number, figures):
    assert missing(number, figures) == []


@pytest.mark.parametrize(
    ("number", "figures"),
    [
        ("1", ["1.00 ± 0.00", "0.50 ± 0.10"]),  # another sign
        ("1", ["1.00 ± 0.00", "-0.50 ± 0.11"]),  # another interval
        ("1", ["-0.50 ± 0.10", "1.00 ± 0.00"]),  # columns exchanged
        ("1", ["1.00", "1.00"]),  # printed once
        ("1", ["4.10", "4.20"]),  # another table
        ("1", ["00", "0.10"]),  # a part of a number
        ("2", ["1.00 ± 0.00"]),
        ("9", ["8.00"]),  # no such table
        ("3", ["6.5", "7.25"]),  # not at a caption
        ("A.4", ["8.00"]),
        ("note-a", ["8.01"]),
    ],
)
def test_wrong_figure_or_place_is_named(number, figures):
    assert missing(number, figures) == [number]


def test_figures_stand_above_captions_that_are_below():
    assert missing("A.4", ["8.00", "9.00"], captions="below") == []
    assert missing("A.4", ["2.00", "3.00"], captions="below") == ["A.4"]
    assert missing("1", ["1.00 ± 0.00"], captions="below") == ["1"]


def test_figures_elsewhere_in_the_text_need_a_reason():
    assert missing("3", ["6.5", "7.25"], printed_in="Section 1: the table is an image") == []
    assert missing("3", ["6.5", "7.26"], printed_in="Section 1: the table is an image") == ["3"]


def test_command_returns_the_number_of_missing_rows(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.txt").write_text(TEXT)
    monkeypatch.setattr(check, "read_paper", lambda name: paper("1", ["1.00 ± 0.01"]))
    monkeypatch.setattr("sys.argv", ["check_published.py", str(tmp_path), "shapellm"])
    with pytest.raises(SystemExit) as ended:
        check.main()
    assert ended.value.code == 1
    assert "table 1, the row: not found: 1.00 ± 0.01\n" in capsys.readouterr().out
    monkeypatch.setattr(check, "read_paper", lambda name: paper("1", ["1.00 ± 0.00"]))
    with pytest.raises(SystemExit) as ended:
        check.main()
    assert ended.value.code == 0
    assert "1 of 1 rows are in a.txt" in capsys.readouterr().out
