"""The start of the command line: what it imports, what it lists, and completion in a shell."""

import os
import re
import subprocess
import sys

import pytest

import stratagem as sg
from stratagem.cli.commands import COMMANDS, GROUPS, function_named
from stratagem.cli.parameters import as_options

HEAVY = {"torch", "transformers", "peft", "pyarrow", "scipy", "pyspiel", "numpy"}
PROGRAM = """
import sys
sys.argv[0] = "stratagem"
from stratagem.cli.main import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def started(*words, **environment):
    """Run a command in a fresh interpreter; return its output and the packages that it imported."""
    command = [sys.executable, "-c", PROGRAM, *words]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout, {name.split(".")[0] for name in run.stderr.split()}


def test_help_lists_every_command_and_imports_no_library_of_models_or_tables():
    printed, loaded = started("--help", COLUMNS="200")
    listed = printed.partition(f"{next(iter(GROUPS))}:\n")[2].splitlines()
    assert [line.split()[0] for line in listed if re.match(r"  [a-z]", line)] == [
        name for names in GROUPS.values() for name in names
    ]
    assert all(as_options(command.summary) in " ".join(printed.split()) for command in COMMANDS.values())
    assert "stratagem" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("command", ["eval", "train", "view"])
def test_help_of_a_command_imports_no_function_of_it(command):
    printed, loaded = started(command, "--help", COLUMNS="100")
    assert printed.startswith(f"Usage: stratagem {command} ")
    assert loaded & HEAVY == set()


def test_list_of_a_record_imports_neither_games_nor_pandas(tmp_path):
    sg.play("kuhn", "random", episodes=3, record=tmp_path / "games")
    command = [sys.executable, "-c", PROGRAM, "show", str(tmp_path / "games")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "3 episodes" in run.stdout
    loaded = {*run.stderr.split()}
    assert "pyarrow.parquet" in loaded
    assert {"pandas", "pyarrow.dataset", "stratagem.games.catalogue", "stratagem.players.catalogue"} & loaded == set()


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "stratagem", "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, started("--version")[0])


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX closes the input")
def test_command_starts_where_there_is_no_standard_input():
    command = ["sh", "-c", 'exec "$0" -m stratagem recipes sepo/kuhn-tiny <&-', sys.executable]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "sepo/kuhn-tiny" in run.stdout


def test_completion_in_a_shell_offers_commands_and_options_without_libraries_of_models():
    shell = {"_STRATAGEM_COMPLETE": "complete_bash", "COMP_CWORD": "1", "COMP_WORDS": "stratagem e"}
    printed, loaded = started(**shell)
    assert printed.split() == ["engines", "eval"]
    assert loaded & HEAVY == set()
    printed, loaded = started(**shell | {"COMP_CWORD": "2", "COMP_WORDS": "stratagem eval --pl"})
    assert printed.split() == ["--player"]
    assert loaded & {"torch", "transformers", "pyspiel"} == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_summary_of_a_command_is_the_first_sentence_of_its_function(name):
    told = function_named(COMMANDS[name].function).__doc__.split("\n")[0]
    assert told == COMMANDS[name].summary
    assert told.index(".") == len(told) - 1
