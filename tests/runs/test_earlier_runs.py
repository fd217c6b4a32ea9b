"""Runs of earlier releases: a command reads them, or says which release does; `upgrade` renews them."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

import stratagem as sg
from stratagem.algorithms import run_upgrade
from stratagem.algorithms.catalogue import algorithm_of, recipe_of, upgrade_data
from stratagem.base.errors import BadRecord, StratagemError
from stratagem.cli.main import main
from stratagem.language.models.run_models import read_run_models
from stratagem.show.reports.run_data import RunData
from stratagem.show.viewer.runs import run_page, run_row
from stratagem.training.runs.binding import is_bound, rebind
from stratagem.training.runs.config_file import recipe_digest, settings_toml
from stratagem.training.runs.folder import FORMAT, RunFolder

EARLIER = Path(__file__).parent / "earlier"
RELEASES = ("0.1", "0.2")
CONFIGURATIONS = sorted((EARLIER / "configurations").glob("*.toml"))
GAME = "kuhn(hands=1)"
READERS = {
    "runs": "runs RUN",
    "show": "show RUN/record",
    "steps": "steps RUN/record --out OUT",
    "report": "report RUN --out OUT",
    "eval": f"eval {GAME} --player run:RUN --opponents random --episodes 1",
    "tournament": f"tournament {GAME} --players run:RUN random --episodes 1",
    "audit": f"audit run:RUN --games {GAME} --decisions 60",
    "talk": f"talk talk({GAME}) run:RUN honest(first-legal) --episodes 2",
    "prompt": f"prompt {GAME}",
    "watch": "watch RUN",
    "verify": "verify RUN",
    "upgrade": "upgrade RUN",
}
MADE_BY = {"0.1": "Stratagem 0.1.0 at commit bfc1409a4819", "0.2": "Stratagem 0.2.0 at commit d20cb02ea1f4"}


@pytest.fixture(params=RELEASES)
def release(request):
    return request.param


@pytest.fixture
def run(release, tmp_path):
    shutil.copytree(EARLIER / release, tmp_path / "run")
    return RunFolder(tmp_path / "run")


@pytest.fixture
def old(tmp_path):
    """A run whose keys were renamed since."""
    shutil.copytree(EARLIER / "0.1", tmp_path / "run")
    return RunFolder(tmp_path / "run")


def command(line, run, tmp_path, capsys):
    """Status, output and errors of a command."""
    words = line.replace("RUN", str(run.path)).replace("OUT", str(tmp_path / "out.parquet"))
    with pytest.raises(SystemExit) as ended:
        main(words.split(" "))
    return ended.value.code, *capsys.readouterr()


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", READERS)
def test_command_reads_a_run_of_an_earlier_release(name, run, tmp_path, capsys):
    status, out, err = command(READERS[name], run, tmp_path, capsys)
    # the run was interrupted, so watch ends with the status of a failed run; no file of it has a digest
    assert status == (name in {"watch", "verify"}), err
    assert out
    assert "Traceback" not in err


def test_verification_compares_the_figures_of_a_game_with_options(run):
    found = sg.verify_figures(run.path, progress=False)
    assert found.first_lines() == [
        "The run run fails the check of its files: digests.json is missing, so a changed file cannot be noticed."
    ]
    exact = {check.name: check.agreement for check in found.checks if "exploitability" in check.name}
    assert exact == {f"policies/kuhn-{step:06d}: kuhn/exact/exploitability": "agrees" for step in (0, 1)}


def test_pages_show_a_run_of_an_earlier_release(run):
    assert run_row("run", run)["state"] == "failed"
    assert run_page("run", run)
    assert RunData(run).settings["max_new_tokens"] == 256


@pytest.mark.runs
@pytest.mark.filterwarnings("ignore")
def test_resume_continues_a_run_of_the_last_release(tmp_path, capsys):
    shutil.copytree(EARLIER / "0.2", tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    status, _, err = command("train RUN --resume", run, tmp_path, capsys)
    assert status == 0, err
    assert run.status().state == "finished"
    assert {row["step"] for row in map(json.loads, (run.path / "metrics.jsonl").read_text().splitlines())} >= {1, 2, 3}


@pytest.mark.runs
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("renewed", [False, True])
def test_resume_compares_recipes_under_their_new_names(renewed, tmp_path, capsys):
    """A run of the last release, as if two of its keys had been renamed since."""
    shutil.copytree(EARLIER / "0.2", tmp_path / "run")
    run, config = RunFolder(tmp_path / "run"), tmp_path / "run" / "config.toml"
    config.write_text(config.read_text().replace("learning_rate =", "rate =").replace("group_size =", "rollouts ="))
    rebind(run, recipe_digest(run.config_data()), 1, "force")
    if renewed:
        assert sg.upgrade(run.path).renamed.keys() == {"sepo.rollouts", "sepo.optimizer.rate"}
    assert ("group_size" in config.read_text()) == renewed
    status, _, err = command("train RUN --resume", run, tmp_path, capsys)
    assert status == 0, err
    assert run.status().state == "finished"


@pytest.mark.filterwarnings("ignore")
def test_resume_names_the_release_that_continues_an_older_run(old, tmp_path, capsys):
    status, _, err = command("train RUN --resume", old, tmp_path, capsys)
    assert status != 0
    sentence = (
        f"step-000001 has a state that this release cannot continue: {MADE_BY['0.1']} made this run, and reads it."
    )
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err


def test_upgrade_keeps_the_recipe_and_the_old_files(release, run):
    before, recipe, files_before = run.config_data(), recipe_of(run), files(run.path)
    done = sg.upgrade(run.path)
    assert done.renamed.keys() == upgrade_data(before)[1].renamed.keys()
    assert bool(done.renamed) == (release == "0.1")
    assert recipe_of(run) == recipe
    assert is_bound(run)
    assert run.info().format == FORMAT
    assert not upgrade_data(run.config_data())[1].renamed
    assert {path.name for path in done.kept.iterdir()} == {"config.toml", "models.json", "run-info.json"}
    assert (done.kept / "config.toml").read_bytes() == files_before[Path("config.toml")]
    assert (done.kept / "run-info.json").read_bytes() == files_before[Path("run.json")]
    assert "max_new_tokens" in (run.path / "models.json").read_text()
    assert [rebinding.by for rebinding in run.info().rebound] == ["upgrade"] * (release == "0.1")


@pytest.mark.filterwarnings("ignore")
def test_resume_of_an_upgraded_run_names_the_files_that_its_release_reads(old, tmp_path, capsys):
    sg.upgrade(old.path)
    _, _, err = command("train RUN --resume", old, tmp_path, capsys)
    assert "made this run, and reads it with the files in format-1." in " ".join(err.split())


def test_upgrade_of_an_upgraded_run_changes_nothing(run):
    sg.upgrade(run.path)
    before = files(run.path)
    again = sg.upgrade(run.path)
    assert (again.renamed, again.kept) == ({}, None)
    assert files(run.path) == before
    assert again.remarks() == [f"{run.path} has the keys and the format of this release: nothing was changed."]


@pytest.mark.parametrize("written", range(6))
def test_upgrade_that_is_killed_can_be_repeated(written, old, monkeypatch):
    """Before every file that it writes: the run is read as before, and the next upgrade completes it."""
    recipe, count = recipe_of(old), 0

    def killed(real):
        def write(*arguments):
            nonlocal count
            count += 1
            if count > written:
                raise KeyboardInterrupt
            return real(*arguments)

        return write

    with monkeypatch.context() as patch:
        for name in ("write_file", "write_run_models", "rebind"):
            patch.setattr(run_upgrade, name, killed(getattr(run_upgrade, name)))
        with pytest.raises(KeyboardInterrupt):
            run_upgrade.upgrade_run(old)
    assert recipe_of(old) == recipe
    assert read_run_models(old.path).speaks.max_new_tokens == 256
    done = run_upgrade.upgrade_run(old)
    assert done.renamed
    assert recipe_of(old) == recipe
    assert (old.path / "config.toml").read_text() == settings_toml(recipe)
    assert (done.kept / "config.toml").read_bytes() == (EARLIER / "0.1" / "config.toml").read_bytes()
    assert (done.kept / "run-info.json").read_bytes() == (EARLIER / "0.1" / "run.json").read_bytes()
    assert len(old.info().rebound) == 1
    assert run_upgrade.upgrade_run(old).kept is None


@pytest.mark.parametrize(
    ("key", "changed", "named"),
    [
        ('horizon = "to_go"', 'horizon = "year"', "sepo.horizon (the value 'year' has no new name)"),
        ("kl = 0.1", "kl = 0.1\nfocus = 3", "There is no setting sepo.focus"),
    ],
)
def test_upgrade_that_would_lose_a_setting_names_it_and_changes_nothing(key, changed, named, old):
    config = old.path / "config.toml"
    config.write_text(config.read_text().replace(key, changed))
    info = json.loads((old.path / "run.json").read_text())
    (old.path / "run.json").write_text(json.dumps({**info, "recipe": ""}))  # as of releases without digests
    before = files(old.path)
    with pytest.raises(BadRecord) as refused:
        sg.upgrade(old.path)
    assert named in str(refused.value)
    assert str(refused.value).endswith(f"; {MADE_BY['0.1']} made this run, and reads it.")
    assert {path: text for path, text in files(old.path).items() if path.name != "lock"} == before


def test_upgrade_of_a_changed_configuration_is_refused(old):
    with (old.path / "config.toml").open("a") as file:
        file.write("kl_coef = 3\n")
    with pytest.raises(BadRecord, match=r"was started with another recipe than its config\.toml has now"):
        sg.upgrade(old.path)


def test_upgrade_waits_for_no_other_process(old):
    with old.hold_folder(), pytest.raises(StratagemError, match="Another process uses the run"):
        sg.upgrade(old.path)


@pytest.mark.parametrize(("made_by", "named"), [("0.9.1", "Stratagem 0.9.1"), ("\x1b[31m", "Stratagem of its time")])
@pytest.mark.parametrize("name", ["runs", "report", "upgrade"])
def test_command_names_the_release_that_reads_a_later_run(name, made_by, named, old, tmp_path, capsys):
    info = json.loads((old.path / "run.json").read_text())
    info |= {"format": FORMAT + 1, "made_by": {"stratagem": made_by}}
    (old.path / "run.json").write_text(json.dumps(info))
    _, out, err = command(READERS[name], old, tmp_path, capsys)
    said = " ".join(err.split())
    assert f"has format {FORMAT + 1}, which {named} reads: this is Stratagem {sg.__version__}, and it reads" in said
    assert "\x1b[31m" not in out + err


@pytest.mark.parametrize("name", ["eval", "tournament"])
def test_command_says_that_a_later_release_reads_the_models_of_a_later_run(name, old, tmp_path, capsys):
    models = old.path / "models.json"
    models.write_text(models.read_text().replace('"version": 1', '"version": 2'))
    status, _, err = command(READERS[name], old, tmp_path, capsys)
    assert status == 2
    assert f"has version 2, which a later release of Stratagem reads: this is Stratagem {sg.__version__}" in " ".join(
        err.split()
    )


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.stem)
def test_configuration_of_every_algorithm_is_upgraded_without_a_loss(path):
    data, found = upgrade_data(tomllib.loads(path.read_text()))
    assert len(found.renamed) > 15
    assert found.lost == []
    recipe = algorithm_of(data).recipe_type.read(data)
    again, nothing = upgrade_data(tomllib.loads(settings_toml(recipe)))
    assert nothing.renamed == {}
    assert algorithm_of(again).recipe_type.read(again) == recipe


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("grpo", "grpo.chance_seeds", "shared"),
        ("grpo", "grpo.advantage", {"type": "group_mean", "normalize_std": False}),
        ("grpo", "grpo.loss", {"entropy_coef": 0.01, "kl_estimator": "none", "kl_coef": 0.0, "clip_range_high": 0.28}),
        ("league", "league.loss", {"entropy_coef": 0.1, "kl_estimator": "k3", "kl_coef": 0.2}),
        ("league", "league.snapshot_every", 20),
        ("sepo", "sepo.advantage", {"type": "per_round", "unit": "round", "return_to_go": True}),
        ("sepo", "sepo.loss", {"type": "sepo", "kl_estimator": "one_sided", "kl_coef": 0.3, "clip_range_low": 0.2}),
        ("scopal", "kto", {"kto_beta": 0.1, "batch_size": 32}),
        ("scopal", "final_evaluation.stages", "all"),
        ("shaping", "algorithm", "shapellm"),
        ("shaping", "seats.shaper.ppo.adaptive_kl.num_decisions", 10000.0),
        ("shaping", "seats.naive.ppo.advantage_std_floor", 6.0),
        ("shaping-tabular", "seats.shaper.initial_probability", [0.85, 0.9, 0.2, 0.9, 0.2]),
    ],
)
def test_upgraded_configuration_has_the_values_of_the_old_one(name, place, value):
    data, _ = upgrade_data(tomllib.loads((EARLIER / "configurations" / f"{name}.toml").read_text()))
    found = algorithm_of(data).recipe_type.read(data).model_dump(mode="json")
    for key in place.split("."):
        found = found[key]
    assert ({key: found[key] for key in value} if isinstance(value, dict) else found) == value
