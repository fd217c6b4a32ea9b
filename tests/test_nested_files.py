"""Files of a user that are nested more deeply than Python reads: damaged files like any others, and no traceback."""

import json

import pytest

from stratagem.algorithms.shapellm.shapers.mfos import META_POLICIES, meta_policies
from stratagem.base.errors import StratagemError, UnknownName
from stratagem.base.manifest import FILE as MANIFEST
from stratagem.games.catalogue import make_game
from stratagem.measure.audit import pace
from stratagem.measure.audit.card import read_card
from stratagem.measure.tree_policy import oracle_of
from stratagem.players import equilibrium
from stratagem.show.reports.outcome_file import FILE as OUTCOME
from stratagem.show.reports.outcome_file import interests_of
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.sections.contest import training_data
from stratagem.show.viewer import model_policies, notes, report_pages, whatif
from stratagem.show.viewer.checks.adapters import digests_of
from stratagem.sweeps.plan import read_plan
from stratagem.sweeps.runner import FILE as SWEEP
from stratagem.sweeps.runner import known_source
from stratagem.training.runs.config_file import read_toml
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE as METRICS
from stratagem.training.runs.metrics import read_metrics
from stratagem.training.runs.trackers.tracks import FILE as TRACKS
from stratagem.training.runs.trackers.tracks import track_urls

DEEP = "[" * 100_000
TOML = f"a = {DEEP}"


@pytest.mark.parametrize(
    ("name", "text", "read", "sentence"),
    [
        ("card.json", DEEP, read_card, "is no card"),
        (pace.FILE, DEEP, pace.read_pace, "is no pace of an audit"),
        (SWEEP, DEEP, known_source, "cannot be read: it is nested too deeply"),
        (METRICS, DEEP + "\n", lambda folder: read_metrics(RunFolder(folder)), "has a line without metrics, 0 bytes"),
        (META_POLICIES, DEEP, lambda folder: meta_policies(RunFolder(folder)), "cannot be read: it is nested too"),
        (META_POLICIES, "[]", lambda folder: meta_policies(RunFolder(folder)), "cannot be read"),
        ("config.toml", TOML, lambda folder: read_toml(folder / "config.toml"), "as TOML: it is nested too deeply"),
        ("s.toml", TOML, lambda folder: read_plan(folder / "s.toml"), "is no TOML: it is nested too deeply"),
    ],
)
def test_reader_names_a_file_that_is_nested_too_deeply(tmp_path, name, text, read, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(StratagemError, match=sentence):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "read", "nothing"),
    [
        (TRACKS, lambda folder: track_urls(RunFolder(folder)), {}),
        (OUTCOME, lambda folder: interests_of(RunData(RunFolder(folder))), {}),
        ("steps/0.json", lambda folder: training_data(RunData(RunFolder(folder))), None),
        (notes.FILE, lambda folder: notes.note_of(RunFolder(folder)), notes.Note()),
        (whatif.FILE, whatif.stored_answer, None),
        (MANIFEST, digests_of, {}),
    ],
)
def test_optional_file_that_is_nested_too_deeply_counts_as_none(tmp_path, name, read, nothing):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(DEEP)
    assert read(tmp_path) == nothing


def test_settings_of_a_run_that_are_nested_too_deeply_are_told(tmp_path):
    (tmp_path / "config.toml").write_text(TOML)
    data = RunData(RunFolder(tmp_path))
    assert data.settings == {}
    assert data.broken == {"config.toml": "config.toml is no TOML: it is nested too deeply."}


def test_notes_in_the_cache_that_are_nested_too_deeply_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    game, oracle = make_game("kuhn(hands=1)"), oracle_of(make_game("kuhn(hands=1)"))
    name = model_policies.ask_policy(model_policies.question_of("kuhn(hands=1)", "Bluffer", 0), None)["computed"]
    assert model_policies.computed_policy(name, oracle)[0] == "kuhn/Bluffer"
    (path,) = tmp_path.rglob(f"{name}.json")
    path.write_text(DEEP)
    with pytest.raises(UnknownName, match="computed policy"):
        model_policies.computed_policy(name, oracle)
    path = equilibrium.cache_path(game, 17)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DEEP)
    table = equilibrium.average_policy(game, 17)
    assert json.loads(path.read_text())["table"] == table, "it is solved again"


def test_picture_whose_data_is_nested_too_deeply_is_left_out():
    page = f'<figure class="plot"><script>{DEEP}</script></figure>'
    assert report_pages.tree_of(page) == report_pages.tree_of('<figure class="plot"></figure>')
