"""A run on the command line: measured beside its own beginning, by name."""

import json

import pytest

from stratagem.language.models.adapters import add_adapter, save_adapter
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.load import load
from stratagem.language.models.run_models import RunModel, RunModels, write_run_models


@pytest.fixture
def trained(tmp_path):
    lm = load("tiny")
    add_adapter(lm, "new", rank=2, alpha=4)
    save_adapter(lm, "new", tmp_path / "adapter")
    best = RunModel(model="tiny", adapter="adapter")
    models = {"start": RunModel(model="tiny"), "5": best, "best": best}
    write_run_models(tmp_path, RunModels(models=models, speaks=DecodingSettings(temperature=0.8)))
    return tmp_path


def test_a_run_is_measured_beside_its_start(run, trained):
    names = ["--player", f"run:{trained}", "--player", f"run:{trained}@start", "--player", "tiny(temperature=0.8)"]
    status, printed, said = run("eval", "kuhn", *names, "--json", "--no-chance", "--episodes", "2")
    assert (status, said) == (0, "")
    rows = json.loads(printed)["games"][0]["players"]
    assert [row["player"] for row in rows] == [f"run:{trained}@5", f"run:{trained}@start", "tiny(temperature=0.8)"]
    figures = [row["exact"]["exploitability"] for row in rows]
    assert figures[0] == pytest.approx(figures[2], abs=1e-4)  # a new adapter changes nothing
    assert figures[1] == pytest.approx(figures[2], abs=1e-9)


def test_two_names_of_one_player_are_one_row(run, trained):
    names = ["--player", f"run:{trained}", "--player", f"run:{trained}@5", "--player", "TightValue"]
    names += ["--player", "kuhn/TightValue"]
    _, printed, _ = run("eval", "kuhn", *names, "--json", "--no-chance", "--episodes", "2")
    result = json.loads(printed)["games"][0]
    assert [row["player"] for row in result["players"]] == [f"run:{trained}@5", "kuhn/TightValue"]
    assert list(result["differences_on_played_deals"]) == ["kuhn/TightValue"]


def test_a_label_that_the_run_lacks_is_one_sentence(run, trained):
    status, printed, said = run("eval", "kuhn", "--player", f"run:{trained}@last")
    assert (status, printed) == (2, "")
    assert "start, 5, best" in said


def test_who_can_sit_down_names_runs(run):
    assert "run:PATH@LABEL" in run("players", "kuhn")[1]
