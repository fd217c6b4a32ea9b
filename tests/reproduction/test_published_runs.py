"""Published tables of every paper: their files are read, and their runs are recipes of the paper's algorithm."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import bound
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.language.models.unloaded import NotLoaded, forbid_loading
from stratagem.sweeps.reproduction.published import SCALES, file_of, paper_names, printed_value, read_paper
from stratagem.sweeps.reproduction.table_plan import TablePlan, of_base
from stratagem.training.runs.folder import RunFolder
from stratagem.training.shipped import PAPERS, shipped_recipes

PAPER_OF = {name: read_paper(file_of(name)) for name in paper_names()}
ALGORITHMS = {
    "shapellm": {"shapellm"},
    "scopal": {"scopal"},
    "sepo": {"sepo"},
    "diplomacy": {"grpo", "league"},
}
"""Algorithms of the runs of each paper."""
PLANNED = [
    pytest.param(name, run, id=f"{name}-{scale}-{run.name}")
    for name in paper_names()
    for scale in SCALES
    for run in {
        run.name: run
        for table in PAPER_OF[name].tables
        for run in TablePlan(file_of(name), PAPER_OF[name], table, scale, Path("runs"), (0,)).list_runs()
    }.values()
]


@pytest.mark.parametrize("name", paper_names())
def test_measured_speeds_come_in_pairs_and_with_their_machine(name):
    scales = PAPER_OF[name].scales
    assert scales["tiny"].measured, "the small scale was run for every paper"
    for scale in scales.values():
        assert {bool(scale.decode_speed), bool(scale.learn_speed), bool(scale.measured)} in ({True}, {False})


@pytest.mark.parametrize("name", paper_names())
def test_every_scale_says_what_differs_from_the_paper(name):
    paper = PAPER_OF[name]
    assert paper.text.endswith(".txt")
    sentences = [*paper.differs, *(text for table in paper.tables for text in table.differs)]
    for scale in paper.scales.values():
        sentences += scale.differs
    assert [sentence for sentence in sentences if not sentence.endswith(".")] == []
    assert all(paper.scales[scale].differs for scale in paper.scales if scale != "gpu")
    assert len({table.id for table in paper.tables}) == len(paper.tables)
    assert set(paper.runs) >= {run for table in paper.tables for run, _ in table.runs} - set(paper.evaluations)


@pytest.mark.parametrize(("name", "run"), PLANNED)
def test_every_published_run_can_be_trained_at_every_scale(name, run, tmp_path):
    """As far as that can be told without its model, and without the runs that it starts from."""
    recipe = replace(run, changes=of_base(run.changes)).recipe()
    assert recipe.algorithm in ALGORITHMS[name]
    if any("runs/" in value for value in run.changes.values()):
        return  # it learns from the games of another run, which are not there
    with forbid_loading(), suppress(NotLoaded):
        bound(recipe, RunFolder(tmp_path / "run"))


@pytest.mark.parametrize("name", paper_names())
def test_folder_of_a_paper_holds_recipes_and_one_file_of_tables(name):
    recipes = {f"{recipe.name}.toml" for recipe in shipped_recipes() if recipe.group == f"papers/{name}"}
    files = {path.relative_to(PAPERS.parent).as_posix() for path in (PAPERS / name).glob("*.toml")}
    assert files - recipes == {f"papers/{name}/published.toml"}


def test_printed_value_is_the_first_number():
    assert [printed_value(text) for text in ("3.96 ± 0.01", "-0.03", "\u22120.5", ".25", "40%", "")] == [
        *(3.96, -0.03, -0.5, 0.25, 40.0),
        None,
    ]
    with pytest.raises(ValueError, match="no printed figure"):
        printed_value("none")


PAPER = """
name = "A"
title = "A paper"
models.large = ["large.toml"]
scales.tiny = { recipes = ["tiny.toml"], differs = ["It is small."] }
runs.one = { recipes = ["one.toml"] }
[[tables]]
id = "1"
title = "Payoffs"
place = "Section 1"
columns = [{ name = "payoff", at = "metrics/payoff" }]
rows = [{ label = "first", run = "one", published = ["1.0"] }]
"""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('run = "one"', 'run = "two"', "able 1 names no run 'two'"),
        ('["1.0"]', '["1.0", "2.0"]', "has 2 figures for 1 columns"),
        ('["1.0"]', '["high"]', "'high' is no printed figure"),
        ('run = "one"', 'run = "one", model = "small"', "names no model 'small'"),
        ('place = "Section 1"', 'place = "Section 1"\ncannot = "No run."', "give one of the two"),
        (
            '["one.toml"] }',
            '["one.toml"], after = "zero" }',
            "starts from 'zero' or reads its files",
        ),
        ('run = "one"', 'run = "one", chance = [0.5, 0.5]', "chance levels for 2 columns"),
    ],
)
def test_mistake_in_published_tables_is_one_sentence(old, new, sentence, tmp_path):
    file = Path(tmp_path / "published.toml")
    file.write_text(PAPER)
    assert read_paper(file).table("1").rows[0].published == ("1.0",)
    file.write_text(PAPER.replace(old, new))
    with pytest.raises(BadParameter, match=sentence):
        read_paper(file)


def test_unknown_table_is_answered_with_those_of_the_paper(tmp_path):
    file = Path(tmp_path / "published.toml")
    file.write_text(PAPER)
    with pytest.raises(UnknownName, match="table of A"):
        read_paper(file).table("9")
