"""Runner of the action for GitHub: its steps in order, with bash, by inputs in the environment alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import stratagem as sg

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
CALL = re.compile(r"\$\{\{ (inputs|steps\.\w+\.outputs)\.([\w-]+) \}\}")
"""Expression of an action."""
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""Shell of a step, as GitHub and GitLab start it."""


@pytest.fixture
def shell(tmp_path):
    """Function that runs a script in a folder of its own; `stratagem` is this one, and `pip` installs nothing."""
    programs, work = tmp_path / "bin", tmp_path / "work"
    for folder in (programs, work):
        folder.mkdir()
    (programs / "stratagem").write_text(f'#!/bin/sh\nexec {sys.executable} -m stratagem "$@"\n')
    for name in ("python", "pip"):
        (programs / name).write_text(f'#!/bin/sh\necho "{name} $*"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    found = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(Path(sg.__file__).parents[1])}

    def shell(script, **variables):
        environment = {**os.environ, **found, **variables}
        done = subprocess.run([*SHELL, script], cwd=work, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    shell.work, shell.programs = work, programs
    return shell


@pytest.fixture
def act(shell, tmp_path):
    """Function that runs the steps with inputs, and returns the exit status, the summary, the outputs and the log."""
    summary, written = tmp_path / "summary.md", tmp_path / "outputs.txt"
    runner = {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(summary)}
    runner["GITHUB_OUTPUT"] = str(written)

    def act(**given):
        inputs = {name: one["default"] for name, one in ACTION["inputs"].items()}
        inputs |= {name.replace("_", "-"): str(value) for name, value in given.items()}
        assert inputs.keys() == ACTION["inputs"].keys()
        outputs, status, log = {}, 0, ""
        for file in (summary, written):
            file.write_text("")

        def evaluate(text):
            return CALL.sub(lambda found: inputs[found[2]] if found[1] == "inputs" else outputs.get(found[2], ""), text)

        for step in STEPS:
            if "run" not in step or status or not is_chosen(step.get("if", "true"), inputs):
                continue
            own = {name: evaluate(value) for name, value in step.get("env", {}).items()}
            status, said = shell(step["run"], **runner, **own)
            log += said
            outputs |= dict(line.split("=", 1) for line in written.read_text().splitlines())
        return status, summary.read_text("utf-8"), outputs, log

    act.work, act.programs = shell.work, shell.programs
    return act


def is_chosen(condition, inputs):
    """Evaluate the condition of a step: comparisons of inputs with texts, all of which hold."""
    for part in condition.replace("always()", "true").split(" && "):
        name, _, sign, text = re.fullmatch(r"(?:inputs\.([\w-]+)|(true))(?: (==|!=) '(.*)')?", part).groups()
        if name and (inputs[name] == text) is not (sign == "=="):
            return False
    return True
