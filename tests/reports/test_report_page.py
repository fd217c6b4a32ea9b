"""A run's page: its sections, its figures, what it may do, and what it says of a run that lacks something."""

import base64
import hashlib
import json
import re
import subprocess
import sys

import pytest
from made_runs import CHOSEN, HOSTILE, LAST, ROWS, START, begun, evaluated, keep_policy, measured, whole, write
from reading import Page
from scipy.stats import t

from stratagem.cli.main import main
from stratagem.show.reports.catalogue import ANY, SECTIONS
from stratagem.show.reports.report import report_html
from stratagem.training.runs.metrics import read_metrics

LARGEST = 200_000


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return whole(tmp_path_factory.mktemp("runs") / "kuhn-tiny-0")


@pytest.fixture(scope="module")
def page(run):
    return Page(report_html(run))


def told(value):
    """A figure as a page writes it."""
    said = f"{value:.3f}"
    return said.removeprefix("-") if float(said) == 0 else said.replace("-", "\u2212")


def test_the_page_has_the_sections_of_its_algorithm(page):
    assert page.sections == [
        *("results", "dominated", "equilibrium", "curves", "signals", "checks", "play", "settings", "repeat")
    ]
    links = [given["href"] for tag, given in page.tags if tag == "a"]
    assert links == [f"#{name}" for name in page.sections]


def test_every_maker_is_named_like_its_section(run):
    for makers in (*SECTIONS.values(), ANY):
        assert len({make.__name__ for make in makers}) == len(makers)


def test_a_run_of_another_algorithm_has_what_any_run_has(tmp_path):
    page = Page(report_html(begun(tmp_path / "run", algorithm="another")))
    assert page.sections == [make.__name__ for make in ANY]


def test_the_verdict_is_made_of_the_figures(page):
    stages = evaluated()["games"][0]["players"][:4]
    exact = [told(row["exact"]["exploitability"]) for row in stages]
    safety = [told(row["metrics"]["safety"]["mean"]) for row in stages]
    assert (
        f"kuhn: from SFT to SEPO (step 8), exploitability fell from {exact[1]} to {exact[2]} chips a hand and "
        f"safety fell from {safety[1]} to {safety[2]}; Base has {exact[0]} and {safety[0]}; "
        f"SEPO, last (step 20) has {exact[3]} and {safety[3]}."
    ) in page.texts[""]
    assert "The checks found 1 fault and 1 note." in page.texts[""]


def test_the_headline_has_start_chosen_and_last_side_by_side(page):
    (rows,) = page.tables_of("")
    assert rows[0] == ["", "unit", "Base", "SFT", "SEPO (step 8), chosen", "SEPO, last (step 20)"]
    exact = [told(row["exact"]["exploitability"]) for row in evaluated()["games"][0]["players"][:4]]
    assert rows[1] == ["exploitability", "chips a hand", *exact]
    assert rows[2][0] == "safety"


def test_the_table_has_every_figure_of_the_evaluation(page):
    main, scaled, plain, opponents = page.tables_of("results")
    (game,) = evaluated()["games"]
    assert [row[0] for row in scaled[1:] if row[0] != "null"] == [*ROWS.values(), "random (chance)"]
    for shown, row in zip(scaled[1:], game["players"], strict=False):
        expected = [figure and figure["mean"] for figure in row["metrics"].values()]
        assert [cell.strip() for cell in shown[1:]] == [
            "\u2013" if value is None else told(value) for value in expected
        ]
    for first, shown, row in zip(main[1:], plain[1:], game["players"], strict=False):
        pay, pool, exact = row["unscaled"]["payoff"]["mean"], row["unscaled"]["pool_advantage"]["mean"], row["exact"]
        figures = [pay, pool, exact["worst_advantage"], exact["exploitability"], exact["nash_conv"]]
        assert shown[1:6] == list(map(told, figures))
        assert first[1:3] == [told(pay), told(exact["exploitability"])]
    assert len(opponents) == 1 + sum(len(row["opponents"]) for row in game["players"])


def test_sampled_figures_stand_over_their_intervals(run):
    nra = evaluated()["games"][0]["players"][0]["metrics"]["nra"]
    low, high = (nra["mean"] + sign * t.ppf(0.975, nra["n"] - 1) * nra["se"] for sign in (-1, 1))
    assert f"{told(nra['mean'])} <small>{told(low)}\u2026{told(high)}" in report_html(run)


