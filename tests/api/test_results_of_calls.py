"""Results: a table in a terminal and in a notebook, a picture, a data frame and a file."""

import json
import re
import subprocess
import sys
import tomllib
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import plotly.graph_objects as go
import pytest
from packaging.requirements import Requirement
from rich.console import Console

import stratagem as sg
from stratagem.api.progress import show_progress
from stratagem.measure.statistics import Estimate
from stratagem.players.uniform import Random
from stratagem.show.table import Numbers, columns_of, text_table
from stratagem.show.terminal import terminal_table

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
HOSTILE = "<script>x</script>\x1b]52;c;AAAA\x07\u202e"


class Stranger(Random):
    """Random play under a name that attacks terminals and pages."""

    name = HOSTILE


@pytest.fixture(scope="module")
def results():
    return {
        "play": sg.play("kuhn", ["NashApprox", "random"], episodes=4),
        "evaluate": sg.evaluate("kuhn", "NashApprox", episodes=2, opponents=["random", "mcts:2"]),
        "exploitability": sg.exploitability("kuhn", "random"),
        "tournament": sg.tournament("kuhn", ["NashApprox", "AlwaysBet"], episodes=2),
        "verify": sg.verify("kuhn", episodes=2),
    }


def test_results_print_as_tables(results):
    assert repr(results["play"]).splitlines()[:2] == [
        "kuhn: 4 episodes, chips a hand",
        "player                    payoff  wins  illegal turns",
    ]
    assert repr(results["exploitability"]).startswith("random in kuhn: exploitability 0.458, NashConv 0.917, chips")
    assert "mean against others" in repr(results["tournament"])
    assert repr(results["verify"]).startswith("kuhn conforms\n")
    for result in results.values():
        html = result._repr_html_()
        assert html.startswith('<div class="scroll" tabindex="0"><table><caption>')
        cells = html.count("<td") + html.count('scope="row"')
        assert cells == sum(len(row.values) for table in result.main_tables() for row in table.rows)


def test_known_figures_are_in_the_rows(results):
    found = results["exploitability"]
    assert float(found) == pytest.approx(11 / 24)  # uniform play in Kuhn poker, as OpenSpiel computes it
    assert [row["gain"] for row in found.rows()] == pytest.approx([0.375, 13 / 24])
    exact = {(row["player"], row["figure"]): row["mean"] for row in results["evaluate"].rows()}
    assert exact["random", "exploitability"] == pytest.approx(11 / 24)
    assert exact["kuhn/NashApprox", "exploitability"] == pytest.approx(0.0, abs=1e-9)
    units = {(row["figure"], row["unit"]) for row in results["evaluate"].rows()}
    assert {("exploitability", "chips a hand"), ("unscaled_payoff", "chips a hand")} <= units
    pay = {(row["player"], row["opponent"]): row["mean"] for row in results["tournament"].rows()}
    assert pay["kuhn/NashApprox", "random"] == -pay["random", "kuhn/NashApprox"] > 0


def test_pay_on_the_common_scale_is_not_given_in_the_unit_of_the_game():
    found = sg.evaluate("kuhn", "random", opponents=["NashApprox"], episodes=2, chance=False)
    own = {row["figure"]: (row["mean"], row["unit"]) for row in found.rows()}
    assert own["payoff"] == (pytest.approx(3 * own["unscaled_payoff"][0]), "points on the common scale")
    assert own["unscaled_payoff"][1] == "chips a hand"
    assert [table.title for table in found.tables()] == [
        "kuhn   2 episodes per opponent, in chips a hand",
        "kuhn, on the common scale",
        "kuhn, unscaled, in chips a hand",
        "kuhn, by opponent, in chips a hand",
    ]
    plain = sg.evaluate("ipd", "TitForTat", opponents=["Joss"], episodes=2, chance=False)
    assert plain.tables()[1].title == "ipd"
    assert plain.to_json()["games"][0]["units"]["payoff"] == "points a round"


