"""SCO-PAL's own setting as recipes, its printed tables, and runs of a paper that read the games of others."""

import json
import tomllib

import pytest

from stratagem.algorithms.catalogue import read_any
from stratagem.base.errors import BadParameter
from stratagem.sweeps.reproduction.published import SCALES, PublishedPaper, printed_value, with_folders
from stratagem.sweeps.reproduction.run_figures import final_figures
from stratagem.sweeps.reproduction.table_maker import figures_of, make_table
from stratagem.sweeps.reproduction.table_plan import TablePlan
from stratagem.training.evaluation import Final
from stratagem.training.runs.config_file import toml_value
from stratagem.training.runs.folder import RunFolder
from stratagem.training.shipped import PAPERS, PUBLISHED, recipe_path

FOLDER = PAPERS / "scopal"
DATA = tomllib.loads((FOLDER / PUBLISHED).read_text("utf-8"))
PAPER = PublishedPaper.read(DATA)
ASKED = [table for table in PAPER.tables if not table.cannot]
FEW = {
    "games": ["kuhn(hands=1)"],
    "style": "brief",
    "interaction.episodes": 16,
    "samples.max_samples": 16,
    "final_evaluation.opponents": ["random"],
    "final_evaluation.episodes": 2,
}
SMALL = {
    "name": "Small",
    "title": "A small paper.",
    "models": {"tiny": ["papers/scopal/tiny"]},
    "scales": {
        "tiny": {"recipes": ["papers/scopal/tiny"], "differs": ["It is small."], "opponents": {"search": "mcts:2"}}
    },
    "runs": {
        "winning": {
            "recipes": ["papers/scopal/self-play"],
            "set": {**FEW, "refine": ["winning"], "reward.table": "{self-play}/steps/0.parquet"},
        },
        "self-play": {"recipes": ["papers/scopal/self-play"], "set": FEW},
    },
    "evaluations": {
        "matches": {
            "run": "winning",
            "stages": ["start", "last"],
            "games": ["kuhn(hands=1)"],
            "opponents": ["run:{self-play}@start", "search"],
            "episodes": 2,
            "temperature": 0.2,
        }
    },
    "tables": [
        {
            "id": "1",
            "title": "Matches",
            "place": "section 1",
            "columns": [{"name": "win rate", "at": "evaluation/kuhn/{stage}/{figure}"}],
            "rows": [
                {
                    "label": f"{run} {figure}",
                    "run": run,
                    "at": {"stage": stage, "figure": figure},
                    "published": ["50.00"],
                }
                for run, stage, figure in [
                    ("self-play", "stage-1", "win_rate"),
                    ("winning", "trained", "win_rate"),
                    ("matches", "trained", "against/run:{self-play}@start/win_rate"),
                    ("matches", "start", "against/search/win_rate"),
                ]
            ],
        }
    ],
}
"""Paper whose second run reads the games of the first."""


def ordered():
    runs = SMALL["runs"]
    return {**SMALL, "runs": {name: runs[name] for name in ("self-play", "winning")}}


def composed(name, scale, model):
    """Recipe of a run of the paper."""
    run = PAPER.runs[name]
    folders = {other: FOLDER / other for other in PAPER.runs}
    settings = {**with_folders(run.set, folders), **run.scales.get(scale, {})}
    own = PAPER.models[model] if scale == "gpu" else ()
    recipes = (*run.recipes, *own, *PAPER.scales[scale].recipes)
    return read_any(
        [recipe_path(recipe, FOLDER) for recipe in recipes],
        {place: toml_value(value) for place, value in settings.items()},
    )


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", PAPER.runs)
def test_every_run_of_the_paper_composes(name, scale):
    assert [composed(name, scale, model).algorithm for model in PAPER.models] == ["scopal"] * len(PAPER.models)


def test_setting_of_the_paper_has_its_numbers():
    recipe = composed("self-play", "gpu", "qwen2")
    assert recipe.model == "hf:Qwen/Qwen2-7B-Instruct+dtype=bf16"
    assert composed("self-play", "gpu", "mistral").model == "hf:mistralai/Mistral-7B-Instruct-v0.3+dtype=bf16"
    assert (recipe.style, recipe.refine, len(recipe.games)) == ("scopal-paper", ("bc", "kto"), 6)
    play, evaluation = recipe.interaction, recipe.final_evaluation
    assert (play.episodes, play.temperature, play.opponents) == (1000, 0.7, {"self": 1.0})
    assert (evaluation.episodes, evaluation.temperature) == (100, 0.2)
    assert evaluation.opponents == ("random", "mcts:1000")
    bc, kto = recipe.bc, recipe.kto
    assert (bc.epochs, bc.batch_size, bc.optimizer.learning_rate, bc.optimizer.warmup_ratio) == (5, 2, 1e-6, 0.1)
    assert (kto.epochs, kto.batch_size, kto.optimizer.learning_rate) == (5, 16, 1e-6)
    assert composed("winning", "gpu", "qwen2").winning == bc


