"""The demo that `stratagem` without a command opens, the help in its place, and the help of each command."""

import re
import shlex
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

import stratagem as sg
from stratagem.api.views import ViewerPages
from stratagem.base.manifest import check_manifest
from stratagem.cli.commands import COMMANDS, GROUPS
from stratagem.cli.console import out
from stratagem.cli.loading import load_command, stored_help
from stratagem.cli.main import NEXT, main
from stratagem.cli.plural import spread
from stratagem.games import make_game
from stratagem.language.models.run_models import DEMO
from stratagem.players.catalogue import make_player
from stratagem.training.runs.checkpoint import check_counted, latest
from stratagem.training.runs.folder import RunFolder

RUN = DEMO / "kuhn-demo"
LARGEST = 4_000_000
UNENDING = {"train", "sweep", "serve", "mcp", "view"}
"""Commands whose example takes minutes, or waits until it is closed."""


def close(pages):
    raise KeyboardInterrupt


def test_every_command_is_in_one_section_of_the_help():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


def test_without_a_command_a_program_gets_the_help_with_its_sections(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    printed = capsys.readouterr().out
    assert ended.value.code == 0
    assert re.findall(r"^(\S.*):$", printed, re.MULTILINE) == ["Options", *GROUPS]
    assert printed.index("  play ") < printed.index("  tournament ")


def test_without_a_command_a_person_gets_the_address_of_the_demo(capsys, monkeypatch):
    monkeypatch.setattr(type(out), "is_terminal", True)
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda uri: opened.append(Path(url2pathname(urlsplit(uri).path))))
    monkeypatch.setattr(ViewerPages, "wait", lambda pages: close(read.extend(one.read_text() for one in opened)))
    read = []
    monkeypatch.setenv("DISPLAY", ":0")
    with pytest.raises(SystemExit) as ended:
        main([])
    printed = capsys.readouterr().out
    (address,) = re.findall(r"http://127.0.0.1:\d+/\?token=\S+", printed)
    assert (ended.value.code, read) == (0, [f'<meta http-equiv="refresh" content="0; url={address}">'])
    assert not opened[0].exists(), "the folder of the demo is gone"
    assert all(command in printed for command in NEXT)


def test_a_terminal_without_a_desktop_opens_no_browser(capsys, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(type(out), "is_terminal", True)
    monkeypatch.setattr(ViewerPages, "wait", close)
    monkeypatch.setattr("webbrowser.open", lambda address: pytest.fail("a browser was opened"))
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit):
        main([])


def test_commands_of_the_demo_are_read_by_the_parser_and_name_what_there_is():
    players, recipes = [], []
    for command in NEXT:
        program, name, *words = shlex.split(command)
        read = load_command(COMMANDS[name], name).make_context(name, spread(words)).params
        assert program == "stratagem"
        players += [*(read.get("players") or ()), *([read["player"]] if read.get("player") else [])]
        recipes += read.get("recipes") or ()
    assert all(make_player(player, make_game("kuhn")) for player in players)
    assert [sg.dry_run(recipe) for recipe in recipes]
    assert (players, recipes) == (["human", "zoo:kuhn-demo", "zoo:kuhn-demo"], ["sepo/kuhn-tiny"])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_a_use_that_its_parser_reads(name):
    example = COMMANDS[name].example
    assert f"\nExample:\n  stratagem {name} {example}\n" in stored_help(name)
    words = spread(shlex.split(example))
    assert words
    with load_command(COMMANDS[name], name).make_context(name, words) as read:
        assert any(read.get_parameter_source(one).name == "COMMANDLINE" for one in read.params)


def test_runs_of_the_examples_are_those_that_the_example_of_train_makes():
    """So each works in the folder where the first was copied; the demo names the same command."""
    made = {word for row in COMMANDS.values() for word in re.findall(r"--out (runs/\S+)", row.example)}
    named = {word for row in COMMANDS.values() for word in re.findall(r"\bruns/[\w-]+", row.example)}
    assert named == made == {"runs/demo", "runs/kuhn-held"}
    assert f"stratagem train {COMMANDS['train'].example}" in NEXT


@pytest.mark.runs
def test_examples_of_the_help_run_one_after_another_beside_a_run(tmp_path, monkeypatch, run):
    shutil.copytree(RUN, tmp_path / "runs" / "demo")
    monkeypatch.chdir(tmp_path)
    assert run("audit", "TightValue", "--games", "kuhn", "--decisions", 1200, "--out", "audits/tight")[0] == 0
    for name in sorted(set(COMMANDS) - UNENDING, key=lambda name: (name != "audit", name)):
        status, printed, said = run(name, *shlex.split(COMMANDS[name].example))
        assert (name, status) == (name, 0), said
        assert printed or name in ("new", "trust")


def test_help_lists_what_many_commands_share_below_their_own_options():
    text = stored_help("eval")
    sections = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert sections == ["Example", "Arguments", "Options", "Engine and workers", "Models behind servers", "Permissions"]
    assert text.index("--metric") < text.index("--help") < text.index("--workers") < text.index("--budget")


def test_model_of_the_demo_has_the_exact_figures_of_its_run():
    """Its weights are rounded to bf16, which moves the figures of the run in the fourth digit."""
    measured = re.findall(r'"kuhn/exact/exploitability": ([0-9.e-]+)', (RUN / "metrics.jsonl").read_text("utf-8"))
    for label, value in (("start", measured[0]), ("best", measured[-1])):
        found = sg.exploitability("kuhn", f"zoo:kuhn-demo@{label}").to_json()["exploitability"]
        assert found == pytest.approx(float(value), abs=5e-4)


def test_demo_is_whole_and_has_a_few_hundred_games():
    checkpoint = latest(RunFolder.open(RUN))
    check_manifest(RUN / "base")
    check_counted(RUN / "record", checkpoint.shards, checkpoint.files, "the demo")
    assert 200 < len(sg.read_record(RUN / "record").episodes) < 2000


def test_demo_is_small_and_names_no_place_of_the_machine_that_made_it():
    files = [path for path in DEMO.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LARGEST
    texts = [path.read_text("utf-8") for path in files if path.suffix in (".json", ".toml", ".jsonl", ".md")]
    assert not [found for text in texts for found in re.findall(r'"(/[a-z]+/[^"]*)"', text)]
