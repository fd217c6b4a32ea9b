"""Pages of evaluations, tournaments and records."""

import json

import pytest

from stratagem.base.errors import BadRecord
from stratagem.cli.main import main
from stratagem.show.reports.figures_page import figures_html


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code or 0


def test_page_of_an_evaluation_has_its_figures(tmp_path, capsys):
    out = tmp_path / "kuhn.json"
    command = ("eval", "kuhn", "--player", "NashApprox", "--player", "mcts:5", "--opponents", "random", "--episodes", 4)
    assert run(*command, "--out", out, "--record", tmp_path / "record") == 0
    assert run("report", out) == 0
    assert "kuhn.html" in capsys.readouterr().out
    page = (tmp_path / "kuhn.html").read_text("utf-8")
    rows = json.loads(out.read_text())["games"][0]["players"]
    for row in rows:
        pay = row["unscaled"]["payoff"]["mean"]
        assert f"{abs(pay):.3f}" in page
    assert "kuhn, by opponent, in chips a hand" in page
    assert "NashConv" in page
    assert run("report", tmp_path / "record") == 0
    assert "mcts:5" in (tmp_path / "record" / "report.html").read_text("utf-8")


def test_page_of_a_tournament_is_its_matrix(tmp_path):
    out = tmp_path / "ipd.json"
    assert run("tournament", "ipd", "--players", "TitForTat", "AlwaysDefect", "--episodes", 2, "--out", out) == 0
    assert run("report", out, "--out", tmp_path / "page.html") == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.index('<th scope="row">1</th><td>ipd/AlwaysDefect</td>') < page.index("<td>ipd/TitForTat</td>")
    assert "mean against others \u2191" in page
    assert "mean against others: mean payoff a round against the other players." in page
    assert "0.88" in page


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("[]", "holds no figures: name a file"),
        ("{}", "holds no figures: name a file"),
        ('{"payoff": 1}', "holds no figures that can be shown: game"),
        ('{"games": [{"game": 5}]}', "holds no figures that can be shown: games.0.game"),
        (
            '{"game": "x", "players": ["a"], "payoff": [], "mean_against_others": []}',
            "size is not the number of players",
        ),
    ],
)
def test_file_without_figures_is_refused_in_a_sentence(tmp_path, content, says):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(BadRecord, match=says):
        figures_html(path)


def test_hostile_names_are_text_on_the_page(tmp_path):
    path = tmp_path / "x.json"
    name = "<script>alert(1)</script>\u202e"
    path.write_text(json.dumps({"games": [{"game": name, "players": [{"player": name, "opponents": []}]}]}))
    assert "<script>alert" not in figures_html(path)
    assert "\u202e" not in figures_html(path)
