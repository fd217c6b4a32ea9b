"""Engines on the command line: the list of them, and one that serves the models of a command."""

import json

import pytest

from stratagem.language.engines import open as opening
from stratagem.language.engines.catalogue import API, ENGINES


def test_every_engine_is_listed_with_its_settings(run):
    rows = {row["name"]: row for row in json.loads(run("engines", "--json")[1])}
    assert rows.keys() >= ENGINES.keys()
    assert rows["transformers"] | {"description": ""} == {
        "name": "transformers",
        "trains": True,
        "settings": ["rows", "prefix_cache_mib", "packed_weights_mib", "cuda_graphs", "kept_graphs"],
        "missing": None,
        "description": "",
    }
    assert not rows["api"]["trains"]
    printed = " ".join(run("engines")[1].split())
    assert "transformers yes rows, prefix_cache_mib" in printed


def test_an_engine_that_cannot_be_used_says_why(run, monkeypatch):
    monkeypatch.setattr(API, "missing", classmethod(lambda cls: "It needs another package."))
    (row,) = [row for row in json.loads(run("engines", "--json")[1]) if row["name"] == "api"]
    assert row["missing"] == "It needs another package."
    assert "no: It needs" in " ".join(run("engines")[1].split())


@pytest.mark.parametrize(
    "command", [("eval", "kuhn", "--player", "tiny", "--no-chance"), ("play", "kuhn", "--players", "tiny")]
)
def test_a_command_has_its_models_served_by_the_named_engine(run, monkeypatch, command):
    opened = []
    serve = opening.Transformers.serve
    monkeypatch.setattr(opening.Transformers, "serve", lambda spec, ref: opened.append(spec) or serve(spec, ref))
    opening.local_engine.cache_clear()
    assert run(*command, "--episodes", "1", "--engine", "transformers(rows=3)")[0] == 0
    assert [spec.rows for spec in opened] == [3]


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        ("vlm", "There is no engine called 'vlm'"),
        ("transformers(lines=3)", "lines"),
        ("transformers(rows=-1)", "rows"),
        ("api", "has no weights here"),
    ],
)
def test_a_wrong_engine_is_one_sentence(run, engine, says):
    status, _, said = run("eval", "kuhn", "--player", "random", "--engine", engine)
    assert status == 2
    assert says in said
