"""Recipes at the command line: their list, and several composed into one run."""

import json
import re
import shlex
import sys

import pytest

from stratagem.language.engines import open as opening
from stratagem.training.runs.folder import RunFolder

GAME = 'algorithm = "grpo"\ngames = ["kuhn(hands=1)"]\nopponents = ["AlwaysBet"]\n[grpo]\niterations = 9\n'
SHORT = (
    "evaluate_every = 1\nvalidation_episodes = 2\ntest_episodes = 2\n[grpo]\niterations = 1\ngroups_per_batch = 1\n"
    "group_size = 2\nsignal_every = 0\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.toml").write_text(GAME)
    (tmp_path / "short.toml").write_text(SHORT)
    return tmp_path


def test_recipes_are_listed_by_group_with_a_line_each(run):
    status, printed, _ = run("recipes", "kuhn")
    assert status == 0
    assert "sepo" in [line.strip() for line in printed.splitlines()]
    assert re.search(r"^sepo/kuhn +Kuhn poker", printed, re.MULTILINE)
    cards = json.loads(run("recipes", "--json")[1])
    assert next(card for card in cards if card["name"] == "sepo/kuhn")["group"] == "sepo"
    assert "No recipe has 'zzz' in its name" in run("recipes", "zzz")[2]


def test_dry_run_shows_what_several_recipes_come_to(run, folder):
    told = json.loads(run("train", "sepo/kuhn", "models/qwen", "--set", "seed=1", "--dry-run", "--json")[1])
    assert (told["games"], told["model"], told["seed"]) == (["kuhn"], "hf:Qwen/Qwen3.5-4B+dtype=bf16", 1)


@pytest.mark.runs
def test_run_of_several_recipes_is_named_and_recorded_by_all(run, folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["stratagem", "train", "game.toml", "short.toml", "--set", "seed=1"])
    status, _, said = run(*sys.argv[1:])
    assert status == 0, said
    made = RunFolder.open(folder / "runs" / "game-short-1")
    assert made.info().command == "stratagem train game.toml short.toml --set seed=1"
    assert "iterations = 1\n" in (made.path / "config.toml").read_text()
    assert run("train", made.path, "--resume")[0] == 0


def test_resume_takes_one_folder_and_no_recipe(run, folder):
    assert "give its folder alone" in run("train", "runs/a", "short.toml", "--resume")[2]


MODEL_SEAT = """algorithm = "shapellm"
game = "ipd"
trials = 1
[seats.model]
learner = "frozen"
model = "tiny"
[seats.other]
learner = "scripted"
player = "TitForTat"
"""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('games=["kuhn(hands=1)", "kuhn(hands=2)"]', "2 of the `games` are kuhn"),
        ('opponents=["tiny(mode=constrained)"]', "The mode constrained goes by the mark"),
        ('opponents=["TitForTat"]', "TitForTat"),
        ("model=dir:none", "There is no folder 'none'"),
        ("model=gguf:none", "There is no file 'none'"),
        ("model=tiny+adapter:none", "There is no folder 'none': an adapter"),
    ],
)
def test_dry_run_and_start_refuse_the_same_recipe(run, folder, change, reason):
    for more in ((), ("--dry-run",)):
        status, _, said = run("train", "game.toml", "--set", change, *more)
        assert (status, reason in said) == (2, True), said
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--out", "game.toml"), "game.toml exists already: name a new folder by --out."),
        (("--track", "nowhere"), "There is no tracker called 'nowhere'"),
    ],
    ids=["out", "track"],
)
def test_dry_run_and_start_refuse_the_same_options(run, folder, options, reason):
    for more in ((), ("--dry-run",)):
        status, _, said = run("train", "game.toml", *options, *more)
        assert (status, reason in said) == (2, True), said
    assert not (folder / "runs").exists()


def test_a_cluster_without_its_package_is_refused_before_there_is_a_run(run, folder, monkeypatch):
    monkeypatch.setattr("stratagem.playing.workers.ray_cluster.find_spec", lambda name: None)
    status, _, said = run("train", "game.toml", "--ray", "auto", "--out", "new")
    assert (status, "A Ray cluster needs an extra" in said) == (2, True), said
    assert not (folder / "new").exists()


