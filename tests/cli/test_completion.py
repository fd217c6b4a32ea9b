"""Completion in a shell: commands and names, quickly, and installed by the command itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stratagem.cli.main import main
from stratagem.games import game_names
from stratagem.training.shipped import recipe_names

HEAVY = {"torch", "transformers", "peft", "pyarrow", "scipy", "pyspiel", "tokenizers"}


@pytest.fixture
def completed(monkeypatch, capsys):
    """Complete the last word of a command line in this process."""

    def go(line):
        words = line.split(" ")
        monkeypatch.setattr(sys, "argv", ["stratagem"])
        monkeypatch.setenv("_STRATAGEM_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        with pytest.raises(SystemExit):
            main([])
        return capsys.readouterr().out.split("\n")[:-1]

    return go


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("stratagem ev", ["eval"]),
        ("stratagem play ku", ["kuhn", "kuhn-spiel"]),
        ("stratagem play kuhn --players Always", ["AlwaysBet", "AlwaysPassQueen"]),
        ("stratagem play kuhn --players NashApprox Always", ["AlwaysBet", "AlwaysPassQueen"]),
        ("stratagem play kuhn --players NashApprox --ep", ["--episodes"]),
        ("stratagem play 'ipd(rounds=3)' --players Gr", ["GrimTrigger"]),
        ("stratagem play evil.py:Game --players Tit", ["TitForTat", "TitForTwoTats", "TitForTatNeg"]),
        ("stratagem play nothing --players Nash", ["NashApprox"]),
        ("stratagem eval sep", ["sepo"]),
        ("stratagem eval kuhn --opponents NashApprox mc", ["mcts:100"]),
        ("stratagem eval kuhn --metric pool", ["pool_advantage"]),
        ("stratagem train sepo/kuhn models/tin", ["models/tiny"]),
        ("stratagem train ./sepo", [""]),
        ("stratagem serve Nash", ["NashApprox"]),
        ("stratagem serve NashApprox --game le", ["leduc"]),
        ("stratagem prompt kuhn --style gt", ["gtbench", "gtbench-reasoned"]),
        ("stratagem play kuhn --engine transf", ["transformers"]),
    ],
)
def test_names_are_completed(completed, line, names):
    found = completed(line)
    assert found == names


def test_every_game_and_recipe_is_offered(completed):
    assert completed("stratagem games ") == game_names()
    assert completed("stratagem train ") == recipe_names()


def test_the_installed_completion_works_in_bash_and_loads_no_library_of_models(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["stratagem"])
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "bash"))  # the tests may have no shell above them
    with pytest.raises(SystemExit) as ended:
        main(["--install-completion"])
    assert ended.value.code == 0
    assert "bash completion installed" in capsys.readouterr().out
    program = tmp_path / "stratagem"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom stratagem.cli.main import main\n"
        f"try:\n    main()\nfinally:\n    open({str(tmp_path / 'loaded')!r}, 'w').write(' '.join(sys.modules))\n"
    )
    program.chmod(0o755)
    script = """
        source .bash_completions/stratagem.sh
        COMP_WORDS=(stratagem eval kuhn --player Tight) COMP_CWORD=4
        _stratagem_completion stratagem && echo "${COMPREPLY[@]}"
    """
    path = f"{tmp_path}:{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert run.stdout.split() == ["TightPassive", "TightValue"], run.stderr
    assert {name.split(".")[0] for name in (tmp_path / "loaded").read_text().split()} & HEAVY == set()
