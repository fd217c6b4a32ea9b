"""The zoo is built from finished runs, and its figures are compared with its cards."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

import stratagem as sg
from stratagem.base.errors import BadRecord
from stratagem.language.models.run_models import DEMO, read_run_models

sys.path.insert(0, str(Path(__file__).parents[1] / "zoo"))
import zoo

FIGURE = {"mean": 0.5, "se": 0.1, "exact": False}
EXACT = {"mean": 0.5, "se": 0.0, "exact": True}


@pytest.fixture
def run(tmp_path):
    trained = {"model": "dir:base/model", "adapter": "checkpoints/step-7/adapters/policy"}
    older = {"model": "dir:base/model", "adapter": "checkpoints/step-3/adapters/policy"}
    models = {
        "base": {"model": "tiny"},
        "start": {"model": "dir:base/model"},
        "best": trained,
        "last": trained,
        "3": older,
        "7": trained,
    }
    folder = tmp_path / "run"
    for part in ("base/model", "checkpoints/step-3/adapters/policy", "checkpoints/step-7/adapters/policy"):
        (folder / part).mkdir(parents=True)
        (folder / part / "weights").write_text(part)
    (folder / "models.json").write_text(json.dumps({"version": 1, "models": models}))
    (folder / "config.toml").write_text("seed = 0\n")
    return folder


def test_a_model_takes_from_its_run_what_it_names_and_no_more(run, tmp_path):
    zoo.copy(run, tmp_path / "kept")
    kept = {path.relative_to(tmp_path / "kept").as_posix() for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert kept == {"models.json", "config.toml", "base/model/weights", "checkpoints/step-7/adapters/policy/weights"}
    assert set(read_run_models(tmp_path / "kept").models) == {"start", "best", "last", "7"}


def test_a_seat_of_a_run_with_several_learners_is_copied_without_the_others(run, tmp_path):
    told = json.loads((run / "models.json").read_text("utf-8"))
    seats = {f"{label}/{seat}": model for label, model in told["models"].items() for seat in ("shaper", "naive")}
    own = {**seats, "start/naive": {"model": "dir:elsewhere"}}
    del own["best/shaper"]
    (run / "models.json").write_text(json.dumps({**told, "models": own}))
    zoo.copy(run, tmp_path / "kept", "shaper")
    models = read_run_models(tmp_path / "kept").models
    assert set(models) == {"start", "best", "last", "7"}
    assert models["best"] == models["last"]


@pytest.mark.parametrize(
    ("file", "change", "reason"),
    [
        ("run.json", None, "There is no run"),
        ("run.json", {"dirty": True}, "made by a tree with changes"),
        ("status.json", {"state": "interrupted"}, "is not finished"),
    ],
)
def test_a_run_that_is_refused_leaves_the_stored_models_alone(monkeypatch, tmp_path, file, change, reason):
    models = {name: {"run": name, "game": "kuhn"} for name in ("good", "wrong")}
    monkeypatch.setattr(zoo, "read_plan", lambda: {"models": models})
    monkeypatch.setattr(zoo, "PACKAGE", tmp_path / "stored")
    for name in models:
        (tmp_path / "stored" / name).mkdir(parents=True)
        (tmp_path / "runs" / name).mkdir(parents=True)
        for part in ("run.json", "config.toml", "status.json"):
            shutil.copy(DEMO / "kuhn-demo" / part, tmp_path / "runs" / name / part)
    changed = tmp_path / "runs" / "wrong" / file
    if change is None:
        changed.unlink()
    else:
        changed.write_text(json.dumps(json.loads(changed.read_text("utf-8")) | change))
    with pytest.raises((SystemExit, BadRecord), match=reason):
        zoo.store(tmp_path / "runs")
    assert {path.name for path in (tmp_path / "stored").iterdir()} == set(models)


def test_a_changed_file_changes_the_digests(run, tmp_path):
    zoo.copy(run, tmp_path / "kept")
    before = zoo.digests(tmp_path / "kept")
    (tmp_path / "kept" / "base/model/weights").write_text("other")
    after = zoo.digests(tmp_path / "kept")
    assert {name for name in before if before[name] != after[name]} == {"base/model/weights"}


@pytest.mark.parametrize(
    ("told", "found", "differs"),
    [
        (EXACT, EXACT, False),
        (EXACT, {**EXACT, "mean": 0.501}, True),
        (FIGURE, {**FIGURE, "mean": 0.9}, False),
        (FIGURE, {**FIGURE, "mean": 1.0}, True),
        (FIGURE, {**EXACT, "mean": 0.8}, False),
    ],
)
def test_a_figure_may_differ_by_its_sampling_error_alone(told, found, differs):
    card = {"figures": {"best": {"payoff": told}}}
    assert bool(list(zoo.differences(card, {"payoff": found}, "best"))) is differs


ROOT = Path(__file__).parents[1]
PLAN = zoo.read_plan()


@pytest.mark.parametrize("name", PLAN["models"])
def test_every_model_is_stored_as_its_card_says(name):
    about, folder = PLAN["models"][name], zoo.PACKAGE / name
    assert about.keys() - {"seat"} == {"run", "game", "page", "what"}
    assert about["run"] in PLAN["runs"]
    assert (ROOT / "docs" / "results" / f"{about['page']}.md").exists()
    card = json.loads((folder / zoo.CARD).read_text("utf-8"))
    assert about.items() <= card.items()
    assert zoo.digests(folder) == card["sha256"]
    assert {path.parent.name for path in zoo.PACKAGE.glob(f"*/{zoo.CARD}")} == {*PLAN["models"]}
    page = (ROOT / "docs" / "how-to" / "trained-models.md").read_text("utf-8")
    assert f"`zoo:{name}`" in page


@pytest.mark.runs
def test_stored_models_play_as_their_cards_say():
    """The exact exploitability of one, which is trained and small; `make check-zoo` measures all figures of all."""
    card = json.loads((zoo.PACKAGE / "kuhn-sepo" / zoo.CARD).read_text("utf-8"))
    for label, figures in card["figures"].items():
        found = sg.exploitability("kuhn", f"run:{zoo.PACKAGE / 'kuhn-sepo'}@{label}").to_json()["exploitability"]
        assert found == pytest.approx(figures["exploitability"]["mean"], abs=zoo.SAME)


def test_the_runs_are_planned_with_known_settings(monkeypatch, tmp_path, capsys):
    planned = []
    monkeypatch.setattr(zoo, "make_runs", lambda runs, folder, tell: planned.extend(runs) or {"one": "a reason"})
    with pytest.raises(SystemExit, match="one failed: a reason"):
        zoo.train(tmp_path)
    for run in planned:
        assert run.recipe().seed == 0
        assert run.first == (run.name in {"kuhn-sft", "leduc-sft", "dice-sft", "ipd-tiny"})
    assert dict(planned[1].changes)["model"] == f'"run:{tmp_path / "kuhn-sft"}@start"'


def test_rounded_weights_take_half_the_room_and_name_their_base(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(zoo.PACKAGE / "kuhn-sepo", folder)
    (weights,) = folder.glob("base/model/*.safetensors")
    large = {name: one.float() for name, one in load_file(weights).items()}
    save_file(large, weights, {"format": "pt"})
    before = weights.stat().st_size
    (named,) = folder.rglob("base.json")
    other = json.loads(named.read_text("utf-8")) | {"fingerprint": "another"}
    named.write_text(json.dumps(other))
    zoo.round_weights(folder)
    assert weights.stat().st_size < 0.6 * before
    assert zoo.digests(folder) == zoo.digests(zoo.PACKAGE / "kuhn-sepo")


def test_a_check_without_the_package_says_how_to_install_it(monkeypatch):
    """The shipped demo alone is there: it has no card."""
    monkeypatch.setattr(zoo, "zoo_models", lambda: {"kuhn-demo": DEMO / "kuhn-demo"})
    with pytest.raises(SystemExit, match=r"pip install \./zoo"):
        zoo.check()


def test_a_check_tells_a_changed_file_and_a_changed_figure(monkeypatch, tmp_path, capsys):
    folder = tmp_path / "kuhn-sepo"
    shutil.copytree(zoo.PACKAGE / "kuhn-sepo", folder)
    card = json.loads((folder / zoo.CARD).read_text("utf-8"))
    monkeypatch.setattr(zoo, "zoo_models", lambda: {"kuhn-sepo": folder, "kuhn-demo": DEMO / "kuhn-demo"})
    measured = {label: dict(found) for label, found in card["figures"].items()}
    monkeypatch.setattr(zoo, "figures", lambda game, player, seed: measured[player.partition("@")[2]])
    assert zoo.check() == 0
    (folder / "config.toml").write_text("seed = 7\n")
    measured["best"]["exploitability"] = {"mean": 0.5, "se": 0.0, "exact": True}
    assert zoo.check() == 1
    told = capsys.readouterr().out
    assert "its files are not those of its card" in told
    stored = card["figures"]["best"]["exploitability"]["mean"]
    assert f"best, exploitability: the card says {stored:.4g}, measured 0.5" in told
