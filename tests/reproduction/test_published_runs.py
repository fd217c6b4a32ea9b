"""Published tables of every paper: their files are read, and their runs are recipes of the paper's algorithm."""

from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.errors import BadParameter, UnknownName
from stratagem.models.unloaded import unloaded
from stratagem.reproduction.published import SCALES, paper_names, printed_value, read_paper, read_published
from stratagem.runs.folder import RunFolder
from stratagem.training.shipped import PAPERS, recipe_path, shipped_recipes

ALGORITHMS = {"shapellm": "shapellm"}
"""Algorithm of the runs of a paper that has only one."""
RUNS = [(name, run, model) for name in paper_names() for table in read_paper(name).tables for run, model in table.runs]


def composed(name, run, model, scale):
    """Recipes and changed settings of a run at a scale."""
    paper = read_paper(name)
    run = paper.runs[paper.evaluations[run].run if run in paper.evaluations else run]
    last = run.scale_recipes.get(scale, paper.scales[scale].recipes)
    models = paper.models[model or next(iter(paper.models))] if scale == "gpu" else ()
    names = [*run.recipes, *models, *last]
    return [recipe_path(part, PAPERS / name) for part in names], {**run.set, **run.scales.get(scale, {})}


@pytest.mark.parametrize("name", paper_names())
def test_every_scale_says_what_differs_from_the_paper(name):
    paper = read_paper(name)
    assert paper.text.endswith(".txt")
    sentences = [*paper.differs, *(text for table in paper.tables for text in table.differs)]
    for scale in paper.scales.values():
        sentences += scale.differs
    assert [sentence for sentence in sentences if not sentence.endswith(".")] == []
    assert all(paper.scales[scale].differs for scale in paper.scales if scale != "gpu")
    assert len({table.id for table in paper.tables}) == len(paper.tables)
    assert set(paper.runs) >= {run for table in paper.tables for run, _ in table.runs} - set(paper.evaluations)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("name", "run", "model"), list(dict.fromkeys(RUNS)))
def test_every_published_run_can_be_trained_at_every_scale(name, run, model, scale, tmp_path):
    """As far as that can be told without its model."""
    if scale not in read_paper(name).scales:
        pytest.skip(f"{name} has no scale {scale}")
    recipe = read_any(*composed(name, run, model, scale))
    assert recipe.algorithm == ALGORITHMS.get(name, recipe.algorithm)
    with unloaded():
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
columns = [{ name = "payoff", at = "metrics/pay" }]
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
        ('["one.toml"] }', '["one.toml"], after = "zero" }', "after 'zero', which is no run"),
        ('run = "one"', 'run = "one", chance = [0.5, 0.5]', "chance levels for 2 columns"),
    ],
)
def test_mistake_in_published_tables_is_one_sentence(old, new, sentence, tmp_path):
    file = Path(tmp_path / "published.toml")
    file.write_text(PAPER)
    assert read_published(file).table("1").rows[0].published == ("1.0",)
    file.write_text(PAPER.replace(old, new))
    with pytest.raises(BadParameter, match=sentence):
        read_published(file)


def test_unknown_table_is_answered_with_those_of_the_paper(tmp_path):
    file = Path(tmp_path / "published.toml")
    file.write_text(PAPER)
    with pytest.raises(UnknownName, match="table of A"):
        read_published(file).table("9")