def test_in_a_game_that_is_not_zero_sum_the_advantages_stand_side_by_side(tmp_path):
    run = begun(tmp_path / "run", game="ipd")
    names = ("TitForTat", "AlwaysCooperate")
    write(run, "evaluation.json", {"rows": {}, "evaluation": evaluated("ipd", names)})
    _, _, plain, _ = Page(report_html(run)).tables_of("results")
    heads = ["player", "payoff \u2191", "pool advantage \u2193", "worst-case advantage \u2193", "exploitability \u2193"]
    assert plain[0][:5] == heads
    row = evaluated("ipd", names)["games"][0]["players"][0]
    assert plain[1][2:4] == [told(row["unscaled"]["pool_advantage"]["mean"]), told(row["exact"]["worst_advantage"])]


def test_every_curve_that_moves_is_drawn_as_it_was_measured(run, page):
    drawn = [(trace["x"], trace["y"]) for trace in page.traces_of("curves")]
    for name, (steps, values) in read_metrics(run).items():
        if name.startswith(("checks/", "signal/")):
            continue
        since = 0 if name.startswith("sft/") else START
        assert (([step - since for step in steps], values) in drawn) == (len(set(values)) > 1), name
    assert "Externality (0.000)" in page.texts["curves"]


def test_the_chosen_checkpoint_is_marked(page):
    marks = [data["layout"]["marks"] for inside, data in page.data if inside == "curves"]
    assert {tuple(mark) for mark in marks} == {(CHOSEN - START,), ()}
    assert f"chosen checkpoint, step {CHOSEN - START}" in page.texts["curves"]


def test_the_best_model_of_the_run_is_the_chosen_one(tmp_path):
    run = whole(tmp_path / "run")
    models = {"best": {"model": "a"}, "last": {"model": "b"}, str(START + 2): {"model": "a"}, str(LAST): {"model": "b"}}
    write(run, "models.json", {"version": 1, "models": models})
    assert "chosen checkpoint, step 2." in Page(report_html(run)).texts["curves"]


