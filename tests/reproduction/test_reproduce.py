"""`reproduce`: the runs of a table, its figures beside the printed ones, and what it answers to mistakes."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

import stratagem as sg
from stratagem.api.published_tables import PublishedTables, Reproduction, ReproductionPlan
from stratagem.base.errors import StratagemError
from stratagem.cli.main import main
from stratagem.measure.statistics import Estimate
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.sweeps.reproduction import table_maker
from stratagem.sweeps.reproduction.published import read_paper
from stratagem.sweeps.reproduction.run_figures import final_figures
from stratagem.sweeps.reproduction.table_maker import PublishedFigure
from stratagem.sweeps.reproduction.table_plan import TablePlan, begun_before
from stratagem.training.runs.folder import RunFolder

GAME = """
games = ["kuhn(hands=1)"]
style = "plain"
mode = "direct"
validation_episodes = 2
test_episodes = 2
sft = { num_examples = 40, epochs = 1, batch_size = 32, optimizer = { learning_rate = 1e-3 } }
sepo = { iterations = 1, groups_per_batch = 1, group_size = 2, signal_every = 0 }
"""
PAPER = """
name = "Made up"
title = "A paper that nobody wrote"
differs = ["It was never written."]
[models]
large = ["large.toml"]
[scales.tiny]
recipes = ["small.toml"]
differs = ["A smaller model."]
[scales.gpu]
recipes = []
differs = []
[runs.first]
recipes = ["game.toml"]
[runs.second]
recipes = ["game.toml"]
after = "first"
set = { "sft.epochs" = 0, "sepo.group_size" = 3 }
[evaluations.other]
run = "second"
stages = ["best"]
games = ["kuhn(hands=1)"]
opponents = ["random", "run:{first}@start"]
episodes = 2
[[tables]]
id = "1"
title = "Kuhn poker"
place = "page 1"
columns = [
  { name = "pay", at = "evaluation/kuhn/{stage}/unscaled/payoff", chance = "evaluation/kuhn/random/unscaled/payoff" },
  { name = "exploit in thirds", at = "evaluation/kuhn/{stage}/unscaled/pool_advantage", factor = 3.0, chance = 0.5 },
]
rows = [
  { label = "base", run = "first", at = { stage = "base" }, published = ["-0.25 ± 0.01", ""] },
  { label = "trained", run = "second", at = { stage = "trained" }, published = ["+.125", "0.5"], chance = [0.0, 1.0] },
  { label = "oracle", cannot = "There is no oracle.", published = ["1.0", "0.0"] },
]
[[tables]]
id = "2"
title = "Against others"
place = "page 2"
columns = [{ name = "win rate", at = "evaluation/kuhn/best/against/random/win_rate" }]
rows = [{ label = "trained", run = "other", published = ["0.5"] }]
[[tables]]
id = "3"
title = "Minds"
place = "page 3"
cannot = "Minds are not measured here."
"""


@pytest.fixture
def paper(tmp_path):
    folder = tmp_path / "made-up"
    folder.mkdir()
    for name, text in {
        "game": GAME,
        "small": 'model = "tiny"\n',
        "large": 'model = "tiny"\nmax_tokens_per_microbatch = 2048\n',
        "published": PAPER,
    }.items():
        (folder / f"{name}.toml").write_text(text)
    return folder / "published.toml"


def plan_of(path, table="1", scale="tiny", seeds=(0, 1), **more):
    known = read_paper(path)
    return TablePlan(path, known, known.table(table), scale, path.parent / "runs", seeds, **more)


def test_runs_that_others_start_from_come_first_and_once(paper):
    planned = plan_of(paper).list_runs()
    assert [run.name for run in planned] == ["first-0", "second-0", "first-1", "second-1"]
    assert planned[1].changes["model"] == f"run:{paper.parent / 'runs' / 'first-0'}@start"
    assert [path.name for path in planned[0].recipes] == ["game.toml", "small.toml"]
    assert [run.first for run in planned] == [True, False, True, False]


def test_the_papers_own_models_have_runs_of_their_own(paper):
    planned = plan_of(paper, scale="gpu", seeds=(7,)).list_runs()
    assert [run.name for run in planned] == ["first-large-7", "second-large-7"]
    assert [path.name for path in planned[0].recipes] == ["game.toml", "large.toml"]
    assert planned[0].recipe().max_tokens_per_microbatch == 2048


def test_row_has_as_many_seeds_as_the_paper_gives_it(paper):
    paper.write_text(PAPER.replace('label = "base", run', 'label = "base", seeds = 4, run'))
    names = [run.name for run in plan_of(paper, seeds=(0,), of_rows=True).list_runs()]
    assert names == ["first-0", "second-0", "first-1", "first-2", "first-3"]
    assert [run.name for run in plan_of(paper, seeds=(0,)).list_runs()] == ["first-0", "second-0"]


def test_another_model_takes_the_place_of_the_scales(paper):
    first, second = plan_of(paper, seeds=(0,), model="tiny-qwen").list_runs()
    assert first.recipe().model == "tiny-qwen"
    assert second.changes["model"].startswith("run:")


def test_an_evaluation_needs_the_runs_of_its_models_and_of_its_opponents(paper):
    assert plan_of(paper, "2").runs(0) == [("second", ""), ("first", "")]


def test_no_run_is_begun_after_the_time():
    times = iter([0.0, 1800.0, 3601.0, 3602.0])
    runs = [PlannedRun(str(number), (), {"seed": str(number // 2)}) for number in range(4)]
    begun = list(begun_before(runs, 3600.0, lambda: next(times)))
    assert [run.name for run in begun] == ["0", "1"]
    assert [run.first for run in begun] == [False, True], "workers make the runs of a seed together"
    assert list(begun_before(runs, math.inf)) == runs


def folder_in(out):
    """The folder of the runs of the made-up paper, whose path has a digest in its name."""
    (folder,) = out.glob("made-up-tiny-*")
    return folder


@pytest.mark.runs
def test_figures_stand_beside_the_printed_ones_and_a_second_call_trains_nothing(paper, monkeypatch):
    out = paper.parent / "runs"
    made = sg.reproduce(f"{paper}:1", seeds=2, out=out, any_tree=True, progress=False)
    assert isinstance(made, Reproduction)
    folder = folder_in(out)
    mine = [final_figures(RunFolder.open(folder / f"first-{seed}")) for seed in (0, 1)]
    base, exploit, trained, last, *missing = made.figures[0]
    pays = [figures["evaluation/kuhn/base/unscaled/payoff"] for figures in mine]
    assert base.here.mean == pytest.approx(sum(pays) / 2)
    assert base.here.low <= min(pays)
    assert base.difference == pytest.approx(base.here.mean + 0.25)
    assert base.chance == mine[0]["evaluation/kuhn/random/unscaled/payoff"] == pytest.approx(-2 / 9)
    advantages = [figures["evaluation/kuhn/base/unscaled/pool_advantage"] for figures in mine]
    assert exploit.here.mean == pytest.approx(3.0 * sum(advantages) / 2)
    assert (exploit.difference, exploit.chance) == (None, 0.5)
    assert (trained.chance, last.chance) == (0.0, 1.0)
    assert trained.difference == pytest.approx(trained.here.mean - 0.125)
    assert [figure.why_not for figure in missing] == ["There is no oracle."] * 2
    stored = json.loads((folder / "table-1.json").read_text())
    assert [figure["published"] for figure in stored["figures"]] == ["-0.25 ± 0.01", "", "+.125", "0.5", "1.0", "0.0"]
    text = repr(made)
    assert "It was never written." in text
    assert "A smaller model." in text
    monkeypatch.setattr("stratagem.sweeps.run_maker.bound", lambda *_: pytest.fail("a finished run was trained again"))
    again = sg.reproduce(f"{paper}:1", seeds=2, out=out, any_tree=True, progress=False)
    assert again.figures == made.figures


@pytest.mark.runs
def test_evaluations_after_training_are_made_once(paper, monkeypatch):
    out = paper.parent / "runs"
    made = sg.reproduce(f"{paper}:2", seeds=1, out=out, any_tree=True, progress=False)
    ((figure,),) = made.figures
    stored = json.loads((folder_in(out) / "other-0.json").read_text())
    players = stored["evaluation"]["games"][0]["players"]
    trained = next(row for row in players if row["player"] in stored["rows"])
    rates = {one["opponent"]: one["win_rate"]["mean"] for one in trained["opponents"]}
    assert figure.here.mean == rates["random"]
    assert len(rates) == 2
    monkeypatch.setattr(table_maker, "Final", lambda *_, **__: pytest.fail("evaluated twice"))
    assert sg.reproduce(f"{paper}:2", seeds=1, out=out, any_tree=True, progress=False).figures == made.figures
    paper.write_text(paper.read_text().replace("episodes = 2\n[[tables]]", "episodes = 4\n[[tables]]"))
    other = sg.reproduce(f"{paper}:2", seeds=1, out=out, any_tree=True, progress=False)
    ((figure,),) = other.figures
    assert figure.here is None, "figures of an evaluation with other settings are not those of the table"
    assert "The evaluation other-0 was made with other settings" in other.failed[0]


def test_a_plan_runs_nothing(paper):
    out = paper.parent / "runs"
    plan = sg.reproduce(str(paper), seeds=2, out=out, dry_run=True)
    assert isinstance(plan, ReproductionPlan)
    first, second = plan.sizes
    assert (first.runs, first.finished, second.runs) == (4, 0, 4)
    assert first.hours is None
    assert first.bytes > 4_000_000
    assert not out.exists()
    assert "stratagem train" in repr(plan)


def test_hours_of_a_plan_are_those_of_unfinished_runs(paper):
    text = paper.read_text().replace(
        'differs = ["A smaller model."]', "differs = []\nlearn_speed = 10.0\ndecode_speed = 5.0"
    )
    paper.write_text(text)
    plan = sg.reproduce(f"{paper}:1", seeds=1, dry_run=True, out=paper.parent / "runs")
    (size,) = plan.sizes
    assert size.hours * 3600.0 > size.trained_tokens / 10.0
    made = plan.plans[0].list_runs()[0]
    with RunFolder.create(plan.plans[0].folder / made.name, made.recipe(), 0, "a test").at_work():
        pass
    (less,) = sg.reproduce(f"{paper}:1", seeds=1, dry_run=True, out=paper.parent / "runs").sizes
    assert (less.finished, less.runs) == (1, 2)
    assert less.hours < size.hours


def test_all_tables_are_listed_with_their_states(tmp_path):
    listed = sg.reproduce(out=tmp_path)
    assert isinstance(listed, PublishedTables)
    assert {"sepo"} <= {state.name for state in listed.states}
    states = {f"{state.name}:{state.table.id}": state.words for state in listed.states}
    assert states["sepo:5"] == "not run here"
    assert states["sepo:H"].startswith("cannot be reproduced by runs: Hours depend")
    (tmp_path / "sepo-tiny").mkdir()
    (tmp_path / "sepo-tiny" / "table-5.json").write_text('{"tables": [{"runs": 7}]}')
    again = {f"{state.name}:{state.table.id}": state.words for state in sg.reproduce(out=tmp_path).states}
    assert again["sepo:5"].startswith("tiny on 20")
    assert again["sepo:5"].endswith("finished runs: 7")


@pytest.mark.parametrize(("low", "outside"), [(-1.0, False), (0.9, True)])
def test_figure_outside_of_its_range_is_an_alarm(low, outside):
    figure = PublishedFigure("row", "pay", "0.5", Estimate(0.25, n=1), None, spread=(low, 1.0))
    result = Reproduction((), ((figure,),))
    assert figure.is_outside is outside
    assert figure.to_json()["is_outside"] is outside
    assert [one.column for one in result.outside] == ["pay"] * outside
    assert ("row, pay: outside of 0.900 to 1.000" in " ".join(result.remarks())) is outside
    assert replace(figure, here=None).is_outside, "a missing figure passes nothing"
    assert figure.difference == -0.25
    assert replace(figure, compared=False).difference is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sepo:7"], "There is no table of SEPO called '7': there are"),
        (["sepo:B"], "No run answers to table B of SEPO"),
        (["sepo:"], "The table 'sepo:' has no name: write sepo:5"),
        (["--dry-run"], "Name a table, such as sepo:5"),
        (["chess"], "There is no paper called 'chess': there are"),
        (["none/published.toml:1"], "The published tables none/published.toml cannot be read"),
        (["{paper}:1", "--scale", "cpu"], "There is no scale of Made up called 'cpu': did you mean gpu?"),
        (["{paper}:3"], "No run answers to table 3 of Made up: Minds are not measured here."),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence, paper, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["reproduce", *(one.replace("{paper}", str(paper)) for one in arguments)])
    assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('published = ["0.5"]', 'published = ["half"]', "'half' is no printed figure"),
        ('published = ["0.5"]', 'published = ["0.5", "1"]', "2 figures for 1 columns"),
        ('run = "other", published', 'run = "others", published', "names no run 'others'"),
        ('after = "first"', 'after = "third"', "the run second starts from 'third' or reads its files"),
        ('cannot = "Minds are not measured here."', "", "has rows, or a reason"),
        ('after = "first"', 'after = "second"', "the run second starts from 'second'"),
        ("{stage}", "{phase}", "the row 'base' lacks the field 'phase'"),
        ('id = "2"', 'id = "1"', "two tables have one id"),
        ('large = ["large.toml"]', "", "the scale gpu has no model"),
        ('id = "2"', 'id = "2"\nseeds = 3000000', "seeds"),
        ("{first}@start", "{nope}@start", "evaluation other has an opponent of 'nope', which is no run"),
        ("[runs.first]", '[runs."../first"]', "'../first' is no name of a run"),
        ('id = "1"', 'id = "../1"', "'../1' is no name"),
        ('run = "second"\nstages', 'run = "third"\nstages', "evaluation other needs a run"),
    ],
)
def test_wrong_published_tables_are_refused(paper, old, new, sentence):
    paper.write_text(PAPER.replace(old, new))
    with pytest.raises(StratagemError, match=f"(?i){sentence}"):
        read_paper(paper)


def test_a_strangers_paper_is_asked_for_what_it_names(paper, capsys):
    paper.write_text(
        PAPER.replace('set = { "sft.epochs" = 0', 'set = { "pools.train" = ["evil.py:Player"], "sft.epochs" = 0')
    )
    (paper.parent / "evil.py").write_text("raise SystemExit('it ran')\n")
    with pytest.raises(SystemExit, match="2"):
        main(["reproduce", f"{paper}:1", "--seeds", "1", "--any-tree", "--out", str(paper.parent / "runs")])
    assert f"published.toml would run the file {paper.parent / 'evil.py'}" in capsys.readouterr().err
    assert not (paper.parent / "runs").exists(), "it is asked before anything is trained"


def test_a_figure_that_is_undefined_in_some_runs_is_the_mean_over_the_others():
    row = SimpleNamespace(label="A", cannot="", chance=(), spread=(), compared=True)
    column = SimpleNamespace(name="payoff", at="outcome/20/a/payoff", factor=2.0, chance="outcome/20/a/null")
    plan = SimpleNamespace(
        seeds_of=lambda row: (0, 1, 2),
        run_of=lambda row, seed: seed,
        paper=SimpleNamespace(path=lambda template, row: template),
        opponent=lambda name: name,
    )
    runs = [{"outcome/20/a/payoff": value, "outcome/20/a/null": 1.0} for value in (1.0, math.nan, 3.0)]
    found = table_maker.find_figure(plan, row, column, "3.9", None, lambda run: runs[run])
    assert (found.here.mean, found.here.n, found.chance) == (4.0, 2, 2.0)
    assert found.why_not == "It is undefined in 1 of 3 runs, which do not count."
    nowhere = table_maker.find_figure(plan, row, column, "3.9", None, lambda run: runs[1])
    assert (nowhere.here, nowhere.why_not) == (None, "It is undefined in 3 of 3 runs, which do not count.")
