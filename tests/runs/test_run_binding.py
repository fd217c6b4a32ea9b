"""A run is bound to its recipe: another one is refused, or forced and recorded; another program is told."""

import json
import shutil
import warnings

import pytest
from toy_run import Toy, end_of, toy_run

from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.base.errors import BadRecord, StratagemError
from stratagem.cli.main import main
from stratagem.training.runs import binding
from stratagem.training.runs.binding import ResumeWarning, check_recipe, settings_digest
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.resume import resume, resume_by_force

SHORT = Toy(steps=4)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return toy_run(tmp_path_factory.mktemp("runs") / "toy", SHORT)


@pytest.fixture
def copy(finished, tmp_path):
    shutil.copytree(finished.path, tmp_path / "copy")
    return RunFolder(tmp_path / "copy")


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_digest_stands_in_the_run_and_in_each_checkpoint(finished):
    digest = settings_digest(SHORT)
    assert finished.info().recipe == latest(finished).recipe == digest
    assert digest != settings_digest(Toy(steps=5))
    assert len(digest) == 32


SPOILT = {
    "empty": lambda text: "",
    "another number": lambda text: text.replace("steps = 4", "steps = 5"),
    "another rate": lambda text: text.replace("rate = 0.05", "rate = 0.06"),
    "a setting less": lambda text: text.replace("every = 2\n", ""),
    "another algorithm": lambda text: 'algorithm = "grpo"\n',
}


@pytest.mark.parametrize("how", SPOILT)
def test_another_configuration_is_refused_and_nothing_is_changed(how, copy):
    path = copy.path / "config.toml"
    assert SPOILT[how](path.read_text()) != path.read_text()
    path.write_text(SPOILT[how](path.read_text()))
    before = contents(copy.path)
    with pytest.raises(BadRecord, match=r"another recipe than its config\.toml has now: .* `force=True`"):
        resume(copy)
    assert contents(copy.path) == before


def test_comments_and_order_are_no_other_recipe(copy):
    path = copy.path / "config.toml"
    path.write_text("# mine\nlast = 2\n" + path.read_text().replace("last = 2\n", "").replace("0.05", "5e-2"))
    assert resume(copy).step == 4


def test_a_trainer_with_another_recipe_is_refused(copy):
    assert resume(copy, SHORT).step == 4
    with pytest.raises(BadRecord, match="was started with another recipe: read"):
        resume(copy, Toy(steps=5))


def test_a_checkpoint_of_another_run_is_refused(copy, tmp_path):
    other = toy_run(tmp_path / "other", Toy(steps=6))
    shutil.copytree(other.checkpoints / "step-000006", copy.checkpoints / "step-000006")
    with pytest.raises(BadRecord, match=r"step-000006 has another recipe than the run .*copy"):
        resume(copy)


def test_what_is_forced_goes_on_and_is_recorded(copy):
    path = copy.path / "config.toml"
    own = path.read_text()
    path.write_text(own.replace("steps = 4", "steps = 6"))
    resume_by_force(copy)
    toy_run(copy.path)
    assert end_of(copy)["counted"][0] == 6
    assert latest(copy).recipe == settings_digest(Toy(steps=6))
    (forced,) = copy.info().rebound
    assert (forced.step, forced.was, forced.recipe) == (4, settings_digest(SHORT), settings_digest(Toy(steps=6)))
    assert forced.at
    resume(copy, Toy(steps=6))
    path.write_text(own)
    with pytest.raises(BadRecord, match="another recipe"):
        resume(copy)


def test_a_run_at_work_is_not_forced(copy):
    with copy.at_work(), pytest.raises(StratagemError, match="Another process uses the run"):
        resume_by_force(copy)


def test_another_commit_or_torch_is_a_warning(copy, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resume(copy)
    monkeypatch.setattr(binding, "source", lambda: {"commit": "f" * 40, "dirty": False})
    monkeypatch.setattr(binding, "provenance", lambda: {"packages": {"torch": "99.0"}})
    with pytest.warns(ResumeWarning) as told:
        assert resume(copy).step == 4
    said = sorted(str(one.message) for one in told)
    assert len(said) == 2
    assert said[0].endswith("and continues by commit ffffffffffff.")
    assert said[1].endswith("and continues with torch 99.0.")


def test_a_run_without_a_digest_is_taken_at_its_word(copy):
    path = copy.path / "run.json"
    about = {name: value for name, value in json.loads(path.read_text()).items() if name not in ("recipe", "forced")}
    path.write_text(json.dumps(about))
    check_recipe(copy)


@pytest.mark.parametrize("config", ["", 'algorithm = "grpo"\n', "seed = 7\n"])
def test_the_command_refuses_a_foreign_configuration_of_a_shaping_run(config, tmp_path, capsys):
    run = RunFolder.create(tmp_path / "run", ShapeLLMRecipe.read(SHAPING), 0, "a test")
    (run.path / "config.toml").write_text(config)
    before = contents(run.path)
    with pytest.raises(SystemExit) as left:
        main(["train", str(run.path), "--resume"])
    assert left.value.code == 2
    assert "another recipe" in " ".join(capsys.readouterr().err.split())
    assert contents(run.path) == before


SHAPING = {
    "algorithm": "shapellm",
    "game": "ipd(rounds=2)",
    "trials": 1,
    "seats": {"one": {"learner": "tabular"}, "two": {"learner": "tabular"}},
}