def test_the_start_is_never_the_chosen_checkpoint(tmp_path):
    run = begun(tmp_path / "run")
    lines = [
        {"step": 5, "sft/loss": 1.0},
        *({"step": step, "checkpoint_metric": 9.0 - 8 * (step > 5)} for step in (5, 6, 7)),
    ]
    (run.path / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert "chosen checkpoint, step 1." in Page(report_html(run)).texts["curves"]


def test_findings_stand_there_faults_first(page):
    (rows,) = page.tables_of("checks")
    assert rows[1:] == [
        ["not_finite", "The loss is nan.", "fault", "1", "3"],
        ["alike", "5 of 8 groups have no variance.", "note", "9", "3"],
    ]


def test_finding_of_one_policy_has_its_first_step(tmp_path):
    run = begun(tmp_path / "run")
    (run.path / "metrics.jsonl").write_text('{"step": 1, "loss": 1.0}\n{"step": 2, "left/checks/alike": 1.0}\n')
    write(run, "findings.json", {"left/alike": {"count": 1, "step": 0, "first": "No variance.", "level": "note"}})
    (rows,) = Page(report_html(run)).tables_of("checks")
    assert rows[1:] == [["left/alike", "No variance.", "note", "1", "2"]]


def test_the_recipe_and_how_to_repeat_it(run, page):
    assert (run.path / "config.toml").read_text("utf-8") in page.texts["settings"]
    facts = dict(page.tables_of("repeat")[0])
    assert facts["seed"] == "7"
    assert facts["stratagem"] == run.info().made_by["stratagem"]
    assert "stratagem train recipes/kuhn-tiny.toml" in page.texts["repeat"]


def test_no_text_of_a_run_becomes_markup(tmp_path):
    run = whole(tmp_path / "run", words=HOSTILE, model=HOSTILE)
    write(run, "findings.json", {HOSTILE: {"count": 1, "first": HOSTILE, "level": HOSTILE}})
    write(run, "evaluation.json", {"rows": {"kuhn/TightValue": HOSTILE}, "evaluation": evaluated()})
    with (run.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
        names = json.dumps(HOSTILE.replace(" ", "_")), json.dumps(f"kuhn/probe/exploit/{HOSTILE}")
        for step in (LAST + 1, LAST + 2):
            file.write(f'{{"step": {step}, {names[0]}: {step}, {names[1]}: {step}}}\n')
    html = report_html(run)
    page = Page(html)
    assert not {tag for tag, _ in page.tags} & {"img", "b<", "iframe", "object", "link", "form"}
    assert len([given for tag, given in page.tags if tag == "script" and "type" not in given]) == 1
    assert not {name for _, given in page.tags for name in given if name.startswith("on")}
    assert not set(html) & set("\u202e\u0007\u2028")
    for section in ("results", "curves", "checks", "play"):
        assert "document.title='taken'" in page.texts[section]


def test_the_page_may_run_its_own_script_and_reach_nothing(run):
    html = report_html(run)
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    rules = dict(rule.split(" ", 1) for rule in Page(html).policy.split("; "))
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert rules["default-src"] == "'none'"
    assert not re.search(r"https?:", rules["img-src"] + rules["style-src"])


def test_the_page_names_no_other_file_and_is_not_too_large(run, page):
    named = [given[name] for tag, given in page.tags for name in ("src", "href") if name in given]
    assert all(name.startswith("#") for name in named)
    assert len(report_html(run).encode()) < LARGEST


def test_several_games_stand_one_under_the_other(tmp_path):
    auction = "auction(rounds=2)"
    run = begun(tmp_path / "run", games=["kuhn", auction])
    measured(run, auction)
    keep_policy(run, START, auction)
    page = Page(report_html(run))
    assert "openings" in page.sections
    assert "equilibrium" in page.sections
    assert auction in page.texts["curves"]


def test_the_command_writes_the_page(tmp_path, capsys):
    run = begun(tmp_path / "run")
    for arguments, path in ([], run.path / "report.html"), (["--out", str(tmp_path / "r.html")], tmp_path / "r.html"):
        with pytest.raises(SystemExit) as ended:
            main(["report", str(run.path), *arguments])
        assert not ended.value.code
        assert path.read_text("utf-8") == report_html(run)
    assert re.search(r"r\.html: \d\d kB", capsys.readouterr().out)


def test_the_command_prints_the_headline_as_json(tmp_path, capsys):
    run = whole(tmp_path / "run")
    with pytest.raises(SystemExit):
        main(["report", str(run.path), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert (data["page"], data["algorithm"]) == (str(run.path / "report.html"), "sepo")
    assert (data["sft_steps"], data["step"], data["best_step"]) == (START, LAST - START, CHOSEN - START)
    (kuhn,) = data["headlines"]
    assert kuhn["stages"] == ["Base", "SFT", "SEPO (step 8)", "SEPO, last (step 20)"]
    assert kuhn["chosen"] == "SEPO (step 8)"
    figures = kuhn["measures"]["exploitability"]["figures"]
    assert figures["SFT"]["mean"] == pytest.approx(1 / 6)
    assert {one["situation"] for one in data["dominated"]} >= {"K, second, facing a bet", "J, second, facing a bet"}
    assert data["findings"]["not_finite"]["level"] == "fault"
    assert (run.path / "report.html").is_file()


def test_an_evaluation_and_a_tournament_are_told_as_json(tmp_path, capsys):
    path = tmp_path / "kuhn.json"
    path.write_text(json.dumps(evaluated()))
    with pytest.raises(SystemExit):
        main(["report", str(path), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert (data["kind"], data["page"]) == ("evaluation", str(path.with_suffix(".html")))
    assert data["games"]["kuhn"]["kuhn/NashApprox"]["exploitability"] == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(SystemExit):
        main(["tournament", "kuhn", "--players", "NashApprox", "--players", "AlwaysBet", "--out", str(path)])
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["report", str(path), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert data["kind"] == "tournament"
    assert list(data["mean_against_others"]) == ["kuhn/NashApprox", "kuhn/AlwaysBet", "random"]


def test_what_is_no_run_is_refused_in_a_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path)])
    assert ended.value.code == 2
    assert "There is no run at" in " ".join(capsys.readouterr().err.split())


def test_a_report_needs_no_model_library():
    program = "import sys, stratagem.show.reports.report\nprint(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "pydantic" in loaded
    assert not {"torch", "transformers", "peft", "tokenizers", "plotly"} & set(loaded)