def test_a_recipe_without_settings_is_refused(run, folder):
    (folder / "empty.toml").write_text("# nothing yet\n")
    for more in ((), ("--dry-run",)):
        status, _, said = run("train", "empty.toml", *more)
        assert (status, "The recipe empty.toml has no settings: name at least a model" in said) == (2, True), said
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("text", "change"),
    [(GAME, 'opponents=["tiny", "noise(tiny)", "search(tiny)"]'), (MODEL_SEAT, "seed=1")],
    ids=["opponents", "seat"],
)
def test_dry_run_loads_no_model(run, folder, monkeypatch, text, change):
    monkeypatch.setattr("stratagem.language.models.load.load_weights", None)
    monkeypatch.setattr(opening, "local_engine", opening.local_engine.__wrapped__)
    (folder / "game.toml").write_text(text)
    status, printed, said = run("train", "game.toml", "--set", change, "--dry-run")
    assert status == 0, said
    assert "What needs the loaded model tiny is checked when the run starts." in printed


@pytest.mark.parametrize("algorithm", ["sepo", "scopal"])
def test_a_device_that_is_not_there_is_refused_before_there_is_a_run(run, folder, monkeypatch, algorithm):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    (folder / "game.toml").write_text(f'algorithm = "{algorithm}"\ngames = ["kuhn(hands=1)"]\ntrain = "all"\n')
    change = "reference={type = 'copy', device = 'cuda:1'}"
    command = ("train", "game.toml", "--set", change)
    status, _, said = run(*command)
    assert (status, "this machine has 1 devices of cuda" in said) == (2, True), said
    assert not (folder / "runs").exists()
    assert run(*command, "--dry-run")[0] == 0, "the run may be on another machine"


@pytest.mark.parametrize("option", ["--resume", "--force"])
def test_a_dry_run_continues_nothing(run, tmp_path, option):
    status, _, said = run("train", "sepo/kuhn-tiny", "--dry-run", option)
    assert (status, f"leave out what has no effect there: {option}" in said) == (2, True)


@pytest.mark.parametrize("target", ["link.toml", "missing.toml"])
@pytest.mark.parametrize("command", ["train", "sweep"])
def test_a_recipe_that_is_a_link_to_no_file_is_not_offered_again(run, folder, command, target):
    (folder / "link.toml").symlink_to(target)
    assert run(command, "link.toml") == (2, "", "The recipe 'link.toml' is a link that leads to no file.")


def test_commands_in_a_sentence_can_be_pasted(run, folder):
    (own := folder / "my run").mkdir()
    (own / "run.json").write_text("{}")
    (folder / "my sweep.toml").write_text('hypothesis = "x"\n')
    (folder / "my recipe.toml").write_text(GAME)
    for words, command in (
        (("train", "my run"), ("stratagem", "train", "my run", "--resume")),
        (("train", "game.toml", "--out", "my run"), ("stratagem", "train", "my run", "--resume")),
        (("train", "my sweep.toml"), ("stratagem", "sweep", "my sweep.toml")),
        (("sweep", "my recipe.toml"), ("stratagem", "train", "my recipe.toml")),
    ):
        status, _, said = run(*words)
        assert (status, tuple(shlex.split(said.split("`")[1]))) == (2, command)


def test_a_recipe_of_an_editor_of_windows_is_read_and_utf_16_is_told(run, folder):
    (folder / "game.toml").write_bytes(b"\xef\xbb\xbf" + GAME.replace("\n", "\r\n").encode())
    told = json.loads(run("train", "game.toml", "short.toml", "--dry-run", "--json")[1])
    assert told["games"] == ["kuhn(hands=1)"]
    (folder / "wide.toml").write_text(GAME, encoding="utf-16")
    refused = (2, "", "The recipe 'wide.toml' cannot be read: it is no text in UTF-8.")
    assert run("train", "wide.toml", "--dry-run") == refused


def test_a_date_in_place_of_a_number_stands_as_it_was_written(run, folder):
    said = run("train", "game.toml", "--set", "seed=2020-01-01", "--dry-run")[2]
    assert "The setting seed cannot be 2020-01-01: " in said