def test_json_tells_the_unit_of_each_metric():
    (game,) = sg.evaluate("kuhn", "random", episodes=2, chance=False).to_json()["games"]
    assert game["unit"] == "chips a hand"
    assert set(game["units"]) == set(game["players"][0]["metrics"])
    common = {name for name, unit in game["units"].items() if unit == "points on the common scale"}
    assert common == {"payoff", "pool_advantage", "shifted_payoff", "safety"}


def test_rows_become_a_data_frame(results, monkeypatch):
    pytest.importorskip("pandas")
    for result in results.values():
        frame = result.to_pandas()
        assert len(frame) == len(result.rows())
        assert list(frame.columns) == list(result.rows()[0])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sg.StratagemError, match="to_pandas needs pandas, which is not installed: pip install pandas"):
        results["play"].to_pandas()


def test_core_computes_and_reports_without_plotly(tmp_path):
    """Nothing but `plot()` asks for plotly, and it names the extra in one sentence."""
    program = f"""
import sys
sys.modules["plotly"] = None
import stratagem as sg
result = sg.exploitability("kuhn", "random")
result.save({str(tmp_path / "figures.json")!r})
print(round(float(result), 9), len(result._repr_html_()) > 0)
try:
    result.plot()
except sg.StratagemError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    computed, sentence = run.stdout.splitlines()
    assert computed == "0.458333333 True"
    assert re.fullmatch(r"`plot\(\)` needs an extra that is not installed: pip install .*\[plots\]'.*\.", sentence)
    named = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert not {"plotly", "matplotlib"} & named, "64 MB for a picture that few draw"
    assert [Requirement(text).name for text in PROJECT["optional-dependencies"]["plots"]] == ["plotly"]


def test_results_plot_but_a_verification(results):
    for name, result in results.items():
        if name == "verify":
            assert not hasattr(result, "plot")
            continue
        figure = result.plot()
        assert isinstance(figure, go.Figure)
        assert len(figure.data) >= 1
    unscaled = next(row["mean"] for row in results["evaluate"].rows() if row["figure"] == "unscaled_payoff")
    assert results["evaluate"].plot("payoff").data[0].y[0] == pytest.approx(unscaled)
    with pytest.raises(sg.StratagemError, match="There is no figure of this result called 'payy'"):
        results["evaluate"].plot("payy")


def test_results_are_saved_as_json(results, tmp_path):
    for name, result in results.items():
        path = result.save(tmp_path / f"{name}.json")
        assert json.loads(path.read_text()) == json.loads(json.dumps(result.to_json()).replace("NaN", "null"))
    with pytest.raises(sg.StratagemError, match="cannot be written"):
        results["tournament"].save("/dev/null/nowhere/x.json")


def test_results_are_saved_as_markdown(results, tmp_path):
    for name, result in results.items():
        if name == "play":  # its file is a record
            continue
        text = result.save(tmp_path / f"{name}.md").read_text("utf-8")
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        assert len(rows) == sum(2 + len(table.rows) for table in result.main_tables())
        assert {line.count(" |") for line in rows} == {len(table.columns) for table in result.main_tables()}
    assert "| NashApprox |" in (tmp_path / "evaluate.md").read_text("utf-8")


def test_a_record_has_the_episodes_and_their_figures(results, tmp_path):
    sg.play("kuhn", ["NashApprox", "random"], episodes=4, record=tmp_path / "one")
    results["play"].save(tmp_path / "two")
    one, two = sg.read_record(tmp_path / "one"), sg.read_record(tmp_path / "two")
    assert one.rows() == two.rows() == results["play"].rows()
    assert one.payoffs() == results["play"].payoffs()
    assert "4 episodes" in repr(one)
    sg.play("kuhn", "random", episodes=1, record=tmp_path / "single")
    assert "single: 1 episode\n" in repr(sg.read_record(tmp_path / "single"))
    (figures,) = one.evaluate().to_json()["games"][0]["players"]
    assert figures["unscaled"]["payoff"]["mean"] == pytest.approx(results["play"].totals()[0].payoff.mean)
    with pytest.raises(sg.StratagemError, match="already holds recorded episodes"):
        results["play"].save(tmp_path / "one")


def test_deals_that_several_players_replayed_are_one_observation_of_their_opponent(tmp_path):
    sg.evaluate("kuhn", ["random", "TightValue"], opponents=["AlwaysBet"], episodes=20, record=tmp_path, progress=False)
    payoffs = sg.read_record(tmp_path).payoffs()
    assert {name: one.n for name, one in payoffs.items()} == dict.fromkeys(payoffs, 10)


def test_texts_of_strangers_are_neither_obeyed_nor_markup():
    played = sg.play("kuhn", [Stranger(), "random"])
    shown, html = repr(played) + played.markdown(), played._repr_html_()
    assert r"\<script\>" in played.markdown()
    assert "\x1b" not in shown + html
    assert "\u202e" not in shown + html
    assert "<script>" not in html
    assert "<script>" not in played.plot().to_json()


def test_episodes_are_in_the_order_of_their_deals_whenever_they_end():
    played = sg.play("kuhn(hands=1)", "random", episodes=40, keep=5)
    places = [episode.id.rpartition("/")[2] for episode in played.episodes]
    assert places == [f"{number // 2}.{number % 2}" for number in range(40)]
    lengths = [sum(episode.num_decisions) for episode in played.episodes]
    assert lengths[:5] == [len(episode.decisions) for episode in played.episodes[:5]]
    assert sorted(lengths) != lengths, "so they end in another order"
    assert not any(episode.decisions for episode in played.episodes[5:])


def test_keep_leaves_out_the_decisions_of_later_episodes():
    played = sg.play("kuhn", "random", episodes=3, keep=1)
    assert [bool(episode.decisions) for episode in played.episodes] == [True, False, False]


def test_progress_is_shown_by_tqdm_in_a_notebook_and_nowhere_without_a_terminal(monkeypatch, capsys):
    with show_progress(2) as step:
        step("one")
    assert capsys.readouterr() == ("", "")
    bars = []

    class Bar(SimpleNamespace):
        def __enter__(self):
            bars.append(self)
            return self

        def __exit__(self, *_):
            self.closed = True

        def set_description(self, text):
            self.text = text

    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(__spec__=SimpleNamespace()))
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=lambda **given: Bar(**given)))
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    sg.play("kuhn", "random", episodes=3)
    sg.play("kuhn", "random", episodes=3, progress=False)
    (shown,) = bars
    assert (shown.text, shown.total, shown.n, shown.closed) == ("kuhn", 3, 2, True)


def test_word_longer_than_its_column_is_not_cut():
    text = StringIO()
    shown = text_table("", ("", ""), [("a", "python experiments/order_prompts.py")])
    Console(file=text, width=20, force_terminal=True, color_system=None).print(terminal_table(shown))
    assert "experiments/order_prompts.py" in re.sub(r"\s", "", text.getvalue())


@pytest.mark.parametrize("terminal", [True, False])
def test_wide_table_stands_in_parts_in_a_terminal_alone(terminal):
    columns = columns_of("player", "", *(Numbers(f"figure {number}") for number in range(5)))
    shown = text_table("a title", columns, [("one", "C", *(Estimate(1.0, 0.1, 20) for _ in range(5)))])
    text = StringIO()
    Console(file=text, width=44, force_terminal=terminal, color_system=None, soft_wrap=True).print(
        terminal_table(shown)
    )
    title, *lines = text.getvalue().splitlines()
    assert title == "a title"
    assert [line.count("±") for line in lines] == ([0, 2, 0, 2, 0, 1] if terminal else [0, 5])
    assert [line.split()[0] for line in lines[1::2]] == ["one"] * (len(lines) // 2)
    assert sum(line.count("figure") for line in lines) == 5


def test_bare_addresses_are_no_links_in_markdown():
    from stratagem.show.markdown import escape_text

    assert escape_text("api:m@http://a.example, www.b.example: c.d") == (
        r"api:m\@http\://a.example, www\.b.example: c.d"
    )