def test_tables_and_figures_of_the_paper_are_all_there():
    ids = [table.id for table in PAPER.tables]
    assert [name for name in ids if name.isdecimal()] == [str(number) for number in range(1, 13)]
    figures = {name.removeprefix("figure-")[0] for name in ids if name.startswith("figure-")}
    assert figures == set("23456789")


@pytest.mark.parametrize("table", ASKED, ids=lambda table: table.id)
@pytest.mark.parametrize("scale", SCALES)
def test_path_of_every_figure_can_be_filled_in(table, scale):
    for row in (row for row in table.rows if row.run):
        for column in table.columns:
            path = PAPER.path(column.at, row)
            assert path.startswith(("evaluation/", "steps/0/"))
            if isinstance(column.chance, str):
                assert "/random/" in PAPER.path(column.chance, row)
    assert "search" in PAPER.scales[scale].opponents


@pytest.mark.parametrize("name", ["1", "12"])
def test_printed_averages_are_those_of_the_printed_figures(name):
    """A copying error would show: each of these rows ends with its mean."""
    for row in PAPER.table(name).rows:
        *each, mean = map(printed_value, row.published)
        assert sum(each) / len(each) == pytest.approx(mean, abs=0.011), row.label


def test_printed_totals_are_those_of_the_printed_games():
    *games, total = [printed_value(row.published[0]) for row in PAPER.table("8").rows]
    assert sum(games) == total
    for first in range(0, 20, 5):  # four opponents, then their mean
        *each, mean = [[*map(printed_value, row.published)] for row in PAPER.table("1").rows[first : first + 5]]
        assert mean == pytest.approx([sum(column) / 4 for column in zip(*each, strict=True)], abs=0.011)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7.65M", 7.65e6),
        ("184K", 184e3),
        ("1,128,700", 1128700.0),
        ("96.6%", 96.6),
        ("-0.69", -0.69),
        ("1,000.5", 1000.5),
    ],
)
def test_printed_value_reads_thousands(text, value):
    assert printed_value(text) == pytest.approx(value)


def test_run_that_reads_a_later_run_is_refused():
    with pytest.raises(BadParameter, match="The run winning starts from 'self-play' or reads its files"):
        PublishedPaper.read(SMALL)


@pytest.mark.runs
def test_run_of_a_paper_learns_from_the_games_of_another(tmp_path, monkeypatch):
    asked = []
    evaluated = Final.evaluate_models
    monkeypatch.setattr(Final, "evaluate_models", lambda *given, **own: asked.append(given) or evaluated(*given, **own))
    paper = PublishedPaper.read(ordered())
    plan = TablePlan(tmp_path / PUBLISHED, paper, paper.table("1"), "tiny", tmp_path / "runs", (3,))
    planned = plan.list_runs()
    assert [(run.name, run.first) for run in planned] == [("self-play-3", True), ("winning-3", False)]
    assert make_table(plan, lambda _: None, any_tree=True) == {}
    figures = figures_of(plan)
    assert [figure.why_not for figure in figures] == [""] * 4
    assert not list((tmp_path / "runs" / "winning-3" / "record").rglob("*.parquet"))
    assert list((tmp_path / "runs" / "self-play-3" / "record").rglob("*.parquet"))
    data = json.loads((tmp_path / "runs" / "matches-3.json").read_text("utf-8"))
    final, _, titles, decoding = asked[-1]  # those before are of the runs themselves
    assert (decoding.temperature, [*titles]) == (0.2, ["start", "last"])
    (line,) = final.suite.lines
    assert "temperature=0.2" in line.pools["opponents"][0]
    (game,) = data["evaluation"]["games"]
    named = [[opponent["opponent"] for opponent in row["opponents"]] for row in game["players"]]
    assert named == [["run:{self-play}@start", "mcts:2"]] * 3
    own = final_figures(RunFolder.open(tmp_path / "runs" / "self-play-3"))
    assert own["evaluation/kuhn/stage-2/win_rate"] == own["evaluation/kuhn/trained/win_rate"]
    assert own["evaluation/kuhn/stage-0/win_rate"] == own["evaluation/kuhn/start/win_rate"]
